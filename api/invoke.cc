#include "api/invoke.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "api/thread_scratch.h"
#include "core/problem_shapes.h"

namespace gemmc {
namespace {

// Zeroed memory for one array. Pages that nothing touches cost nothing, so wide strides are no problem.
class Buffer {
 public:
  static Expected<Buffer> allocate(int64_t elements, DType dtype, const std::string& operand) {
    // The layout's span is checked: elements * size fits in 63 bits.
    const uint64_t bytes = static_cast<uint64_t>(elements) * size_bytes(dtype);
    const uint64_t memory =
        static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    Buffer buffer;
    if (bytes <= memory) buffer.bytes_.reset(static_cast<uint8_t*>(std::calloc(std::max<uint64_t>(bytes, 1), 1)));
    if (buffer.bytes_ == nullptr) {
      return Status::environment(
          fmt::format("{} needs {} bytes of memory; this machine has {}", operand, bytes, memory));
    }
    return buffer;
  }
  uint8_t* data() const { return bytes_.get(); }

 private:
  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> bytes_;
};

// Calls visit(index, place) for every element: its index in the logical array and its place in the buffer.
template <typename Visit>
void for_each_element(const Layout& layout, Visit visit) {
  const int64_t count = layout.element_count();
  std::vector<int64_t> index(layout.extents.size(), 0);
  int64_t place = layout.first;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, place);
    for (size_t axis = index.size(); axis-- > 0;) {
      place += layout.strides[axis];
      if (++index[axis] < layout.extents[axis]) break;
      place -= index[axis] * layout.strides[axis];
      index[axis] = 0;
    }
  }
}

// An operand where the kernel reads it: the array itself if it is dense, else a copy laid out as the plan says.
class Placed {
 public:
  static Expected<Placed> place(const Layout& layout, const Tensor& array, const std::string& operand) {
    Placed placed;
    if (layout.is_dense()) {
      placed.first_ = array.bytes.data();
      return placed;
    }
    Expected<Buffer> buffer = Buffer::allocate(layout.span, array.dtype, operand);
    if (!buffer) return buffer.status();
    const size_t size = size_bytes(array.dtype);
    for_each_element(layout, [&](int64_t index, int64_t place) {
      std::memcpy(buffer->data() + place * size, array.bytes.data() + index * size, size);
    });
    // Strides may put several elements in one place; they must then be equal.
    bool is_kept = true;
    for_each_element(layout, [&](int64_t index, int64_t place) {
      is_kept &= std::memcmp(buffer->data() + place * size, array.bytes.data() + index * size, size) == 0;
    });
    if (!is_kept) {
      return Status::invalid(fmt::format(
          "{} has strides that put several elements in one place, but their values differ; allowed: equal values",
          operand));
    }
    placed.first_ = buffer->data() + layout.first * size;
    placed.buffer_ = *std::move(buffer);
    return placed;
  }
  const uint8_t* first() const { return first_; }

 private:
  std::optional<Buffer> buffer_;
  const uint8_t* first_ = nullptr;
};

Status check_array(const Tensor* array, DType dtype, const std::string& operand) {
  if (array == nullptr) {
    return Status::invalid(fmt::format("{} is not given; needed: an array of {}", operand, name(dtype)));
  }
  if (array->dtype == dtype) return Status::ok();
  // The format of array files has no bfloat16.
  const std::string_view note = array->dtype == DType::kBFloat16 ? " (or uint16, read as its bits)" : "";
  return Status::invalid(fmt::format("{} has type {}{}; allowed: {}", operand, name(array->dtype), note, name(dtype)));
}

Status from_kernel(int32_t code) {
  if (code == GEMMC_OK) return Status::ok();
  const bool is_known = code > GEMMC_OK && code <= GEMMC_INTERNAL;
  return {is_known ? static_cast<StatusCode>(code) : StatusCode::kInternal,
          fmt::format("the kernel returned status {}; expected: 0", code)};
}

}  // namespace

