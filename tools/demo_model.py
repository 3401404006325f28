#!/usr/bin/env python3
"""The whole path on a real transformer: list its products, compile them ahead of time and at run time, run them on the
activations and weights inside the model, and compare every one with ONNX Runtime. Run by tools/demo."""

import argparse
import collections
import json
import pathlib
import sys
import tempfile
import time

import numpy as np
from real_model import agreement, model as models, timing
from real_model.command import Programs
from real_model.errors import ToolError, exit_status
from real_model.kernels import AheadOfTimeLibrary, JitLibrary, Kernel, Operands
from real_model.report import Group, Line, print_table
from real_model.subgraph import ModelGraph

ROOT = pathlib.Path(__file__).resolve().parent.parent
NODE_COUNT = 48  # MatMul nodes of the model
BATCH, SEQUENCE = 1, 128
OTHER_BATCH, OTHER_SEQUENCE = 2, 37  # a second run of the kernels with run-time sizes
SHOWN_LINES = 12  # of the listing
KINDS = ("JIT, sizes known", "AOT, sizes known", "JIT, run-time sizes", "AOT, run-time sizes")
RUNTIME_KINDS = KINDS[2:]


def expect_count(what: str, found: int) -> None:
    if found != NODE_COUNT:
        raise ToolError(f"{what}: {found} MatMul nodes, expected {NODE_COUNT}")


def build(programs: Programs, model: pathlib.Path, folder: pathlib.Path, *options: str) -> AheadOfTimeLibrary:
    start = time.monotonic()
    programs.gemmc("build", str(model), "-o", str(folder), *options)
    library = AheadOfTimeLibrary(folder)
    kernels = library.kernels()
    expect_count(f"manifest of {folder.name}", len(kernels))
    distinct = len({kernel.symbol for kernel in kernels.values()})
    print(f"  {len(kernels)} nodes, {distinct} kernels in {time.monotonic() - start:.1f} s")
    return library


class Comparison:
    """Runs kernels on the values of one run of ONNX Runtime and compares with its results."""

    def __init__(self, values: dict[str, np.ndarray]):
        self.values = values
        self.allowed: dict[str, np.ndarray] = {}  # by node
        self.failures: list[str] = []
        self.compared = 0

    def bind(self, kernel: Kernel, node: models.Product):
        a, b = self.values[node.a], self.values[node.b]
        y = np.full_like(self.values[node.y], np.nan)
        return kernel.bind(Operands(a, b, y), node.bind(a.shape, b.shape)), y

    def compare(self, kind: str, kernel: Kernel, node: models.Product) -> float:
        """The largest difference as a share of the allowed one."""
        if node.name not in self.allowed:
            self.allowed[node.name] = agreement.allowed_difference(self.values[node.a], self.values[node.b])
        call, y = self.bind(kernel, node)
        call()
        difference = agreement.largest_difference(y, self.values[node.y], self.allowed[node.name])
        self.compared += 1
        if not difference <= 1:
            self.failures.append(f"{node.name}, {kind} ({kernel.problem}): difference {difference:.3g} times the allowed")
        return difference


def shape_text(a: np.ndarray, b: np.ndarray) -> str:
    """M x N x K, with the number of products of a batched one in front."""
    if b.ndim == 2:
        return f"{a.size // a.shape[-1]} x {b.shape[1]} x {b.shape[0]}"
    batch = int(np.prod(a.shape[:-2]))
    return f"{batch} of {a.shape[-2]} x {b.shape[-1]} x {a.shape[-1]}"


