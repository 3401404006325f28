#include "tests/support/random_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/dim_names.h"
#include "schedules/blocking.h"
#include "schedules/family_table.h"
#include "tests/support/instance.h"

namespace gemmc::testing {
namespace {

constexpr int64_t kMostMultiplications = 2'000'000;
constexpr int64_t kLargestStaticBatch = 8;
constexpr int64_t kLargestLikelySize = 70;

int64_t random_size(Random& random) {
  switch (random.between(0, 19)) {
    case 0:
      return 0;
    case 1:
    case 2:
      return 1;
    case 3:
    case 4:
      return random.pick<int64_t>({2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65});
    case 5:
      return random.pick<int64_t>({95, 96, 97, 127, 128, 129, 160, 191, 192, 193, 255, 256, 257, 300});
    default:
      return random.between(1, 70);
  }
}

Dim random_dim(const std::string& name, DimKind kind, Random& random) {
  if (kind == DimKind::kSomeRuntime && random.one_in(2)) return Dim::fixed(std::min<int64_t>(random_size(random), 70));
  return Dim::runtime(name);
}

// Likely values for the run-time dimensions of the matrices, so that together they may bind all a tile needs.
void add_random_likely_values(Problem& problem, Random& random) {
  for (const Operand* operand : {&problem.a, &problem.b}) {
    const size_t rank = operand->shape.size();
    for (size_t i = rank - std::min<size_t>(rank, 2); i < rank; ++i) {
      Dim dim = operand->shape[i];
      if (dim.is_static() || !dim.likely.empty()) continue;
      dim.likely = {std::min<int64_t>(random_size(random), kLargestLikelySize)};
      if (random.one_in(4)) dim.likely.push_back(random.between(1, kLargestLikelySize));
      replace_dim(problem, dim.name, dim);
    }
  }
}

int64_t runtime_size(const Dim& dim, Random& random) {
  if (dim.likely.empty() || random.one_in(3)) return random_size(random);
  return dim.likely[static_cast<size_t>(random.between(0, static_cast<int64_t>(dim.likely.size()) - 1))];
}

// Strides for an operand with a row and a column dimension last, in the ways that callers have them.
Strides random_strides(size_t rank, Random& random) {
  if (rank == 0) return {};
  Strides strides(rank, Stride::runtime());
  // Rows apart by a leading dimension that each call gives, elements of a row side by side.
  if (rank >= 2 && random.one_in(2)) strides[rank - 1] = Stride::fixed(1);
  return strides;
}

void add_random_c(Problem& problem, const Dim& m, const Dim& n, DimKind kind, Random& random) {
  const Dim one = Dim::fixed(1);
  Operand c;
  switch (random.between(0, 8)) {
    case 0:
      break;
    case 1:
      c.shape = {one};
      break;
    case 2:
    case 3:
      c.shape = {n};
      break;
    case 4:
      c.shape = {one, n};
      break;
    case 5:
      c.shape = {m, one};
      break;
    case 6:
      c.shape = {one, one};
      break;
    default:
      c.shape = {m, n};
      break;
  }
  if (kind == DimKind::kAllRuntime && random.one_in(8)) {
    c = Operand{};
    c.has_known_rank = false;
  }
  problem.c = c;
}

void add_random_scalars(Problem& problem, Random& random) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
  if (random.one_in(2)) problem.alpha = random.pick({0.0f, -1.0f, 0.5f, 2.0f, -1.5f, 3.0f, 0.1f, -7.0f});
  if (random.one_in(2)) problem.beta = random.pick({0.0f, -1.0f, 0.5f, 2.0f, -1.5f, 3.0f, 0.1f});
  if (is_integer(problem.dtype)) return;
  if (random.one_in(20)) problem.alpha = random.pick({kInfinity, -kInfinity, kNaN, 1e30f, 1e-40f});
  if (random.one_in(20)) problem.beta = random.pick({kInfinity, -kInfinity, kNaN, 1e30f, 1e-40f});
}

// Up to three steps that the problem can have.
void add_random_epilogue(Problem& problem, Random& random) {
  const auto is_possible = [&](const EpilogueStep& step) {
    Problem with_step = problem;
    with_step.epilogue.push_back(step);
    return validate(with_step).is_ok() && refuse_unbuilt(with_step).is_ok();
  };
  for (int64_t wanted = random.between(1, 3); wanted > 0;) {
    const std::string op =
        random.pick<std::string>({"bias", "bias", "bias", "scale", "residual", "relu", "leaky_relu", "clip", "gelu",
                                  "gelu_tanh", "sigmoid", "tanh", "silu", "hard_swish"});
    EpilogueStep step{.op = op, .axis = "", .name = ""};
    if (op == "bias" || op == "scale") step.axis = random.pick<std::string>({"n", "n", "m", "mn", ""});
    // Only the call tells whether an operand of unknown rank is a vector, which leaves Y no columns.
    if (step.axis == "n" && !problem.b.has_known_rank) continue;
    if (op == "leaky_relu" && random.one_in(2)) step.values = {random.pick({0.25f, -0.5f, 2.0f})};
    if (op == "clip") step.values = random.one_in(2) ? std::vector<float>{0, 6} : std::vector<float>{-1.5f, 2.5f};
    if (!is_possible(step)) continue;
    problem.epilogue.push_back(step);
    --wanted;
  }
}

Problem random_gemm(DType dtype, DimKind kind, Random& random) {
  Problem problem;
  problem.op = Operator::kGemm;
  problem.dtype = dtype;
  const Dim m = random_dim("m", kind, random);
  const Dim n = random_dim(random.one_in(20) ? "m" : "n", kind, random);
  const Dim k = random_dim(random.one_in(20) ? "m" : "k", kind, random);
  problem.trans_a = random.one_in(2);
  problem.trans_b = random.one_in(2);
  problem.a.shape = problem.trans_a ? Shape{k, m} : Shape{m, k};
  problem.b.shape = problem.trans_b ? Shape{n, k} : Shape{k, n};
  add_random_scalars(problem, random);
  if (!random.one_in(3)) add_random_c(problem, m, n, kind, random);
  if (random.one_in(4)) problem.a.strides = random_strides(2, random);
  if (random.one_in(4)) problem.b.strides = random_strides(2, random);
  if (random.one_in(4)) problem.y_strides = random_strides(2, random);
  if (problem.c && problem.c->has_known_rank) {
    if (problem.c->shape.size() == 2 && random.one_in(2)) {
      problem.c->strides = problem.y_strides;  // may run in place
    } else if (random.one_in(4)) {
      problem.c->strides = random_strides(problem.c->shape.size(), random);
    }
  }
  return problem;
}

Problem random_matmul(DType dtype, DimKind kind, Random& random) {
  Problem problem;
  problem.op = Operator::kMatMul;
  problem.dtype = dtype;
  const Dim k = random_dim("k", kind, random);
  const Dim k_of_b = random.one_in(5) && !k.is_static() ? Dim::runtime("kb") : k;
  const bool a_is_vector = random.one_in(10), b_is_vector = random.one_in(10);
  const int64_t batch_rank = random.pick<int64_t>({0, 0, 1, 1, 2, 2, 3});
  int64_t a_batches = 0, b_batches = 0;
  if (!a_is_vector) a_batches = batch_rank;
  if (!b_is_vector) b_batches = random.pick<int64_t>({0, batch_rank, batch_rank});
  if (!a_is_vector && b_batches > 0 && random.one_in(3)) a_batches = random.between(0, batch_rank);
  const int64_t rank = std::max(a_batches, b_batches);
  for (int64_t i = rank; i > 0; --i) {
    Dim in_a = random.one_in(2) ? Dim::runtime(fmt::format("x{}", i)) : random_dim(fmt::format("a{}", i), kind, random);
    Dim in_b = in_a;
    if (!in_a.is_static() && random.one_in(2)) in_b = random_dim(fmt::format("b{}", i), kind, random);
    if (in_a.is_static()) in_a = in_b = Dim::fixed(random.between(1, 4));
    if (in_b.is_static()) in_b = Dim::fixed(random.one_in(3) ? 1 : std::min<int64_t>(in_b.size, kLargestStaticBatch));
    // A size may meet a name from either side.
    if (in_a.is_static() != in_b.is_static() && random.one_in(2)) std::swap(in_a, in_b);
    if (i <= a_batches) problem.a.shape.push_back(in_a);
    if (i <= b_batches) problem.b.shape.push_back(in_b);
  }
  if (!a_is_vector) problem.a.shape.push_back(random_dim("m", kind, random));
  problem.a.shape.push_back(k);
  problem.b.shape.push_back(k_of_b);
  if (!b_is_vector) problem.b.shape.push_back(random_dim("n", kind, random));

  if (kind == DimKind::kAllRuntime && random.one_in(5)) {
    const int64_t which = random.between(1, 3);
    if ((which & 1) != 0) problem.a = Operand{.has_known_rank = false};
    if ((which & 2) != 0) problem.b = Operand{.has_known_rank = false};
    return problem;
  }
  // A batch dimension that is 1 on both sides is dropped with its strides: leave strides to problems without static
  // ones.
  const auto has_static_batch = [](const Operand& operand) {
    return operand.shape.size() > 2 &&
           std::any_of(operand.shape.begin(), operand.shape.end() - 2, [](const Dim& dim) { return dim.is_static(); });
  };
  if (has_static_batch(problem.a) || has_static_batch(problem.b)) return problem;
  if (random.one_in(5)) problem.a.strides = random_strides(problem.a.shape.size(), random);
  if (random.one_in(5)) problem.b.strides = random_strides(problem.b.shape.size(), random);
  const size_t y_rank = static_cast<size_t>(rank) + (a_is_vector ? 0 : 1) + (b_is_vector ? 0 : 1);
  if (random.one_in(5) && y_rank >= 2) problem.y_strides = random_strides(y_rank, random);
  return problem;
}

using Bindings = std::map<std::string, int64_t>;

// Binds the batch dimensions that meet, so that they are equal or one of them is 1.
void bind_batches(const Problem& problem, Bindings& bound, Random& random) {
  const Shape &a = problem.a.shape, &b = problem.b.shape;
  for (size_t from_right = 3; from_right <= std::max(a.size(), b.size()); ++from_right) {
    const Dim in_a = from_right <= a.size() ? a[a.size() - from_right] : Dim::fixed(1);
    const Dim in_b = from_right <= b.size() ? b[b.size() - from_right] : Dim::fixed(1);
    int64_t extent = random.one_in(30) ? 0 : random.between(1, 4);
    for (const Dim* dim : {&in_a, &in_b}) {
      if (dim->is_static() && dim->size != 1) extent = dim->size;
    }
    const bool is_shared = in_a.name == in_b.name;
    for (const Dim* dim : {&in_a, &in_b}) {
      if (!dim->is_static()) bound.emplace(dim->name, !is_shared && random.one_in(4) ? 1 : extent);
    }
  }
}

std::vector<int64_t> bound_shape(const Shape& shape, Bindings& bound, Random& random) {
  std::vector<int64_t> result;
  for (const Dim& dim : shape) {
    if (dim.is_static()) {
      result.push_back(dim.size);
      continue;
    }
    const auto found = bound.find(dim.name);
    if (found == bound.end()) bound[dim.name] = runtime_size(dim, random);
    result.push_back(bound[dim.name]);
  }
  return result;
}

// A MatMul's shapes where a rank is unknown: a matrix or vector with batches of its own.
void shape_unknown_ranks(const Problem& problem, ArrayShapes& shapes, Random& random) {
  const int64_t m = random_size(random), n = random_size(random);
  const auto known_k = [&]() -> std::optional<int64_t> {
    if (problem.a.has_known_rank) return shapes.a.back();
    if (problem.b.has_known_rank) return shapes.b.size() == 1 ? shapes.b[0] : shapes.b[shapes.b.size() - 2];
    return std::nullopt;
  };
  const int64_t k = known_k().value_or(random_size(random));
  const auto make = [&](const std::vector<int64_t>& other, std::vector<int64_t> matrix) {
    // The batches of the other operand from the right, some replaced by 1, some left out, some added.
    std::vector<int64_t> batches;
    if (other.size() > 2) batches.assign(other.begin(), other.end() - 2);
    for (int64_t& extent : batches) {
      if (random.one_in(4))
        extent = 1;
      else if (extent == 1)
        extent = random.between(1, 3);
    }
    if (!batches.empty() && random.one_in(3)) {
      batches.erase(batches.begin());
    } else {
      while (batches.size() < 3 && random.one_in(3)) batches.insert(batches.begin(), random.between(1, 3));
    }
    batches.insert(batches.end(), matrix.begin(), matrix.end());
    return batches;
  };
  if (!problem.a.has_known_rank) {
    shapes.a = random.one_in(8) ? std::vector<int64_t>{k}
                                : make(problem.b.has_known_rank ? shapes.b : std::vector<int64_t>{}, {m, k});
  }
  if (!problem.b.has_known_rank) shapes.b = random.one_in(8) ? std::vector<int64_t>{k} : make(shapes.a, {k, n});
}

int64_t multiplications(const Problem& problem, const ArrayShapes& shapes) {
  // K times the elements of Y, with MatMul's batches counted generously, and zeros as ones: Y may be large all the
  // same.
  const auto count = [](const std::vector<int64_t>& shape) {
    int64_t product = 1;
    for (const int64_t extent : shape) product *= std::max<int64_t>(extent, 1);
    return product;
  };
  if (problem.op == Operator::kGemm) {
    const int64_t n = shapes.b[problem.trans_b ? 0 : 1];
    return count(shapes.a) * n;
  }
  const int64_t n = shapes.b.size() == 1 ? 1 : shapes.b.back();
  const auto batches = [&](const std::vector<int64_t>& shape) {
    return shape.size() <= 2 ? 1 : count({shape.begin(), shape.end() - 2});
  };
  return count(shapes.a) * n * batches(shapes.b);
}

}  // namespace