Expected<Tensor> run_plan(const CallPlan& plan, const KernelEntries& entries, const Arrays& arrays,
                          const gemmc_parallel* parallel) {
  const DType dtype = plan.canonical.problem.dtype;
  const int64_t size = static_cast<int64_t>(size_bytes(dtype));
  GEMMC_RETURN_IF_ERROR(check_array(arrays.a, dtype, "A"));
  const DType stored_b = b_dtype(plan.canonical.problem);
  const int64_t b_size = static_cast<int64_t>(size_bytes(stored_b));
  GEMMC_RETURN_IF_ERROR(check_array(arrays.b, stored_b, "B"));
  if (plan.c) GEMMC_RETURN_IF_ERROR(check_array(arrays.c, dtype, "C"));

  const Expected<Placed> a = Placed::place(plan.a, *arrays.a, "A");
  if (!a) return a.status();
  const Expected<Placed> b = Placed::place(plan.b, *arrays.b, "B");
  if (!b) return b.status();
  const Expected<Placed> c = plan.c ? Placed::place(*plan.c, *arrays.c, "C") : Placed();
  if (!c) return c.status();
  std::vector<Placed> epilogue;
  std::vector<const void*> epilogue_first;
  for (size_t i = 0; i < plan.epilogue.size(); ++i) {
    const std::string operand = epilogue_operand_text(plan.canonical.problem.epilogue, i);
    GEMMC_RETURN_IF_ERROR(check_array(arrays.epilogue[i], dtype, operand));
    Expected<Placed> placed = Placed::place(plan.epilogue[i], *arrays.epilogue[i], operand);
    if (!placed) return placed.status();
    epilogue_first.push_back(placed->first());
    epilogue.push_back(*std::move(placed));
  }
  std::optional<Buffer> packed_b;
  if (entries.pack_b != nullptr) {
    Expected<Buffer> buffer = Buffer::allocate(entries.pack_b(nullptr, nullptr) / b_size, stored_b, "packed B");
    if (!buffer) return buffer.status();
    packed_b = *std::move(buffer);
    entries.pack_b(b->first(), packed_b->data());
  }
  const Expected<Buffer> y = Buffer::allocate(plan.y.span, dtype, "Y");
  if (!y) return y.status();

  // The outer axes as a layout without places: for_each_element() walks their indices.
  Layout calls;
  for (const CallPlan::OuterAxis& axis : plan.outer) calls.extents.push_back(axis.extent);
  calls.strides.assign(plan.outer.size(), 0);
  Status status;
  const auto call_once = [&](int64_t index, int64_t) {
    if (!status.is_ok()) return;
    int64_t offset_a = 0, offset_b = 0, offset_y = plan.y.first;
    for (size_t i = plan.outer.size(); i-- > 0;) {
      const CallPlan::OuterAxis& axis = plan.outer[i];
      const int64_t step = index % axis.extent;
      index /= axis.extent;
      offset_a += step * axis.a;
      offset_b += step * axis.b;
      offset_y += step * axis.y;
    }
    gemmc_call call = {};
    call.size_bytes = sizeof(call);
    call.a = a->first() + offset_a * size;
    call.b = b->first() + offset_b * b_size;
    call.c = c->first();
    call.y = y->data() + offset_y * size;
    call.dims = plan.dims.data();
    call.strides = plan.strides.data();
    call.epilogue = epilogue_first.data();
    if (packed_b) call.packed[1] = packed_b->data();
    call.parallel = parallel;
    lend_thread_scratch(entries.scratch_bytes, call);
    status = from_kernel(entries.call(&call));
  };
  // Without elements in Y, outer axes may still be too long to walk.
  if (plan.outer.empty() || plan.y.span > 0) for_each_element(calls, call_once);
  GEMMC_RETURN_IF_ERROR(status);

  Tensor result;
  result.dtype = dtype;
  result.shape = plan.y_shape;
  try {
    result.bytes.resize(static_cast<size_t>(plan.y.element_count() * size));
  } catch (const std::bad_alloc&) {
    return Status::environment(fmt::format("Y needs {} bytes of memory", plan.y.element_count() * size));
  }
  if (plan.y.is_dense()) {
    if (!result.bytes.empty()) std::memcpy(result.bytes.data(), y->data(), result.bytes.size());
    return result;
  }
  for_each_element(plan.y, [&](int64_t index, int64_t place) {
    std::memcpy(result.bytes.data() + index * size, y->data() + place * size, static_cast<size_t>(size));
  });
  return result;
}

