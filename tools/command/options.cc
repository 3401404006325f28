#include "tools/command/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text.h"

namespace gemmc {

CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                          const std::string& description) {
  // Without this an option takes every word that follows it, the source too.
  return app.add_option(name, values, description)->allow_extra_args(false);
}

Expected<std::map<std::string, std::string>> key_values(const std::vector<std::string>& words,
                                                        const std::string& option, Split split) {
  std::map<std::string, std::string> result;
  for (const std::string& word : words) {
    const size_t equals = split == Split::kAtFirst ? word.find('=') : word.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      return Status::invalid(fmt::format("{} {}; allowed: {} NAME=VALUE", option, word, option));
    }
    const std::string key = word.substr(0, equals);
    if (!result.emplace(key, word.substr(equals + 1)).second) {
      return Status::invalid(fmt::format("{} {}: '{}' is given twice", option, word, key));
    }
  }
  return result;
}

constexpr char kDimDescription[] = "Bind a run-time dimension: NAME=SIZE; may be repeated";

void KernelOptions::add_source(CLI::App& app) {
  app.add_option("SOURCE", source_, "MODEL.onnx, NODE.json, JSON text or a problem string")->required();
  add_repeated(app, "--dim", dims_, kDimDescription);
}

void KernelOptions::add_sources(CLI::App& app, const std::string& description) {
  app.add_option("SOURCE", sources_, description);
  add_repeated(app, "--dim", dims_, kDimDescription);
}

CLI::Option* add_given(CLI::App& app, const std::string& name, std::optional<std::string>& value,
                       const std::string& description) {
  // CLI11 itself reads an empty word as no value.
  return app.add_option_function<std::string>(
      name, [&value](const std::string& word) { value = word; }, description);
}

void KernelOptions::add_node(CLI::App& app) { add_given(app, "--node", node_, "Take only this node"); }

void KernelOptions::add_target(CLI::App& app, const std::string& default_target) {
  default_target_ = default_target;
  app.add_option("--target", targets_, fmt::format("{}; default {}", fmt::join(target_names(), ", "), default_target))
      ->delimiter(',')
      ->allow_extra_args(false);
}

void KernelOptions::add_threads(CLI::App& app) {
  add_given(app, "--threads", threads_, "Threads that calls may use; default 1");
}

void KernelOptions::add_compilation(CLI::App& app, const std::string& default_target) {
  add_target(app, default_target);
  add_given(app, "--schedule", schedule_, "Use this schedule line, e.g. 'tiled mr=6 nr=16 lanes=8 mc=96'");
}

void KernelOptions::add_model_options(CLI::App& app) {
  app.add_flag("--fuse", fuse_, "Take in the nodes of a model that `gemmc list` calls fusable");
  app.add_flag("--narrow", narrow_, "Read a model's B as it is stored where `gemmc list` says that is narrower");
}

Expected<Source> KernelOptions::source(const std::string& text, ConstantValues values) const {
  SourceOptions options{.dims = {}, .node = node_, .values = values, .fuse = fuse_, .narrow = narrow_};
  const Expected<std::map<std::string, std::string>> dims = key_values(dims_, "--dim", Split::kAtLast);
  if (!dims) return dims.status();
  for (const auto& [name, value] : *dims) {
    const std::optional<int64_t> size = parse_int64(value);
    if (!size || *size < 0) {
      return Status::invalid(
          fmt::format("--dim {}={}; allowed: one NAME=SIZE, the size an integer from 0 to 2^63-1; "
                      "repeat --dim for more names",
                      name, value));
    }
    options.dims.emplace(name, *size);
  }
  return load_source(text, options);
}

Expected<Target> KernelOptions::target() const {
  if (targets_.size() > 1) {
    return Status::unsupported(fmt::format(
        "--target {}: several CPUs in one build are not built yet; allowed: one target", fmt::join(targets_, ",")));
  }
  return parse_target(targets_.empty() ? default_target_ : targets_[0]);
}

Expected<std::unique_ptr<TbbParallel>> KernelOptions::threads() const {
  const std::optional<int64_t> count = threads_ ? parse_int64(*threads_) : 1;
  if (!count || *count < 1 || *count > TbbParallel::kMostThreads) {
    return Status::invalid(
        fmt::format("--threads {}; allowed: 1 to {}", in_quotes(*threads_), TbbParallel::kMostThreads));
  }
  if (*count == 1) return std::unique_ptr<TbbParallel>();
  return TbbParallel::create(static_cast<int32_t>(*count));
}

Expected<CompileOptions> KernelOptions::compile_options() const {
  CompileOptions options;
  if (schedule_) {
    Expected<Schedule> schedule = parse_schedule(*schedule_);
    if (!schedule) return schedule.status();
    options.schedule = *schedule;
  }
  return options;
}

}  // namespace gemmc
