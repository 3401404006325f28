// gemmc version: what this build is made of, and the machine it is on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "compiler/compile.h"
#include "core/target.h"
#include "tools/command/text.h"
#include "tools/command/verbs.h"

namespace gemmc {
namespace {

Status show_version(bool as_json) {
  const Expected<Target> host = host_target();
  const std::string host_text = host ? host->to_string() : host.status().message();
  if (as_json) {
    print_json({{"gemmc", GEMMC_VERSION},
                {"compiler", compiler_identity()},
                {"host", host_text},
                {"targets", target_names()}});
    return Status::ok();
  }
  print_out("gemmc {}\ncompiler: {}\nhost:     {}\ntargets:  {}\n", GEMMC_VERSION, compiler_identity(), host_text,
            fmt::join(target_names(), ", "));
  return Status::ok();
}

}  // namespace

Verb add_version(CLI::App& app) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("version", "Versions of gemmc, Halide and LLVM, and this machine's target");
  verb->add_flag("--json", *as_json, "For machines");
  return {verb, [=] { return show_version(*as_json); }};
}

}  // namespace gemmc
