"""The tables that end a run of the tests."""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent.parent))

from tools.test_summary import Summary  # noqa: E402


def test_case(name: str, labels: str, output: str, status: str = "run") -> str:
    return (
        f'<testcase name="{name}" status="{status}"><properties><property name="cmake_labels" value="{labels}"/>'
        f"</properties><system-out>{output}</system-out></testcase>"
    )


test_case.__test__ = False


def summary_of(*cases: str) -> str:
    summary = Summary()
    summary.add(ElementTree.fromstring(f"<testsuite>{''.join(cases)}</testsuite>"))
    return summary.text()


def test_counts_cases_by_kind():
    google_test = "[  PASSED  ] 16 tests.\n[  SKIPPED ] 8 tests, listed below:\n[  SKIPPED ] A.b\n"
    text = summary_of(
        test_case("a", "unit", google_test),
        test_case("b", "unit", "[  PASSED  ] 1 test.\n[  FAILED  ] 2 tests, listed below:\n", status="fail"),
        test_case("c", "integration", "...\n55 passed, 1 skipped in 3.2s\n"),
        test_case("d", "integration;long", "no cases", status="fail"),
    )
    assert "| unit | 2 | 17 | 2 | 8 |" in text
    assert "| integration | 2 | 55 | 1 | 1 |" in text


def test_a_test_that_failed_is_a_failed_case():
    text = summary_of(
        test_case("leaks", "unit", "[  PASSED  ] 3 tests.\nleak\n", status="fail"),
        test_case("absent", "unit", "", status="notrun"),
        test_case("broken", "unit", "55 passed, 2 errors in 3s\n", status="fail"),
    )
    assert "| unit | 3 | 58 | 4 | 0 |" in text


def test_adds_the_tables_of_kernel_runs():
    header = "kind       level      family   route   float32     int32\n"
    text = summary_of(
        test_case("a", "conformance", header + "random     x86-64-v3  tiled    JIT          25         .\n\nend"),
        test_case("b", "conformance;long", header + "random     x86-64-v3  tiled    JIT           5    2 (-1)\n"),
    )
    assert "| kind | level | family | route | float32 | int32 |" in text
    assert "| random | x86-64-v3 | tiled | JIT | 30 | 2 -1 |" in text


def test_adds_fuzz_executions():
    text = summary_of(
        test_case("json_fuzz", "fuzz", "x\nDone 1000 runs in 3 second(s)\n"),
        test_case("json_fuzz_long", "fuzz;long", "Done 50 runs in 1 second(s)\n"),
    )
    assert "| json_fuzz | 1050 |" in text
