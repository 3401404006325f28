"""What each step of an epilogue costs beside the bare product, measured in turn."""

import pathlib

import numpy as np

from . import timing
from .kernels import JitLibrary, Operands

M, N, K = 128, 768, 768
EPILOGUES = ("bias:n", "residual", "scale:n", "relu", "leaky_relu", "clip(0;6)", "bias:n,relu", "hard_swish", "sigmoid",
             "tanh", "silu", "gelu_tanh", "gelu", "bias:n,gelu")  # fmt: skip


def print_costs(library: pathlib.Path, rounds: int) -> None:
    jit = JitLibrary(library)
    random = np.random.default_rng(0)
    a, b = random.standard_normal((M, K), np.float32), random.standard_normal((K, N), np.float32)
    shapes = {"bias": N, "scale": N, "residual": (M, N)}
    calls = []
    for epilogue in ("", *EPILOGUES):
        problem = f"matmul f32 a={M}x{K} b={K}x{N} const=b" + (f" epi={epilogue}" if epilogue else "")
        ops = [step.partition(":")[0] for step in epilogue.split(",")]
        added = [random.standard_normal(shapes[op], np.float32) for op in ops if op in shapes]
        calls.append(jit.kernel(problem).bind(Operands(a, b, np.empty((M, N), np.float32), None, added), {}))
    samples = np.array(timing.rounds_ns(calls, rounds))
    bare = samples[0]
    print(f"\n{M} x {N} x {K}, packed B: {2 * M * N * K / np.median(bare):.1f} GFLOP/s bare; with an epilogue, percent more:")
    for epilogue, sample in zip(EPILOGUES, samples[1:]):
        low, middle, high = np.percentile(100 * (sample / bare - 1), [25, 50, 75])
        print(f"  {epilogue:12s} {middle:5.1f}  ({low:.1f} to {high:.1f})")
