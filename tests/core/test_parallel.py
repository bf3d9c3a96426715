"""Work in other processes: it gives back what one process would."""

import operator
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import units
from backend.core import parallel
from backend.core.errors import WorkerLost
from backend.core.where import Where


# Work of other processes is a function that they can import, wherever the tests were started: one of Python's own.
def test_a_failing_unit_fails_the_whole() -> None:
    with pytest.raises(ZeroDivisionError):
        parallel.run_units(operator.truediv, 1, [1, 0, 2], Where(2))


def test_results_come_in_the_order_of_the_units_whichever_ends_first(tmp_path: Path) -> None:
    assert parallel.run_units(units.later_ones_first, tmp_path, range(3), Where(3)) == [0, 10, 20]


def test_a_unit_whose_process_dies_is_done_again(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = parallel.run_units(
        units.first_try_dies, tmp_path, range(8), Where(2), progress=lambda done, total: told.append((done, total))
    )
    assert found == [n * 10 for n in range(8)]
    assert told == [(n + 1, 8) for n in range(8)]
    assert (tmp_path / "3-1").exists()


def test_a_unit_that_ends_each_process_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkerLost, match=r"^unit 3: its process died 3 times.*SIGKILL"):
        parallel.run_units(units.always_dies, tmp_path, range(4), Where(2), called="unit {}".format)
    assert len(list(tmp_path.glob("3-*"))) == parallel.TRIES


RUNS_UNITS = """
import sys
from pathlib import Path
import units
from backend.core import parallel
from backend.core.where import Where

parallel.run_units(units.until_told, Path(sys.argv[1]), range(20), Where(2))
"""


def test_ctrl_c_begins_nothing_more_and_leaves_nobody(tmp_path: Path) -> None:
    path = os.pathsep.join(sys.path)
    process = subprocess.Popen(
        [sys.executable, "-c", RUNS_UNITS, tmp_path],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    units.wait_for(lambda: len(list(tmp_path.glob("begun-*"))) == 2, "the units did not begin")
    os.killpg(process.pid, signal.SIGINT)  # to all of them, as a terminal does
    (tmp_path / "go").touch()
    told = process.communicate()[1]
    assert told.splitlines()[-1] == "KeyboardInterrupt", told
    begun, ended = ([one.name.split("-")[1:] for one in tmp_path.glob(f"{how}-*")] for how in ("begun", "ended"))
    assert {unit for unit, _ in begun} == {unit for (unit,) in ended}, "what was under way was finished"
    assert len(begun) <= 3
    assert not any(units.is_running(int(worker)) for _, worker in begun)


GIVES_ITS_PLACE_AWAY = """
import operator, os, sys
from backend.core import parallel

print(parallel.run_units(operator.add, 1, [2], apart=True), flush=True)
parallel.end_kept()
parallel.end_kept()
os.execv(sys.executable, [sys.executable, "-c", "print('another program')"])
"""


def test_a_program_that_gives_its_place_away_leaves_nothing_to_complain_about() -> None:
    done = subprocess.run([sys.executable, "-c", GIVES_ITS_PLACE_AWAY], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[3]\nanother program\n", "")


def test_a_kept_process_that_was_let_go_is_replaced() -> None:
    (before,) = parallel.run_units(units.worker, None, [0], apart=True)
    parallel.end_kept()
    assert not units.is_running(before)
    assert parallel.run_units(units.worker, None, [0], apart=True) != [before]


def test_processes_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert parallel.run_units(units.threads, None, range(2), Where(2)) == [["3", "7"]] * 2


def test_scoring_loads_nothing_that_runs_elsewhere() -> None:
    code = """
import sys
sys.modules |= dict.fromkeys(("loky", "joblib", "dask", "distributed", "multiprocessing.pool"))
from reelrank import evaluate
from backend.scoring.studies import running
from backend.core.parallel import run_units
import operator
print(run_units(operator.add, 1, [2, 3]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[3, 4]\n"
