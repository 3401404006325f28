"""The two products of attention straight from (batch, seq, heads, d), through strides, beside the same products of arrays
that were transposed before."""

import pathlib

import numpy as np

from . import timing, workload
from .agreement import allowed_difference, largest_difference
from .errors import ToolError
from .kernels import BoundCall, JitLibrary, Operands, aligned_copy

HEADS, D = 12, 32


def _dense(seq: int) -> tuple[str, str]:
    return (
        f"matmul f32 a=1x{HEADS}x{seq}x{D} b=1x{HEADS}x{D}x{seq}",
        f"matmul f32 a=1x{HEADS}x{seq}x{seq} b=1x{HEADS}x{seq}x{D}",
    )


def _strided(seq: int) -> tuple[str, str]:
    scores, values = _dense(seq)
    row = HEADS * D
    stored = f"{seq * row}x{D}x{row}x1"  # of (batch, heads, seq, d) in (batch, seq, heads, d)
    return f"{scores} sa={stored} sb={seq * row}x{D}x1x{row}", f"{values} sb={stored} sy={stored}"


def _heads_first(array: np.ndarray) -> np.ndarray:
    return aligned_copy(array.transpose(0, 2, 1, 3))


def _products(jit: JitLibrary, seq: int) -> list[tuple[str, BoundCall, BoundCall]]:
    """Each with the call on transposed arrays and the one through strides, run once and compared."""
    random = np.random.default_rng(0)
    q, k, v = (aligned_copy(random.standard_normal((1, seq, HEADS, D), np.float32)) for _ in range(3))
    weights = aligned_copy(random.random((1, HEADS, seq, seq), np.float32))
    keys = aligned_copy(k.transpose(0, 2, 3, 1))
    outputs = [aligned_copy(np.full((1, HEADS, seq, seq), np.nan, np.float32)) for _ in range(2)]
    mixed = [aligned_copy(np.full(shape, np.nan, np.float32)) for shape in ((1, HEADS, seq, D), (1, seq, HEADS, D))]
    dense = (Operands(_heads_first(q), keys, outputs[0]), Operands(weights, _heads_first(v), mixed[0]))
    strided = (Operands(q, k, outputs[1]), Operands(weights, v, mixed[1]))
    texts = list(zip(_dense(seq), _strided(seq), dense, strided, strict=True))
    calls = [tuple(jit.kernel(text).bind(operands, {}) for text, operands in zip(pair[:2], pair[2:])) for pair in texts]
    for pair in calls:
        for call in pair:
            call()
    found = [(outputs[0], outputs[1]), (mixed[0], mixed[1].transpose(0, 2, 1, 3))]
    for operands, (expected, y) in zip(dense, found):
        difference = largest_difference(y, expected, allowed_difference(operands.a, operands.b))
        if not difference <= 1:
            raise ToolError(f"attention, seq {seq}: difference {difference:.3g} times the allowed")
    return [("Q K^T", *calls[0]), ("P V", *calls[1])]


def print_attention(library: pathlib.Path, rounds: int) -> None:
    jit = JitLibrary(library)
    print(f"\nattention, {HEADS} heads of {D}: on (batch, heads, seq, d), and straight from (batch, seq, heads, d)")
    print("  seq  product  transposed us  strides us  GFLOP/s  of the speed on transposed arrays")
    for seq in workload.SEQUENCES:
        products = _products(jit, seq)
        samples = np.array(timing.rounds_ns([call for _, *calls in products for call in calls], rounds))
        for i, (name, *_) in enumerate(products):
            transposed, strided = samples[2 * i], samples[2 * i + 1]
            low, middle, high = np.percentile(transposed / strided, [25, 50, 75])
            gflops = 2 * HEADS * seq * seq * D / np.median(strided)
            print(
                f"  {seq:3d}  {name:7s}  {np.median(transposed) / 1000:13.2f}  {np.median(strided) / 1000:10.2f}"
                f"  {gflops:7.1f}  {middle:.2f} ({low:.2f}-{high:.2f})"
            )
