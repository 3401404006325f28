"""The node tests that the onnx package ships for Gemm and MatMul, through `gemmc run` and `gemmc build`.

Run by ctest, which says where the command is: GEMMC_COMMAND=.../gemmc pytest onnx_node_test.py
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import onnx
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools.real_model.kernels import AheadOfTimeLibrary, GemmcCall  # noqa: E402

COMMAND = os.environ["GEMMC_COMMAND"]
NEWEST = onnx.defs.onnx_opset_version()
IMPORT_VERSIONS = range(7, NEWEST + 1)
DEFINITIONS = sorted({7, 9, 11, 13, NEWEST})  # the versions in which Gemm or MatMul changed, and the newest
OPTIONAL_C_SINCE = 11  # Gemm's third input is required by the older definitions


def node_tests() -> list:
    with warnings.catch_warnings():
        # The package computes expected values of all operators, some of which overflow on purpose.
        warnings.simplefilter("ignore")
        from onnx.backend.test import loader

        return [
            case for case in loader.load_model_tests(kind="node") if case.name.startswith(("test_gemm_", "test_matmul_"))
        ]


CASES = node_tests()
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
ONE_OF_EACH = [case for case in CASES if case.name in ("test_gemm_all_attributes", "test_matmul_2d")]


def run(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)


def write_model(case, folder: pathlib.Path, import_version: int | None = None) -> pathlib.Path:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    if import_version is not None:
        model.opset_import[0].version = import_version
    path = folder / "model.onnx"
    onnx.save(model, path)
    return path


def run_in_process(model: pathlib.Path, inputs: list, folder: pathlib.Path) -> tuple:
    arguments = []
    for operand, array in zip("ABC", inputs):
        path = folder / f"{operand}.npy"
        np.save(path, array)
        arguments += ["--input", f"{operand}={path}"]
    result = run("run", model, *arguments, "--output", f"Y={folder / 'Y.npy'}")
    return result, np.load(folder / "Y.npy") if result.returncode == 0 else None


def assert_agrees(case, y: np.ndarray, expected: np.ndarray) -> None:
    assert y.dtype == expected.dtype and y.shape == expected.shape
    np.testing.assert_allclose(y, expected, rtol=case.rtol, atol=case.atol)


def test_the_package_ships_node_tests():
    names = [case.name for case in CASES]
    assert sum(name.startswith("test_gemm_") for name in names) >= 11, names
    assert sum(name.startswith("test_matmul_") for name in names) >= 7, names


@EVERY_CASE
def test_in_process(case, tmp_path):
    model = write_model(case, tmp_path)
    for inputs, [expected] in case.data_sets:
        result, y = run_in_process(model, inputs, tmp_path)
        assert result.returncode == 0, result.stderr
        assert_agrees(case, y, expected)


@EVERY_CASE
def test_ahead_of_time(case, tmp_path):
    result = run("build", write_model(case, tmp_path), "-o", tmp_path / "built")
    assert result.returncode == 0, result.stderr
    [kernel] = AheadOfTimeLibrary(tmp_path / "built").kernels().values()
    assert kernel.dim_names == []
    for inputs, [expected] in case.data_sets:
        operands = [np.ascontiguousarray(array) for array in inputs] + [None]
        y = np.full_like(expected, np.nan)
        call = GemmcCall(size_bytes=ctypes.sizeof(GemmcCall), y=y.ctypes.data)
        for field, array in zip("abc", operands):
            setattr(call, field, None if array is None else array.ctypes.data)
        assert kernel.entry(ctypes.byref(call)) == 0
        assert_agrees(case, y, expected)


def test_one_of_each_has_a_c():
    assert [len(case.data_sets[0][0]) for case in ONE_OF_EACH] == [3, 2]


@pytest.mark.parametrize("version", IMPORT_VERSIONS)
@pytest.mark.parametrize("case", ONE_OF_EACH, ids=lambda case: case.name)
def test_every_import_version(case, version, tmp_path):
    [inputs, [expected]] = case.data_sets[0]
    result, y = run_in_process(write_model(case, tmp_path, version), inputs, tmp_path)
    assert result.returncode == 0, result.stderr
    assert_agrees(case, y, expected)


@EVERY_CASE
def test_every_definition(case, tmp_path):
    [inputs, [expected]] = case.data_sets[0]
    for version in DEFINITIONS:
        model = write_model(case, tmp_path, version)
        result, y = run_in_process(model, inputs, tmp_path)
        if case.model.graph.node[0].op_type == "Gemm" and len(inputs) == 2 and version < OPTIONAL_C_SINCE:
            assert result.returncode == 2, f"import version {version}: {result.stderr}"
            assert result.stderr.startswith(f"gemmc: error: input C is absent at opset {version}"), result.stderr
            continue
        assert result.returncode == 0, f"import version {version}: {result.stderr}"
        assert_agrees(case, y, expected)
