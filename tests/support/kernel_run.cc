#include "tests/support/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfenv>
#include <csignal>
#include <cstring>

#include "tests/support/parts_backwards.h"
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "tests/support/half_floats.h"
#include "tests/support/kernel_call.h"
#include "tests/support/random_values.h"

namespace gemmc::testing {
namespace {

constexpr uint8_t kFill = 0xff;  // NaN in every floating-point type, -1 in integers

// Where the elements of an operand lie relative to the lowest address.
struct Span {
  size_t elements = 0;  // from the lowest to the highest
  size_t first = 0;     // position of element (0, ..., 0)
};

Span span_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  if (element_count(shape) == 0) return {};
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t reach = (shape[i] - 1) * strides[i];
    (reach < 0 ? low : high) += reach;
  }
  return {static_cast<size_t>(high - low + 1), static_cast<size_t>(-low)};
}

// Calls visit(position in the dense order, offset in elements) for every element.
template <typename Visit>
void for_each_element(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, const Visit& visit) {
  const size_t count = element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (size_t position = 0; position < count; ++position) {
    visit(position, offset);
    for (size_t i = shape.size(); i-- > 0;) {
      offset += strides[i];
      if (++index[i] < shape[i]) break;
      offset -= shape[i] * strides[i];
      index[i] = 0;
    }
  }
}

// The operand's first element in each call, last axis fastest.
std::vector<const uint8_t*> bases(const void* first, const std::vector<int64_t>& extents,
                                  const std::vector<int64_t>& strides, int64_t element_bytes) {
  std::vector<const uint8_t*> result;
  for_each_element(extents, strides, [&](size_t, int64_t offset) {
    result.push_back(static_cast<const uint8_t*>(first) + offset * element_bytes);
  });
  return result;
}

// Lays an operand out; returns the address of its first element.
uint8_t* place(GuardedBuffer& buffer, const InstanceOperand& operand, size_t element_bytes,
               const Placement& placement) {
  const Span span = span_of(operand.shape, operand.strides);
  uint8_t* const lowest =
      buffer.place(span.elements * element_bytes, placement.side, kFill, static_cast<size_t>(placement.offset_bytes));
  uint8_t* const first = lowest + span.first * element_bytes;
  for_each_element(operand.shape, operand.strides, [&](size_t position, int64_t offset) {
    std::memcpy(first + offset * static_cast<int64_t>(element_bytes), operand.values.data() + position * element_bytes,
                element_bytes);
  });
  return first;
}

std::vector<uint8_t> gather(const uint8_t* first, const std::vector<int64_t>& shape,
                            const std::vector<int64_t>& strides, size_t element_bytes) {
  std::vector<uint8_t> values(element_count(shape) * element_bytes);
  for_each_element(shape, strides, [&](size_t position, int64_t offset) {
    std::memcpy(values.data() + position * element_bytes, first + offset * static_cast<int64_t>(element_bytes),
                element_bytes);
  });
  return values;
}

// Whether the places between Y's elements are as they were.
bool gaps_are_intact(const uint8_t* first, const Instance& instance, size_t element_bytes) {
  const Span span = span_of(instance.y_shape, instance.y_strides);
  if (span.elements == element_count(instance.y_shape)) return true;
  std::vector<bool> is_element(span.elements, false);
  for_each_element(instance.y_shape, instance.y_strides, [&](size_t, int64_t offset) {
    is_element[static_cast<size_t>(offset + static_cast<int64_t>(span.first))] = true;
  });
  const uint8_t* const lowest = first - span.first * element_bytes;
  for (size_t i = 0; i < span.elements; ++i) {
    if (is_element[i]) continue;
    const uint8_t* const gap = lowest + i * element_bytes;
    if (!std::all_of(gap, gap + element_bytes, [](uint8_t byte) { return byte == kFill; })) return false;
  }
  return true;
}

// More than a kernel's frames take: NaNs of every type, and -1, where its scratch will be.
constexpr size_t kStackBytes = 256 << 10;

// Returns the lowest address of what it filled.
__attribute__((noinline)) uintptr_t fill_stack() {
  alignas(uint64_t) uint8_t stack[kStackBytes];
  std::memset(stack, kFill, sizeof stack);
  uintptr_t lowest;
  asm volatile("mov %1, %0" : "=r"(lowest) : "r"(stack) : "memory");  // keeps the memset
  return lowest;
}

