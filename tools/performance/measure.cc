#include "tools/performance/measure.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "tools/performance/gemmc_contender.h"
#include "tools/performance/reference.h"

namespace gemmc {
namespace {

// Cache-line aligned memory of a product's three matrices, A and B filled.
class Matrices {
 public:
  Matrices(DType dtype, const Product& product)
      : a_(allocate(dtype, product.m * product.k)),
        b_(allocate(dtype, product.k * product.n)),
        y_(allocate(dtype, product.m * product.n)),
        y_bytes_(product.m * product.n * size_bytes(dtype)) {
    fill_values(dtype, a_.get(), product.m * product.k, 1);
    fill_values(dtype, b_.get(), product.k * product.n, 2);
  }
  Operands operands() const { return {a_.get(), b_.get(), y_.get()}; }
  // Overwrites Y with a pattern that no right result has: NaN, or an integer sum that would be a coincidence.
  void spoil_y() { std::memset(y_.get(), 0xff, y_bytes_); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;
  static Memory allocate(DType dtype, int64_t count) {
    constexpr size_t kLine = 64;
    const size_t bytes = (static_cast<size_t>(count) * size_bytes(dtype) + kLine - 1) / kLine * kLine;
    return Memory(std::aligned_alloc(kLine, bytes));
  }

  Memory a_, b_, y_;
  size_t y_bytes_;
};

Expected<Measurement> measure(Session& session, DType dtype, const SuiteEntry& entry, const PeerSearch& peers,
                              const RaceOptions& options) {
  Matrices matrices(dtype, entry.product);
  const Operands operands = matrices.operands();
  const auto check = [&](Contender& contender, const std::string& name) -> Status {
    matrices.spoil_y();
    contender.run(1);
    const Status status = check_result(dtype, entry.product, operands);
    return status.is_ok() ? status
                          : Status::internal(fmt::format("{}, {} {}: {}", name, short_name(dtype),
                                                         entry.product.to_string(), status.message()));
  };

  std::vector<Contender*> contenders;
  Expected<GemmcKernel> with_static = prepare_gemmc(session, dtype, entry.product, Sizes::kStatic, operands);
  if (!with_static) return with_static.status();
  Expected<GemmcKernel> with_runtime = prepare_gemmc(session, dtype, entry.product, Sizes::kRuntime, operands);
  if (!with_runtime) return with_runtime.status();
  for (const GemmcKernel* kernel : {&*with_static, &*with_runtime}) {
    GEMMC_RETURN_IF_ERROR(check(*kernel->contender, fmt::format("gemmc '{}'", kernel->problem)));
    contenders.push_back(kernel->contender.get());
  }
  std::vector<std::unique_ptr<Contender>> prepared;  // one per peer, null where it has nothing
  for (const auto& peer : peers.found) {
    prepared.push_back(peer->prepare(entry.product, operands));
    if (prepared.back() == nullptr) continue;
    GEMMC_RETURN_IF_ERROR(check(*prepared.back(), peer->name()));
    contenders.push_back(prepared.back().get());
  }

  const std::vector<std::vector<double>> times = race(contenders, options);
  Measurement result;
  result.category = entry.category;
  result.dtype = dtype;
  result.product = entry.product;
  result.schedule = with_static->schedule;
  result.compile_ns = with_static->compile_ns;
  result.static_ns = times[0];
  result.runtime_ns = times[1];
  size_t next = 2;
  for (const auto& contender : prepared)
    result.peers_ns.push_back(contender == nullptr ? std::vector<double>() : times[next++]);
  return result;
}

}  // namespace

Expected<std::vector<Measurement>> measure_suite(Session& session, const std::vector<SuiteEntry>& suite,
                                                 const PeerSearch& peers, const RaceOptions& options,
                                                 const Progress& progress) {
  std::vector<Measurement> results;
  for (const SuiteEntry& entry : suite) {
    progress("float32 " + entry.product.to_string());
    Expected<Measurement> result = measure(session, DType::kFloat32, entry, peers, options);
    if (!result) return result.status();
    results.push_back(*std::move(result));
  }
  return results;
}

Expected<std::vector<Measurement>> measure_types(Session& session, const RaceOptions& options,
                                                 const Progress& progress) {
  const Product products[] = {{16, 16, 16}, {64, 64, 64}, {100, 100, 100}, {256, 256, 256}, {1, 1024, 1024}};
  std::vector<Measurement> results;
  for (DType dtype : kAllDTypes) {
    if (dtype == DType::kFloat32) continue;
    for (const Product& product : products) {
      progress(fmt::format("{} {}", name(dtype), product.to_string()));
      Expected<Measurement> result = measure(session, dtype, {"types", product}, PeerSearch(), options);
      if (!result) return result.status();
      results.push_back(*std::move(result));
    }
  }
  return results;
}

}  // namespace gemmc
