"""The products of a model as `gemmc list` shows them, each with the nodes behind it that its kernel takes in."""

import dataclasses
import json
import pathlib
import urllib.parse

import numpy as np

from .command import Programs
from .errors import ToolError
from .subgraph import ModelGraph, Subgraph


@dataclasses.dataclass
class Step:
    """A step of an epilogue, as `gemmc list` writes it: "bias:n:b1", "leaky_relu(0.1)"."""

    op: str
    values: list[float]
    tensor: str | None  # that it reads

    @classmethod
    def parse(cls, text: str) -> "Step":
        head, _, operand = text.partition(":")
        op, _, values = head.rstrip(")").partition("(")
        tensor = urllib.parse.unquote(operand.partition(":")[2]) or None
        return cls(op, [float(value) for value in values.split(";")] if values else [], tensor)


@dataclasses.dataclass
class ListedProduct:
    """A node that `gemmc list` shows, with the nodes behind it that its kernel replaces."""

    name: str
    shapes: list[list[int | str]]  # of A, B and C; names stand for sizes that are not known
    steps: list[Step]
    tensors: list[str]  # of A, B and C
    part: Subgraph

    @property
    def added(self) -> list[str]:
        """The tensors that the steps read, in their order."""
        return [step.tensor for step in self.steps if step.tensor is not None]


def listed_products(programs: Programs, path: pathlib.Path, graph: ModelGraph) -> tuple[list[ListedProduct], list[str]]:
    """The products, and why others are refused."""
    products, refusals = [], []
    for node in json.loads(programs.gemmc("list", "--json", str(path)))["nodes"]:
        if node["refusal"] is not None:
            refusals.append(f"{node['name']}: {node['refusal']}")
            continue
        fusable = node["fusable"] or {"epilogue": "", "replaces": [], "output": node["output"]}
        part = graph.subgraph([node["name"], *fusable["replaces"]], fusable["output"])
        tensors = [name for name in part.nodes[0].input if name]
        shapes = [operand["shape"] for operand in node["inputs"]]
        steps = [Step.parse(text) for text in fusable["epilogue"].split(",") if text]
        products.append(ListedProduct(node["name"], shapes, steps, tensors, part))
    return products, refusals


def oriented_b(product: ListedProduct, values: dict[str, np.ndarray]) -> np.ndarray:
    """B as (..., K, N). Only what real models have: no transposed A, alpha and beta 1."""
    attributes = {attribute.name: attribute for attribute in product.part.nodes[0].attribute}
    for name, usual in (("transA", 0), ("alpha", 1), ("beta", 1)):
        if name in attributes and max(attributes[name].i, attributes[name].f) != usual:
            raise ToolError(f"node '{product.name}' has {name} other than {usual}, which the comparison does not know")
    b = values[product.tensors[1]]
    return b.T if "transB" in attributes and attributes["transB"].i else b
