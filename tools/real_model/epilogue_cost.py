"""What each step of an epilogue costs beside the bare product, measured in turn."""

import pathlib

import numpy as np

from . import timing
from .kernels import JitLibrary, Operands, aligned_copy

M, N, K = 128, 768, 768
EPILOGUES = ("bias:n", "residual", "scale:n", "relu", "leaky_relu", "clip(0;6)", "bias:n,relu", "hard_swish", "sigmoid",
             "tanh", "silu", "gelu_tanh", "gelu", "bias:n,gelu")  # fmt: skip


def print_costs(library: pathlib.Path, rounds: int) -> None:
    jit = JitLibrary(library)
    random = np.random.default_rng(0)
    # One A, packed B and Y for all: where arrays lie in memory makes as much of a difference as an epilogue.
    a, b = (aligned_copy(random.standard_normal(shape, np.float32)) for shape in ((M, K), (K, N)))
    y = aligned_copy(np.empty((M, N), np.float32))
    packed_b = None
    shapes = {"bias": N, "scale": N, "residual": (M, N)}
    calls = []
    for epilogue in ("", *EPILOGUES):
        problem = f"matmul f32 a={M}x{K} b={K}x{N} const=b" + (f" epi={epilogue}" if epilogue else "")
        ops = [step.partition(":")[0] for step in epilogue.split(",")]
        added = [aligned_copy(random.standard_normal(shapes[op], np.float32)) for op in ops if op in shapes]
        kernel = jit.kernel(problem)
        packed_b = kernel.packed(b) if packed_b is None else packed_b
        kernel.packed_b = packed_b
        calls.append(kernel.bind(Operands(a, b, y, None, added), {}))
    samples = np.array(timing.rounds_ns(calls, rounds))
    bare = samples[0]
    print(f"\n{M} x {N} x {K}, packed B: {2 * M * N * K / np.median(bare):.1f} GFLOP/s bare; with an epilogue, percent more:")
    for epilogue, sample in zip(EPILOGUES, samples[1:]):
        low, middle, high = np.percentile(100 * (sample / bare - 1), [25, 50, 75])
        print(f"  {epilogue:12s} {middle:5.1f}  ({low:.1f} to {high:.1f})")
