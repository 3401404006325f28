#!/usr/bin/env python3
"""Every product of the real models with what its kernel takes in of the nodes behind it, beside ONNX Runtime on the same
nodes: results compared, then timed in turn on one thread. Run by tools/compare-models."""

import argparse
import pathlib
import sys
import tempfile

import onnxruntime
from real_model import attention, epilogue_cost, workload
from real_model.command import Programs
from real_model.comparison import compare_model
from real_model.errors import ToolError, exit_status
from real_model.model_table import print_models, print_products, print_reading
from real_model.reading import Reader

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(options: argparse.Namespace) -> list[str]:
    """Compares and prints; returns what disagreed."""
    programs = Programs(options.build)
    works = [w for w in workload.load(options.models) if options.only in (None, w.name)]
    if not works:
        known = dict.fromkeys(w.name for w in workload.load(options.models))
        raise ToolError(f"no model is named '{options.only}'; allowed: {', '.join(known)}")
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
    if options.kernels:
        library = options.build / "lib" / "libgemmc.so"
        epilogue_cost.print_costs(library, options.rounds)
        attention.print_attention(library, options.rounds)
    return [failure for result in results for failure in result.failures]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder of the built gemmc")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models", help="folder of the models")
    parser.add_argument("--only", help="a model's name")
    parser.add_argument("--rounds", type=int, default=15, help="how often each call is measured")
    parser.add_argument("--kernels", action="store_true", help="also what epilogues cost, and attention through strides")
    options = parser.parse_args()
    return exit_status("compare-models", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
