"""The table at the end of the demo: one group of lines per distinct product, one line per kind of kernel."""

import dataclasses

from .text_table import print_aligned


@dataclasses.dataclass
class Line:
    kernel: str
    ns: float
    largest_difference: float  # as a share of the allowed one


@dataclasses.dataclass
class Group:
    node: str  # the first of `count` nodes with the same product
    count: int
    shape: str
    operations: int  # multiply and add count as two
    lines: list[Line]


HEADER = ("node", "shape", "kernel", "us", "GFLOP/s", "% of peak", "largest difference")


def print_table(groups: list[Group], peak_gflops: float) -> None:
    rows = [HEADER]
    for group in groups:
        others = f" and {group.count - 1} like it" if group.count > 1 else ""
        for i, line in enumerate(group.lines):
            gflops = group.operations / line.ns
            rows.append(
                (
                    group.node + others if i == 0 else "",
                    group.shape if i == 0 else "",
                    line.kernel,
                    f"{line.ns / 1000:.1f}",
                    f"{gflops:.1f}",
                    f"{100 * gflops / peak_gflops:.0f}",
                    f"{line.largest_difference:.3f} of allowed" if line.largest_difference > 0 else "none",
                )
            )
    print_aligned(rows, (0, 1, 2, 6))
