// Bundle -> manifest.json: which kernel serves which node, and how to call it, for machines.
//
// Format: docs/manifest.md. In short: one JSON object, "format": 1. Fields are only ever added within a format. Nothing
// in it depends on time or paths, so that equal builds give equal bytes.
#pragma once

#include <string>

#include "compiler/bundle.h"

namespace gemmc {

std::string manifest_text(const Bundle& bundle, bool has_shared_library);

}  // namespace gemmc
