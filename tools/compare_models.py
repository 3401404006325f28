#!/usr/bin/env python3
"""Every product of the real models with what its kernel takes in of the nodes behind it, beside ONNX Runtime on the same
nodes: results compared, then timed in turn on one thread. Run by tools/compare-models."""

import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile
import urllib.parse

import numpy as np
import onnxruntime
from real_model import agreement, epilogue_cost, timing, workload
from real_model.command import Programs
from real_model.errors import DemoError, exit_status
from real_model.kernels import AheadOfTimeLibrary, BoundCall, Kernel, Operands, aligned_copy
from real_model.model_table import ModelResult, ProductResult, print_models, print_products, print_reading
from real_model.reading import STREAMS, Reader
from real_model.subgraph import ModelGraph, RuntimeCall, Subgraph, empty_runtime_call

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEQUENCES = (8, 32, 128, 512)


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
class Product:
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


def listed_products(programs: Programs, path: pathlib.Path, graph: ModelGraph) -> tuple[list[Product], list[str]]:
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
        products.append(Product(node["name"], shapes, steps, tensors, part))
    return products, refusals


def learn_sizes(products: list[Product], values: dict[str, np.ndarray]) -> dict[str, int]:
    """The sizes of named dimensions, from the arrays that a run of the model has made."""
    sizes: dict[str, int] = {}
    for product in products:
        for tensor, shape in zip(product.tensors, product.shapes):
            if tensor not in values:
                continue
            for dim, size in zip(shape, values[tensor].shape, strict=True):
                if isinstance(dim, str) and sizes.setdefault(dim, size) != size:
                    raise DemoError(f"dimension '{dim}' is {sizes[dim]} and {size}")
    return sizes


def invent_missing(products: list[Product], values: dict[str, np.ndarray], sizes: dict[str, int]) -> None:
    """Random values for tensors of inner graphs, which a run of the model does not show."""
    random = np.random.default_rng(0)
    for product in products:
        for tensor, shape in zip(product.tensors, product.shapes):
            if tensor not in values:
                known = [sizes[dim] if isinstance(dim, str) else dim for dim in shape]
                values[tensor] = random.standard_normal(known, np.float32)
        y_shape = np.matmul(values[product.tensors[0]], oriented_b(product, values)).shape
        for tensor in product.added:
            if tensor not in values:
                values[tensor] = random.standard_normal(y_shape, np.float32)


def oriented_b(product: Product, values: dict[str, np.ndarray]) -> np.ndarray:
    """B as (..., K, N). Only what real models have: no transposed A, alpha and beta 1."""
    attributes = {attribute.name: attribute for attribute in product.part.nodes[0].attribute}
    for name, usual in (("transA", 0), ("alpha", 1), ("beta", 1)):
        if name in attributes and max(attributes[name].i, attributes[name].f) != usual:
            raise DemoError(f"node '{product.name}' has {name} other than {usual}, which the comparison does not know")
    b = values[product.tensors[1]]
    return b.T if "transB" in attributes and attributes["transB"].i else b


def compute_y(kernel: Kernel, product: Product, values: dict[str, np.ndarray], y_shape, sizes) -> tuple[BoundCall, np.ndarray]:
    arrays = [aligned_copy(values[name]) for name in product.tensors]
    y = aligned_copy(np.full(y_shape, np.nan, np.float32))
    added = [aligned_copy(values[name]) if name in values else None for name in kernel.epilogue_tensors]
    operands = Operands(arrays[0], arrays[1], y, arrays[2] if len(arrays) > 2 else None, added)
    call = kernel.bind(operands, sizes)
    call()
    return call, y