Problem random_problem(DType dtype, DimKind kind, Random& random) {
  Problem problem = random.between(0, 9) < 6 ? random_gemm(dtype, kind, random) : random_matmul(dtype, kind, random);
  problem.b.is_constant = random.one_in(3);
  if (!is_integer(dtype) && random.one_in(5)) {
    constexpr DType kNarrower[] = {DType::kInt8, DType::kBFloat16, DType::kFloat16, DType::kFloat32};
    const size_t count = dtype == DType::kFloat64 ? 4 : dtype == DType::kFloat32 ? 3 : 1;
    problem.b.storage = kNarrower[random.between(0, static_cast<int64_t>(count) - 1)];
  }
  if (random.one_in(3)) add_random_epilogue(problem, random);
  if (random.one_in(3)) add_random_likely_values(problem, random);
  return problem;
}

ArrayShapes random_shapes(const Problem& problem, Random& random) {
  // A problem with large static sizes may never get below the limit.
  for (int attempt = 0;; ++attempt) {
    Bindings bound;
    ArrayShapes shapes;
    if (problem.op == Operator::kMatMul) bind_batches(problem, bound, random);
    if (problem.op == Operator::kMatMul && problem.a.has_known_rank && problem.b.has_known_rank) {
      const Shape &a = problem.a.shape, &b = problem.b.shape;
      const Dim& k_of_a = a.back();
      const Dim& k_of_b = b.size() == 1 ? b[0] : b[b.size() - 2];
      if (!k_of_a.is_static() && !k_of_b.is_static())
        bound[k_of_b.name] = bound[k_of_a.name] = runtime_size(k_of_a, random);
    }
    shapes.a = bound_shape(problem.a.shape, bound, random);
    shapes.b = bound_shape(problem.b.shape, bound, random);
    if (!problem.a.has_known_rank || !problem.b.has_known_rank) shape_unknown_ranks(problem, shapes, random);
    if (problem.c && problem.c->has_known_rank) shapes.c = bound_shape(problem.c->shape, bound, random);
    if (problem.c && !problem.c->has_known_rank) {
      const int64_t m = shapes.a[problem.trans_a ? 1 : 0], n = shapes.b[problem.trans_b ? 0 : 1];
      const std::vector<int64_t> forms[] = {{}, {1}, {n}, {1, n}, {m, 1}, {1, 1}, {m, n}};
      shapes.c = forms[random.between(0, 6)];
    }
    if (attempt == 50 || multiplications(problem, shapes) <= kMostMultiplications) return shapes;
  }
}

