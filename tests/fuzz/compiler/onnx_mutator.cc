#include "tests/fuzz/compiler/onnx_mutator.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "onnx.pb.h"

namespace gemmc::testing {
namespace {

using namespace ::onnx;

using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

constexpr const char* kOpTypes[] = {"Gemm",
                                    "MatMul",
                                    "MatMulInteger",
                                    "Constant",
                                    "Identity",
                                    "Cast",
                                    "Mul",
                                    "Transpose",
                                    "Reshape",
                                    "Squeeze",
                                    "Unsqueeze",
                                    "Shape",
                                    "Concat",
                                    "Gather",
                                    "Slice",
                                    "Split",
                                    "Flatten",
                                    "Expand",
                                    "Where",
                                    "Add",
                                    "Relu",
                                    "Equal",
                                    "ReduceSum",
                                    "DequantizeLinear",
                                    "If",
                                    "Loop",
                                    "Conv",
                                    "MaxPool",
                                    "F",
                                    "Dropout",
                                    "Softmax",
                                    "QuantizeLinear",
                                    "Tile",
                                    "GlobalAveragePool",
                                    "DynamicQuantizeLinear"};
constexpr const char* kAttributes[] = {
    "alpha",      "beta",         "transA",       "transB",       "axis",        "axes",      "perm",
    "to",         "value",        "starts",       "ends",         "value_ints",  "value_int", "start",
    "end",        "value_float",  "allowzero",    "keepdims",     "split",       "steps",     "value_floats",
    "block_size", "output_dtype", "value_string", "sparse_value", "then_branch", "body",      "noop_with_empty_axes",
    "else_branch"};
const std::string kOddNames[] = {
    "",        "?",    "a\nb",          "\xff", std::string(300, 'n'),  std::string(2000, 'm'),
    "ai.onnx", "my",   "com.microsoft", "x y",  std::string("a\0b", 3), "d0",
    "A_0",     "100%", "max(a,b)"};
const std::string kPlaces[] = {"w.bin", "sub/v.bin", "../w.bin", "/dev/zero", ".",       "sub",
                               "pipe",  "out.bin",   "none",     "",          "./w.bin", "sub/../w.bin"};
const std::string kPlaceNumbers[] = {"0", "8", "64", "-1", "18446744073709551616", "9223372036854775807", "4x", ""};
constexpr int64_t kNumbers[] = {0,
                                1,
                                2,
                                3,
                                4,
                                5,
                                8,
                                17,
                                21,
                                31,
                                32,
                                33,
                                64,
                                255,
                                1000,
                                65536,
                                -1,
                                -2,
                                -3,
                                -33,
                                std::numeric_limits<int32_t>::max(),
                                int64_t{1} << 31,
                                int64_t{1} << 40,
                                int64_t{1} << 62,
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};

// What there is to change, collected anew for each change.
struct Parts {
  std::vector<std::string*> names;  // of tensors, nodes, dimensions, functions, attributes
  std::vector<Nodes*> lists;
  std::vector<NodeProto*> nodes;
  std::vector<TensorProto*> tensors;
  std::vector<AttributeProto*> attributes;
  std::vector<ValueInfoProto*> infos;
  std::vector<GraphProto*> graphs;
  std::vector<OperatorSetIdProto*> opsets;

  explicit Parts(ModelProto& model) {
    add(*model.mutable_graph());
    for (OperatorSetIdProto& opset : *model.mutable_opset_import()) opsets.push_back(&opset);
    for (FunctionProto& function : *model.mutable_functions()) {
      names.push_back(function.mutable_name());
      names.push_back(function.mutable_domain());
      for (auto* list : {function.mutable_input(), function.mutable_output()}) add_names(*list);
      for (OperatorSetIdProto& opset : *function.mutable_opset_import()) opsets.push_back(&opset);
      for (AttributeProto& attribute : *function.mutable_attribute_proto()) add(attribute);
      add(*function.mutable_node());
    }
  }

