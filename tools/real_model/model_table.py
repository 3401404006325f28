"""The tables of tools/compare-models: the distinct products of each model, and one line for each model."""

import dataclasses

import numpy as np

from .text_table import print_aligned

KINDS = ("ONNX Runtime", "sizes known", "run-time sizes", "sizes known, B as stored")


@dataclasses.dataclass
class ProductResult:
    """Nodes with equal kernels and shapes; the first is timed."""

    node: str
    a_shape: tuple[int, ...]
    b_shape: tuple[int, ...]
    steps: list[str]
    count: int = 0
    # The largest difference from float64, as a share of the documented one, of each of KINDS.
    differences: list[float] = dataclasses.field(default_factory=lambda: [0.0] * len(KINDS))
    # Nanoseconds of one call in each round, without what an empty call costs.
    runtime_ns: np.ndarray | None = None
    ours_ns: list[np.ndarray] = dataclasses.field(default_factory=list)
    # Of one row times packed weights: their size, and how long only reading them took in each round.
    b_bytes: int = 0
    reading_ns: np.ndarray | None = None

    def add(self, differences: list[float]) -> None:
        self.count += 1
        self.differences = [max(pair) for pair in zip(self.differences, differences, strict=True)]

    @property
    def rows(self) -> int:
        return int(np.prod(self.a_shape[:-1]))

    @property
    def shape(self) -> str:
        m, k = ([1, *self.a_shape])[-2:]
        n = self.b_shape[-1]
        if len(self.b_shape) <= 2:
            return f"{self.rows} x {n} x {k}"
        return f"{int(np.prod(self.a_shape[:-2]))} of {m} x {n} x {k}"

    @property
    def operations(self) -> int:
        return 2 * int(np.prod(self.a_shape)) * self.b_shape[-1]


@dataclasses.dataclass
class ModelResult:
    model: str
    binding: str
    node_count: int
    refusals: list[str]
    products: list[ProductResult] = dataclasses.field(default_factory=list)
    empty_ns: list[float] = dataclasses.field(default_factory=list)  # a call of ONNX Runtime, and of a kernel
    failures: list[str] = dataclasses.field(default_factory=list)


def _ratio_text(over: np.ndarray, under: np.ndarray) -> str:
    """"1.23 (1.20-1.27)": the median of the rounds' ratios and the middle half of them."""
    low, middle, high = np.percentile(over / under, [25, 50, 75])
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def print_products(result: ModelResult) -> None:
    print(f"\n{result.model}, {result.binding}: {result.node_count} products, {len(result.refusals)} refused", flush=True)
    for refusal in result.refusals:
        print(f"  refused: {refusal}")
    if not result.products:
        return
    rows = [("node", "nodes", "product", "epilogue", "ORT us", "known us", "run-time us", "narrow us", "known x", "run-time x", "narrow x", "GFLOP/s", "ORT err", "err")]
    for product in result.products:
        ns = [float(np.median(of_one)) for of_one in (product.runtime_ns, *product.ours_ns)]
        rows.append(
            (
                product.node[-40:],
                str(product.count),
                product.shape,
                " ".join(product.steps) or "-",
                *(f"{one / 1000:.2f}" for one in ns),
                *(_ratio_text(product.runtime_ns, of_one) for of_one in product.ours_ns),
                f"{product.operations / ns[1]:.1f}",
                f"{product.differences[0]:.2f}",
                f"{max(product.differences[1:]):.2f}",
            )
        )
    print_aligned(rows, range(4))
    print(f"  taken off each time: {result.empty_ns[0] / 1000:.2f} us of an empty run of ONNX Runtime, {result.empty_ns[1] / 1000:.2f} us of a refused call")


def print_reading(result: ModelResult) -> None:
    """One row times weights does little but read them: how fast, beside loads that do nothing else."""
    read = [product for product in result.products if product.reading_ns is not None]
    if not read:
        return
    rows = [("weights of", "bytes", "read in us", "GB/s", "known: of that speed", "run-time: of that speed")]
    for product in read:
        ns = float(np.median(product.reading_ns))
        speeds = [_ratio_text(product.reading_ns, of_one) for of_one in product.ours_ns[:2]]
        rows.append((product.node[-40:], str(product.b_bytes), f"{ns / 1000:.2f}", f"{product.b_bytes / ns:.1f}", *speeds))
    print()
    print_aligned(rows, range(1))


def print_models(results: list[ModelResult]) -> None:
    rows = [("model", "run with", "products", "ORT us", "known us", "run-time us", "narrow us", "known x", "run-time x", "narrow x")]
    for result in results:
        if not result.products:
            rows.append((result.model, result.binding, f"0 ({len(result.refusals)} refused)", *("-" for _ in range(7))))
            continue
        sums = [
            sum(product.count * samples for product, samples in zip(result.products, column))
            for column in zip(*([product.runtime_ns, *product.ours_ns] for product in result.products))
        ]
        rows.append(
            (
                result.model,
                result.binding,
                str(result.node_count),
                *(f"{float(np.median(one)) / 1000:.1f}" for one in sums),
                *(_ratio_text(sums[0], one) for one in sums[1:]),
            )
        )
    print_aligned(rows, range(3))