// How much of what fill_stack() filled has been written since. Reads below its own frame.
__attribute__((noinline, no_sanitize("address"))) size_t used_stack(uintptr_t lowest) {
  using Word = uint64_t;
  static_assert(kStackBytes % sizeof(Word) == 0);
  const auto* const words = reinterpret_cast<const volatile Word*>(lowest);
  size_t unused = 0;
  while (unused < kStackBytes / sizeof(Word) && words[unused] == ~Word{0}) ++unused;
  return kStackBytes - unused * sizeof(Word);
}

// The parts of the floating-point state that a caller sets: rounding, masks, flushing to zero.
struct FloatState {
  int rounding = std::fegetround();
  uint32_t control = 0;

  FloatState() {
#if defined(__SSE__)
    constexpr uint32_t kExceptionFlags = 0x3f;
    control = _mm_getcsr() & ~kExceptionFlags;
#endif
  }
  bool operator==(const FloatState&) const = default;
};

oracle::Product product_of(const Instance& instance) {
  const Problem& problem = instance.problem;
  oracle::Product product;
  product.is_gemm = problem.op == Operator::kGemm;
  product.type = oracle_type(problem.dtype);
  product.trans_a = problem.trans_a;
  product.trans_b = problem.trans_b;
  product.alpha = problem.alpha;
  product.beta = problem.beta;
  for (const EpilogueStep& step : problem.epilogue) {
    const std::string& op = step.op == "residual" ? "bias" : step.op;
    product.epilogue.push_back({op, epilogue_values(step), std::nullopt});
  }
  return product;
}

size_t stored_bytes_of_b(const Problem& problem) {
  const DType stored = problem.b.storage.value_or(problem.dtype);
  return stored == DType::kInt8 ? 1 : oracle::element_bytes(oracle_type(stored));
}

double stored_value(const uint8_t* element, DType stored) {
  if (stored == DType::kInt8) return static_cast<int8_t>(*element);
  if (stored == DType::kFloat32) {
    float value = 0;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, element, sizeof bits);
  return stored == DType::kFloat16 ? from_float16_bits(bits) : from_bfloat16_bits(bits);
}

// The elements of a B that is stored in a narrower type, dense and in the problem's; empty where it is not.
std::vector<uint8_t> widened_b(const Instance& instance, const uint8_t* first) {
  std::vector<uint8_t> widened;
  if (!instance.problem.b.storage) return widened;
  const size_t bytes = stored_bytes_of_b(instance.problem);
  const std::vector<uint8_t> stored = gather(first, instance.b.shape, instance.b.strides, bytes);
  const auto append = [&](const auto value) {
    const auto* begin = reinterpret_cast<const uint8_t*>(&value);
    widened.insert(widened.end(), begin, begin + sizeof value);
  };
  for (size_t at = 0; at < stored.size(); at += bytes) {
    const double value = stored_value(&stored[at], *instance.problem.b.storage);
    switch (instance.problem.dtype) {
      case DType::kBFloat16:
        append(to_bfloat16_bits(value));
        break;
      case DType::kFloat16:
        append(to_float16_bits(value));
        break;
      case DType::kFloat32:
        append(static_cast<float>(value));
        break;
      default:
        append(value);
    }
  }
  return widened;
}

// An operand as the oracle has it: of Y's shape, with stride 0 where it is broadcast.
void set_epilogue_operands(oracle::Product& product, const Instance& instance, const std::vector<const void*>& first) {
  size_t operand = 0;
  for (size_t i = 0; i < product.epilogue.size(); ++i) {
    const EpilogueOperandKind kind = operand_kind(instance.problem.epilogue[i]);
    if (kind == EpilogueOperandKind::kNone) continue;
    oracle::View view{first[operand], instance.y_shape, std::vector<int64_t>(instance.y_shape.size(), 0)};
    const bool b_is_vector = instance.problem.b.has_known_rank && instance.problem.b.shape.size() == 1;
    if (kind == EpilogueOperandKind::kColumns) view.strides.back() = 1;
    if (kind == EpilogueOperandKind::kRows) view.strides[view.strides.size() - (b_is_vector ? 1 : 2)] = 1;
    if (kind == EpilogueOperandKind::kFull) view.strides = instance.epilogue[operand].strides;
    product.epilogue[i].operand = view;
    ++operand;
  }
}

}  // namespace

std::optional<std::string> within_bounds(const oracle::Product& product, const oracle::View& y,
                                         const std::vector<uint8_t>&) {
  const auto mismatch = oracle::find_mismatch(product, y);
  return mismatch ? std::optional(mismatch->text()) : std::nullopt;
}

