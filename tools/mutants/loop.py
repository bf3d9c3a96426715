"""A pytest plugin for mutation tests: it collects the tests once, then tries each mutant in a fork of the process.

mutmut itself starts pytest anew for each mutant, which takes longer than the tests. So only its mutants are used (see
`making.py`). The fork switches one mutant on, and runs the tests that call its function, the quickest first. It ends
with the first test that fails. There is no fork on Windows, so this does not run there.
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
    """Leave out the doctests of mutated functions, which are the same as those of the original function."""
    items[:] = [item for item in items if "__mutmut_" not in item.name or item.name.endswith("__mutmut_orig")]


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run all tests without a mutant, then try each mutant with the tests that call its function."""
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
    """Make Hypothesis try few examples, the same in each run, without shrinking: a mutant only has to be noticed."""
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
    """Run the tests on the original code.

    Return the tests that call each function, the quickest first, the processor time of each test in seconds, and the
    tests that fail.
    """
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
    """Try the mutants, and call `say` for each with its name, its outcome, and the seconds it took.

    `reached` has the tests that call each function, and `took` the processor time of each test in seconds.
    """
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
    """Fork a process that tries the mutant with this name, and return the process's id."""
    process = os.fork()
    if process == 0:
        tests[0].config._tmp_path_factory._basetemp = scratch  # type: ignore[attr-defined]
        _try(name, tests, took)
    return process


def _try(name: str, tests: list[pytest.Item], took: dict[str, float]) -> NoReturn:
    """Try a mutant in this process, then end the process: with 1 if a test fails, otherwise with 0.

    A test that does not end in time makes a signal end the process.
    """
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