 private:
  template <typename List>
  void add_names(List& list) {
    for (std::string& name : list) names.push_back(&name);
  }
  void add(Nodes& list) {
    lists.push_back(&list);
    for (NodeProto& node : list) {
      nodes.push_back(&node);
      names.push_back(node.mutable_name());
      for (auto* wires : {node.mutable_input(), node.mutable_output()}) add_names(*wires);
      for (AttributeProto& attribute : *node.mutable_attribute()) add(attribute);
    }
  }
  void add(AttributeProto& attribute) {
    attributes.push_back(&attribute);
    names.push_back(attribute.mutable_name());
    if (attribute.has_t()) add(*attribute.mutable_t());
    if (attribute.has_g()) add(*attribute.mutable_g());
    for (GraphProto& graph : *attribute.mutable_graphs()) add(graph);
  }
  void add(TensorProto& tensor) {
    tensors.push_back(&tensor);
    names.push_back(tensor.mutable_name());
  }
  void add(GraphProto& graph) {
    graphs.push_back(&graph);
    for (auto* list : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
      for (ValueInfoProto& info : *list) {
        infos.push_back(&info);
        names.push_back(info.mutable_name());
      }
    }
    for (TensorProto& tensor : *graph.mutable_initializer()) add(tensor);
    for (SparseTensorProto& sparse : *graph.mutable_sparse_initializer()) add(*sparse.mutable_values());
    add(*graph.mutable_node());
  }
};

class Mutator {
 public:
  Mutator(ModelProto& model, unsigned int seed) : model_(model), random_(seed), parts_(model) {}

 private:
  size_t below(size_t count) { return random_() % count; }
  bool chance(size_t one_in) { return below(one_in) == 0; }
  template <typename List>
  auto& pick(List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }
  int64_t number() { return chance(4) ? static_cast<int64_t>(random_()) : pick(kNumbers); }
  int64_t small() { return static_cast<int64_t>(below(6)); }
  std::string some_name() {
    if (chance(8) || parts_.names.empty()) return pick(kOddNames);
    return *pick(parts_.names);
  }

 public:
  void change() {
    using Change = void (Mutator::*)();
    constexpr Change kChanges[] = {
        &Mutator::rename,    &Mutator::rename,        &Mutator::rewire,        &Mutator::rewire,
        &Mutator::add_node,  &Mutator::add_node,      &Mutator::change_op,     &Mutator::reorder,
        &Mutator::drop_node, &Mutator::set_attribute, &Mutator::set_attribute, &Mutator::set_attribute,
        &Mutator::set_dims,  &Mutator::set_type,      &Mutator::fill,          &Mutator::fill,
        &Mutator::move_out,  &Mutator::set_info,      &Mutator::set_info,      &Mutator::add_tensor,
        &Mutator::set_opset, &Mutator::add_function,  &Mutator::wrap,          &Mutator::add_sparse,
    };
    (this->*pick(kChanges))();
  }

 private:
  void rename() {
    if (!parts_.names.empty()) *pick(parts_.names) = some_name();
  }
  void rewire() {
    if (parts_.nodes.empty()) return;
    NodeProto& node = *pick(parts_.nodes);
    auto* wires = chance(4) ? node.mutable_output() : node.mutable_input();
    if (wires->empty() || chance(4)) {
      wires->Add(some_name());
    } else if (chance(4)) {
      wires->RemoveLast();
    } else {
      pick(*wires) = some_name();
    }
  }
  void add_node() {
    if (parts_.lists.empty()) return;
    Nodes& list = *pick(parts_.lists);
    NodeProto& node = *list.Add();
    node.set_op_type(pick(kOpTypes));
    for (int64_t count = 1 + small() / 2; count > 0; --count) node.add_input(some_name());
    node.add_output("v" + std::to_string(below(100)));
    if (chance(2)) give_attribute(node);
    if (chance(2)) list.SwapElements(list.size() - 1, static_cast<int>(below(static_cast<size_t>(list.size()))));
  }
  void change_op() {
    if (parts_.nodes.empty()) return;
    NodeProto& node = *pick(parts_.nodes);
    if (chance(4)) node.set_domain(some_name());
    node.set_op_type(pick(kOpTypes));
  }
  void reorder() {
    if (parts_.lists.empty()) return;
    Nodes& list = *pick(parts_.lists);
    if (list.size() > 1) list.SwapElements(0, static_cast<int>(below(static_cast<size_t>(list.size()))));
  }
  void drop_node() {
    if (parts_.lists.empty()) return;
    Nodes& list = *pick(parts_.lists);
    if (!list.empty()) list.DeleteSubrange(static_cast<int>(below(static_cast<size_t>(list.size()))), 1);
  }