Expected<Tensor> invoke(Session& session, const Problem& problem, const Arrays& arrays, const CompileOptions& options,
                        InvokeReport* report, const gemmc_parallel* parallel) {
  GEMMC_RETURN_IF_ERROR(check_array(arrays.a, problem.dtype, "A"));
  GEMMC_RETURN_IF_ERROR(check_array(arrays.b, b_dtype(problem), "B"));
  ArrayShapes shapes{arrays.a->shape, arrays.b->shape, std::nullopt};
  if (arrays.c != nullptr) {
    GEMMC_RETURN_IF_ERROR(check_array(arrays.c, problem.dtype, "C"));
    shapes.c = arrays.c->shape;
  }
  for (size_t i = 0; i < arrays.epilogue.size(); ++i) {
    GEMMC_RETURN_IF_ERROR(check_array(arrays.epilogue[i], problem.dtype, epilogue_operand_text(problem.epilogue, i)));
    shapes.epilogue.push_back(arrays.epilogue[i]->shape);
  }
  const Expected<CallPlan> plan = plan_call(problem, shapes);
  if (!plan) return plan.status();
  const Expected<Session::Result> found = session.kernel(problem, options);
  if (!found) return found.status();
  const auto start = std::chrono::steady_clock::now();
  Expected<Tensor> y = run_plan(*plan, found->kernel->entries(), arrays, parallel);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  if (report != nullptr) {
    *report = {found->kernel, std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count()};
  }
  return y;
}

Expected<Arrays> node_arrays(const Node& node, const Arrays& given) {
  Arrays arrays;
  arrays.epilogue = given.epilogue;
  const std::vector<size_t> steps = operand_steps(node.epilogue);
  for (size_t i = 0; i < std::min(steps.size(), arrays.epilogue.size()); ++i) {
    const bool may_be_known = arrays.epilogue[i] == nullptr && steps[i] < node.epilogue_data.size();
    if (may_be_known) arrays.epilogue[i] = node.epilogue_data[steps[i]].get();
  }
  std::map<std::string, int64_t> bound;
  const std::pair<const Tensor*, const Tensor**> operands[] = {
      {given.a, &arrays.a}, {given.b, &arrays.b}, {given.c, &arrays.c}};
  for (size_t i = 0; i < std::size(operands); ++i) {
    const std::string operand(1, static_cast<char>('A' + i));
    const auto& [from_caller, array] = operands[i];
    const NodeInput* input = i < node.inputs.size() && !node.inputs[i].is_absent ? &node.inputs[i] : nullptr;
    *array = from_caller != nullptr || input == nullptr ? from_caller : input->data.get();
    if (input == nullptr) {
      if (*array != nullptr) return Status::invalid(operand + " is given, but the node has none").with_node(node.name);
      continue;
    }
    if (*array == nullptr) {
      const std::string type = input->dtype ? std::string(name(*input->dtype)) + " " : "";
      const std::string shape = input->shape ? shape_text(*input->shape) : "of unknown rank";
      return Status::invalid(fmt::format("{} is not given; needed: {}{}", operand, type, shape)).with_node(node.name);
    }
    if (const std::optional<DType> stored = input->storage ? input->storage : input->dtype) {
      if (Status status = check_array(*array, *stored, operand); !status.is_ok()) return status.with_node(node.name);
    }
    if (input->shape) {
      Status status = bind_shape(*input->shape, (*array)->shape, operand, bound);
      if (!status.is_ok()) return status.with_node(node.name);
    }
  }
  return arrays;
}

Expected<Tensor> invoke(Session& session, const Node& node, const Arrays& given, const CompileOptions& options,
                        InvokeReport* report, const gemmc_parallel* parallel) {
  const Expected<Problem> problem = node_to_problem(node);
  if (!problem) return problem.status();
  const Expected<Arrays> arrays = node_arrays(node, given);
  if (!arrays) return arrays.status();
  Expected<Tensor> y = invoke(session, *problem, *arrays, options, report, parallel);
  if (!y) return y.status().with_node(node.name);
  return y;
}

}  // namespace gemmc
