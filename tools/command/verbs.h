// The verbs of the command, one source file each.
#pragma once

#include "tools/command/options.h"

namespace gemmc {

Verb add_list(CLI::App& app);
Verb add_build(CLI::App& app);
Verb add_run(CLI::App& app);
Verb add_bench(CLI::App& app);
Verb add_explain(CLI::App& app);
Verb add_version(CLI::App& app);

}  // namespace gemmc
