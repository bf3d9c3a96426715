"""A plugin of pytest: tests are collected once, then each mutant is tried in a copy of the process.

mutmut starts pytest anew for each mutant, which takes longer than the tests of a rule do; so only its mutants are taken
(`making`). A copy of the process (fork, so not on Windows) switches one on, runs the tests that reach its function,
quickest first, and ends with the first that fails.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from tempfile import mkdtemp
from typing import NoReturn

import pytest
from _pytest.runner import runtestprotocol

PLAN = "REELRANK_MUTANTS"
"""The variable of the environment that names the file with what to do: mutants by name, where results go."""

EXAMPLES = 12
"""What Hypothesis tries in each test."""

SLOW = 5.0
"""With a mutant a test may take so many times its processor time, and as many seconds more."""

PATIENT = 20
"""It may take so many times as long by the clock, where it waits or others have the processor."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out the doctests of mutants, which are the same as those of the function."""
    items[:] = [item for item in items if "__mutmut_" not in item.name or item.name.endswith("__mutmut_orig")]


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Runs all tests as they are, then those that matter with each mutant."""
    plan = json.loads(Path(os.environ[PLAN]).read_text())
    _few_examples(session.items)
    reached, took, broken = _as_it_is(session.items)
    if broken:
        raise pytest.UsageError(f"not all tests pass as it is: {', '.join(broken)}")
    tests = {item.nodeid: item for items in reached.values() for item in items}
    scratch = Path(mkdtemp())
    _, status = os.waitpid(_started("", list(tests.values()), took, scratch), 0)
    shutil.rmtree(scratch)
    if _fate(status) != "survived":
        raise pytest.UsageError("tests that pass fail in a copy of the process")
    with Path(plan["results"]).open("a", buffering=1) as results:

        def write(name: str, fate: str, seconds: float) -> None:
            results.write(f"{name}\t{fate}\t{plan['tests']}\t{seconds:.2f}\n")

        _try_all(plan["mutants"], reached, took, plan["processes"], write)
    return True


def _few_examples(items: list[pytest.Item]) -> None:
    """The same few examples each time, and none made smaller: that a mutant is found is all that is asked."""
    from hypothesis import HealthCheck, Phase, settings

    def few(whole: settings) -> settings:
        return settings(
            max_examples=min(whole.max_examples, EXAMPLES),
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )

    settings.register_profile("mutants", few(settings.get_profile("default")))
    settings.load_profile("mutants")
    for item in items:
        test = getattr(item, "obj", None)
        if own := getattr(test, "_hypothesis_internal_use_settings", None):
            test._hypothesis_internal_use_settings = few(own)  # type: ignore[union-attr]


def _as_it_is(items: list[pytest.Item]) -> tuple[dict[str, list[pytest.Item]], dict[str, float], list[str]]:
    """Which tests reach each function, quickest first; their processor time in seconds; those that fail."""
    from mutmut.mutation.trampoline import set_mutant_under_test
    from mutmut.state import state

    set_mutant_under_test("stats")
    reached: dict[str, list[pytest.Item]] = defaultdict(list)
    took: dict[str, float] = {}
    broken = []
    for item, following in zip_longest(items, items[1:]):
        state()._stats.clear()
        before = time.process_time()
        if not _passes(item, following):
            broken.append(item.nodeid)
        took[item.nodeid] = time.process_time() - before
        for function in state()._stats:
            reached[function].append(item)
    set_mutant_under_test("")
    for tests in reached.values():
        tests.sort(key=lambda item: took[item.nodeid])
    return reached, took, broken


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    # A doctest empties its names when it ends, and is run again.
    names = dict(item.dtest.globs) if isinstance(item, pytest.DoctestItem) and item.dtest else {}
    passed = not any(report.failed for report in runtestprotocol(item, nextitem=following, log=False))
    if isinstance(item, pytest.DoctestItem) and item.dtest:
        item.dtest.globs.update(names)
    return passed


def _try_all(
    mutants: list[str],
    reached: dict[str, list[pytest.Item]],
    took: dict[str, float],
    processes: int,
    say: Callable[[str, str, float], None],
) -> None:
    """Says of each mutant its name, what became of it, and the seconds that took."""
    running: dict[int, tuple[str, float, Path]] = {}

    def one_ends() -> None:
        process, status = os.wait()
        name, began, scratch = running.pop(process)
        shutil.rmtree(scratch, ignore_errors=True)
        say(name, _fate(status), time.monotonic() - began)

    for name in mutants:
        tests = reached.get(name.partition("__mutmut_")[0], [])
        if not tests:
            say(name, "no tests", 0)
            continue
        if len(running) == processes:
            one_ends()
        scratch = Path(mkdtemp())
        running[_started(name, tests, took, scratch)] = name, time.monotonic(), scratch
    while running:
        one_ends()


def _fate(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return {0: "survived", -signal.SIGPROF: "timeout", -signal.SIGALRM: "timeout"}.get(code, "killed")


def _started(name: str, tests: list[pytest.Item], took: dict[str, float], scratch: Path) -> int:
    """A copy of the process, by its number, that tries the mutant."""
    process = os.fork()
    if process == 0:
        tests[0].config._tmp_path_factory._basetemp = scratch  # type: ignore[attr-defined]
        _try(name, tests, took)
    return process


def _try(name: str, tests: list[pytest.Item], took: dict[str, float]) -> NoReturn:
    """In a copy of the process: ends it with 1 if a test fails, 0 if none does, by a signal if one does not end."""
    from mutmut.mutation.trampoline import set_mutant_under_test

    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    set_mutant_under_test(name)
    killed = False
    for item, following in zip_longest(tests, tests[1:]):
        seconds = SLOW * (took[item.nodeid] + 1)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(int(PATIENT * seconds))
        try:
            killed = not _passes(item, following)
        except BaseException:
            killed = True
        if killed:
            break
    os._exit(killed)
