"""How benches measure and tell: medians, and tables that name the machine, on the screen and in files.

`REELRANK_BENCH_OUT` names the folder, which `make bench` empties: `results.json` for programs, `tables.md` for people.
Both are whole after every table, so that a bench that is stopped leaves what it had. The last table says what each
bench took. All of them are to end within fifteen minutes on two cores; with `REELRANK_BENCH_SIZE=full` they take the
sizes, times and repetitions of docs/performance.md.
"""

import json
import os
import platform
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import pytest

BEGUN = time.time()
FULL = os.environ.get("REELRANK_BENCH_SIZE") == "full"

_Size = TypeVar("_Size")


def sized(usual: _Size, full: _Size) -> _Size:
    """How large, how long or how often: for every day, or as docs/performance.md has it."""
    return full if FULL else usual


def peak_memory_mb() -> float:
    """Return the peak memory of this process alone; `ru_maxrss` would include what its parent had."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) / 1024


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
    """Show rows under a title and the versions of packages; a column's name ends at the next `|` of the head."""
    versions = {"Python": platform.python_version()} | {name: version(name) for name in packages}
    machine = {"cores": os.cpu_count(), "versions": versions, "load": round(os.getloadavg()[0], 1)}
    columns = head.split("|")
    lines = [
        f"\n### {title}\n",
        f"{machine['cores']} cores, {', '.join(map(' '.join, versions.items()))}, load {machine['load']}\n",
        f"| {' | '.join(columns)} |",
        f"| --- |{' ---: |' * (len(columns) - 1)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    print(*lines, sep="\n")
    if folder := os.environ.get("REELRANK_BENCH_OUT"):
        bench = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
        about = {"bench": bench, "after_s": round(time.time() - BEGUN, 1), "title": title, "machine": machine}
        _keep(Path(folder), about | {"columns": columns, "rows": [list(row) for row in rows]}, "\n".join(lines))


def _keep(folder: Path, found: dict[str, object], text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.json"
    known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    results.write_text(json.dumps([*known, found], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with (folder / "tables.md").open("a", encoding="utf-8") as tables:
        tables.write(text + "\n")


class Seconds:
    """Tells at the end what each bench took, making what it measures included: a plugin of pytest.

    Seconds of CPU, of processes that have ended too, say what would be left of it on a machine without other work.
    """

    def __init__(self) -> None:
        self._clock: Counter[str] = Counter()
        self._cpu: Counter[str] = Counter()
        self._used = sum(os.times()[:4])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of a test's three parts is done."""
        name, used = report.nodeid.removeprefix("tests/"), sum(os.times()[:4])
        self._clock[name] += report.duration
        self._cpu[name] += used - self._used
        self._used = used

    def pytest_sessionfinish(self) -> None:
        """All are done."""
        if self._clock:
            rows = [["all of them", f"{time.time() - BEGUN:.0f} s", f"{self._cpu.total():.0f} s"]]
            rows += [[name, f"{took:.1f} s", f"{self._cpu[name]:.1f} s"] for name, took in self._clock.most_common()]
            table("What the benches took", rows, ("pytest",), "bench|by the clock|CPU")
