"""`gemmc build --fuse` on a small model: the nodes that kernels take in, the weights in the library or beside it, and the
results beside ONNX Runtime's.

Run by ctest, which says where the build is: GEMMC_BUILD=.../build/release pytest fusion_test.py
"""

import json
import os
import pathlib
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from real_model.command import Programs  # noqa: E402
from real_model.comparison import compare_model  # noqa: E402
from real_model.errors import ToolError  # noqa: E402
from real_model.kernels import AheadOfTimeLibrary  # noqa: E402
from real_model.products import listed_products  # noqa: E402
from real_model.subgraph import ModelGraph  # noqa: E402
from real_model.workload import Workload  # noqa: E402

BUILD = pathlib.Path(os.environ["GEMMC_BUILD"])
M, D = 7, 24


def small_model(path: pathlib.Path) -> Workload:
    """Chained products, each followed by other nodes."""
    random = np.random.default_rng(3)
    graph = helper.make_graph([], "small", [], [])
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", D]))
    graph.input.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, ["rows", D]))
    graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", D]))
    numbers = {"root": np.sqrt(2), "one": 1, "half": 0.5, "six": 6, "zero": 0, "cubic": 0.044715, "slope": 0.7978846}
    weights = {f"w{i}": random.standard_normal((D, D)) / np.sqrt(D) for i in range(4)}
    weights["w3"] = weights["w0"]  # once in the library
    biases = {f"b{i}": random.standard_normal(D) for i in range(6)}
    for name, value in {**numbers, **weights, **biases}.items():
        graph.initializer.append(numpy_helper.from_array(np.array(value, np.float32), name))
    for name in ("q4", "q5"):
        graph.initializer.append(numpy_helper.from_array(random.integers(-128, 128, (D, D)).astype(np.int8), name))
    column_scales = random.uniform(0.001, 0.002, (1, D)).astype(np.float32)
    graph.initializer.append(numpy_helper.from_array(column_scales, "s4"))
    graph.initializer.append(numpy_helper.from_array(np.array(0.0015, np.float32), "s5"))

    def add(op_type: str, inputs: str, output: str, **attributes) -> str:
        graph.node.append(helper.make_node(op_type, inputs.split(), [output], name=f"{op_type}_{output}", **attributes))
        return output

    # bias, GELU of five nodes
    p0 = add("Add", f"{add('MatMul', 'x w0', 'p0m')} b0", "p0")
    e = add("Add", f"{add('Erf', add('Div', f'{p0} root', 'p0d'), 'p0f')} one", "p0e")
    y0 = add("Mul", f"{add('Mul', f'{p0} {e}', 'p0g')} half", "y0")
    # C of a Gemm, bounded
    y1 = add("Clip", f"{add('Gemm', f'{y0} w1 b1', 'p1', transB=1)} zero six", "y1")
    # SiLU, residual
    p2 = add("Add", f"b2 {add('MatMul', f'{y1} w2', 'p2m')}", "p2")
    y2 = add("Add", f"r {add('Mul', f'{p2} ' + add('Sigmoid', p2, 'p2s'), 'p2n')}", "y2")
    # tanh form of GELU, as nine nodes; read by two, so that nothing more is taken in
    p3 = add("MatMul", f"{y2} w3", "p3")
    cubed = add("Mul", f"{p3} " + add("Mul", f"{p3} " + add("Mul", f"cubic {p3}", "p3a"), "p3b"), "p3c")
    inner = add("Mul", f"slope {add('Add', f'{p3} {cubed}', 'p3d')}", "p3i")
    y3 = add("Mul", f"{p3} " + add("Mul", "half " + add("Add", f"one {add('Tanh', inner, 'p3t')}", "p3u"), "p3h"), "y3")
    # int8 weights; scale by a number, LeakyRelu; scale by column, HardSwish
    add("Mul", f"{add('Cast', 'q4', 'f4', to=TensorProto.FLOAT)} s4", "w4")
    add("DequantizeLinear", "q5 s5", "w5")
    y4 = add("LeakyRelu", add("Mul", f"{add('MatMul', f'{y3} w4', 'p4')} half", "p4s"), "y4", alpha=0.2)
    y5 = add("HardSwish", add("Mul", f"{add('MatMul', f'{y4} w5', 'p5')} b5", "p5s"), "y5")
    add("Add", f"{y5} {y3}", "y")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    inputs = {name: random.standard_normal((M, D), np.float32) for name in ("x", "r")}
    return Workload("small", f"rows={M}", path, inputs, {})


