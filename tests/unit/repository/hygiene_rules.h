// Rules for every file of the repository that a compiler does not check. docs/testing.md lists them.
#pragma once

#include "tests/unit/repository/source_tree.h"

namespace gemmc::testing {

// Headers over 200 lines and sources over 500, unless the first comment has a sentence that begins "Long because".
Findings oversized_sources(const SourceTree& tree);

// Machine-private paths and names of package registries' hosts: they are right on one machine only.
Findings private_words(const SourceTree& tree);

// Tabs, white space at a line's end, no newline at the file's end, carriage returns. Not in tests/data and in
// tests/fuzz/corpus.
Findings whitespace_faults(const SourceTree& tree);

// C and C++ sources that no CMakeLists.txt above them lists, and headers that nothing includes.
Findings unlisted_sources(const SourceTree& tree);

// Links from one Markdown file to another file or folder that is not in the tree.
Findings broken_links(const SourceTree& tree);

}  // namespace gemmc::testing