  void give_attribute(NodeProto& node) {
    AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(pick(kAttributes));
    set_value(attribute);
  }
  void set_attribute() {
    if (parts_.attributes.empty() || chance(3)) {
      if (!parts_.nodes.empty()) give_attribute(*pick(parts_.nodes));
    } else {
      set_value(*pick(parts_.attributes));
    }
  }
  void set_value(AttributeProto& attribute) {
    switch (below(8)) {
      case 0:
        attribute.set_type(static_cast<AttributeProto::AttributeType>(below(15)));
        break;
      case 1:
        attribute.set_type(AttributeProto::FLOAT);
        attribute.set_f(static_cast<float>(number()));
        break;
      case 2:
        attribute.set_type(AttributeProto::INTS);
        if (chance(4)) attribute.clear_ints();
        for (int64_t count = small(); count > 0; --count) attribute.add_ints(chance(3) ? number() : small());
        break;
      case 3:
        attribute.set_type(AttributeProto::TENSOR);
        if (!parts_.tensors.empty()) {
          const TensorProto copy = *pick(parts_.tensors);
          *attribute.mutable_t() = copy;
        }
        break;
      case 4:
        attribute.set_ref_attr_name(some_name());
        break;
      default:
        attribute.set_type(AttributeProto::INT);
        attribute.set_i(chance(3) ? number() : small() - 2);
    }
  }

  void set_dims() {
    if (parts_.tensors.empty()) return;
    TensorProto& tensor = *pick(parts_.tensors);
    if (tensor.dims_size() == 0 || chance(4)) {
      tensor.add_dims(small());
    } else if (chance(4)) {
      tensor.mutable_dims()->RemoveLast();
    } else {
      pick(*tensor.mutable_dims()) = chance(3) ? number() : small();
    }
    if (!chance(4)) fill(tensor);
  }
  void set_type() {
    if (parts_.tensors.empty()) return;
    TensorProto& tensor = *pick(parts_.tensors);
    tensor.set_data_type(static_cast<int32_t>(chance(8) ? number() : static_cast<int64_t>(below(26))));
    if (!chance(4)) fill(tensor);
  }
  void fill() {
    if (!parts_.tensors.empty()) fill(*pick(parts_.tensors));
  }
  // Gives the tensor as many values as its shape asks for, in one of the places where values may stand.
  void fill(TensorProto& tensor) {
    size_t count = 1;
    for (const int64_t dim : tensor.dims()) {
      if (dim < 0 || dim > 4096) return;
      count *= static_cast<size_t>(dim);
      if (count > 4096) return;
    }
    constexpr size_t kBits[] = {0, 32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8};
    const auto type = static_cast<size_t>(tensor.data_type());
    const size_t bits = type < std::size(kBits) ? kBits[type] : 8;
    tensor.clear_int64_data();
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.clear_int32_data();
    tensor.clear_double_data();
    tensor.clear_uint64_data();
    tensor.clear_data_location();
    if (chance(2)) {
      tensor.set_raw_data(std::string((count * bits + 7) / 8, static_cast<char>(small())));
    } else if (type == TensorProto::FLOAT) {
      for (; count > 0; --count) tensor.add_float_data(static_cast<float>(small()));
    } else if (type == TensorProto::DOUBLE) {
      for (; count > 0; --count) tensor.add_double_data(static_cast<double>(small()));
    } else if (type == TensorProto::INT64) {
      for (; count > 0; --count) tensor.add_int64_data(small() - 1);
    } else if (type == TensorProto::UINT64 || type == TensorProto::UINT32) {
      for (; count > 0; --count) tensor.add_uint64_data(static_cast<uint64_t>(small()));
    } else {
      if (bits == 4) count = (count + 1) / 2;
      for (; count > 0; --count) tensor.add_int32_data(static_cast<int32_t>(small()));
    }
  }
  // To external data.
  void move_out() {
    if (parts_.tensors.empty()) return;
    TensorProto& tensor = *pick(parts_.tensors);
    tensor.clear_raw_data();
    tensor.set_data_location(TensorProto::EXTERNAL);
    const auto add_entry = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    if (chance(3)) tensor.clear_external_data();
    if (!chance(4)) add_entry("location", chance(2) ? kPlaces[0] : pick(kPlaces));
    if (chance(3)) add_entry("offset", pick(kPlaceNumbers));
    if (chance(3)) add_entry("length", pick(kPlaceNumbers));
  }