Problem static_problem(const Problem& problem, const ArrayShapes& shapes, uint64_t seed) {
  const Instance instance = make_instance(problem, shapes, seed);
  Problem result = problem;
  const auto fix = [](Operand& operand, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
    operand.has_known_rank = true;
    operand.shape.clear();
    for (const int64_t extent : shape) operand.shape.push_back(Dim::fixed(extent));
    for (size_t i = 0; i < operand.strides.size(); ++i) operand.strides[i] = Stride::fixed(strides[i]);
  };
  fix(result.a, shapes.a, instance.a.strides);
  fix(result.b, shapes.b, instance.b.strides);
  if (result.c) fix(*result.c, *shapes.c, instance.c->strides);
  for (size_t i = 0; i < result.y_strides.size(); ++i) result.y_strides[i] = Stride::fixed(instance.y_strides[i]);
  return result;
}

Problem runtime_problem(const Problem& problem) {
  Problem result = problem;
  for (Operand* operand : {&result.a, &result.b, result.c ? &*result.c : nullptr}) {
    if (operand == nullptr) continue;
    for (Stride& stride : operand->strides) stride = Stride::runtime();
  }
  for (Stride& stride : result.y_strides) stride = Stride::runtime();
  if (problem.op == Operator::kGemm) {
    const Dim m = Dim::runtime("m"), n = Dim::runtime("n"), k = Dim::runtime("k");
    result.a.shape = problem.trans_a ? Shape{k, m} : Shape{m, k};
    result.b.shape = problem.trans_b ? Shape{n, k} : Shape{k, n};
    if (!result.c) return result;
    Shape& c = result.c->shape;
    if (!c.empty() && !c.back().is(1)) c.back() = n;
    if (c.size() == 2 && !c.front().is(1)) c.front() = m;
    return result;
  }
  const auto name_dims = [](Shape& shape, const std::string& operand, const std::string& last) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const size_t from_right = shape.size() - i;
      shape[i] = Dim::runtime(from_right == 1 ? last : fmt::format("{}{}", operand, from_right));
    }
  };
  name_dims(result.a.shape, "a", "k");
  name_dims(result.b.shape, "b", "n");
  (result.b.shape.size() == 1 ? result.b.shape[0] : result.b.shape[result.b.shape.size() - 2]) = Dim::runtime("k");
  return result;
}

