"""CPU time of calls. Candidates are measured in turn, round by round, so that a slow moment meets all; in another order in
each round, so that slow moments that come at regular times do too."""

import random
import statistics
import time
from collections.abc import Callable

SAMPLE_NS = 4_000_000
WARM_UP_NS = 500_000_000  # for some tenths of a second after a pause, calls take up to 2.5 times as long on virtual machines
ROUNDS = 7


def _sample(call: Callable[[], None], count: int) -> int:
    start = time.process_time_ns()
    for _ in range(count):
        call()
    return time.process_time_ns() - start


def rounds_ns(calls: list[Callable[[], None]], rounds: int) -> list[list[float]]:
    """Nanoseconds of one call of each, in each round."""
    start = time.monotonic_ns()
    while time.monotonic_ns() - start < WARM_UP_NS:
        for call in calls:
            call()
    counts = []
    for call in calls:
        count = 1
        while (ns := _sample(call, count)) < SAMPLE_NS / 4:
            count *= 2
        counts.append(max(1, round(count * SAMPLE_NS / ns)))
    samples: list[list[float]] = [[] for _ in calls]
    order = list(range(len(calls)))
    shuffle = random.Random(0).shuffle
    for _ in range(rounds):
        shuffle(order)
        for i in order:
            samples[i].append(_sample(calls[i], counts[i]) / counts[i])
    return samples


def median_ns(calls: list[Callable[[], None]]) -> list[float]:
    """Nanoseconds of one call of each, the median of the rounds."""
    return [statistics.median(of_one) for of_one in rounds_ns(calls, ROUNDS)]
