#include "compiler/onnx_constant.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "compiler/onnx_elements.h"
#include "core/text.h"

namespace gemmc {
namespace {

using ::onnx::TensorProto;

template <typename T>
const T* elements(const OnnxTensor& tensor) {
  return reinterpret_cast<const T*>(tensor.bytes.data());
}
template <typename T>
T* elements(OnnxTensor& tensor) {
  return reinterpret_cast<T*>(tensor.bytes.data());
}

// The constant's result, with room for its values, charged for.
Expected<OnnxTensor> make_result(const ConstantExpr& constant, ModelFiles& files) {
  const size_t width = element_bytes(constant.type);
  if (width == 0) {
    return Status::unsupported(
        fmt::format("tensor {} holds {}", in_quotes(constant.label), element_type_name(constant.type)));
  }
  const auto bytes = static_cast<uint64_t>(*element_count(constant.dims)) * width;
  GEMMC_RETURN_IF_ERROR(files.charge(bytes, constant.label));
  return OnnxTensor{constant.type, constant.dims, std::vector<uint8_t>(bytes)};
}

// Dense strides of `dims` as dimensions of a tensor of rank `rank`, 0 where a dimension is broadcast.
std::vector<int64_t> broadcast_strides(const std::vector<int64_t>& dims, size_t rank) {
  std::vector<int64_t> strides(rank, 0);
  int64_t stride = 1;
  for (size_t back = 1; back <= dims.size(); ++back) {
    const int64_t dim = dims[dims.size() - back];
    strides[rank - back] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
  return strides;
}

// Calls body(position, offsets) for each index of `dims` in row-major order; offsets[i] = index * strides[i].
template <size_t Count, typename Body>
void for_each_index(const std::vector<int64_t>& dims, const std::array<std::vector<int64_t>, Count>& strides,
                    const Body& body) {
  const int64_t count = *element_count(dims);
  std::vector<int64_t> index(dims.size(), 0);
  std::array<int64_t, Count> offsets{};
  for (int64_t position = 0; position < count; ++position) {
    body(position, offsets);
    for (size_t axis = dims.size(); axis-- > 0;) {
      const bool carries = ++index[axis] == dims[axis];
      for (size_t operand = 0; operand < Count; ++operand) {
        offsets[operand] += carries ? -strides[operand][axis] * (dims[axis] - 1) : strides[operand][axis];
      }
      if (!carries) break;
      index[axis] = 0;
    }
  }
}

Expected<OnnxTensor> cast(const ConstantExpr& constant, const OnnxTensor& input, ModelFiles& files) {
  if (constant.type == TensorProto::INT4 || constant.type == TensorProto::UINT4) {
    return Status::unsupported("casts to 4-bit integers are not evaluated");
  }
  Expected<OnnxTensor> result = make_result(constant, files);
  if (!result) return result;
  const size_t count = result->bytes.size() / element_bytes(constant.type);
  bool is_defined = true;
  visit_element_type(input.type, [&]<typename From>(From) {
    visit_element_type(constant.type, [&]<typename To>(To) {
      const From* from = elements<From>(input);
      To* to = elements<To>(*result);
      for (size_t index = 0; index < count; ++index) {
        const std::optional<To> value = cast_element<To>(from[index]);
        is_defined = is_defined && value.has_value();
        to[index] = value.value_or(To{});
      }
    });
  });
  if (!is_defined) return Status::unsupported("a value lies outside the type that it is cast to");
  return result;
}

Expected<OnnxTensor> multiply(const ConstantExpr& constant, const OnnxTensor& left, const OnnxTensor& right,
                              ModelFiles& files) {
  Expected<OnnxTensor> result = make_result(constant, files);
  if (!result) return result;
  const size_t rank = constant.dims.size();
  visit_element_type(constant.type, [&]<typename T>(T) {
    const T* a = elements<T>(left);
    const T* b = elements<T>(right);
    T* y = elements<T>(*result);
    for_each_index<2>(constant.dims, {broadcast_strides(left.dims, rank), broadcast_strides(right.dims, rank)},
                      [&](int64_t position, const std::array<int64_t, 2>& offsets) {
                        const T l = a[offsets[0]], r = b[offsets[1]];
                        if constexpr (is_any_float<T>) {
                          y[position] = *cast_element<T>(widen(l) * widen(r));
                        } else {
                          y[position] = static_cast<T>(static_cast<uint64_t>(l) * static_cast<uint64_t>(r));
                        }
                      });
  });
  return result;
}

Expected<OnnxTensor> transpose(const ConstantExpr& constant, const OnnxTensor& input, ModelFiles& files) {
  Expected<OnnxTensor> result = make_result(constant, files);
  if (!result) return result;
  const std::vector<int64_t> dense = broadcast_strides(input.dims, input.dims.size());
  std::vector<int64_t> strides;
  for (const int64_t axis : constant.permutation) strides.push_back(dense[static_cast<size_t>(axis)]);
  visit_element_type(constant.type, [&]<typename T>(T) {
    const T* from = elements<T>(input);
    T* to = elements<T>(*result);
    for_each_index<1>(constant.dims, {strides}, [&](int64_t position, const std::array<int64_t, 1>& offsets) {
      to[position] = from[offsets[0]];
    });
  });
  return result;
}

// Where in a scale or zero point the element's own one is.
class ScaleIndex {
 public:
  ScaleIndex(const ConstantExpr& constant, const std::vector<int64_t>& scale_dims) {
    is_single_ = element_count(scale_dims) == 1;
    if (is_single_) return;
    extent_ = constant.dims[constant.axis];
    for (size_t axis = constant.axis + 1; axis < constant.dims.size(); ++axis) inner_ *= constant.dims[axis];
    block_ = constant.block_size;
    blocks_ = block_ > 0 ? scale_dims[constant.axis] : extent_;
  }

  int64_t operator()(int64_t position) const {
    if (is_single_) return 0;
    const int64_t on_axis = position / inner_ % extent_;
    if (block_ == 0) return on_axis;
    const int64_t outer = position / inner_ / extent_;
    return (outer * blocks_ + on_axis / block_) * inner_ + position % inner_;
  }

 private:
  bool is_single_ = false;
  int64_t extent_ = 1, inner_ = 1, block_ = 0, blocks_ = 1;
};

Expected<OnnxTensor> dequantize(const ConstantExpr& constant, const OnnxTensor& input, const OnnxTensor& scale,
                                const OnnxTensor* zero_point, ModelFiles& files) {
  Expected<OnnxTensor> result = make_result(constant, files);
  if (!result) return result;
  const int64_t count = *element_count(constant.dims);
  const ScaleIndex place(constant, scale.dims);
  bool is_done = false;
  visit_element_type(input.type, [&]<typename In>(In) {
    if constexpr (std::is_integral_v<In> && sizeof(In) <= 4) {
      visit_element_type(constant.type, [&]<typename Out>(Out) {
        if constexpr (is_any_float<Out>) {
          const In* x = elements<In>(input);
          const In* zero = zero_point != nullptr ? elements<In>(*zero_point) : nullptr;
          const Out* factor = elements<Out>(scale);
          Out* y = elements<Out>(*result);
          for (int64_t position = 0; position < count; ++position) {
            const int64_t at = place(position);
            const int64_t difference = int64_t{x[position]} - (zero != nullptr ? int64_t{zero[at]} : 0);
            using Wide = decltype(widen(Out{}));
            y[position] = *cast_element<Out>(static_cast<Wide>(difference) * widen(factor[at]));
          }
          is_done = true;
        }
      });
    }
  });
  if (!is_done) return Status::unsupported(fmt::format("{} is not dequantized", element_type_name(input.type)));
  return result;
}

}  // namespace

std::string ConstantExpr::chain() const {
  if (inputs.empty()) return std::string(origin);
  return inputs[main_input]->chain() + " > " + std::string(origin);
}

Expected<OnnxTensor> evaluate(const ConstantExpr& constant, ModelFiles& files) {
  using Kind = ConstantExpr::Kind;
  if (constant.kind == Kind::kStored) return decode_tensor(*constant.stored, constant.label, files);
  if (constant.kind == Kind::kLiteral) {
    GEMMC_RETURN_IF_ERROR(files.charge(constant.literal.bytes.size(), constant.label));
    return constant.literal;
  }
  if (constant.kind == Kind::kOpaque) return Status::unsupported("sparse tensors are not read");

  std::vector<OnnxTensor> inputs;
  for (const Constant& input : constant.inputs) {
    Expected<OnnxTensor> value = input != nullptr ? evaluate(*input, files) : Expected<OnnxTensor>(OnnxTensor{});
    if (!value) return value;
    inputs.push_back(*std::move(value));
  }
  switch (constant.kind) {
    case Kind::kCast:
      return cast(constant, inputs[0], files);
    case Kind::kMul:
      return multiply(constant, inputs[0], inputs[1], files);
    case Kind::kTranspose:
      return transpose(constant, inputs[0], files);
    case Kind::kDequantizeLinear:
      return dequantize(constant, inputs[0], inputs[1], constant.inputs[2] != nullptr ? &inputs[2] : nullptr, files);
    default:
      break;
  }
  inputs[0].dims = constant.dims;
  return std::move(inputs[0]);
}

Expected<std::optional<OnnxTensor>> known_values(const ConstantExpr& constant, ModelFiles& files) {
  Expected<OnnxTensor> values = evaluate(constant, files);
  if (values) return std::optional(*std::move(values));
  if (values.status().code() == StatusCode::kInvalidArgument) return values.status();
  return std::optional<OnnxTensor>();
}

Expected<std::optional<double>> scalar_value(const Constant& constant, ModelFiles& files) {
  std::optional<double> number;
  if (constant == nullptr || element_count(constant->dims) != 1) return number;
  const Expected<std::optional<OnnxTensor>> tensor = known_values(*constant, files);
  if (!tensor) return tensor.status();
  if (!*tensor) return number;
  visit_element_type((*tensor)->type, [&]<typename T>(T element) {
    if ((*tensor)->bytes.size() != sizeof element) return;
    std::memcpy(&element, (*tensor)->bytes.data(), sizeof element);
    number = static_cast<double>(widen(element));
  });
  return number;
}

Expected<std::optional<std::vector<int64_t>>> small_integers(const ConstantExpr& constant, ModelFiles& files) {
  std::optional<std::vector<int64_t>> none;
  if (constant.type != TensorProto::INT64 && constant.type != TensorProto::INT32) return none;
  if (*element_count(constant.dims) > static_cast<int64_t>(kMaxRank)) return none;
  const Expected<OnnxTensor> tensor = evaluate(constant, files);
  if (!tensor && tensor.status().code() != StatusCode::kUnsupported) return tensor.status();
  if (!tensor) return none;
  std::vector<int64_t> values;
  visit_element_type(tensor->type, [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) {
      for (size_t index = 0; index < tensor->bytes.size() / sizeof(T); ++index) {
        values.push_back(static_cast<int64_t>(elements<T>(*tensor)[index]));
      }
    }
  });
  return std::optional(std::move(values));
}

}  // namespace gemmc
