// Bundle -> the C header: prototypes, shape macros, and each kernel's contract as a comment. C99 and C++.
#pragma once

#include <string>

#include "compiler/bundle.h"

namespace gemmc {

// The text of "<name>.h". It needs no other file of gemmc's: it repeats the block of the public header that declares
// the call's types, under the same guard.
std::string header_text(const Bundle& bundle);

}  // namespace gemmc
