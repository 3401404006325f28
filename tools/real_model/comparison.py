"""The products of one model, each with what its kernel takes in of the nodes behind it, beside ONNX Runtime on the same
nodes: results first, then times."""

import dataclasses
import pathlib
from collections.abc import Callable

import numpy as np

from . import agreement, timing, workload
from .command import Programs
from .kernels import AheadOfTimeLibrary, BoundCall, Kernel, Operands, aligned_copy
from .model_table import ModelResult, ProductResult
from .products import ListedProduct, listed_products, oriented_b
from .reading import Reader
from .sizes import invent_missing, learn_sizes
from .subgraph import ModelGraph, RuntimeCall, empty_runtime_call


@dataclasses.dataclass
class Timed:
    """The calls of one kind of product."""

    result: ProductResult
    reference: RuntimeCall
    ours: list[BoundCall]
    reading: list[Callable[[], None]]  # only the packed weights; empty where there is more than one row


def _build_libraries(
    programs: Programs, path: pathlib.Path, products: list[ListedProduct], sizes: dict[str, int], scratch: pathlib.Path
) -> list[dict[str, Kernel]]:
    """Kernels by node: for the sizes at hand, for all sizes, and for those at hand with B as it is stored."""
    named = sorted({dim for product in products for shape in product.shapes for dim in shape if isinstance(dim, str)})
    dims = [word for name in named for word in ("--dim", f"{name}={sizes[name]}")]
    libraries = []
    for folder, options in (("static", dims), ("runtime", []), ("narrow", [*dims, "--narrow"])):
        out = scratch / folder
        programs.gemmc("build", str(path), "--fuse", "--target", "host", "-o", str(out), *options)
        libraries.append(AheadOfTimeLibrary(out).kernels())
    return libraries


def _bind(kernel: Kernel, product: ListedProduct, values: dict[str, np.ndarray], y: np.ndarray, sizes: dict[str, int]) -> BoundCall:
    arrays = [aligned_copy(values[name]) for name in product.tensors]
    added = [aligned_copy(values[name]) if name in values else None for name in kernel.epilogue_tensors]
    return kernel.bind(Operands(arrays[0], arrays[1], y, arrays[2] if len(arrays) > 2 else None, added), sizes)


def _time(timed: list[Timed], reader: Reader | None, rounds: int, result: ModelResult) -> None:
    empties = [empty_runtime_call(), timed[0].ours[0].refused()] + ([reader.empty_call()] if reader is not None else [])
    calls = [call for one in timed for call in (one.reference, *one.ours, *one.reading)]
    samples = iter(np.array(timing.rounds_ns([*empties, *calls], rounds)))
    empty_ns = [float(np.median(next(samples))) for _ in empties]
    result.empty_ns = empty_ns[:2]
    for one in timed:
        one.result.runtime_ns = np.maximum(next(samples) - empty_ns[0], 1.0)
        one.result.ours_ns = [np.maximum(next(samples) - empty_ns[1], 1.0) for _ in one.ours]
        reading_ns = [next(samples) for _ in one.reading]
        if reading_ns:
            one.result.reading_ns = np.maximum(np.min(reading_ns, axis=0) - empty_ns[2], 1.0)


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
    libraries = _build_libraries(programs, path, products, sizes, scratch)

    timed: dict[tuple, Timed] = {}
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
            kernel, y = kernels[product.name], aligned_copy(np.full(expected.shape, np.nan, np.float32))
            calls.append(_bind(kernel, product, values, y, sizes))
            calls[-1]()
            differences.append(agreement.largest_difference(y, expected, allowed))
            if not differences[-1] <= 1:
                result.failures.append(
                    f"{work.name}, {product.name} ({kernel.problem}): difference {differences[-1]:.3g} times the allowed"
                )
        key = (*(library[product.name].symbol for library in libraries), a.shape, b.shape)
        if key not in timed:
            found = ProductResult(product.name, a.shape, b.shape, [step.op for step in product.steps])
            packed_b = libraries[0][product.name].packed_b
            reads_weights = reader is not None and found.rows == 1 and packed_b is not None
            if reads_weights:
                found.b_bytes = packed_b.nbytes
            timed[key] = Timed(found, reference, calls, reader.calls(packed_b) if reads_weights else [])
        timed[key].result.add(differences)

    _time(list(timed.values()), reader, rounds, result)
    result.products = [one.result for one in timed.values()]
    return result
