// Which layer may include which. The picture is in ARCHITECTURE.md; this is the same as data.
#pragma once

#include "tests/unit/repository/source_tree.h"

namespace gemmc::testing {

// Every #include in the tree that goes against the arrows, that names a foreign library outside the layers that may
// know it, or that is not written from the repository's root.
Findings layer_violations(const SourceTree& tree);

}  // namespace gemmc::testing
