"""Draws a CSV file of `gemmc bench` as SVG: for each element type a roofline and bars of gemmc beside the best peer.

The format is in docs/command-line.md. Files are written whole: FOLDER/roofline-f32.svg, FOLDER/bars-f32.svg, ...
"""

import argparse
import csv
import dataclasses
import pathlib
import re
import sys

FORMAT = "gemmc bench 1"


class PlotError(Exception):
    """What the user can act on, in one line."""


@dataclasses.dataclass
class Product:
    label: str
    operations: float
    operand_bytes: float
    gops: dict[str, float]  # by contender
    roles: dict[str, str]
    packed: set[str]

    def best_peer(self) -> str | None:
        peers = [name for name, role in self.roles.items() if role == "peer" and name not in self.packed]
        return max(peers, key=lambda name: self.gops[name], default=None)


@dataclasses.dataclass
class Run:
    comments: dict[str, str]
    products: dict[str, list[Product]]  # by type

    def peak(self, dtype: str) -> float | None:
        """The highest of the type in which products are summed, as `gemmc bench` takes it."""
        summed = {"f64": "float64", "i32": "int32", "u32": "int32", "i64": "none", "u64": "none"}
        found = [
            max(float(figure) for figure in re.findall(r"[0-9.]+", value))
            for key, value in self.comments.items()
            if key.startswith(f"peak {summed.get(dtype, 'float32')} ")
        ]
        return max(found, default=None)

    def bandwidths(self) -> dict[str, float]:
        """GB/s by level, the nearest first."""
        levels = {key: value for key, value in self.comments.items() if key.startswith("read ")}
        return {key.removeprefix("read "): float(value.split()[0]) for key, value in levels.items()}


def label(row: dict[str, str]) -> str:
    batch = "" if row["batch"] == "1" else f"{row['batch']} of "
    return f"{batch}{row['m']}x{row['n']}x{row['k']}{' ta' * int(row['trans_a'])}{' tb' * int(row['trans_b'])}"


def read(path: pathlib.Path) -> Run:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise PlotError(f"cannot read {path}: {error.strerror}") from error
    comments = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    if comments.get("format") != FORMAT:
        raise PlotError(f"{path}: format {comments.get('format', 'unknown')!r}; allowed: {FORMAT!r}")
    products: dict[str, dict[str, Product]] = {}
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if not row["gops"]:
            continue
        of_type = products.setdefault(row["dtype"], {})
        operations = 2.0 * int(row["batch"]) * int(row["m"]) * int(row["n"]) * int(row["k"])
        product = of_type.setdefault(
            row["class"] + row["problem"], Product(label(row), operations, float(row["operand_bytes"]), {}, {}, set())
        )
        product.gops[row["contender"]] = float(row["gops"])
        product.roles[row["contender"]] = row["role"]
        if row["packed_b"] == "1":
            product.packed.add(row["contender"])
    if not products:
        raise PlotError(f"{path} has no figures")
    return Run(comments, {dtype: list(of_type.values()) for dtype, of_type in products.items()})


def unit(dtype: str) -> str:
    return "GOP/s" if dtype[0] in "iu" else "GFLOP/s"


def draw_roofline(axes, run: Run, dtype: str) -> None:
    products = run.products[dtype]
    intensities = [product.operations / product.operand_bytes for product in products]
    low, high = min(intensities) / 2, max(intensities) * 2
    peak = run.peak(dtype)
    if peak:
        axes.plot([low, high], [peak, peak], color="black", linewidth=1)
        axes.text(high, peak, f"peak {peak:.0f}", ha="right", va="bottom", fontsize=8)
    for level, gbytes_per_s in run.bandwidths().items():
        end = min(high, peak / gbytes_per_s) if peak else high
        if end <= low:
            continue
        axes.plot([low, end], [low * gbytes_per_s, end * gbytes_per_s], color="grey", linewidth=1)
        axes.text(low, low * gbytes_per_s, f"{level} {gbytes_per_s:.0f} GB/s", va="bottom", fontsize=8)
    best = [(x, product.gops[peer]) for x, product in zip(intensities, products) if (peer := product.best_peer())]
    if best:
        axes.scatter(*zip(*best), marker="x", s=24, color="tab:orange", label="best peer")
    axes.scatter(intensities, [product.gops["gemmc"] for product in products], s=16, color="tab:blue", label="gemmc")
    axes.set(xscale="log", yscale="log", xlabel="operations for each byte of the operands", ylabel=unit(dtype))
    axes.legend(loc="lower right")


def draw_bars(axes, run: Run, dtype: str) -> None:
    products = run.products[dtype]
    places = range(len(products))
    series = [("gemmc", "tab:blue", [product.gops["gemmc"] for product in products])]
    best = [product.best_peer() for product in products]
    if any(best):
        figures = [product.gops[peer] if peer else 0 for product, peer in zip(products, best)]
        series.append(("best peer", "tab:orange", figures))
    width = 0.8 / len(series)
    for i, (name, colour, figures) in enumerate(series):
        axes.bar([place + i * width - 0.4 + width / 2 for place in places], figures, width, color=colour, label=name)
    if peak := run.peak(dtype):
        axes.axhline(peak, color="black", linewidth=1)
    names = [f"{product.label} ({peer})" if peer else product.label for product, peer in zip(products, best)]
    axes.set_xticks(list(places), names, rotation=90, fontsize=7)
    axes.set_ylabel(unit(dtype))
    axes.legend(loc="upper left")


def draw(run: Run, folder: pathlib.Path) -> list[pathlib.Path]:
    try:
        import matplotlib
    except ImportError as error:
        raise PlotError("matplotlib is not installed: run tools/setup --peers") from error
    matplotlib.use("svg")
    # The same figures give the same bytes.
    matplotlib.rcParams["svg.hashsalt"] = "gemmc"
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for dtype, products in run.products.items():
        kinds = (("roofline", draw_roofline, 8), ("bars", draw_bars, max(6, 0.3 * len(products))))
        for kind, draw_kind, width in kinds:
            figure, axes = pyplot.subplots(figsize=(width, 6), layout="constrained")
            draw_kind(axes, run, dtype)
            axes.set_title(f"{dtype}, one core of {run.comments.get('cpu', 'an unknown CPU')}", fontsize=9)
            path = folder / f"{kind}-{dtype}.svg"
            figure.savefig(path, metadata={"Date": None})
            pyplot.close(figure)
            written.append(path)
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws a CSV file of `gemmc bench` as SVG.")
    parser.add_argument("csv", type=pathlib.Path, help="what `gemmc bench --csv` wrote")
    parser.add_argument("folder", type=pathlib.Path, help="for the SVG files; made if missing")
    arguments = parser.parse_args()
    try:
        for path in draw(read(arguments.csv), arguments.folder):
            print(f"plot-benchmarks: wrote {path}")
    except (PlotError, OSError) as error:
        print(f"plot-benchmarks: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