  void set_info() {
    if (parts_.infos.empty() || chance(4)) {
      if (!parts_.graphs.empty()) pick(parts_.graphs)->add_value_info()->set_name(some_name());
      return;
    }
    auto* type = pick(parts_.infos)->mutable_type()->mutable_tensor_type();
    if (chance(3)) type->set_elem_type(static_cast<int32_t>(below(26)));
    auto* shape = type->mutable_shape();
    auto* dim = shape->dim_size() == 0 || chance(3) ? shape->add_dim() : &pick(*shape->mutable_dim());
    if (chance(3)) {
      dim->set_dim_param(some_name());
    } else {
      dim->set_dim_value(chance(3) ? number() : small());
    }
    if (chance(6)) shape->mutable_dim()->RemoveLast();
  }
  void add_tensor() {
    if (parts_.graphs.empty()) return;
    TensorProto& tensor = *pick(parts_.graphs)->add_initializer();
    tensor.set_name(some_name());
    tensor.set_data_type(static_cast<int32_t>(chance(2) ? 1 : below(26)));
    for (int64_t rank = small() / 2; rank > 0; --rank) tensor.add_dims(small());
    fill(tensor);
  }
  void add_sparse() {
    if (parts_.graphs.empty()) return;
    SparseTensorProto& sparse = *pick(parts_.graphs)->add_sparse_initializer();
    sparse.mutable_values()->set_name(some_name());
    sparse.mutable_values()->set_data_type(static_cast<int32_t>(below(26)));
    for (int64_t rank = small(); rank > 0; --rank) sparse.add_dims(chance(4) ? number() : small());
  }
  void set_opset() {
    if (chance(4)) model_.set_ir_version(small());
    if (parts_.opsets.empty() || chance(8)) {
      model_.add_opset_import()->set_domain(some_name());
    } else {
      pick(parts_.opsets)->set_version(chance(4) ? number() : 6 + static_cast<int64_t>(below(20)));
    }
  }

  // A function of some list's nodes, and a call of it.
  void add_function() {
    if (parts_.lists.empty() || model_.functions_size() > 8) return;
    FunctionProto& function = *model_.add_functions();
    function.set_domain("my");
    function.set_name(chance(2) ? "F" : "G");
    function.add_input(some_name());
    function.add_output(some_name());
    *function.mutable_opset_import() = model_.opset_import();
    *function.mutable_node() = *pick(parts_.lists);
    NodeProto& call = *model_.mutable_graph()->add_node();
    call.set_domain("my");
    call.set_op_type(function.name());
    call.add_input(some_name());
    call.add_output("call" + std::to_string(below(100)));
  }
  // A list's nodes also become the body of a new node.
  void wrap() {
    if (parts_.lists.empty()) return;
    Nodes& list = *pick(parts_.lists);
    GraphProto body;
    *body.mutable_node() = list;
    if (!list.empty() && list[0].output_size() > 0) body.add_output()->set_name(list[0].output(0));
    NodeProto& node = *list.Add();
    const bool is_if = chance(2);
    node.set_op_type(is_if ? "If" : "Loop");
    node.add_output("v" + std::to_string(below(100)));
    const std::vector<const char*> bodies = is_if ? std::vector{"then_branch", "else_branch"} : std::vector{"body"};
    for (const char* name : bodies) {
      AttributeProto& attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(AttributeProto::GRAPH);
      *attribute.mutable_g() = body;
    }
  }

  ModelProto& model_;
  std::minstd_rand random_;
  Parts parts_;
};

}  // namespace

void mutate_model(ModelProto& model, unsigned int seed) {
  std::minstd_rand random(seed);
  for (unsigned int count = 1 + random() % 4; count > 0; --count) Mutator(model, random()).change();
}

}  // namespace gemmc::testing
