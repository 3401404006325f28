// Shapes and types of operands that one operator makes, as the front end shows them.
#include "compiler/onnx_shapes.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/compiler/onnx_builder.h"

namespace gemmc::testing {
namespace {

using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

// T = `producer` over inputs x, y, z and integer constants, then MatMul(T, W): the text of T.
class Producer {
 public:
  explicit Producer(int64_t opset = 17) : model_(model(opset)) {
    *graph().add_initializer() = float_zeros("W", {1, 1});
  }
  Producer& input(const std::string& name, const std::string& dims, int32_t type = TensorProto::FLOAT) {
    *graph().add_input() = value_info(name, type, dims);
    return *this;
  }
  Producer& integers(const std::string& name, const std::vector<int64_t>& values) {
    *graph().add_initializer() = int64s(name, values);
    return *this;
  }
  Producer& weights(const std::string& name, const std::vector<int64_t>& dims) {
    *graph().add_initializer() = float_zeros(name, dims);
    return *this;
  }
  Producer& then(const std::string& op_type, const Names& inputs, const Names& outputs,
                 const std::vector<AttributeProto>& attributes = {}) {
    *graph().add_node() = node(op_type, inputs, outputs, attributes);
    return *this;
  }
  Producer& declared(const std::string& name, const std::string& dims, int32_t type = TensorProto::FLOAT) {
    *graph().add_value_info() = value_info(name, type, dims);
    return *this;
  }
  std::string shows(const std::string& tensor = "T", const std::map<std::string, int64_t>& bindings = {}) {
    *graph().add_node() = node("MatMul", {tensor, "W"}, {"Y"});
    const Expected<Model> loaded = load(model_, bindings);
    return loaded && loaded->nodes.back().node.op_type == "MatMul" ? text(loaded->nodes.back(), 0)
                                                                   : loaded.status().message();
  }

