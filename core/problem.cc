#include "core/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <tuple>

#include "core/dim_names.h"
#include "core/problem_shapes.h"

namespace gemmc {
namespace {

constexpr size_t kMaxRank = 32;

std::string shape_text(const Operand& operand) {
  return operand.has_known_rank ? shape_text(operand.shape) : "(unknown rank)";
}

Status check_dims(char operand_name, const Operand& operand) {
  if (!operand.has_known_rank) {
    if (!operand.shape.empty() || !operand.strides.empty()) {
      return Status::invalid(
          fmt::format("operand {} of unknown rank has a shape or strides; allowed: none", operand_name));
    }
    return Status::ok();
  }
  if (operand.shape.size() > kMaxRank) {
    return Status::invalid(
        fmt::format("operand {} has rank {}; allowed: up to {}", operand_name, operand.shape.size(), kMaxRank));
  }
  for (const Dim& dim : operand.shape) {
    if (dim.is_static() && dim.size < 0) {
      return Status::invalid(
          fmt::format("operand {} has a dimension of {}; allowed: 0 and more", operand_name, dim.size));
    }
    if (dim.min < 0 || dim.max < dim.min) {
      return Status::invalid(fmt::format("dimension '{}' of operand {} has the range {}..{}; allowed: 0 <= min <= max",
                                         dim.name, operand_name, dim.min, dim.max));
    }
    for (int64_t likely : dim.likely) {
      if (likely < dim.min || likely > dim.max) {
        return Status::invalid(fmt::format("dimension '{}' of operand {} has the likely value {}; allowed: {}..{}",
                                           dim.name, operand_name, likely, dim.min, dim.max));
      }
    }
  }
  if (!operand.strides.empty() && operand.strides.size() != operand.shape.size()) {
    return Status::invalid(fmt::format("operand {} has {} strides for rank {}; allowed: none or one per dimension",
                                       operand_name, operand.strides.size(), operand.shape.size()));
  }
  return Status::ok();
}

// Whether the operand's elements, at the extents that are known now, lie within 2^63-1 bytes. Run-time extents count
// as 1: the call's own sizes are the caller's memory and cannot be larger. An empty operand may have any dimensions.
Status check_extent_bytes(std::string_view operand_name, const Shape& shape, const Strides& strides, DType dtype) {
  for (const Dim& dim : shape) {
    if (dim.is(0)) return Status::ok();
  }
  const __int128 limit = std::numeric_limits<int64_t>::max() / static_cast<int64_t>(size_bytes(dtype));
  // Both stay within the limit from step to step, and a step multiplies two numbers of at most 2^63: no overflow.
  __int128 count = 1;  // elements of dimension i and the later ones
  __int128 span = 1;   // places from their lowest element to their highest
  for (size_t i = shape.size(); i-- > 0;) {
    const __int128 extent = shape[i].is_static() ? shape[i].size : 1;
    __int128 stride = count;
    if (!strides.empty() && strides[i].kind == Stride::Kind::kStatic) stride = strides[i].value;
    span += (extent - 1) * (stride < 0 ? -stride : stride);
    count *= extent;
    if (count > limit || span > limit) {
      return Status::invalid(
          fmt::format("operand {} is larger than 2^63-1 bytes; allowed: up to 2^63-1", operand_name));
    }
  }
  return Status::ok();
}

Status check_gemm_shapes(const Problem& p) {
  for (const auto& [operand_name, operand] : {std::pair{'A', &p.a}, std::pair{'B', &p.b}}) {
    if (!operand->has_known_rank || operand->shape.size() != 2) {
      return Status::invalid(
          fmt::format("Gemm operand {} has shape {}; allowed: rank 2", operand_name, shape_text(*operand)));
    }
  }
  const GemmDims dims = gemm_dims(p);
  if (!same_size(dims.k, dims.k_of_b)) {
    return Status::invalid(fmt::format("K dimension mismatch: {} in A {}{}, {} in B {}{}; allowed: equal",
                                       dim_text(dims.k), shape_text(p.a), p.trans_a ? " with transA" : "",
                                       dim_text(dims.k_of_b), shape_text(p.b), p.trans_b ? " with transB" : ""));
  }
  if (!p.c || !p.c->has_known_rank) return Status::ok();
  const Shape& c = p.c->shape;
  const bool fits = c.size() <= 2 && (c.empty() || c.back().is(1) || same_size(c.back(), dims.n)) &&
                    (c.size() < 2 || c.front().is(1) || same_size(c.front(), dims.m));
  if (!fits) {
    return Status::invalid(
        fmt::format("shape mismatch: C has shape {}; allowed: anything that broadcasts to (M, N) = ({}, {})",
                    shape_text(*p.c), dim_text(dims.m), dim_text(dims.n)));
  }
  return Status::ok();
}

const Dim& matmul_k_of_b(const Problem& p) {
  return p.b.shape.size() == 1 ? p.b.shape[0] : p.b.shape[p.b.shape.size() - 2];
}

Status check_matmul_ranks(const Problem& p) {
  for (const auto& [operand_name, operand] : {std::pair{'A', &p.a}, std::pair{'B', &p.b}}) {
    if (operand->has_known_rank && operand->shape.empty()) {
      return Status::invalid(
          fmt::format("MatMul operand {} is a scalar, rank 0; allowed: rank 1 and more", operand_name));
    }
  }
  // Where both have batches, the caller flattens both, and gives each one batch stride.
  const auto check_flattened = [](char name, const Operand& operand, char other_name, const Operand& other) {
    if (other.has_known_rank || operand.shape.size() <= 2 || operand.strides.empty()) return Status::ok();
    return Status::invalid(
        fmt::format("operand {} {} has strides but the rank of {} is unknown; allowed: no strides, or rank 1 or 2",
                    name, shape_text(operand), other_name));
  };
  GEMMC_RETURN_IF_ERROR(check_flattened('A', p.a, 'B', p.b));
  return check_flattened('B', p.b, 'A', p.a);
}

Status check_matmul_k(const Problem& p) {
  if (!p.a.has_known_rank || !p.b.has_known_rank) return Status::ok();
  const Dim& k_of_a = p.a.shape.back();
  const Dim& k_of_b = matmul_k_of_b(p);
  if (k_of_a.is_static() && k_of_b.is_static() && k_of_a.size != k_of_b.size) {
    return Status::invalid(fmt::format("K dimension mismatch: {} in A {}, {} in B {}; allowed: equal", k_of_a.size,
                                       shape_text(p.a), k_of_b.size, shape_text(p.b)));
  }
  return Status::ok();
}

Status check_matmul_batches(const Problem& p) {
  for (size_t from_right = 3; from_right <= std::min(p.a.shape.size(), p.b.shape.size()); ++from_right) {
    const Dim& in_a = p.a.shape[p.a.shape.size() - from_right];
    const Dim& in_b = p.b.shape[p.b.shape.size() - from_right];
    if (in_a.is_static() && in_b.is_static() && in_a.size != in_b.size && in_a.size != 1 && in_b.size != 1) {
      return Status::invalid(
          fmt::format("batch dimension mismatch: {} in A {}, {} in B {}; allowed: equal, or one of them 1", in_a.size,
                      shape_text(p.a), in_b.size, shape_text(p.b)));
    }
  }
  return Status::ok();
}

Status check_y(const Problem& p) {
  if (!p.a.has_known_rank || !p.b.has_known_rank) {
    return p.y_strides.empty() ? Status::ok()
                               : Status::invalid("Y has strides but an operand's rank is unknown; allowed: no strides");
  }
  const Shape y = output_shape(p);
  if (!p.y_strides.empty()) {
    if (p.y_strides.size() != y.size()) {
      return Status::invalid(fmt::format("Y has {} strides for rank {}; allowed: none or one per dimension",
                                         p.y_strides.size(), y.size()));
    }
    const size_t batch_rank = std::max<size_t>({p.a.shape.size(), p.b.shape.size(), 2}) - 2;
    const auto dense_batch = std::count_if(p.y_strides.begin(), p.y_strides.begin() + batch_rank,
                                           [](const Stride& s) { return s.kind == Stride::Kind::kDense; });
    if (dense_batch != 0 && static_cast<size_t>(dense_batch) != batch_rank) {
      return Status::invalid("Y has some batch strides given and some dense; allowed: all of them or none");
    }
    GEMMC_RETURN_IF_ERROR(check_y_elements_apart(y, p.y_strides));
  }
  return check_extent_bytes("Y", y, p.y_strides, p.dtype);
}

Status check_sizes(const Problem& p) {
  GEMMC_RETURN_IF_ERROR(check_extent_bytes("A", p.a.shape, p.a.strides, p.dtype));
  GEMMC_RETURN_IF_ERROR(check_extent_bytes("B", p.b.shape, p.b.strides, p.dtype));
  if (p.c) GEMMC_RETURN_IF_ERROR(check_extent_bytes("C", p.c->shape, p.c->strides, p.dtype));
  return check_y(p);
}

Status check_storage(char operand_name, const Operand& operand, DType dtype) {
  if (!operand.storage) return Status::ok();
  const bool is_int8 = *operand.storage == DType::kInt8;
  if ((is_integer(*operand.storage) && !is_int8) || is_integer(dtype) ||
      size_bytes(*operand.storage) >= size_bytes(dtype)) {
    return Status::invalid(fmt::format(
        "operand {} has storage {} for type {}; allowed: {}", operand_name, name(*operand.storage), name(dtype),
        is_integer(dtype) ? "none, integers have no narrower storage" : "int8 or a narrower floating-point type"));
  }
  return Status::ok();
}

// Steps with an operand of Y's shape, or one value for each row, need to know Y's rows.
Status check_epilogue_operands(const Problem& p) {
  for (const EpilogueStep& step : p.epilogue) {
    const EpilogueOperandKind kind = operand_kind(step);
    if (kind != EpilogueOperandKind::kRows && kind != EpilogueOperandKind::kFull) continue;
    if (!p.a.has_known_rank || !p.b.has_known_rank) {
      return Status::invalid(
          fmt::format("epilogue step '{}' over rows, but the rank of {} is unknown; allowed: axis n or none", step.op,
                      p.a.has_known_rank ? 'B' : 'A'));
    }
  }
  const auto refuse_axis = [&](const Operand& operand, char name, std::string_view axis) {
    const bool is_vector = operand.has_known_rank && operand.shape.size() == 1;
    for (const EpilogueStep& step : p.epilogue) {
      if (!is_vector || step.axis != axis) continue;
      return Status::invalid(fmt::format("epilogue step '{}' has axis '{}', but {} is a vector; allowed: an axis of Y",
                                         step.op, axis, name));
    }
    return Status::ok();
  };
  GEMMC_RETURN_IF_ERROR(refuse_axis(p.a, 'A', "m"));
  return refuse_axis(p.b, 'B', "n");
}

// As problem strings show them: every NaN is one value, and -0 is not 0.
bool is_same_number(float left, float right) {
  if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right);
  return std::bit_cast<uint32_t>(left) == std::bit_cast<uint32_t>(right);
}

}  // namespace

