"""A product of a model and the nodes behind it that a kernel takes in, as a model of their own."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from .errors import ToolError


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


@dataclasses.dataclass
class Subgraph:
    """`nodes` compute `output` from `inputs`, some of which are constants of the model."""

    nodes: list[onnx.NodeProto]
    inputs: list[str]
    output: str


class ModelGraph:
    """The nodes of a model by name, those of inner graphs too, and which tensors never change."""

    def __init__(self, model: onnx.ModelProto):
        self.model = model
        self.nodes: dict[str, onnx.NodeProto] = {}
        self.main_tensors = {tensor.name for tensor in model.graph.initializer}
        self.main_tensors |= {value.name for value in model.graph.input}
        self.initializers: dict[str, onnx.TensorProto] = {}
        self.constants: set[str] = set()
        for graph in _graphs(model.graph):
            for tensor in graph.initializer:
                self.initializers[tensor.name] = tensor
                self.constants.add(tensor.name)
            for node in graph.node:
                self.nodes[node.name] = node
                if graph is model.graph:
                    self.main_tensors |= set(node.output)
                has_graphs = any(attribute.HasField("g") for attribute in node.attribute)
                if not has_graphs and all(not name or name in self.constants for name in node.input):
                    self.constants |= set(node.output)

    def subgraph(self, names: list[str], output: str) -> Subgraph:
        missing = [name for name in names if name not in self.nodes]
        if missing:
            raise ToolError(f"the model has no node '{missing[0]}'")
        nodes = [self.nodes[name] for name in names]
        made = {tensor for node in nodes for tensor in node.output}
        read = dict.fromkeys(name for node in nodes for name in node.input if name and name not in made)
        return Subgraph(nodes, list(read), output)

    def expose(self, tensors: set[str], inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The values of these tensors of the main graph, and of initializers, from one run without optimisations."""
        exposed = onnx.ModelProto()
        exposed.CopyFrom(self.model)
        given = {value.name for value in [*exposed.graph.input, *exposed.graph.output]}
        computed = sorted(tensors & self.main_tensors - given - self.initializers.keys())
        exposed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in computed)
        options = single_threaded()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(exposed.SerializeToString(), options, providers=["CPUExecutionProvider"])
        values = dict(inputs)
        values.update(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))
        for name in tensors & self.initializers.keys():
            values[name] = numpy_helper.to_array(self.initializers[name])
        return values

    def extract(self, part: Subgraph, values: dict[str, np.ndarray]) -> onnx.ModelProto:
        """A model of the part alone: constants as initializers, other inputs with the shapes that they have here."""
        element = onnx.TensorProto.FLOAT
        nodes = [onnx.NodeProto() for _ in part.nodes]
        for copy, node in zip(nodes, part.nodes):
            copy.CopyFrom(node)
        arrays = {name: values[name] for name in part.inputs}
        graph = helper.make_graph(
            nodes,
            "part",
            [
                helper.make_tensor_value_info(name, element, arrays[name].shape)
                for name in part.inputs
                if name not in self.constants
            ],
            [helper.make_tensor_value_info(part.output, element, None)],
            [numpy_helper.from_array(arrays[name], name) for name in part.inputs if name in self.constants],
        )
        return helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)


def single_threaded() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


class RuntimeCall:
    """A model in ONNX Runtime, one thread, all optimisations, its inputs and its result bound: a call runs it."""

    def __init__(self, model: onnx.ModelProto, feeds: dict[str, np.ndarray], y_shape: tuple[int, ...], config: dict[str, str]):
        options = single_threaded()
        for key, value in config.items():
            options.add_session_config_entry(key, value)
        self._session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._binding = self._session.io_binding()
        for value in self._session.get_inputs():
            self._binding.bind_ortvalue_input(value.name, onnxruntime.OrtValue.ortvalue_from_numpy(feeds[value.name]))
        (output,) = self._session.get_outputs()
        self._y = onnxruntime.OrtValue.ortvalue_from_numpy(np.full(y_shape, np.nan, np.float32))
        self._binding.bind_ortvalue_output(output.name, self._y)

    def __call__(self) -> None:
        self._session.run_with_iobinding(self._binding)

    def result(self) -> np.ndarray:
        return self._y.numpy().copy()


def empty_runtime_call() -> RuntimeCall:
    """What a call of ONNX Runtime costs that computes next to nothing: one element, copied."""
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "empty", [value], [helper.make_tensor_value_info("y", 1, [1])]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return RuntimeCall(model, {"x": np.ones(1, np.float32)}, (1,), {})
