"""What the programs report as a line instead of a traceback, and how they end."""

import sys
from collections.abc import Callable


class ToolError(Exception):
    """What went wrong, in one line: the value found and the value allowed, or the command that would help."""


def exit_status(program: str, run: Callable[[], list[str]]) -> int:
    """0, or 1 after a line on stderr for everything that `run` returns, or for the ToolError that ends it."""
    try:
        failures = run()
    except ToolError as error:
        failures = [str(error)]
    for failure in failures:
        print(f"{program}: error: {failure}", file=sys.stderr)
    return 1 if failures else 0
