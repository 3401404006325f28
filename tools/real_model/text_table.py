"""Tables as text."""

from collections.abc import Collection


def print_aligned(rows: list[tuple[str, ...]], left: Collection[int]) -> None:
    """Every column as wide as its widest cell; those of these numbers begin at the left, the others end at the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
