#include "tools/performance/measure.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

#include "tools/performance/aligned_memory.h"
#include "tools/performance/gemmc_contender.h"
#include "tools/performance/reference.h"

namespace gemmc {
namespace {

// Memory of a product's matrices, A and B filled.
class Matrices {
 public:
  static Expected<Matrices> make(DType dtype, const Product& product) {
    Matrices made;
    GEMMC_RETURN_IF_ERROR(made.allocate(made.a_, dtype, product.a_count()));
    GEMMC_RETURN_IF_ERROR(made.allocate(made.b_, dtype, product.b_count()));
    GEMMC_RETURN_IF_ERROR(made.allocate(made.y_, dtype, product.y_count()));
    made.y_bytes_ = static_cast<size_t>(product.y_count()) * size_bytes(dtype);
    fill_values(dtype, made.a_.get(), product.a_count(), 1);
    fill_values(dtype, made.b_.get(), product.b_count(), 2);
    return made;
  }
  Operands operands() const { return {a_.get(), b_.get(), y_.get()}; }
  // Overwrites Y with a pattern that no right result has: NaN, or an integer sum that would be a coincidence.
  void spoil_y() { std::memset(y_.get(), 0xff, y_bytes_); }

 private:
  static Status allocate(AlignedMemory& memory, DType dtype, int64_t count) {
    Expected<AlignedMemory> made = allocate_aligned(static_cast<size_t>(count) * size_bytes(dtype));
    if (!made) return made.status();
    memory = *std::move(made);
    return Status::ok();
  }

  AlignedMemory a_, b_, y_;
  size_t y_bytes_ = 0;
};

// Gathers who takes part, then lets them race.
class Field {
 public:
  Field(Session& session, const SuiteEntry& entry, Matrices& matrices)
      : session_(session), entry_(entry), matrices_(matrices) {}

  // The kernel that this product is about: not having it is a failure.
  Status add_chosen() { return add_gemmc({Role::kGemmc, false, "gemmc"}, {}); }

  // Any other of gemmc's: one that cannot be compiled for the product is left out.
  Status add_other(Entrant entrant, const GemmcRequest& request) {
    const size_t place = entrants_.size();
    Status status = add_gemmc(std::move(entrant), request);
    if (status.code() != StatusCode::kUnsupported && status.code() != StatusCode::kInvalidArgument) return status;
    entrants_[place].left_out = status.message();
    return Status::ok();
  }

  void add_peer(Peer& peer, bool has_packed_b) {
    Entrant entrant{Role::kPeer, has_packed_b, peer.name() + (has_packed_b ? " packed" : "")};
    std::unique_ptr<Contender> contender =
        peer.prepare({entry_.dtype, entry_.product, matrices_.operands(), has_packed_b});
    if (contender == nullptr) {
      // Most peers cannot pack: that is no line of its own.
      if (has_packed_b) return;
      entrant.left_out = kNotTaken;
    } else if (const Status status = check(*contender); !status.is_ok()) {
      entrant.left_out = status.message();
      contender.reset();
    }
    entrants_.push_back(std::move(entrant));
    contenders_.push_back(std::move(contender));
  }

  Measurement run(const RaceOptions& options) {
    std::vector<Contender*> running;
    for (const auto& contender : contenders_)
      if (contender != nullptr) running.push_back(contender.get());
    std::vector<std::vector<double>> times = race(running, options);
    size_t next = 0;
    for (size_t i = 0; i < entrants_.size(); ++i)
      if (contenders_[i] != nullptr) entrants_[i].ns = std::move(times[next++]);
    return {entry_.category, entry_.dtype, entry_.product, problem_, std::move(entrants_)};
  }

 private:
  Status add_gemmc(Entrant entrant, const GemmcRequest& request) {
    entrants_.push_back(std::move(entrant));
    contenders_.push_back(nullptr);
    Expected<GemmcKernel> kernel = prepare_gemmc(session_, entry_.dtype, entry_.product, request, matrices_.operands());
    if (!kernel) return kernel.status();
    if (const Status status = check(*kernel->contender); !status.is_ok())
      return Status::internal(fmt::format("'{}' with '{}': {}", kernel->problem, kernel->schedule, status.message()));
    entrants_.back().schedule = std::move(kernel->schedule);
    entrants_.back().compile_ns = kernel->compile_ns;
    contenders_.back() = std::move(kernel->contender);
    if (problem_.empty()) problem_ = std::move(kernel->problem);
    return Status::ok();
  }

  Status check(Contender& contender) {
    matrices_.spoil_y();
    contender.run(1);
    return check_result(entry_.dtype, entry_.product, matrices_.operands());
  }

  Session& session_;
  const SuiteEntry& entry_;
  Matrices& matrices_;
  std::string problem_;
  std::vector<Entrant> entrants_;
  std::vector<std::unique_ptr<Contender>> contenders_;  // as entrants_; null where one is left out
};

}  // namespace

const Entrant* Measurement::find(Role role, bool has_packed_b) const {
  for (const Entrant& entrant : entrants) {
    if (entrant.role == role && entrant.has_packed_b == has_packed_b && !entrant.ns.empty()) return &entrant;
  }
  return nullptr;
}

Expected<Measurement> measure(Session& session, const SuiteEntry& entry, const PeerSearch& peers,
                              const MeasureOptions& options) {
  Expected<Matrices> matrices = Matrices::make(entry.dtype, entry.product);
  if (!matrices) return matrices.status();
  Field field(session, entry, *matrices);
  GEMMC_RETURN_IF_ERROR(field.add_chosen());
  if (options.with_runtime_sizes)
    GEMMC_RETURN_IF_ERROR(field.add_other({Role::kRuntime, false, "gemmc run-time"}, {.sizes = Sizes::kRuntime}));
  if (options.with_packed_b)
    GEMMC_RETURN_IF_ERROR(field.add_other({Role::kGemmc, true, "gemmc packed"}, {.has_constant_b = true}));
  if (options.parallel != nullptr) {
    const Entrant entrant{Role::kThreads, false, fmt::format("gemmc, {} threads", options.parallel->threads)};
    GEMMC_RETURN_IF_ERROR(field.add_other(entrant, {.parallel = options.parallel}));
  }
  for (const Schedule& schedule : options.schedules) {
    GEMMC_RETURN_IF_ERROR(field.add_other({Role::kSchedule, schedule.packs_b, "gemmc " + print_schedule(schedule)},
                                          {.has_constant_b = schedule.packs_b, .schedule = schedule}));
  }
  for (const auto& peer : peers.found) field.add_peer(*peer, false);
  if (options.with_packed_b)
    for (const auto& peer : peers.found) field.add_peer(*peer, true);
  return field.run(options.race);
}

}  // namespace gemmc
