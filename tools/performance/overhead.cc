// gemmc_overhead: what users pay besides a kernel's loops. Google Benchmark's options apply: --benchmark_filter=...
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "api/session.h"
#include "compiler/compile.h"
#include "core/problem_string.h"
#include "core/target.h"
#include "runtime/kernel.h"

namespace gemmc {
namespace {

constexpr int64_t kSize = 8;
constexpr char kStatic[] = "gemm f32 m=8 n=8 k=8";
constexpr char kRuntimeM[] = "gemm f32 m=?m n=8 k=8";
constexpr char kRuntimeAll[] = "gemm f32 m=?m n=?n k=?k";

// Nothing here may fail: without a value there is nothing to time.
template <typename T>
T value_or_exit(Expected<T> expected) {
  if (expected) return *std::move(expected);
  std::cerr << "gemmc_overhead: error: " << expected.status().message() << '\n';
  std::exit(1);
}

const Target& target() {
  static const Target host = value_or_exit(host_target());
  return host;
}

Session& session() {
  static Session shared(target());
  return shared;
}

std::shared_ptr<const Kernel> kernel(const std::string& problem) {
  return value_or_exit(session().kernel(value_or_exit(parse_problem(problem)))).kernel;
}

// Operands of 8 x 8 x 8.
struct Matrices {
  alignas(64) std::array<float, kSize* kSize> a = {}, b = {}, y = {};
};

// ---- From a description to a kernel that is there already

void parse_problem_string(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse_problem(kStatic));
}
BENCHMARK(parse_problem_string);

// Canonical form, family, schedule, key text and its hash.
void make_key(benchmark::State& state, const char* text) {
  const Problem problem = value_or_exit(parse_problem(text));
  for (auto _ : state) benchmark::DoNotOptimize(plan(problem, target()));
}
BENCHMARK_CAPTURE(make_key, static_sizes, kStatic);
BENCHMARK_CAPTURE(make_key, runtime_sizes, kRuntimeAll);

// The same, and the cache in memory.
void look_up(benchmark::State& state) {
  const Problem problem = value_or_exit(parse_problem(kStatic));
  kernel(kStatic);
  for (auto _ : state) benchmark::DoNotOptimize(session().kernel(problem));
}
BENCHMARK(look_up);

// ---- Calls of 8 x 8 x 8

void call_typed_entry(benchmark::State& state) {
  const auto held = kernel(kStatic);
  const auto entry = reinterpret_cast<int32_t (*)(const float*, const float*, float*)>(held->typed_entry());
  Matrices matrices;
  for (auto _ : state) benchmark::DoNotOptimize(entry(matrices.a.data(), matrices.b.data(), matrices.y.data()));
}
BENCHMARK(call_typed_entry);

void call_struct_entry(benchmark::State& state, const char* problem) {
  const auto held = kernel(problem);
  Matrices matrices;
  const std::array<int64_t, 3> dims = {kSize, kSize, kSize};
  gemmc_call call = {};
  call.size_bytes = sizeof(call);
  call.a = matrices.a.data();
  call.b = matrices.b.data();
  call.y = matrices.y.data();
  call.dims = dims.data();
  for (auto _ : state) benchmark::DoNotOptimize(held->entry()(&call));
}
BENCHMARK_CAPTURE(call_struct_entry, static_sizes, kStatic);
BENCHMARK_CAPTURE(call_struct_entry, runtime_m, kRuntimeM);
BENCHMARK_CAPTURE(call_struct_entry, runtime_sizes, kRuntimeAll);

// What choosing the body for M costs: beside call_typed_entry.
void call_typed_entry_with_m(benchmark::State& state) {
  const auto held = kernel(kRuntimeM);
  const auto entry = reinterpret_cast<int32_t (*)(const float*, const float*, float*, int64_t)>(held->typed_entry());
  Matrices matrices;
  int64_t m = kSize;
  for (auto _ : state) {
    benchmark::DoNotOptimize(m);  // known only at the call
    benchmark::DoNotOptimize(entry(matrices.a.data(), matrices.b.data(), matrices.y.data(), m));
  }
}
BENCHMARK(call_typed_entry_with_m);

// ---- A kernel's first request

void load_object(benchmark::State& state) {
  const Artifact artifact = kernel(kStatic)->artifact();
  for (auto _ : state) benchmark::DoNotOptimize(value_or_exit(load_kernel(artifact)));
}
BENCHMARK(load_object)->Unit(benchmark::kMillisecond);

// On the process's CPU time, as the work is done by a thread of its own.
void compile_object(benchmark::State& state, const char* text) {
  const KernelPlan planned = value_or_exit(plan(value_or_exit(parse_problem(text)), target()));
  size_t bytes = 0;
  for (auto _ : state) bytes = value_or_exit(compile(planned)).object.size();
  state.counters["object_bytes"] = static_cast<double>(bytes);
}
BENCHMARK_CAPTURE(compile_object, 8x8x8, kStatic)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(compile_object, 256x256x256, "gemm f32 m=256 n=256 k=256")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(compile_object, runtime_m, kRuntimeM)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(compile_object, runtime_sizes, kRuntimeAll)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace gemmc

BENCHMARK_MAIN();
