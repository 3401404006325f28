"""The real models of tests/data/workloads/models.json: their files, inputs, and the sizes they are run with."""

import dataclasses
import json
import pathlib

import numpy as np
import onnx

from .errors import ToolError

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEQUENCES = (8, 32, 128, 512)  # of the text encoder
LIST = ROOT / "tests/data/workloads/models.json"
DTYPES = {"FLOAT": np.float32, "INT64": np.int64, "INT32": np.int32, "BOOL": np.bool_}
# Integer inputs are indices into tables of at least so many entries.
INDEX_END = {"input_ids": 30000, "token_type_ids": 1, "bytes": 256, "prefix": 100, "input": 70}
GIVEN = {("silero-vad-ifless", "sr"): np.array(16000, np.int64)}
SESSION_CONFIG = {"smart-turn-v3.2": {"session.disable_quant_qdq": "1"}}


@dataclasses.dataclass
class Workload:
    name: str
    binding: str  # for people: "batch=1,seq=128"
    path: pathlib.Path
    inputs: dict[str, np.ndarray]
    session_config: dict[str, str]


def _array(model: str, name: str, dtype: str, shape: list[int], random: np.random.Generator) -> np.ndarray:
    if (model, name) in GIVEN:
        return GIVEN[model, name]
    if "mask" in name:
        return np.ones(shape, DTYPES[dtype])
    if dtype == "FLOAT":
        return random.standard_normal(shape, dtype=np.float32)
    return random.integers(0, INDEX_END[name], shape).astype(DTYPES[dtype])


def load(models: pathlib.Path) -> list[Workload]:
    """All workloads; the text encoder with each of SEQUENCES."""
    found = []
    for entry in json.loads(LIST.read_text()):
        name = entry["model"]
        path = models / f"{name}.onnx"
        if not path.exists():
            raise ToolError(f"the model {path} is not there: run tools/fetch-models")
        lengths = SEQUENCES if name == "minilm-l6-int8" else (None,)
        for length in lengths:
            random = np.random.default_rng(0)
            arrays = {}
            for tensor in entry["inputs"]:
                shape = entry["bound_input_shapes"][tensor["name"]]
                if length is not None:
                    shape = [1, length]
                arrays[tensor["name"]] = _array(name, tensor["name"], tensor["dtype"], shape, random)
            binding = entry["binding"] if length is None else f"batch=1,seq={length}"
            found.append(Workload(name, binding, path, arrays, SESSION_CONFIG.get(name, {})))
    return found


def load_named(path: pathlib.Path, scratch: pathlib.Path) -> tuple[onnx.ModelProto, pathlib.Path]:
    """The model with a name for every node, and where it is."""
    model = onnx.load(path)
    unnamed = [node for node in model.graph.node if not node.name]
    for i, node in enumerate(unnamed):
        node.name = f"unnamed_{i}"
    named = scratch / path.name
    onnx.save(model, named)
    return model, named
