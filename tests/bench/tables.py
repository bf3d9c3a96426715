"""How benches measure and print: medians, and Markdown tables that name the machine."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version


def timed(work: Callable[[], object], runs: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Median seconds of a clock."""
    took = []
    for _ in range(runs):
        start = clock()
        work()
        took.append(clock() - start)
    return statistics.median(took)


def table(
    title: str, rows: Sequence[Sequence[str]], packages: Sequence[str], head: str = "what|measured|beside"
) -> None:
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    load = os.getloadavg()[0]
    print(f"\n### {title}\n\n{os.cpu_count()} cores, Python {platform.python_version()}, {versions}, load {load:.1f}\n")
    columns = head.split("|")
    print(f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
