"""Running the programs of a build: the gemmc command and the peak measurement."""

import json
import pathlib
import subprocess

from .errors import ToolError


class Programs:
    def __init__(self, build: pathlib.Path):
        self._bin = build / "bin"

    def _run(self, program: str, arguments: list[str]) -> str:
        path = self._bin / program
        if not path.exists():
            raise ToolError(f"{path} is not there: run tools/build")
        result = subprocess.run([path, *arguments], capture_output=True, text=True)
        if result.returncode != 0:
            lines = result.stderr.strip().splitlines() or ["no message"]
            raise ToolError(f"`{program} {' '.join(arguments)}` failed with status {result.returncode}: {lines[0]}")
        return result.stdout

    def gemmc(self, *arguments: str) -> str:
        """What the command writes on stdout; a failure is an error with the command's own first line."""
        return self._run("gemmc", list(arguments))

    def float32_peak(self) -> tuple[str, float]:
        """The processor's name and the GFLOP/s that one core reaches on registers alone."""
        measured = json.loads(self._run("gemmc_benchmark", ["--peak", "--json"]))
        figures = [peak["gops"] for peak in measured["peaks"] if peak["dtype"] == "float32"]
        if not figures:
            raise ToolError("no float32 peak was measured: the CPU is older than x86-64-v2")
        return measured["cpu"], max(figures)
