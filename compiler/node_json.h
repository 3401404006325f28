// JSON text -> Node. The format is docs/node-description.md.
#pragma once

#include <filesystem>
#include <string_view>

#include "compiler/node.h"
#include "core/status.h"

namespace gemmc {

// `directory` is where relative `data` paths start (.npy files, read here). Any field that the format does not have is
// refused by name. Errors: invalid argument (what is wrong in the text or in a .npy header), environment (a data file
// that cannot be read). Never throws.
Expected<Node> parse_node_json(std::string_view text, const std::filesystem::path& directory);

}  // namespace gemmc
