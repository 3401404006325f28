#include "tests/unit/core/random_every_field.h"

#include <cmath>
#include <limits>

#include "core/dim_names.h"
#include "core/problem_shapes.h"

namespace gemmc::testing {
namespace {

class Generator {
 public:
  explicit Generator(std::mt19937& random) : random_(random) {}

  Problem problem() {
    Problem p;
    p.op = chance(2) ? Operator::kGemm : Operator::kMatMul;
    p.dtype = pick(kAllDTypes);
    p.op == Operator::kGemm ? fill_gemm(p) : fill_matmul(p);
    // Strides and Y's form are checked against shapes, so the names' hints are settled first.
    declare_hints(p);
    for (Operand* operand : {&p.a, &p.b, p.c ? &*p.c : nullptr}) {
      if (operand == nullptr) continue;
      operand->is_constant = chance(4);
      if (p.dtype == DType::kFloat32 && chance(6)) operand->storage = DType::kBFloat16;
      if (operand->has_known_rank && chance(4)) operand->strides = strides(operand->shape.size());
    }
    if (p.a.has_known_rank && p.b.has_known_rank && chance(6)) {
      p.y_strides.assign(output_shape(p).size(), Stride::runtime());
    }
    p.order = chance(4) ? SummationOrder::kByK : SummationOrder::kAny;
    while (chance(3)) p.epilogue.push_back(step());
    return p;
  }

 private:
  // True once in `n` times.
  bool chance(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }
  template <typename T, size_t size>
  T pick(const T (&list)[size]) {
    return list[std::uniform_int_distribution<size_t>(0, size - 1)(random_)];
  }

  std::string name() {
    static const std::string kNames[] = {"m",   "n",     "k",       "seq", "x",  "batch x", "a)b(c",    "100%", "größe",
                                         "1st", "tab\t", "\n\x01 ", "~",   "_0", "..",      "\xff\xfe", "?",    "s=,:"};
    return pick(kNames);
  }

  Dim dim() {
    static const int64_t kSizes[] = {0, 1, 2, 3, 16, 384};
    return chance(3) ? Dim::runtime(name()) : Dim::fixed(pick(kSizes));
  }

  Shape shape(size_t rank) {
    Shape result;
    for (size_t i = 0; i < rank; ++i) result.push_back(dim());
    return result;
  }

  Strides strides(size_t rank) {
    static const Stride kStrides[] = {Stride{}, Stride::runtime(), Stride::fixed(-3), Stride::fixed(0),
                                      Stride::fixed(1 << 20)};
    Strides result;
    for (size_t i = 0; i < rank; ++i) result.push_back(pick(kStrides));
    return result;
  }

  float scalar(DType dtype) {
    static const float kScalars[] = {1.0f, 0.0f, -0.0f, 0.1f, -2.5f, 16777216.0f, 1e-45f, 3.4028235e38f, 1.0000001f};
    if (!is_integer(dtype) && chance(5)) {
      return (chance(2) ? 1.0f : -1.0f) * std::numeric_limits<float>::infinity();
    }
    return pick(kScalars);
  }

  EpilogueStep step() {
    static const EpilogueStep kSteps[] = {{"relu", "", ""},
                                          {"bias", "n", ""},
                                          {"bias", "", ""},
                                          {"bias", "m", "b:1"},
                                          {"scale", "", "100%, x"},
                                          {"residual", "mn", "größe"},
                                          {"clip", "", "", {-1.5f, 6}},
                                          {"leaky_relu", "", "", {0.25f}},
                                          {"leaky_relu", "", ""}};
    return pick(kSteps);
  }

  void fill_gemm(Problem& p) {
    const Dim m = dim(), n = dim(), k = dim(), one = Dim::fixed(1);
    p.trans_a = chance(2);
    p.trans_b = chance(2);
    p.a.shape = p.trans_a ? Shape{k, m} : Shape{m, k};
    p.b.shape = p.trans_b ? Shape{n, k} : Shape{k, n};
    p.alpha = scalar(p.dtype);
    p.beta = scalar(p.dtype);
    if (chance(3)) return;
    p.c.emplace();
    p.c->has_known_rank = !chance(6);
    if (p.c->has_known_rank) {
      const Shape kForms[] = {{}, {one}, {n}, {one, n}, {m, one}, {one, one}, {m, n}};
      p.c->shape = pick(kForms);
    }
  }

  void fill_matmul(Problem& p) {
    const Dim k = dim();
    p.a.shape = shape(std::uniform_int_distribution<size_t>(1, 5)(random_));
    p.b.shape = shape(std::uniform_int_distribution<size_t>(1, 5)(random_));
    p.a.shape.back() = k;
    p.b.shape[p.b.shape.size() == 1 ? 0 : p.b.shape.size() - 2] = k;
    for (size_t i = 0; i + 2 < p.a.shape.size(); ++i) {
      if (chance(2)) p.a.shape[i] = Dim::fixed(1);
    }
    for (Operand* operand : {&p.a, &p.b}) {
      if (!chance(6)) continue;
      operand->has_known_rank = false;
      operand->shape.clear();
    }
  }

  void declare_hints(Problem& p) {
    std::vector<std::string> names;
    for_each_dim(p, [&](const Dim& dim) { names.push_back(dim.name); });
    for (const std::string& name : names) {
      if (name.empty() || !chance(3)) continue;
      Dim hinted = Dim::runtime(name);
      if (chance(2)) hinted.min = 1;
      if (chance(2)) hinted.max = 4096;
      while (chance(2)) hinted.likely.push_back(chance(2) ? 128 : 1);
      replace_dim(p, name, hinted);
    }
  }

  std::mt19937& random_;
};

}  // namespace

Problem random_every_field(std::mt19937& random) {
  for (;;) {
    Problem problem = Generator(random).problem();
    if (validate(problem).is_ok()) return problem;  // batches that do not broadcast are drawn again
  }
}

}  // namespace gemmc::testing
