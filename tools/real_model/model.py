"""The model's side: its matrix products and their shapes."""

import dataclasses
import pathlib

import numpy as np
import onnx
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

from .errors import ToolError


@dataclasses.dataclass(frozen=True)
class Product:
    """A MatMul node; shapes hold sizes and, where a size is not known, the dimension's name."""

    name: str
    a: str
    b: str
    y: str
    a_shape: tuple[int | str, ...]
    b_shape: tuple[int | str, ...]

    def bind(self, a_size: tuple[int, ...], b_size: tuple[int, ...]) -> dict[str, int]:
        """The sizes of the named dimensions when the operands are arrays of these shapes."""
        sizes: dict[str, int] = {}
        for operand, shape, actual in (("A", self.a_shape, a_size), ("B", self.b_shape, b_size)):
            if len(shape) != len(actual):
                raise ToolError(f"{operand} of '{self.name}' has shape {actual}, the model says {shape}")
            for dim, size in zip(shape, actual):
                if isinstance(dim, str):
                    sizes[dim] = size
        return sizes


def load(path: pathlib.Path) -> onnx.ModelProto:
    if not path.exists():
        raise ToolError(f"the model {path} is not there: run tools/fetch-models")
    return onnx.load(path)


def products(model: onnx.ModelProto) -> list[Product]:
    """The MatMul nodes of the main graph."""
    graph = model.graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        dims = value.type.tensor_type.shape.dim
        shapes[value.name] = tuple(dim.dim_param if dim.HasField("dim_param") else dim.dim_value for dim in dims)
    found = []
    for node in graph.node:
        if node.op_type != "MatMul":
            continue
        a, b = node.input
        missing = [name for name in (a, b) if name not in shapes]
        if missing:
            raise ToolError(f"the model does not say the shape of '{missing[0]}' of node '{node.name}'")
        found.append(Product(node.name, a, b, node.output[0], shapes[a], shapes[b]))
    return found


def annotate(model: onnx.ModelProto, path: pathlib.Path) -> onnx.ModelProto:
    """Lets ONNX Runtime infer the shapes that the model leaves open; writes the result, which still has named sizes."""
    annotated = SymbolicShapeInference.infer_shapes(model, auto_merge=True)
    onnx.save(annotated, path)
    return annotated


def text_inputs(batch: int, sequence: int) -> dict[str, np.ndarray]:
    """Inputs of a text encoder: arbitrary words, the last eighth of each text is padding."""
    words = np.random.default_rng(0).integers(1000, 30000, (batch, sequence), dtype=np.int64)
    mask = np.ones((batch, sequence), np.int64)
    mask[:, sequence - sequence // 8 :] = 0
    return {"input_ids": words, "attention_mask": mask, "token_type_ids": np.zeros_like(words)}