std::optional<Problem> runtime_rows_problem(const Problem& fixed) {
  const bool has_strides =
      !fixed.a.strides.empty() || !fixed.y_strides.empty() || (fixed.c && !fixed.c->strides.empty());
  if (has_strides || fixed.trans_a || fixed.a.shape.size() < 2) return std::nullopt;
  Problem result = fixed;
  const Dim rows = Dim::runtime("rows");
  result.a.shape[result.a.shape.size() - 2] = rows;
  // A 1 there broadcasts C.
  if (result.c && result.c->shape.size() == 2 && !result.c->shape[0].is(1)) result.c->shape[0] = rows;
  return result;
}

std::optional<Problem> unknown_rank_problem(const Problem& problem) {
  Problem result = runtime_problem(problem);
  Operand unknown;
  unknown.has_known_rank = false;
  if (problem.op == Operator::kGemm) {
    if (!problem.c || !problem.c->strides.empty()) return std::nullopt;
    result.c = unknown;
    return result;
  }
  if (!problem.a.strides.empty() || !problem.b.strides.empty() || !problem.y_strides.empty()) return std::nullopt;
  result.a = result.b = unknown;
  return result;
}

Schedule random_schedule(const Problem& problem, const Target& target, Random& random, std::optional<Family> only) {
  const Problem canonical_problem = canonical(problem).problem;
  std::vector<Family> families;
  for (const FamilyVerdict& verdict : judge_families(canonical_problem, target)) {
    if (!verdict.refusal && verdict.family == only.value_or(verdict.family)) families.push_back(verdict.family);
  }
  while (true) {
    Schedule schedule;
    schedule.family = families.at(static_cast<size_t>(random.between(0, static_cast<int64_t>(families.size()) - 1)));
    schedule.lanes = random.pick({2, 4, 8, 16});
    // Mostly small tiles, whose unrolled code compiles several times as fast.
    const bool is_large = random.one_in(4);
    schedule.nr = static_cast<int>(random.between(1, is_large ? 4 : 2));
    if (schedule.family != Family::kDots) schedule.nr *= schedule.lanes;
    if (schedule.family == Family::kDots || schedule.family == Family::kRows) {
      schedule.kr = static_cast<int>(random.between(1, 4));
    }
    schedule.mr = static_cast<int>(random.between(1, is_large ? 8 : 4));
    schedule.mc = schedule.mr * static_cast<int>(random.between(1, 12));
    schedule.packs_b = schedule.family == Family::kTiled && canonical_problem.b.is_constant && random.one_in(2);
    schedule.masks_columns = schedule.family == Family::kTiled && target.has(kAvx512) && random.one_in(4);
    if (schedule.masks_columns) schedule.nr = schedule.lanes;
    if (schedule.family == Family::kTiled && random.one_in(2)) schedule.kc = static_cast<int>(random.between(1, 20));
    if (schedule.family == Family::kRows) schedule.nc = schedule.nr * static_cast<int>(random.between(1, 6));
    if (schedule.family == Family::kGeneral) {
      schedule.nc = schedule.nr * static_cast<int>(random.between(1, 6));
      schedule.kc = static_cast<int>(random.between(1, 70));
      schedule.sums_in_y = random.one_in(2);
      if (schedule.sums_in_y && random.one_in(2)) {
        schedule.lent_nc = schedule.nc + schedule.nr * static_cast<int>(random.between(1, 6));
      }
    }
    schedule.pairs_products = may_pair_products(canonical_problem, target) && random.one_in(2) &&
                              (schedule.family == Family::kGeneral || schedule.family == Family::kDots);
    schedule.packs_a = schedule.family == Family::kGeneral && schedule.pairs_products && random.one_in(2);
    if (validate(schedule, problem.dtype, target).is_ok() && !refuse_schedule(schedule, canonical_problem, target)) {
      return schedule;
    }
  }
}

}  // namespace gemmc::testing