 private:
  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  ModelProto model_;
};

TEST(OnnxShapes, GraphInputs) {
  EXPECT_EQ(Producer().input("x", "batch,3,?").shows("x"), "float32[batch,3,x_2]");
  EXPECT_EQ(Producer().input("x", "").shows("x"), "float32[]");
  EXPECT_EQ(Producer().input("x", "a", TensorProto::UINT8).shows("x"), "uint8[a]");
  // Zero means "unknown" to some exporters, and a run-time dimension may be 0.
  EXPECT_EQ(Producer().input("x", "0,4").shows("x"), "float32[x_0,4]");
}

TEST(OnnxShapes, BindingsReplaceNamesEverywhere) {
  EXPECT_EQ(Producer().input("x", "b,s,4").then("Relu", {"x"}, {"T"}).shows("T", {{"b", 2}}), "float32[2,s,4]");
  EXPECT_EQ(Producer().input("x", "b,?").shows("x", {{"x_1", 7}}), "float32[b,7]");
  EXPECT_EQ(Producer().input("x", "b,0").shows("x", {{"b", 0}}), "float32[0,x_1]");
}

TEST(OnnxShapes, ElementByElement) {
  for (const char* op_type : {"Relu", "Softmax", "LayerNormalization", "Identity", "Clip", "Dropout"}) {
    EXPECT_EQ(Producer().input("x", "b,4").then(op_type, {"x"}, {"T"}).shows(), "float32[b,4]") << op_type;
  }
  EXPECT_EQ(Producer().input("x", "b,4").then("IsNaN", {"x"}, {"T"}).shows(), "bool[b,4]");
  EXPECT_EQ(Producer().input("x", "b,4").then("Cast", {"x"}, {"T"}, {attribute("to", int64_t{10})}).shows(),
            "float16[b,4]");
}

TEST(OnnxShapes, Broadcasting) {
  const auto sum = [](const std::string& x, const std::string& y) {
    return Producer().input("x", x).input("y", y).then("Add", {"x", "y"}, {"T"}).shows();
  };
  EXPECT_EQ(sum("b,1,4", "3,1"), "float32[b,3,4]");
  EXPECT_EQ(sum("b,s", "b,s"), "float32[b,s]");
  EXPECT_EQ(sum("b,s", "4"), "float32[b,4]");    // s is 4 or 1
  EXPECT_EQ(sum("b,s", "t"), "float32[b,T_1]");  // only the call tells
  EXPECT_EQ(sum("b,3", "4"), "float32[b,T_1]");  // wrong, but not a product's mistake
  EXPECT_EQ(sum("b,1", "b,1"), "float32[b,1]");
  EXPECT_EQ(Producer().input("x", "b,4").input("y", "4").then("Equal", {"x", "y"}, {"T"}).shows(), "bool[b,4]");
  EXPECT_EQ(Producer()
                .input("c", "b,1", TensorProto::BOOL)
                .input("x", "4", TensorProto::FLOAT16)
                .input("y", "", TensorProto::FLOAT16)
                .then("Where", {"c", "x", "y"}, {"T"})
                .shows(),
            "float16[b,4]");
}

TEST(OnnxShapes, Products) {
  const auto product = [](const std::string& x, const std::string& y) {
    const TemporaryFolder folder;
    ModelProto made = model();
    *made.mutable_graph()->add_input() = value_info("x", TensorProto::DOUBLE, x);
    *made.mutable_graph()->add_input() = value_info("y", TensorProto::DOUBLE, y);
    *made.mutable_graph()->add_node() = node("MatMul", {"x", "y"}, {"T"});
    *made.mutable_graph()->add_node() = node("MatMul", {"T", "T"}, {"Y"});
    const Expected<Model> loaded = load(made, folder);
    return loaded ? text(loaded->nodes[1], 0) : loaded.status().message();
  };
  EXPECT_EQ(product("b,m,4", "4,5"), "float64[b,m,5]");
  EXPECT_EQ(product("4", "b,4,5"), "float64[b,5]");
  EXPECT_EQ(product("b,m,4", "4"), "float64[b,m]");
  EXPECT_EQ(product("4", "4"), "float64[]");
  EXPECT_EQ(product("b,1,m,4", "h,4,5"), "float64[b,h,m,5]");
  const auto gemm = [](const std::vector<AttributeProto>& attributes) {
    return Producer().input("x", "m,k").weights("B", {3, 5}).then("Gemm", {"x", "B"}, {"T"}, attributes);
  };
  EXPECT_EQ(gemm({}).shows(), "float32[m,5]");
  EXPECT_EQ(gemm({attribute("transA", int64_t{1}), attribute("transB", int64_t{1})}).shows(), "float32[k,3]");
  EXPECT_EQ(Producer().then("Foo", {}, {"x"}).weights("B", {3, 5}).then("Gemm", {"x", "B"}, {"T"}).shows(),
            "float32[T_0,5]");
}

TEST(OnnxShapes, Reshape) {
  const auto reshape = [](const std::string& dims, const std::vector<int64_t>& target,
                          const std::vector<AttributeProto>& attributes = {}) {
    return Producer().input("x", dims).integers("to", target).then("Reshape", {"x", "to"}, {"T"}, attributes).shows();
  };
  EXPECT_EQ(reshape("2,3,4", {6, 4}), "float32[6,4]");
  EXPECT_EQ(reshape("2,3,4", {0, -1}), "float32[2,12]");
  EXPECT_EQ(reshape("b,s,384", {0, 0, 12, 32}), "float32[b,s,12,32]");
  EXPECT_EQ(reshape("b,s,12,32", {0, 0, -1}), "float32[b,s,384]");
  EXPECT_EQ(reshape("b,6,4", {-1, 24}), "float32[b,24]");
  EXPECT_EQ(reshape("b,6,4", {-1, 4}), "float32[T_0,4]");
  EXPECT_EQ(reshape("b,s,4", {-1, 4}), "float32[T_0,4]");
  EXPECT_EQ(reshape("0,4", {0, 4}), "float32[x_0,4]");
  EXPECT_EQ(reshape("b,4", {0, 4}, {attribute("allowzero", int64_t{1})}), "float32[0,4]");
  EXPECT_EQ(reshape("b,4", {0, -1, -1}), "float32[*]");
  EXPECT_EQ(reshape("b,4", {-2, 4}), "float32[*]");
  // Numbers so low that they could pass for symbols.
  EXPECT_EQ(reshape("b,4", {std::numeric_limits<int64_t>::min() + 5, 4}), "float32[T_0,T_1]");
  EXPECT_NE(reshape("2,3", {4, 2}).find("Reshape 'Reshape_0': shape [2, 3] cannot become [4, 2]"), std::string::npos);
  // A target that is computed: its length is the rank.
  EXPECT_EQ(
      Producer().input("x", "b,4").input("to", "3", TensorProto::INT64).then("Reshape", {"x", "to"}, {"T"}).shows(),
      "float32[T_0,T_1,T_2]");
}

TEST(OnnxShapes, ShapesThatTheGraphComputes) {
  // The way exporters split heads: [shape(x)[0], shape(x)[1], 12, 32].
  EXPECT_EQ(Producer()
                .input("x", "b,s,384")
                .integers("zero", {0})
                .integers("one", {1})
                .integers("two", {2})
                .integers("heads", {12, 32})
                .then("Shape", {"x"}, {"shape"})
                .then("Gather", {"shape", "zero"}, {"n"})
                .then("Slice", {"shape", "one", "two"}, {"length"})
                .then("Concat", {"n", "length", "heads"}, {"to"}, {attribute("axis", int64_t{0})})
                .then("Reshape", {"x", "to"}, {"T"})
                .shows(),
            "float32[b,s,12,32]");
  EXPECT_EQ(Producer()
                .input("x", "b,s,384")
                .then("Shape", {"x"}, {"to"}, {attribute("start", int64_t{1}), attribute("end", int64_t{-1})})
                .input("y", "t")
                .then("Reshape", {"y", "to"}, {"T"})
                .shows(),
            "float32[s]");
}

TEST(OnnxShapes, AxesMove) {
  const auto from = [](const std::string& dims) { return Producer().input("x", dims); };
  EXPECT_EQ(from("a,b,3").then("Transpose", {"x"}, {"T"}).shows(), "float32[3,b,a]");
  EXPECT_EQ(from("a,b,3").then("Transpose", {"x"}, {"T"}, {integers_attribute("perm", {0, 2, 1})}).shows(),
            "float32[a,3,b]");
  EXPECT_EQ(from("a,b").integers("at", {0, -1}).then("Unsqueeze", {"x", "at"}, {"T"}).shows(), "float32[1,a,b,1]");
  EXPECT_EQ(Producer(11).input("x", "a,b").then("Unsqueeze", {"x"}, {"T"}, {integers_attribute("axes", {1})}).shows(),
            "float32[a,1,b]");
  EXPECT_EQ(from("a,1,b").integers("at", {1}).then("Squeeze", {"x", "at"}, {"T"}).shows(), "float32[a,b]");
  EXPECT_EQ(Producer(11).input("x", "a,1").then("Squeeze", {"x"}, {"T"}, {integers_attribute("axes", {1})}).shows(),
            "float32[a]");
  EXPECT_EQ(from("3,1,4").then("Squeeze", {"x"}, {"T"}).shows(), "float32[3,4]");
  EXPECT_EQ(from("a,1,4").then("Squeeze", {"x"}, {"T"}).shows(), "float32[*]");  // a may be 1
  EXPECT_EQ(from("a,3,4").then("Flatten", {"x"}, {"T"}).shows(), "float32[a,12]");
  EXPECT_EQ(from("a,b,4").then("Flatten", {"x"}, {"T"}).shows(), "float32[a,T_1]");
  EXPECT_EQ(from("a,3").then("Flatten", {"x"}, {"T"}, {attribute("axis", int64_t{0})}).shows(), "float32[1,T_1]");
}

TEST(OnnxShapes, PartsOfTensors) {
  const auto axis = [](int64_t value) { return std::vector{attribute("axis", value)}; };
  EXPECT_EQ(Producer().input("x", "a,3").input("y", "a,5").then("Concat", {"x", "y"}, {"T"}, axis(-1)).shows(),
            "float32[a,8]");
  EXPECT_EQ(Producer().input("x", "a,3").input("y", "b,3").then("Concat", {"x", "y"}, {"T"}, axis(0)).shows(),
            "float32[T_0,3]");
  // Other axes are equal, so a size of one is the size of all.
  EXPECT_EQ(Producer().input("x", "a,s").input("y", "a,3").then("Concat", {"x", "y"}, {"T"}, axis(0)).shows(),
            "float32[T_0,3]");
  EXPECT_EQ(Producer()
                .weights("E", {160, 256})
                .input("x", "b,s", TensorProto::INT64)
                .then("Gather", {"E", "x"}, {"T"})
                .shows(),
            "float32[b,s,256]");
  const auto slice = [](const std::string& dims, int64_t start, int64_t end, int64_t step) {
    return Producer()
        .input("x", dims)
        .integers("from", {start})
        .integers("to", {end})
        .integers("axis", {1})
        .integers("step", {step})
        .then("Slice", {"x", "from", "to", "axis", "step"}, {"T"})
        .shows();
  };
  EXPECT_EQ(slice("b,10", 2, 5, 1), "float32[b,3]");
  EXPECT_EQ(slice("b,10", -3, 100, 1), "float32[b,3]");
  EXPECT_EQ(slice("b,10", 5, 2, 1), "float32[b,0]");
  EXPECT_EQ(slice("b,10", 0, 10, 2), "float32[b,T_1]");
  EXPECT_EQ(slice("b,s", 1, 5, 1), "float32[b,T_1]");
  EXPECT_EQ(slice("b,s", 0, std::numeric_limits<int64_t>::max(), 1), "float32[b,s]");
  EXPECT_EQ(
      Producer(9)
          .input("x", "b,10")
          .then("Slice", {"x"}, {"T"},
                {integers_attribute("starts", {1}), integers_attribute("ends", {4}), integers_attribute("axes", {1})})
          .shows(),
      "float32[b,3]");
  EXPECT_EQ(Producer().input("x", "b,12").then("Split", {"x"}, {"S", "T", "U"}, axis(1)).shows(), "float32[b,4]");
  EXPECT_EQ(Producer()
                .input("x", "b,12")
                .integers("sizes", {5, 7})
                .then("Split", {"x", "sizes"}, {"S", "T"}, axis(1))
                .shows(),
            "float32[b,7]");
  EXPECT_EQ(Producer().input("x", "b,1").integers("to", {3, 1, 4}).then("Expand", {"x", "to"}, {"T"}).shows(),
            "float32[3,b,4]");
}

TEST(OnnxShapes, Reductions) {
  const auto reduce = [](const std::vector<AttributeProto>& attributes) {
    return Producer().input("x", "a,b,4").then("ReduceMean", {"x"}, {"T"}, attributes).shows();
  };
  EXPECT_EQ(reduce({integers_attribute("axes", {-1})}), "float32[a,b,1]");
  EXPECT_EQ(reduce({integers_attribute("axes", {1}), attribute("keepdims", int64_t{0})}), "float32[a,4]");
  EXPECT_EQ(reduce({}), "float32[1,1,1]");
  EXPECT_EQ(reduce({attribute("noop_with_empty_axes", int64_t{1})}), "float32[a,b,4]");
  EXPECT_EQ(Producer().input("x", "a,b").integers("axes", {0}).then("ReduceSum", {"x", "axes"}, {"T"}).shows(),
            "float32[1,b]");
}

TEST(OnnxShapes, Images) {
  EXPECT_EQ(Producer().input("x", "n,3,h,w").weights("K", {8, 3, 5, 5}).then("Conv", {"x", "K"}, {"T"}).shows(),
            "float32[n,8,T_2,T_3]");
  EXPECT_EQ(Producer().input("x", "n,3,h,w").then("MaxPool", {"x"}, {"T"}).shows(), "float32[n,3,T_2,T_3]");
  EXPECT_EQ(Producer().input("x", "n,3,h,w").then("GlobalAveragePool", {"x"}, {"T"}).shows(), "float32[n,3,1,1]");
}

TEST(OnnxShapes, Quantization) {
  EXPECT_EQ(Producer().input("x", "b,4").input("s", "").then("QuantizeLinear", {"x", "s"}, {"T"}).shows(),
            "uint8[b,4]");
  EXPECT_EQ(Producer().input("x", "b,4").then("DynamicQuantizeLinear", {"x"}, {"q", "T", "z"}).shows(), "float32[]");
  EXPECT_EQ(Producer()
                .input("x", "b,4", TensorProto::INT8)
                .input("s", "", TensorProto::FLOAT16)
                .then("DequantizeLinear", {"x", "s"}, {"T"})
                .shows(),
            "float16[b,4]");
}

TEST(OnnxShapes, SomeOperatorsOnlyKeepTheType) {
  EXPECT_EQ(Producer().input("x", "b,4").then("Pad", {"x"}, {"T"}).shows(), "float32[*]");
  EXPECT_EQ(Producer().input("x", "b,4", TensorProto::FLOAT16).then("LSTM", {"x"}, {"y", "T"}).shows(), "float16[*]");
}

TEST(OnnxShapes, OperatorsOfOtherDomains) {
  const auto fused = [](const std::string& domain) {
    ModelProto made = model();
    *made.mutable_graph()->add_input() = value_info("x", TensorProto::FLOAT, "b,4");
    NodeProto gelu = node("BiasGelu", {"x", "x"}, {"T"});
    gelu.set_domain(domain);
    *made.mutable_graph()->add_node() = gelu;
    *made.mutable_graph()->add_node() = node("MatMul", {"T", "T"}, {"Y"});
    return operands(load(made));
  };
  EXPECT_EQ(fused("com.microsoft"), "float32[b,4]; float32[b,4]");
  EXPECT_EQ(fused("my"), "[*]; [*]");
}

TEST(OnnxShapes, ValueInfoFillsWhatIsUnknown) {
  EXPECT_EQ(Producer().input("x", "b,4").then("Foo", {"x"}, {"T"}).declared("T", "b,?,7").shows(), "float32[b,T_1,7]");
  EXPECT_EQ(Producer().input("x", "b,4").then("Foo", {"x"}, {"T"}).shows(), "[*]");
  // A name is better than an unknown size; a size that was inferred is better than what a tool may have left stale.
  EXPECT_EQ(Producer()
                .input("x", "b,s,4")
                .integers("to", {-1, 4})
                .then("Reshape", {"x", "to"}, {"T"})
                .declared("T", "rows,9")
                .shows(),
            "float32[rows,4]");
  EXPECT_EQ(Producer().input("x", "b,4").then("Relu", {"x"}, {"T"}).declared("T", "b,4,1").shows(), "float32[b,4]");
}

TEST(OnnxShapes, MalformedOperatorsOnTheWayAreRefused) {
  const auto message = [](Producer producer) { return producer.shows(); };
  EXPECT_NE(message(Producer().input("x", "a,b").then("Transpose", {"x"}, {"T"}, {integers_attribute("perm", {0, 0})}))
                .find("Transpose 'Transpose_0': perm [0, 0] is no order of 2 axes"),
            std::string::npos);
  EXPECT_NE(message(Producer().input("x", "a,b").integers("at", {5}).then("Unsqueeze", {"x", "at"}, {"T"}))
                .find("Unsqueeze 'Unsqueeze_0': axis 5 of a result of rank 3"),
            std::string::npos);
}

}  // namespace
}  // namespace gemmc::testing