std::optional<std::string> is_chain_of_fma(const oracle::Product& product, const oracle::View& y,
                                           const std::vector<uint8_t>&) {
  const auto mismatch = oracle::find_chain_mismatch(product, y);
  return mismatch ? std::optional(fmt::format("not the chain of fma: {}", mismatch->text())) : std::nullopt;
}

std::string Placement::text() const {
  std::string text =
      fmt::format("operands {} {} an unreadable page", side == GuardedBuffer::Side::kEnd ? "end" : "start",
                  offset_bytes == 0 ? "at" : fmt::format("{} bytes from", offset_bytes));
  if (in_place) text += ", Y in place";
  if (b_is_a) text += ", B is A";
  if (threads > 1) text += fmt::format(", in up to {} parts", threads);
  return text;
}

std::vector<Placement> placements(const Instance& instance, bool b_is_a, int offset_bytes) {
  std::vector<Placement> result;
  for (const auto side : {GuardedBuffer::Side::kEnd, GuardedBuffer::Side::kStart}) {
    Placement placement;
    placement.side = side;
    placement.b_is_a = b_is_a;
    placement.offset_bytes = offset_bytes;
    result.push_back(placement);
  }
  if (instance.in_place_operand() != nullptr) {
    result.push_back(result.front());
    result.back().in_place = true;
  }
  // No operand needs an alignment, not even its element type's own.
  constexpr int kOddBytes = 13;
  result.push_back(result.front());
  result.back().offset_bytes += kOddBytes;
  // Nor does it matter how many threads share the work.
  constexpr int32_t kThreads = 3;
  result.push_back(result.front());
  result.back().threads = kThreads;
  return result;
}

