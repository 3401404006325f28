#include "compiler/onnx_shape_ops.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::TensorProto;

// What older definitions take as an attribute and newer ones as an input.
struct GivenIntegers {
  std::optional<std::vector<int64_t>> values;  // absent: not given, or not known
  bool is_known = true;                        // whether what is given could be read
};
Expected<GivenIntegers> given_integers(const Inference& inference, std::string_view attribute, size_t position) {
  GivenIntegers given;
  given.values = inference.op.integers(attribute);
  if (given.values || inference.input(position) == nullptr) return given;
  const Expected<const SymShape*> contents = inference.contents(position);
  if (!contents) return contents.status();
  given.is_known = *contents != nullptr && std::none_of((*contents)->begin(), (*contents)->end(), is_symbol);
  if (given.is_known) given.values = **contents;
  return given;
}

}  // namespace

Status infer_shape_of(const Inference& inference) {
  inference.set_result(TensorProto::INT64, std::nullopt);
  const SymShape* shape = inference.shape(0);
  if (shape == nullptr) return Status::ok();
  const auto rank = static_cast<int64_t>(shape->size());
  const auto clamp = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const int64_t start = clamp(inference.op.integer("start", 0));
  const int64_t end = std::max(start, clamp(inference.op.integer("end", rank)));
  inference.result().shape = SymShape{end - start};
  inference.result().contents = SymShape(shape->begin() + start, shape->begin() + end);
  return Status::ok();
}

Status infer_concat(const Inference& inference) {
  inference.set_result(inference.type(0), std::nullopt);
  SymShape contents;
  bool has_contents = true;
  for (size_t position = 0; position < inference.inputs.size() && has_contents; ++position) {
    const Expected<const SymShape*> part = inference.contents(position);
    if (!part) return part.status();
    has_contents = *part != nullptr && contents.size() + (*part)->size() <= kMaxRank;
    if (has_contents) contents.insert(contents.end(), (*part)->begin(), (*part)->end());
  }
  if (has_contents) inference.result().contents = std::move(contents);

  const SymShape* first = inference.shape(0);
  const std::optional<size_t> axis =
      first != nullptr ? normal_axis(inference.op.integer("axis", 0), first->size()) : std::nullopt;
  if (!axis) return Status::ok();
  SymShape result = *first;
  int64_t extent = 0;
  bool is_known = true;
  for (size_t position = 0; position < inference.inputs.size(); ++position) {
    const SymShape* shape = inference.shape(position);
    if (shape == nullptr || shape->size() != result.size()) return Status::ok();
    const SymDim part = (*shape)[*axis];
    is_known = is_known && !is_symbol(part) && !__builtin_add_overflow(extent, part, &extent);
    for (size_t other = 0; other < result.size(); ++other) {
      if (is_symbol(result[other])) result[other] = (*shape)[other];
    }
  }
  result[*axis] = is_known ? extent : inference.unknown(*axis);
  inference.result().shape = std::move(result);
  return Status::ok();
}

Status infer_gather(const Inference& inference) {
  inference.set_result(inference.type(0), std::nullopt);
  const SymShape* data = inference.shape(0);
  const SymShape* indices = inference.shape(1);
  if (data == nullptr || indices == nullptr) return Status::ok();
  const std::optional<size_t> axis = normal_axis(inference.op.integer("axis", 0), data->size());
  if (!axis || data->size() - 1 + indices->size() > kMaxRank) return Status::ok();
  SymShape result(data->begin(), data->begin() + static_cast<ptrdiff_t>(*axis));
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), data->begin() + static_cast<ptrdiff_t>(*axis) + 1, data->end());
  inference.result().shape = std::move(result);

  const Expected<const SymShape*> entries = inference.contents(0);
  if (!entries) return entries.status();
  const Expected<const SymShape*> chosen = inference.contents(1);
  if (!chosen) return chosen.status();
  if (*entries == nullptr || *chosen == nullptr || data->size() != 1) return Status::ok();
  SymShape contents;
  for (const SymDim index : **chosen) {
    const std::optional<size_t> place = normal_axis(index, (*entries)->size());
    if (!place) return Status::ok();
    contents.push_back((**entries)[*place]);
  }
  inference.result().contents = std::move(contents);
  return Status::ok();
}

Status infer_slice(const Inference& inference) {
  inference.set_result(inference.type(0), std::nullopt);
  const SymShape* from = inference.shape(0);
  if (from == nullptr) return Status::ok();
  std::array<GivenIntegers, 4> given;
  constexpr std::string_view kNames[] = {"starts", "ends", "axes", "steps"};
  bool is_known = true;
  for (size_t part = 0; part < 4; ++part) {
    Expected<GivenIntegers> integers = given_integers(inference, kNames[part], part + 1);
    if (!integers) return integers.status();
    given[part] = *std::move(integers);
    is_known = is_known && given[part].is_known;
  }
  const auto& [starts, ends, axes, steps] = given;
  if (!is_known || !starts.values || !ends.values || starts.values->size() != ends.values->size()) {
    inference.result().shape = inference.unknown_shape(from->size());
    return Status::ok();
  }
  SymShape result = *from;
  for (size_t part = 0; part < starts.values->size(); ++part) {
    const bool has_axis = axes.values && part < axes.values->size();
    const std::optional<size_t> axis =
        normal_axis(has_axis ? (*axes.values)[part] : static_cast<int64_t>(part), from->size());
    const int64_t step = steps.values && part < steps.values->size() ? (*steps.values)[part] : 1;
    if (!axis) return Status::ok();
    const int64_t start = (*starts.values)[part], end = (*ends.values)[part];
    const SymDim extent = (*from)[*axis];
    if (start == 0 && step == 1 && end >= std::numeric_limits<int32_t>::max()) continue;  // all of it
    if (is_symbol(extent) || step != 1) {
      result[*axis] = inference.unknown(*axis);
      continue;
    }
    const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent); };
    result[*axis] = std::max<int64_t>(0, clamp(end) - clamp(start));
    const Expected<const SymShape*> entries = inference.contents(0);
    if (!entries) return entries.status();
    if (*entries != nullptr && from->size() == 1 && starts.values->size() == 1 &&
        static_cast<int64_t>((*entries)->size()) == extent) {
      inference.result().contents =
          SymShape((*entries)->begin() + clamp(start), (*entries)->begin() + clamp(start) + result[0]);
    }
  }
  inference.result().shape = std::move(result);
  return Status::ok();
}

