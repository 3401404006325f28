"""Running the gemmc command of a build."""

import json
import pathlib
import subprocess

from .errors import ToolError


class Programs:
    def __init__(self, build: pathlib.Path):
        self._gemmc = build / "bin" / "gemmc"

    def gemmc(self, *arguments: str) -> str:
        """What the command writes on stdout; a failure is an error with the command's own first line."""
        if not self._gemmc.exists():
            raise ToolError(f"{self._gemmc} is not there: run tools/build")
        result = subprocess.run([self._gemmc, *arguments], capture_output=True, text=True)
        if result.returncode != 0:
            lines = result.stderr.strip().splitlines() or ["no message"]
            raise ToolError(f"`gemmc {' '.join(arguments)}` failed with status {result.returncode}: {lines[0]}")
        return result.stdout

    def float32_peak(self) -> tuple[str, float]:
        """The processor's name and the GFLOP/s that one core reaches on registers alone."""
        measured = json.loads(self.gemmc("bench", "--peak", "--json"))
        figures = [peak["gops"] for peak in measured["peaks"] if peak["dtype"] == "float32"]
        if not figures:
            raise ToolError("no float32 peak was measured: the CPU is older than x86-64-v2")
        return measured["cpu"], max(figures)
