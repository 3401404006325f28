"""One real model through `gemmc list` and `gemmc build`: every product is listed, and compiled or refused by name.

    model_test.py MODEL --build FOLDER     MODEL: a name of tests/data/workloads/models.json
"""

import argparse
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT = ("MatMul", "Gemm")


class Failure(Exception):
    pass


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise Failure(message)


def run(command: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([command, *arguments], capture_output=True, text=True)


def check_list(command: pathlib.Path, model: pathlib.Path, counts: dict[str, int]) -> None:
    result = run(command, "list", "--json", str(model))
    expect(result.returncode == 0, f"gemmc list: status {result.returncode}: {result.stderr}")
    listed: dict[str, int] = {}
    for node in json.loads(result.stdout)["nodes"]:
        listed[node["op_type"]] = listed.get(node["op_type"], 0) + 1
    expect(listed == counts, f"gemmc list found {listed}, expected {counts}")


def check_build(command: pathlib.Path, model: pathlib.Path, counts: dict[str, int], folder: pathlib.Path) -> None:
    result = run(command, "build", str(model), "-o", str(folder))
    wanted = sum(count for op, count in counts.items() if op in BUILT)
    refused = sum(counts.values()) - wanted
    if wanted == 0:
        expect(result.returncode == 2, f"gemmc build: status {result.returncode}, expected 2: {result.stderr}")
        for op in counts:
            expect(op in result.stderr, f"gemmc build does not name {op}: {result.stderr}")
        return
    expect(result.returncode == 0, f"gemmc build: status {result.returncode}: {result.stderr}")
    manifest = json.loads((folder / "manifest.json").read_text())
    expect(len(manifest["nodes"]) == wanted, f"{len(manifest['nodes'])} nodes built, expected {wanted}")
    expect(len(manifest["refused"]) == refused, f"{len(manifest['refused'])} nodes refused, expected {refused}")
    [shared] = folder.glob("lib*.so")
    library = ctypes.CDLL(str(shared))
    for node in manifest["nodes"]:
        for symbol in (node["symbol"], node["symbol"] + "_call"):
            expect(hasattr(library, symbol), f"the shared library lacks {symbol} of node '{node['name']}'")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    listed = json.loads((ROOT / "tests/data/workloads/models.json").read_text())
    counts = {entry["model"]: entry["node_counts"] for entry in listed}
    model = ROOT / "build/models" / f"{options.model}.onnx"
    try:
        expect(options.model in counts, f"unknown model '{options.model}'; models: {', '.join(counts)}")
        expect(model.exists(), f"{model} is not there: run tools/fetch-models")
        command = options.build / "bin/gemmc"
        check_list(command, model, counts[options.model])
        with tempfile.TemporaryDirectory() as folder:
            check_build(command, model, counts[options.model], pathlib.Path(folder))
    except Failure as failure:
        print(f"{options.model}: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