STEPS = {
    "MatMul_p0m": ["bias", "gelu"],
    "Gemm_p1": ["clip"],
    "MatMul_p2m": ["bias", "silu", "residual"],
    "MatMul_p3": ["gelu_tanh"],
    "MatMul_p4": ["scale", "leaky_relu"],
    "MatMul_p5": ["scale", "hard_swish", "residual"],
}


def test_results_are_those_of_onnx_runtime(tmp_path):
    work = small_model(tmp_path / "small.onnx")
    result = compare_model(Programs(BUILD), work, tmp_path, rounds=1)
    assert not result.failures and not result.refusals
    assert {product.node: product.steps for product in result.products} == STEPS
    assert all(0 < max(product.differences) <= 1 for product in result.products)


def test_a_wrong_kernel_is_found(tmp_path, monkeypatch):
    """The comparison can fail: here each element of a bias is off by 1e-4."""
    work = small_model(tmp_path / "small.onnx")
    bind = AheadOfTimeLibrary.kernels

    def with_other_bias(library):
        kernels = bind(library)
        (held,) = kernels["MatMul_p0m"].epilogue
        kernels["MatMul_p0m"].epilogue = [held.view(np.float32) + np.float32(1e-4)]
        return kernels

    monkeypatch.setattr(AheadOfTimeLibrary, "kernels", with_other_bias)
    failures = compare_model(Programs(BUILD), work, tmp_path, rounds=1).failures
    assert failures and all("MatMul_p0m" in failure for failure in failures)


def built(tmp_path: pathlib.Path, weights: str, *options: str) -> tuple[pathlib.Path, dict]:
    model = tmp_path / "small.onnx"
    small_model(model)
    out = tmp_path / weights
    arguments = ["build", str(model), "--fuse", "--weights", weights, "--name", "small", "-o", str(out), *options]
    Programs(BUILD).gemmc(*arguments)
    return out, json.loads((out / "manifest.json").read_text())


@pytest.mark.parametrize("node", STEPS)
@pytest.mark.parametrize("options", [[], ["--narrow"]])
def test_one_node_runs_with_what_follows_it(tmp_path, node, options):
    """`gemmc run --fuse`: constants come from the model, what another node computes from files."""
    work = small_model(tmp_path / "small.onnx")
    programs, graph = Programs(BUILD), ModelGraph(onnx.load(work.path))
    product = next(p for p in listed_products(programs, work.path, graph)[0] if p.name == node)
    files = {"A": product.tensors[0], **{name: name for name in product.added if name in ("r", "y3")}}
    values = graph.expose({*files.values(), product.part.output}, work.inputs)
    arguments = []
    for operand, tensor in files.items():
        np.save(tmp_path / f"{tensor}.npy", values[tensor])
        arguments += ["--input", f"{operand}={tmp_path / tensor}.npy"]
    y = tmp_path / "result.npy"
    programs.gemmc("run", str(work.path), "--node", node, "--fuse", *options, *arguments, "--output", f"Y={y}")
    np.testing.assert_allclose(np.load(y), values[product.part.output], rtol=1e-4, atol=1e-5)