Status infer_squeeze(const Inference& inference) {
  inference.set_result(inference.type(0), std::nullopt);
  const SymShape* from = inference.shape(0);
  Expected<GivenIntegers> axes = given_integers(inference, "axes", 1);
  if (!axes) return axes.status();
  if (from == nullptr || !axes->is_known) return Status::ok();
  std::vector<bool> is_dropped(from->size(), false);
  for (size_t axis = 0; axis < from->size() && !axes->values; ++axis) {
    if (is_symbol((*from)[axis])) return Status::ok();
    is_dropped[axis] = (*from)[axis] == 1;
  }
  for (const int64_t axis : axes->values.value_or(std::vector<int64_t>())) {
    const std::optional<size_t> normal = normal_axis(axis, from->size());
    if (!normal) return Status::ok();
    is_dropped[*normal] = true;
  }
  SymShape result;
  for (size_t axis = 0; axis < from->size(); ++axis) {
    if (!is_dropped[axis]) result.push_back((*from)[axis]);
  }
  inference.result().shape = std::move(result);
  inference.result().contents = inference.input(0)->contents;
  return Status::ok();
}

Status infer_split(const Inference& inference) {
  for (Value* output : inference.outputs) {
    if (output != nullptr) output->type = inference.type(0);
  }
  const Expected<GivenIntegers> sizes = given_integers(inference, "split", 1);
  if (!sizes) return sizes.status();
  const SymShape* from = inference.shape(0);
  if (from == nullptr) return Status::ok();
  const std::optional<size_t> axis = normal_axis(inference.op.integer("axis", 0), from->size());
  if (!axis) return Status::ok();
  const SymDim extent = (*from)[*axis];
  const auto parts = static_cast<int64_t>(inference.outputs.size());
  for (size_t part = 0; part < inference.outputs.size(); ++part) {
    Value* output = inference.outputs[part];
    if (output == nullptr) continue;
    SymDim size = ValueTable::unknown(*output, *axis);
    if (sizes->values && part < sizes->values->size() && (*sizes->values)[part] >= 0) {
      size = (*sizes->values)[part];
    } else if (!sizes->values && sizes->is_known && !is_symbol(extent) && extent % parts == 0) {
      size = extent / parts;
    }
    output->shape = *from;
    (*output->shape)[*axis] = size;
  }
  return Status::ok();
}

Status infer_flatten(const Inference& inference) {
  inference.set_result(inference.type(0), inference.unknown_shape(2));
  const SymShape* from = inference.shape(0);
  if (from == nullptr) return Status::ok();
  const int64_t axis = inference.op.integer("axis", 1);
  const auto rank = static_cast<int64_t>(from->size());
  if (axis < -rank || axis > rank) return Status::ok();
  const auto split = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const std::span<const SymDim> dims(*from);
  SymShape& result = *inference.result().shape;
  result[0] = product(dims.first(split)).value_or(result[0]);
  result[1] = product(dims.subspan(split)).value_or(result[1]);
  return Status::ok();
}

Status infer_reduce(const Inference& inference) {
  inference.set_result(inference.type(0), std::nullopt);
  const SymShape* from = inference.shape(0);
  Expected<GivenIntegers> axes = given_integers(inference, "axes", 1);
  if (!axes) return axes.status();
  if (from == nullptr || !axes->is_known) return Status::ok();
  const bool has_axes = axes->values && !axes->values->empty();
  if (!has_axes && inference.op.integer("noop_with_empty_axes", 0) != 0) {
    inference.result().shape = *from;
    return Status::ok();
  }
  std::vector<bool> is_reduced(from->size(), !has_axes);
  for (const int64_t axis : axes->values.value_or(std::vector<int64_t>())) {
    const std::optional<size_t> normal = normal_axis(axis, from->size());
    if (!normal) return Status::ok();
    is_reduced[*normal] = true;
  }
  SymShape result;
  const bool keeps = inference.op.integer("keepdims", 1) != 0;
  for (size_t axis = 0; axis < from->size(); ++axis) {
    if (!is_reduced[axis])
      result.push_back((*from)[axis]);
    else if (keeps)
      result.push_back(1);
  }
  inference.result().shape = std::move(result);
  return Status::ok();
}

Status infer_expand(const Inference& inference) {
  inference.set_result(inference.type(0), std::nullopt);
  const Expected<const SymShape*> target = inference.contents(1);
  if (!target) return target.status();
  const SymShape* from = inference.shape(0);
  if (*target == nullptr || from == nullptr) return Status::ok();
  const bool is_sane =
      std::all_of((*target)->begin(), (*target)->end(), [](SymDim dim) { return dim >= 0 || is_symbol(dim); });
  if (is_sane) inference.result().shape = broadcast(inference, *from, **target);
  return Status::ok();
}

}  // namespace gemmc
