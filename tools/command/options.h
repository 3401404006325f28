// The options that several verbs share: declared once, read once.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "core/status.h"
#include "core/target.h"
#include "runtime/parallel.h"
#include "tools/command/source.h"

namespace gemmc {

// One verb of the command line. `run` is called where the parser chose it.
struct Verb {
  CLI::App* app = nullptr;
  std::function<Status()> run;
};

// What the user wrote for the source and everything that decides a kernel. add_*() declare, the others read.
class KernelOptions {
 public:
  void add_source(CLI::App& app);
  // Any number of them, of more kinds; the verb says which.
  void add_sources(CLI::App& app, const std::string& description);
  // How a model's nodes become kernels: --fuse, --narrow.
  void add_model_options(CLI::App& app);
  void add_node(CLI::App& app);
  void add_target(CLI::App& app, const std::string& default_target);
  // For verbs that call kernels.
  void add_threads(CLI::App& app);
  // The target and one schedule.
  void add_compilation(CLI::App& app, const std::string& default_target);

  Expected<Source> source(ConstantValues values) const { return source(source_, values); }
  // One of sources().
  Expected<Source> source(const std::string& text, ConstantValues values) const;
  const std::vector<std::string>& sources() const { return sources_; }
  // The first option given that is only for sources with nodes and dimensions; empty: none.
  std::string node_option() const { return !dims_.empty() ? "--dim" : node_ ? "--node" : ""; }
  // Whether --fuse or --narrow is given.
  bool takes_in() const { return fuse_ || narrow_; }
  // One target; more than one are refused as not built yet.
  Expected<Target> target() const;
  // What calls of a verb with add_threads() may use; null: one thread.
  Expected<std::unique_ptr<TbbParallel>> threads() const;
  bool target_is_default() const { return targets_.empty(); }
  Expected<CompileOptions> compile_options() const;

 private:
  std::string source_;
  std::vector<std::string> sources_;
  std::vector<std::string> dims_;
  std::optional<std::string> node_;
  bool fuse_ = false, narrow_ = false;
  std::vector<std::string> targets_;
  std::string default_target_;
  std::optional<std::string> schedule_;
  std::optional<std::string> threads_;
};

// At which '=' of a word its value begins: paths may have more, and so may names of dimensions.
enum class Split { kAtFirst, kAtLast };

// "KEY=VALUE" words -> a map; `option` is for messages ("--dim"). Repeated keys are refused.
Expected<std::map<std::string, std::string>> key_values(const std::vector<std::string>& words,
                                                        const std::string& option, Split split);

// An option with one word, which may be empty: `--node ''` is not the same as no --node.
CLI::Option* add_given(CLI::App& app, const std::string& name, std::optional<std::string>& value,
                       const std::string& description);

// An option that may be repeated and takes one word each time.
CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                          const std::string& description);

}  // namespace gemmc