def compare_model(
    programs: Programs, work: workload.Workload, scratch: pathlib.Path, rounds: int, reader: Reader | None = None
) -> ModelResult:
    model, path = workload.load_named(work.path, scratch)
    graph = ModelGraph(model)
    products, refusals = listed_products(programs, path, graph)
    result = ModelResult(work.name, work.binding, len(products), refusals)
    if not products:
        return result
    values = graph.expose({name for product in products for name in product.part.inputs}, work.inputs)
    sizes = learn_sizes(products, values)
    for value in model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, work.inputs[value.name].shape):
            if dim.dim_param:
                sizes.setdefault(dim.dim_param, size)
    invent_missing(products, values, sizes)

    named = sorted({dim for product in products for shape in product.shapes for dim in shape if isinstance(dim, str)})
    dims = [word for name in named for word in ("--dim", f"{name}={sizes[name]}")]
    libraries = []
    for folder, options in (("static", dims), ("runtime", []), ("narrow", [*dims, "--narrow"])):
        out = scratch / f"{work.name}-{folder}"
        programs.gemmc("build", str(path), "--fuse", "--target", "host", "-o", str(out), *options)
        libraries.append(AheadOfTimeLibrary(out).kernels())

    groups: dict[tuple, ProductResult] = {}
    timed: list[tuple[ProductResult, RuntimeCall, list[BoundCall]]] = []
    read: list[tuple[ProductResult, np.ndarray]] = []  # of one row: what the kernel reads of B
    for product in products:
        a, b = values[product.tensors[0]], oriented_b(product, values)
        c = values[product.tensors[2]] if len(product.tensors) > 2 else None
        steps = [(step.op, step.values, values.get(step.tensor)) for step in product.steps]
        expected, allowed = agreement.expected(a, b, c, steps)

        feeds = {name: values[name] for name in product.part.inputs if name not in graph.constants}
        reference = RuntimeCall(graph.extract(product.part, values), feeds, expected.shape, work.session_config)
        reference()
        calls, differences = [], [agreement.largest_difference(reference.result(), expected, allowed)]
        for kernels in libraries:
            call, y = compute_y(kernels[product.name], product, values, expected.shape, sizes)
            calls.append(call)
            differences.append(agreement.largest_difference(y, expected, allowed))
            if not differences[-1] <= 1:
                result.failures.append(
                    f"{work.name}, {product.name} ({kernels[product.name].problem}): difference {differences[-1]:.3g} times the allowed"
                )
        key = (*(library[product.name].symbol for library in libraries), a.shape, b.shape)
        if key not in groups:
            group = ProductResult(product.name, a.shape, b.shape, [step.op for step in product.steps])
            groups[key] = group
            timed.append((group, reference, calls))
            packed_b = libraries[0][product.name].packed_b
            if reader is not None and group.rows == 1 and packed_b is not None:
                read.append((group, packed_b))
        groups[key].add(differences)

    empties = [empty_runtime_call(), timed[0][2][0].refused()]
    compared = [call for _, reference, ours in timed for call in (reference, *ours)]
    reading = [reader.empty_call()] if read else []
    reading += [call for _, packed_b in read for call in reader.calls(packed_b)]
    samples = timing.rounds_ns([*empties, *compared, *reading], rounds)
    result.empty_ns = [float(np.median(of_one)) for of_one in samples[:2]]
    for i, (group, _, _) in enumerate(timed):
        calls_of_each = 1 + len(libraries)
        of_runtime, *of_ours = samples[2 + calls_of_each * i : 2 + calls_of_each * (i + 1)]
        group.runtime_ns = np.maximum(np.array(of_runtime) - result.empty_ns[0], 1.0)
        group.ours_ns = [np.maximum(np.array(of_one) - result.empty_ns[1], 1.0) for of_one in of_ours]
    for i, (group, packed_b) in enumerate(read):
        first = 3 + len(compared) + len(STREAMS) * i
        group.b_bytes = packed_b.nbytes
        empty_ns = float(np.median(samples[2 + len(compared)]))
        group.reading_ns = np.min(samples[first : first + len(STREAMS)], axis=0) - empty_ns
    result.products = list(groups.values())
    return result


def run(options: argparse.Namespace) -> list[str]:
    """Compares and prints; returns what disagreed."""
    programs = Programs(options.build)
    works = [w for w in workload.load(options.models, SEQUENCES) if options.only in (None, w.name)]
    if not works:
        raise DemoError(f"no model is named '{options.only}'")
    reader = Reader.find(options.build)
    results = []
    for work in works:
        with tempfile.TemporaryDirectory() as scratch:
            results.append(compare_model(programs, work, pathlib.Path(scratch), options.rounds, reader))
            print_products(results[-1])
            print_reading(results[-1])
    cpu, peak = programs.float32_peak()
    print(f"\n{cpu}, one thread, {peak:.0f} GFLOP/s float32 peak; ONNX Runtime {onnxruntime.__version__}\n")
    print_models(results)
    if options.epilogues:
        epilogue_cost.print_costs(options.build / "lib" / "libgemmc.so", options.rounds)
    return [failure for result in results for failure in result.failures]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder of the built gemmc")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models", help="folder of the models")
    parser.add_argument("--only", help="a model's name")
    parser.add_argument("--rounds", type=int, default=15, help="how often each call is measured")
    parser.add_argument("--epilogues", action="store_true", help="also what each step of an epilogue costs")
    options = parser.parse_args()
    return exit_status("compare-models", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
