// Names for C: symbols, macros, header guards and parameters made from what users and models call things.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace gemmc {

// `text` with every character that C identifiers cannot have replaced by '_', and "n_" before a leading digit or
// underscore (leading underscores are the implementation's). Never empty.
std::string c_identifier(std::string_view text);

// The same for a header and libraries: "n_" also before the name of one of the system's headers or libraries.
std::string bundle_name(std::string_view text);

// Whether a user may give this name to a kernel: a C identifier that is no keyword of C or C++, no name of the C
// library or its headers, and not in gemmc's own name space.
Status check_symbol(std::string_view symbol);

// `text` as the inside of a C comment: printable ASCII on one line, without comment marks or trigraphs.
std::string comment_text(std::string_view text);

}  // namespace gemmc
