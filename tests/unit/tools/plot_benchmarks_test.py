"""What tools/plot-benchmarks reads and draws."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent.parent))

from tools import plot_benchmarks  # noqa: E402

HEADER = (
    "class,problem,dtype,batch,m,n,k,trans_a,trans_b,contender,role,packed_b,schedule,compile_ms,rounds,"
    "lower_quartile_ns,median_ns,upper_quartile_ns,gops,peak_share,operand_bytes,read_level,read_share,"
    "best_peer_ratio,left_out\n"
)
TEXT = (
    "# format: gemmc bench 1\n"
    "# cpu: A CPU\n"
    "# peak float32 avx2,fma: 90.00 GOP/s before, 100.00 after\n"
    "# read L1: 200.00 GB/s of 16384 bytes\n"
    + HEADER
    + 'square,p,f32,1,8,9,10,0,1,gemmc,gemmc,0,"tiled, mr",,3,1,1,1,50,,500,,,,\n'
    + "square,p,f32,1,8,9,10,0,1,Slow,peer,0,,,3,1,1,1,20,,500,,,,\n"
    + "square,p,f32,1,8,9,10,0,1,Fast,peer,0,,,3,1,1,1,60,,500,,,,\n"
    + "square,p,f32,1,8,9,10,0,1,Fast packed,peer,1,,,3,1,1,1,70,,500,,,,\n"
    + "square,p,f32,1,8,9,10,0,1,Absent,peer,0,,,0,,,,,,500,,,,does not take this product\n"
)


def write(folder: pathlib.Path, text: str) -> pathlib.Path:
    path = folder / "bench.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_figures_and_what_they_are_of(tmp_path):
    run = plot_benchmarks.read(write(tmp_path, TEXT))
    (product,) = run.products["f32"]
    assert product.label == "8x9x10 tb"
    assert product.operations == 1440
    assert product.best_peer() == "Fast"
    assert "Absent" not in product.gops
    assert run.peak("f32") == 100
    assert run.peak("bf16") == 100
    assert run.peak("f64") is None
    assert run.bandwidths() == {"L1": 200}


def test_refuses_other_files(tmp_path):
    for text in ("", "a,b\n1,2\n", TEXT.replace("gemmc bench 1", "gemmc bench 2")):
        with pytest.raises(plot_benchmarks.PlotError, match="format"):
            plot_benchmarks.read(write(tmp_path, text))
    with pytest.raises(plot_benchmarks.PlotError, match="no figures"):
        plot_benchmarks.read(write(tmp_path, "# format: gemmc bench 1\n" + HEADER))
    with pytest.raises(plot_benchmarks.PlotError, match="cannot read"):
        plot_benchmarks.read(tmp_path / "absent.csv")


def test_draws_two_pictures_of_each_type(tmp_path):
    pytest.importorskip("matplotlib")
    written = plot_benchmarks.draw(plot_benchmarks.read(write(tmp_path, TEXT)), tmp_path / "plots")
    assert [path.name for path in written] == ["roofline-f32.svg", "bars-f32.svg"]
    for path in written:
        assert "<svg" in path.read_text(encoding="utf-8")