def test_weights_lie_in_the_library_once(tmp_path):
    _, manifest = built(tmp_path, "embed")
    nodes = {node["name"]: node for node in manifest["nodes"]}
    assert nodes["MatMul_p0m"]["packed_b"] == nodes["MatMul_p3"]["packed_b"] is not None
    assert nodes["MatMul_p0m"]["epilogue"] == [{"tensor": "b0", "weights": nodes["MatMul_p0m"]["epilogue"][0]["weights"]}]
    assert nodes["Gemm_p1"]["c"] is not None and nodes["MatMul_p0m"]["c"] is None
    assert nodes["MatMul_p2m"]["epilogue"][1] == {"tensor": "r", "weights": None}
    assert nodes["MatMul_p2m"]["replaces"] == ["Add_p2", "Sigmoid_p2s", "Mul_p2n", "Add_y2"]
    assert nodes["MatMul_p2m"]["output"] == "y2"
    # Five packed Bs, b0, b1, b2, b5 and the number 0.5.
    assert len(manifest["weights"]) == 10


def test_narrow_weights_stay_as_they_are_stored(tmp_path):
    _, manifest = built(tmp_path, "embed", "--narrow")
    nodes = {node["name"]: node for node in manifest["nodes"]}
    sizes = {weights["symbol"]: weights["bytes"] for weights in manifest["weights"]}
    floats, int8s = sizes[nodes["MatMul_p3"]["packed_b"]], sizes[nodes["MatMul_p4"]["packed_b"]]
    assert 4 * int8s == floats
    assert "storage=b:i8 epi=scale:n:s4,scale::half,leaky_relu(0.2)" in nodes["MatMul_p4"]["problem"]
    assert "storage=b:i8 epi=scale::s5,scale:n:b5,hard_swish" in nodes["MatMul_p5"]["problem"]
    assert all(operand["weights"] for operand in nodes["MatMul_p4"]["epilogue"])


def test_weights_beside_the_library_are_the_same(tmp_path):
    embedded, in_library = built(tmp_path, "embed")
    folder, in_file = built(tmp_path, "file")
    image = np.memmap(folder / "small_weights.bin", np.uint8, "r")
    library = AheadOfTimeLibrary(embedded)
    for inside, beside in zip(in_library["weights"], in_file["weights"], strict=True):
        assert beside["file"] == "small_weights.bin" and beside["offset"] % 64 == 0
        values = image[beside["offset"] : beside["offset"] + beside["bytes"]]
        assert np.array_equal(values, library.weights(inside["symbol"])), inside
    header = (folder / "small.h").read_text()
    assert f"#define small_WEIGHTS_BYTES {image.size}\n" in header
    assert '#define small_WEIGHTS_FILE "small_weights.bin"' in header
    assert f"#define small_w1_OFFSET {in_file['weights'][1]['offset']}\n" in header


def test_tensors_that_the_host_gives_are_named(tmp_path):
    folder, manifest = built(tmp_path, "none", "--narrow")
    nodes = {node["name"]: node for node in manifest["nodes"]}
    assert nodes["MatMul_p0m"]["inputs"] == ["x", "w0"] and nodes["Gemm_p1"]["inputs"] == ["y0", "w1", "b1"]
    assert nodes["MatMul_p4"]["inputs"][1] == "q4", "the one that is stored"
    header = (folder / "small.h").read_text()
    assert "MatMul_p2m -> y2 with a = tensor 'y1', packed_b = tensor 'w2', e0_bias = tensor 'b2', " in header
    assert "e1_bias = tensor 'r'" in header


def test_build_says_what_it_took_in(tmp_path):
    model = tmp_path / "small.onnx"
    small_model(model)
    programs = Programs(BUILD)
    arguments = ["build", str(model), "-o", str(tmp_path / "out")]
    assert "6 of them with nodes behind them, 2 with a narrower B" in programs.gemmc(*arguments, "--fuse", "--narrow")
    assert "0 of them with nodes behind them, 2 with a narrower B" in programs.gemmc(*arguments, "--narrow")
    assert "of them" not in programs.gemmc(*arguments)


def test_no_weights(tmp_path):
    assert built(tmp_path, "none")[1]["weights"] == []


def test_other_places_for_weights_are_refused(tmp_path):
    with pytest.raises(ToolError, match="--weights 'somewhere'; allowed: embed, file, none"):
        built(tmp_path, "somewhere")