uint64_t hash_of(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

void KernelRun::call(gemmc_kernel_entry entry, const Instance& instance, const gemmc_call& operands,
                     RunResult& result) {
  const auto element_bytes = static_cast<int64_t>(oracle::element_bytes(oracle_type(instance.problem.dtype)));
  const auto b_bytes = static_cast<int64_t>(stored_bytes_of_b(instance.problem));
  gemmc_call arguments = operands;
  arguments.dims = instance.call_dims.empty() ? nullptr : instance.call_dims.data();
  arguments.strides = instance.call_strides.empty() ? nullptr : instance.call_strides.data();
  std::vector<int64_t> extents, a_strides, b_strides, y_strides;
  for (const CallPlan::OuterAxis& axis : instance.outer) {
    extents.push_back(axis.extent);
    a_strides.push_back(axis.a);
    b_strides.push_back(axis.b);
    y_strides.push_back(axis.y);
  }
  const std::vector<const uint8_t*> a_bases = bases(operands.a, extents, a_strides, element_bytes);
  const std::vector<const uint8_t*> b_bases = bases(operands.b, extents, b_strides, b_bytes);
  const std::vector<const uint8_t*> y_bases = bases(operands.y, extents, y_strides, element_bytes);
  int32_t status = GEMMC_OK;
  result.fault = run_trapping_faults([&] {
    for (size_t i = 0; i < y_bases.size() && status == GEMMC_OK; ++i) {
      arguments.a = a_bases[i];
      arguments.b = b_bases[i];
      arguments.y = const_cast<uint8_t*>(y_bases[i]);
      const uintptr_t stack = fill_stack();
      status = entry(&arguments);
      result.stack_bytes = std::max(result.stack_bytes, used_stack(stack));
    }
  });
  if (status != GEMMC_OK) result.failure = fmt::format("the kernel returned {}", status);
  if (result.fault) note_fault(result);
}

void KernelRun::note_fault(RunResult& result) const {
  result.failure = fmt::format("{} at {}", strsignal(result.fault->signal), result.fault->address);
  const auto locate = [&](const std::string& name, const GuardedBuffer& buffer) {
    const auto place = buffer.locate(result.fault->address);
    if (place) result.failure = fmt::format("memory fault in {}, {}", name, *place);
  };
  locate("A", a_);
  locate("B", b_);
  locate("packed B", packed_b_);
  locate("C", c_);
  locate("Y", y_);
  locate("scratch", scratch_);
  for (size_t i = 0; i < epilogue_.size(); ++i) locate(fmt::format("E{}", i), epilogue_[i]);
}

const void* KernelRun::pack_b(gemmc_pack_entry pack, const void* b, const Placement& placement, RunResult& result) {
  const auto bytes = static_cast<size_t>(pack(nullptr, nullptr));
  uint8_t* const packed = packed_b_.place(bytes, placement.side, kFill, static_cast<size_t>(placement.offset_bytes));
  result.fault = run_trapping_faults([&] { pack(b, packed); });
  if (result.fault) note_fault(result);
  if (!packed_b_.surroundings_are_intact()) result.failure = "packing wrote outside of packed B";
  packed_b_.set_writable(false);
  return packed;
}

RunResult KernelRun::run(const KernelEntries& kernel, const Instance& instance, const Placement& placement,
                         const Check& check) {
  oracle::Product product = product_of(instance);
  const size_t element_bytes = oracle::element_bytes(product.type);
  // Operands before Y and each other: read-only during the call, so that a write into them is a fault.
  const uint8_t* const a = place(a_, instance.a, element_bytes, placement);
  a_.set_writable(false);
  const uint8_t* b = a;
  if (!placement.b_is_a) {
    b = place(b_, instance.b, stored_bytes_of_b(instance.problem), placement);
    b_.set_writable(false);
  }
  const uint8_t* c = nullptr;
  if (instance.c) {
    c = place(c_, *instance.c, element_bytes, placement);
    c_.set_writable(false);
  }
  const InstanceOperand* const in_place = placement.in_place ? instance.in_place_operand() : nullptr;
  std::vector<const void*> epilogue;
  while (epilogue_.size() < instance.epilogue.size()) epilogue_.emplace_back();
  for (size_t i = 0; i < instance.epilogue.size(); ++i) {
    epilogue.push_back(place(epilogue_[i], instance.epilogue[i], element_bytes, placement));
    epilogue_[i].set_writable(false);
  }
  const InstanceOperand blank{instance.y_shape, instance.y_strides,
                              std::vector<uint8_t>(element_count(instance.y_shape) * element_bytes, kFill)};
  uint8_t* const y = place(y_, in_place != nullptr ? *in_place : blank, element_bytes, placement);

  const FloatState before;
  RunResult result;
  std::vector<const void*> epilogue_of_call = epilogue;
  for (size_t i = 0; i < epilogue.size(); ++i) {
    if (in_place == &instance.epilogue[i]) epilogue_of_call[i] = y;
  }
  gemmc_call operands = make_call(a, b, instance.c && in_place == &*instance.c ? y : c, y);
  operands.epilogue = epilogue_of_call.empty() ? nullptr : epilogue_of_call.data();
  if (kernel.pack_b != nullptr) {
    operands.packed[1] = pack_b(kernel.pack_b, b, placement, result);
    operands.b = nullptr;
  }
  const PartsBackwards parts(placement.threads);
  if (placement.threads > 1) operands.parallel = parts.hook();
  if (kernel.scratch_bytes > 0) {
    const auto bytes = static_cast<size_t>(kernel.scratch_bytes) * static_cast<size_t>(placement.threads);
    operands.scratch = scratch_.place(bytes, placement.side, kFill, static_cast<size_t>(placement.offset_bytes));
    operands.scratch_bytes = bytes;
  }
  if (result.is_right()) call(kernel.call, instance, operands, result);
  const FloatState after;
  for (GuardedBuffer* buffer : {&a_, &b_, &packed_b_, &c_}) buffer->set_writable(true);
  for (GuardedBuffer& buffer : epilogue_) buffer.set_writable(true);
  if (!result.is_right()) return result;

  result.y = gather(y, instance.y_shape, instance.y_strides, element_bytes);
  if (!(before == after)) {
    result.failure = "the kernel changed the floating-point state";
  } else if (kernel.scratch_bytes > 0 && !scratch_.surroundings_are_intact()) {
    result.failure = "the kernel wrote outside of its scratch memory";
  } else if (!y_.surroundings_are_intact() || !gaps_are_intact(y, instance, element_bytes)) {
    result.failure = "the kernel wrote outside of Y";
  } else {
    product.a = {a, instance.a.shape, instance.a.strides};
    product.b = {b, instance.b.shape, instance.b.strides};
    const std::vector<uint8_t> widened = widened_b(instance, b);
    if (!widened.empty()) product.b = {widened.data(), instance.b.shape, oracle::View::dense_strides(instance.b.shape)};
    // In place, the operand's own buffer still has the values that Y has lost.
    if (instance.c) product.c = oracle::View{c, instance.c->shape, instance.c->strides};
    set_epilogue_operands(product, instance, epilogue);
    if (const auto wrong = check(product, {y, instance.y_shape, instance.y_strides}, result.y)) result.failure = *wrong;
  }
  return result;
}

}  // namespace gemmc::testing