bool Problem::operator==(const Problem& other) const {
  const auto others = [](const Problem& p) {
    return std::tie(p.op, p.dtype, p.a, p.b, p.c, p.y_strides, p.trans_a, p.trans_b, p.order, p.epilogue);
  };
  return others(*this) == others(other) && is_same_number(alpha, other.alpha) && is_same_number(beta, other.beta);
}

Status validate(const Problem& p) {
  if (p.op == Operator::kMatMul && (p.c || p.trans_a || p.trans_b || p.alpha != 1.0f || p.beta != 1.0f)) {
    return Status::invalid("MatMul has C, a transposition, alpha or beta; allowed: none of them");
  }
  if (is_integer(p.dtype) && !(std::isfinite(p.alpha) && std::isfinite(p.beta))) {
    return Status::invalid(
        fmt::format("alpha {} and beta {} for type {}; allowed: finite values", p.alpha, p.beta, name(p.dtype)));
  }
  GEMMC_RETURN_IF_ERROR(check_dims('A', p.a));
  GEMMC_RETURN_IF_ERROR(check_dims('B', p.b));
  if (p.c) GEMMC_RETURN_IF_ERROR(check_dims('C', *p.c));
  GEMMC_RETURN_IF_ERROR(check_hints(p));
  if (p.op == Operator::kGemm) {
    GEMMC_RETURN_IF_ERROR(check_gemm_shapes(p));
    GEMMC_RETURN_IF_ERROR(check_sizes(p));
  } else {
    GEMMC_RETURN_IF_ERROR(check_matmul_ranks(p));
    GEMMC_RETURN_IF_ERROR(check_matmul_k(p));
    // A run-time K that must be the other operand's number is that number wherever its name stands.
    Problem settled = p;
    if (p.a.has_known_rank && p.b.has_known_rank) unify_dims(settled, p.a.shape.back(), matmul_k_of_b(p));
    GEMMC_RETURN_IF_ERROR(check_matmul_batches(settled));
    GEMMC_RETURN_IF_ERROR(check_sizes(settled));
  }
  GEMMC_RETURN_IF_ERROR(check_storage('A', p.a, p.dtype));
  GEMMC_RETURN_IF_ERROR(check_storage('B', p.b, p.dtype));
  if (p.c) GEMMC_RETURN_IF_ERROR(check_storage('C', *p.c, p.dtype));
  GEMMC_RETURN_IF_ERROR(check_epilogue(p.epilogue, p.dtype));
  return check_epilogue_operands(p);
}

Status refuse_unbuilt(const Problem& p) {
  GEMMC_RETURN_IF_ERROR(refuse_unbuilt_steps(p.epilogue, p.dtype));
  for (const auto& [operand_name, operand] : {std::pair{'A', &p.a}, std::pair{'C', p.c ? &*p.c : nullptr}}) {
    if (operand != nullptr && operand->storage) {
      return Status::unsupported(
          fmt::format("operand {} stored as {}: not built yet; allowed: storage in the problem's type {}", operand_name,
                      name(*operand->storage), name(p.dtype)));
    }
  }
  return Status::ok();
}

}  // namespace gemmc
