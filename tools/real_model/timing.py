"""CPU time of calls. Candidates are measured in turn, round by round, so that a slow moment meets all."""

import statistics
import time
from collections.abc import Callable

SAMPLE_NS = 4_000_000
ROUNDS = 7


def _sample(call: Callable[[], None], count: int) -> int:
    start = time.process_time_ns()
    for _ in range(count):
        call()
    return time.process_time_ns() - start


def rounds_ns(calls: list[Callable[[], None]], rounds: int) -> list[list[float]]:
    """Nanoseconds of one call of each, in each round."""
    counts = []
    for call in calls:
        count = 1
        while (ns := _sample(call, count)) < SAMPLE_NS / 4:
            count *= 2
        counts.append(max(1, round(count * SAMPLE_NS / ns)))
    samples = [[_sample(call, count) / count for call, count in zip(calls, counts)] for _ in range(rounds)]
    return [list(of_one) for of_one in zip(*samples)]


def median_ns(calls: list[Callable[[], None]]) -> list[float]:
    """Nanoseconds of one call of each, the median of the rounds."""
    return [statistics.median(of_one) for of_one in rounds_ns(calls, ROUNDS)]