def run(build_folder: pathlib.Path, model_path: pathlib.Path, scratch: pathlib.Path) -> list[str]:
    """The demo; returns what disagreed."""
    programs = Programs(build_folder)
    model = models.load(model_path)
    nodes = models.products(model)

    print(f"gemmc list {model_path.name}")
    lines = programs.gemmc("list", str(model_path)).splitlines()
    print("\n".join("  " + line for line in [*lines[:SHOWN_LINES], "...", lines[-1]]))
    listed = json.loads(programs.gemmc("list", "--json", str(model_path)))["nodes"]
    expect_count("gemmc list", sum(node["op_type"] == "MatMul" and node["refusal"] is None for node in listed))

    print("gemmc build, the model as it is: batch and sequence stay arguments of the kernels")
    with_runtime = build(programs, model_path, scratch / "runtime")
    annotated_path = scratch / "annotated.onnx"
    annotated_nodes = models.products(models.annotate(model, annotated_path))
    expect_count("annotated model", len(annotated_nodes))
    print(f"gemmc build --dim batch={BATCH} --dim sequence={SEQUENCE}, after ONNX Runtime's shape inference")
    dims = ["--dim", f"batch={BATCH}", "--dim", f"sequence={SEQUENCE}"]
    with_static = build(programs, annotated_path, scratch / "static", *dims)

    static_kernels, runtime_kernels = with_static.kernels(), with_runtime.kernels()
    jit = JitLibrary(build_folder / "lib" / "libgemmc.so")
    jit_kernels: dict[str, Kernel] = {}  # by problem
    print(f"libgemmc {jit.version}: the distinct products at run time")
    compiled: set[str] = set()
    for problem in sorted({kernel.problem for kernel in [*static_kernels.values(), *runtime_kernels.values()]}):
        start = time.monotonic()
        jit_kernels[problem] = jit.kernel(problem)
        if jit_kernels[problem].symbol not in compiled:  # other names of dimensions are the same kernel
            compiled.add(jit_kernels[problem].symbol)
            print(f"  {1000 * (time.monotonic() - start):4.0f} ms  {problem}")

    print("ONNX Runtime computes the model on one thread; gemmc computes each node again from the same operands")
    graph = ModelGraph(model)
    tensors = {name for node in nodes for name in (node.a, node.b, node.y)}
    main = Comparison(graph.expose(tensors, models.text_inputs(BATCH, SEQUENCE)))
    differences = collections.defaultdict(lambda: [0.0] * len(KINDS))
    members: dict[str, list[tuple[models.Product, list[Kernel]]]] = collections.defaultdict(list)  # by problem
    for node in nodes:
        static, runtime = static_kernels[node.name], runtime_kernels[node.name]
        kernels = [jit_kernels[static.problem], static, jit_kernels[runtime.problem], runtime]
        members[static.problem].append((node, kernels))
        worst = differences[static.problem]
        for i, kernel in enumerate(kernels):
            worst[i] = max(worst[i], main.compare(KINDS[i], kernel, node))
    other = Comparison(graph.expose(tensors, models.text_inputs(OTHER_BATCH, OTHER_SEQUENCE)))
    other_worst = 0.0
    for node in nodes:
        runtime = runtime_kernels[node.name]
        for kind, kernel in zip(RUNTIME_KINDS, [jit_kernels[runtime.problem], runtime]):
            other_worst = max(other_worst, other.compare(kind, kernel, node))

    cpu, peak = programs.float32_peak()
    groups = []
    for problem, group in members.items():
        node, kernels = group[0]
        a, b = main.values[node.a], main.values[node.b]
        times = timing.median_ns([main.bind(kernel, node)[0] for kernel in kernels])
        operations = 2 * main.values[node.y].size * a.shape[-1]
        table_lines = [Line(*line) for line in zip(KINDS, times, differences[problem])]
        groups.append(Group(node.name, len(group), shape_text(a, b), operations, table_lines))

    print(f"\n{cpu}, one core, measured peak {peak:.1f} GFLOP/s (float32)\n")
    print_table(groups, peak)
    failures = main.failures + other.failures
    print(
        f"\n{len(nodes)} nodes at batch {BATCH}, sequence {SEQUENCE} through {len(KINDS)} kinds of kernels, and again at "
        f"batch {OTHER_BATCH}, sequence {OTHER_SEQUENCE}\nthrough the run-time ones (largest difference {other_worst:.3f} "
        f"of allowed): {main.compared + other.compared - len(failures)} of {main.compared + other.compared} agree"
    )
    expected = NODE_COUNT * (len(KINDS) + len(RUNTIME_KINDS))
    if main.compared + other.compared != expected:
        failures.append(f"{main.compared + other.compared} comparisons, expected {expected}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder of the built gemmc")
    parser.add_argument(
        "--model", type=pathlib.Path, default=ROOT / "build/models/minilm-l6-int8.onnx", help="the MiniLM model"
    )
    parser.add_argument("--keep", type=pathlib.Path, help="folder that keeps what was built; default: a temporary one")
    options = parser.parse_args()

    def run_in_scratch() -> list[str]:
        with tempfile.TemporaryDirectory() as temporary:
            scratch = options.keep or pathlib.Path(temporary)
            scratch.mkdir(parents=True, exist_ok=True)
            return run(options.build, options.model, scratch)

    return exit_status("demo", run_in_scratch)


if __name__ == "__main__":
    sys.exit(main())
