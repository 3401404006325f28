#include "tools/performance/product_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.h"

namespace gemmc {
namespace {

Status refuse(const std::string& what) {
  return Status::unsupported(fmt::format("{}: timing this is not built yet; allowed: dense products without it", what));
}

Status refuse_what_is_not_timed(const Problem& p) {
  if (p.c) return refuse("C");
  if (p.alpha != 1.0f) return refuse(fmt::format("alpha={}", p.alpha));
  if (!p.epilogue.empty()) return refuse(fmt::format("the epilogue's step '{}'", p.epilogue[0].op));
  if (p.order == SummationOrder::kByK) return refuse("order=k");
  struct Named {
    char letter;
    const Operand& operand;
  };
  for (const Named& named : {Named{'A', p.a}, Named{'B', p.b}}) {
    if (named.operand.storage)
      return refuse(fmt::format("{} stored as {}", named.letter, name(*named.operand.storage)));
    if (!named.operand.strides.empty()) return refuse(fmt::format("strides of {}", named.letter));
  }
  if (!p.y_strides.empty()) return refuse("strides of Y");
  return Status::ok();
}

Status refuse_unbound(const CanonicalProblem& canonical) {
  if (canonical.dim_names.empty()) return Status::ok();
  std::vector<std::string> names;
  for (const std::string& name : canonical.dim_names) names.push_back(one_line(name, 100));
  return Status::invalid(fmt::format("unbound run-time dimensions: {}; allowed: none, bind each with --dim NAME=SIZE",
                                     fmt::join(names, ", ")));
}

// The batch dimensions of both operands as one.
Status fold_batches(const Problem& p, Product& product) {
  const size_t a_rank = p.a.shape.size() - 2, b_rank = p.b.shape.size() - 2, rank = std::max(a_rank, b_rank);
  bool has_a = false, has_b = false, differ = false;
  for (size_t axis = 0; axis < rank; ++axis) {
    const auto extent = [&](const Shape& shape, size_t own_rank) {
      return axis + own_rank < rank ? 1 : shape[axis + own_rank - rank].size;
    };
    const int64_t a = extent(p.a.shape, a_rank), b = extent(p.b.shape, b_rank), y = a == 1 ? b : a;
    if (y == 1) continue;
    // One operand may have no batch at all; batches that both have must be the same.
    has_a = has_a || a != 1;
    has_b = has_b || b != 1;
    differ = differ || a != b;
    product.batch *= y;
  }
  product.shares_a = !has_a && has_b;
  product.shares_b = !has_b && has_a;
  if (has_a && has_b && differ) return refuse("batches that broadcast in several dimensions");
  return Status::ok();
}

}  // namespace

Expected<Product> product_of(const Problem& problem) {
  if (!problem.a.has_known_rank) return refuse("A of unknown rank");
  if (!problem.b.has_known_rank) return refuse("B of unknown rank");
  const CanonicalProblem canonical = gemmc::canonical(problem);
  const Problem& p = canonical.problem;
  GEMMC_RETURN_IF_ERROR(refuse_what_is_not_timed(p));
  GEMMC_RETURN_IF_ERROR(refuse_unbound(canonical));
  Product product;
  product.trans_a = p.trans_a;
  product.trans_b = p.trans_b;
  const auto last = [](const Operand& operand, size_t from_end) {
    return operand.shape[operand.shape.size() - from_end].size;
  };
  product.m = last(p.a, p.trans_a ? 1 : 2);
  product.k = last(p.a, p.trans_a ? 2 : 1);
  product.n = last(p.b, p.trans_b ? 2 : 1);
  GEMMC_RETURN_IF_ERROR(fold_batches(p, product));
  if (std::min({product.m, product.n, product.k, product.batch}) < 1)
    return Status::invalid(fmt::format("{}: nothing to time; allowed: sizes from 1", product.to_string()));
  return product;
}

Expected<Problem> problem_of(DType dtype, const Product& product, Sizes sizes, bool has_constant_b) {
  const bool is_runtime = sizes == Sizes::kRuntime;
  const auto dim = [&](const char* name, int64_t size) { return is_runtime ? Dim::runtime(name) : Dim::fixed(size); };
  const Dim m = dim("m", product.m), n = dim("n", product.n), k = dim("k", product.k);
  Problem problem;
  problem.dtype = dtype;
  problem.b.is_constant = has_constant_b;
  if (product.batch == 1) {
    problem.trans_a = product.trans_a;
    problem.trans_b = product.trans_b;
    problem.a.shape = product.trans_a ? Shape{k, m} : Shape{m, k};
    problem.b.shape = product.trans_b ? Shape{n, k} : Shape{k, n};
  } else {
    if (is_runtime && (product.trans_a || product.trans_b))
      return refuse(fmt::format("run-time sizes of {}", product.to_string()));
    // MatMul has no transpositions, but strides.
    problem.op = Operator::kMatMul;
    problem.a.shape = {m, k};
    problem.b.shape = {k, n};
    if (product.trans_a) problem.a.strides = {Stride::fixed(1), Stride::fixed(product.m)};
    if (product.trans_b) problem.b.strides = {Stride::fixed(1), Stride::fixed(product.k)};
    const auto add_batch = [&](Operand& operand, int64_t step) {
      operand.shape.insert(operand.shape.begin(), dim("batch", product.batch));
      if (!operand.strides.empty()) operand.strides.insert(operand.strides.begin(), Stride::fixed(step));
    };
    if (!product.shares_a) add_batch(problem.a, product.a_step());
    if (!product.shares_b) add_batch(problem.b, product.b_step());
  }
  GEMMC_RETURN_IF_ERROR(validate(problem));
  return problem;
}

}  // namespace gemmc
