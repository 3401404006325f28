"""What a run of the tests did, as Markdown tables: test cases by kind, right kernel runs by kind, family, CPU level and
type, executions of each fuzz target.

    test_summary.py REPORT.xml...     JUnit files that ctest wrote, with the tests' whole output
"""

import collections
import re
import sys
import xml.etree.ElementTree as ElementTree

COUNTS_HEADER = re.compile(r"^kind +level +family +route +(.*)$")
COUNTS_ROW = re.compile(r"^(\S+) +(\S+) +(\S+) +(JIT|AOT|problems) +(.*)$")
COUNT = re.compile(r"(\d+|\.)(?: \((-\d+)\))?")
GOOGLE_TEST_RESULT = re.compile(r"^\[  (PASSED|FAILED|SKIPPED) +\] (\d+) tests?[.,]", re.MULTILINE)
PYTEST_RESULT = re.compile(r"(\d+) (passed|failed|skipped|errors?)\b")
FUZZ_RESULT = re.compile(r"^Done (\d+) runs in", re.MULTILINE)

Tally = collections.Counter


def case_results(output: str, status: str) -> Tally:
    """GoogleTest's or pytest's own cases; the test as one case where it has none. A test that failed counts at least one
    failed case, whatever its cases say: it may have crashed after them."""
    found = Tally()
    for word, count in GOOGLE_TEST_RESULT.findall(output):
        found[word.lower()] += int(count)
    if not found and (lines := output.strip().splitlines()):
        for count, word in PYTEST_RESULT.findall(lines[-1]):
            found["failed" if word.startswith("error") else word] += int(count)
    if status not in ("run", "disabled"):
        found["failed"] = max(1, found["failed"])
    return found or Tally({"passed" if status == "run" else "skipped": 1})


def counts_rows(output: str):
    """The rows of the tables that conformance programs print: (kind, level, family, route), {type: (right, wrong)}."""
    types = None
    for line in output.splitlines():
        if header := COUNTS_HEADER.match(line):
            types = header.group(1).split()
        elif types is not None:
            row = COUNTS_ROW.match(line)
            if row is None:
                types = None
                continue
            counts = COUNT.findall(row.group(5))
            yield row.groups()[:4], {
                dtype: (int(right), -int(wrong or 0)) for dtype, (right, wrong) in zip(types, counts) if right != "."
            }


class Summary:
    def __init__(self):
        self.programs = Tally()
        self.cases = collections.defaultdict(Tally)
        self.runs = collections.defaultdict(lambda: collections.defaultdict(Tally))
        self.types = []
        self.executions = Tally()

    def add(self, report: ElementTree.Element) -> None:
        for test in report.iter("testcase"):
            labels = test.find("properties/property[@name='cmake_labels']").get("value").split(";")
            [kind] = [label for label in labels if label != "long"]
            output = test.findtext("system-out") or ""
            self.programs[kind] += 1
            is_skipped = test.find("skipped") is not None
            self.cases[kind] += case_results(output, "disabled" if is_skipped else test.get("status"))
            if fuzzed := FUZZ_RESULT.findall(output):
                self.executions[test.get("name").removesuffix("_long")] += sum(map(int, fuzzed))
            for row, counts in counts_rows(output):
                for dtype, (right, wrong) in counts.items():
                    self.runs[row][dtype] += Tally(right=right, wrong=wrong)
                    if dtype not in self.types:
                        self.types.append(dtype)

    def text(self) -> str:
        parts = [table(["kind", "tests", "cases passed", "failed", "skipped"],
                       [[kind, self.programs[kind], *(cases[word] for word in ("passed", "failed", "skipped"))]
                        for kind, cases in sorted(self.cases.items())])]
        if self.runs:
            types = sorted(self.types)
            parts.append("Right kernel runs (and wrong ones, with a minus), and how many different problems they are of:\n\n" + table(
                ["kind", "level", "family", "route", *types],
                [[*row, *(run_text(counts[dtype]) for dtype in types)] for row, counts in sorted(self.runs.items())]))
        if self.executions:
            parts.append(table(["fuzz target", "executions"], sorted(self.executions.items())))
        return "\n\n".join(parts)


def run_text(count: Tally) -> str:
    if not count["right"] and not count["wrong"]:
        return "."
    return f"{count['right']} -{count['wrong']}" if count["wrong"] else str(count["right"])


def table(header: list, rows: list) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def main() -> int:
    summary = Summary()
    for path in sys.argv[1:]:
        summary.add(ElementTree.parse(path).getroot())
    print(summary.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
