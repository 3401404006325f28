#include "compiler/bundle/kernel_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "compiler/bundle/c_names.h"
#include "core/problem_shapes.h"

namespace gemmc {
namespace {

void name_strides(const Strides& strides, char operand, std::vector<std::string>& names) {
  for (size_t i = 0; i < strides.size(); ++i) {
    const bool is_runtime = strides[i].kind == Stride::Kind::kRuntime;
    if (is_runtime) names.push_back(fmt::format("stride_{}{}", static_cast<char>(operand - 'A' + 'a'), i));
  }
}

// "float32 [dim_batch, 128]"
std::string describe_shape(DType dtype, const Shape& shape, const KernelArguments& arguments) {
  std::vector<std::string> sizes;
  for (const Dim& dim : shape) {
    if (dim.is_static()) {
      sizes.push_back(std::to_string(dim.size));
    } else if (dim.name.starts_with("max(")) {
      // Of Y only: two batch dimensions of A and B that broadcast, "max(d0,d1)".
      const std::string_view both = std::string_view(dim.name).substr(4, dim.name.size() - 5);
      const size_t comma = both.find(',');
      sizes.push_back(fmt::format("broadcast of {} and {}", arguments.dims[dim_index(both.substr(0, comma))],
                                  arguments.dims[dim_index(both.substr(comma + 1))]));
    } else {
      sizes.push_back(arguments.dims[dim_index(dim.name)]);
    }
  }
  return fmt::format("{} [{}]", name(dtype), fmt::join(sizes, ", "));
}

std::string factor_text(float factor) { return factor == 1.0f ? "" : fmt::format("{} * ", factor); }

}  // namespace

KernelArguments kernel_arguments(const Problem& problem, const std::vector<std::string>& dim_names) {
  KernelArguments arguments;
  const size_t dim_count = static_cast<size_t>(loop_form(problem).dim_count);
  for (size_t i = 0; i < dim_count; ++i) {
    const bool has_name = i < dim_names.size() && !dim_names[i].empty();
    std::string parameter = has_name ? "dim_" + c_identifier(dim_names[i]) : fmt::format("dim_{}", i);
    while (std::find(arguments.dims.begin(), arguments.dims.end(), parameter) != arguments.dims.end()) parameter += '_';
    arguments.dims.push_back(std::move(parameter));
  }
  for (const size_t step : operand_steps(problem.epilogue)) {
    arguments.epilogue.push_back(fmt::format("e{}_{}", arguments.epilogue.size(), problem.epilogue[step].op));
  }
  name_strides(problem.a.strides, 'A', arguments.strides);
  name_strides(problem.b.strides, 'B', arguments.strides);
  if (problem.c) name_strides(problem.c->strides, 'C', arguments.strides);
  name_strides(problem.y_strides, 'Y', arguments.strides);
  return arguments;
}

std::string describe_size(const SizeExpr& size, const std::vector<std::string>& dims) {
  std::string text = size.factor != 1 || size.is_static() ? std::to_string(size.factor) : "";
  for (int dim : size.is_static() ? std::vector<int>() : size.dims) {
    text += (text.empty() ? "" : " * ") + dims[static_cast<size_t>(dim)];
  }
  return text;
}

std::string describe_operand(const Problem& problem, char operand, const KernelArguments& arguments) {
  const Operand* given = operand == 'A'   ? &problem.a
                         : operand == 'B' ? &problem.b
                         : operand == 'C' ? &*problem.c
                                          : nullptr;
  const Shape shape = given != nullptr ? given->shape : output_shape(problem);
  const Strides& strides = given != nullptr ? given->strides : problem.y_strides;
  const DType dtype = given != nullptr ? stored_dtype(*given, problem.dtype) : problem.dtype;
  const std::string text = describe_shape(dtype, shape, arguments);
  std::vector<std::string> steps;
  if (strides.empty()) return text;
  for (size_t i = 0; i < strides.size(); ++i) {
    switch (strides[i].kind) {
      case Stride::Kind::kDense:
        steps.push_back("dense");
        break;
      case Stride::Kind::kStatic:
        steps.push_back(std::to_string(strides[i].value));
        break;
      case Stride::Kind::kRuntime:
        steps.push_back(fmt::format("stride_{}{}", static_cast<char>(operand - 'A' + 'a'), i));
        break;
    }
  }
  return text + fmt::format(" with strides ({})", fmt::join(steps, ", "));
}

std::vector<std::string> describe_epilogue_operands(const Problem& problem, const KernelArguments& arguments) {
  std::vector<std::string> texts;
  const Shape y = output_shape(problem);
  for (const EpilogueStep& step : problem.epilogue) {
    switch (operand_kind(step)) {
      case EpilogueOperandKind::kNone:
        break;
      case EpilogueOperandKind::kScalar:
        texts.push_back(describe_shape(problem.dtype, {}, arguments));
        break;
      case EpilogueOperandKind::kColumns:
        texts.push_back(describe_shape(problem.dtype, {y.back()}, arguments));
        break;
      case EpilogueOperandKind::kRows:
        texts.push_back(describe_shape(problem.dtype, {y[y.size() - 2]}, arguments));
        break;
      case EpilogueOperandKind::kFull:
        texts.push_back(describe_operand(problem, 'Y', arguments) + ", laid out as Y");
        break;
    }
  }
  return texts;
}

std::string describe_formula(const Problem& problem, const KernelArguments& arguments) {
  std::string text = factor_text(problem.alpha);
  text += problem.trans_a ? "transpose(A) " : "A ";
  text += problem.trans_b ? "transpose(B)" : "B";
  if (problem.c) text += " + " + factor_text(problem.beta) + "C";
  auto operand = arguments.epilogue.begin();
  for (const EpilogueStep& step : problem.epilogue) {
    if (operand_kind(step) == EpilogueOperandKind::kNone) {
      const std::vector<float> values = epilogue_values(step);
      text = fmt::format("{}({}{}{})", step.op, text, values.empty() ? "" : ", ", fmt::join(values, ", "));
    } else {
      text = step.op == "scale" ? fmt::format("({}) * {}", text, *operand++) : fmt::format("{} + {}", text, *operand++);
    }
  }
  return "Y = " + text;
}

}  // namespace gemmc
