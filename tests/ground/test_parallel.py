"""Work in other processes: they end with whoever started them, and give back what one process would."""

import operator
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import units
from backend.ground import parallel
from backend.ground.errors import WorkerLost
from backend.ground.where import Where

PARENT = """
import os, time
from backend.ground import parallel

if __name__ == "__main__":
    pool = parallel.pool(1)
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""


def test_a_worker_leaves_when_its_server_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    assert units.is_running(worker)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not units.is_running(worker):
            return
        time.sleep(0.05)
    raise AssertionError("the worker outlived its server")


ENDING = """
import multiprocessing, sys, time
from concurrent.futures import wait
from pathlib import Path
from backend.ground import parallel
import units

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    pool = parallel.pool(1)
    idle = pool.submit(abs, -1)
    idle.result()
    future = parallel.alone(units.fill, folder)
    while not (folder / "begun").exists():
        time.sleep(0.01)
    workers = [worker.pid for worker in multiprocessing.active_children()]
    assert len(workers) == 2
    parallel.end_all(patience_s=50)  # a busy machine takes longer than is waited for otherwise
    assert not any(map(units.is_running, workers))
    wait([future])
    print(type(future.exception()).__name__, [path.name for path in (folder / "out").iterdir()])
"""


def test_all_workers_end_and_what_was_arriving_is_cleared_away(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ENDING, tmp_path]
    path = os.pathsep.join([*sys.path, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    failed_with, left = done.stdout.split(maxsplit=1)
    assert left.strip() == "[]"
    assert failed_with != "NoneType"


# Work of other processes is a function that they can import, wherever the tests were started: one of Python's own.
def test_a_failing_unit_fails_the_whole() -> None:
    with pytest.raises(ZeroDivisionError):
        parallel.run_units(operator.truediv, 1, [1, 0, 2], Where(2))


def test_units_come_back_in_order_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    found = parallel.run_units(
        operator.truediv, 4, [4, 2, 1], Where(2), progress=lambda done, total: told.append((done, total))
    )
    assert found == [1, 2, 4]
    assert told == [(1, 3), (2, 3), (3, 3)]


STAY = """
import os, pathlib, time
file = pathlib.Path(told)
file.write_text(str(os.getpid()))
while file.exists():
    time.sleep(0.01)
"""


def test_one_act_in_a_process_of_its_own_outlives_ctrl_c_and_its_process_ends_with_it(tmp_path: Path) -> None:
    told = tmp_path / "told"
    future = parallel.alone(exec, STAY, {"told": str(told)})
    deadline = time.monotonic() + 60
    while not (told.exists() and told.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    worker = int(told.read_text())
    os.kill(worker, signal.SIGINT)
    told.unlink()
    future.result(60)
    assert worker != os.getpid()
    while units.is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not units.is_running(worker)


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
    with pytest.raises(WorkerLost, match=r"^unit 3: the process that worked on it died 3 times.*SIGKILL"):
        parallel.run_units(units.always_dies, tmp_path, range(4), Where(2), called="unit {}".format)
    assert len(list(tmp_path.glob("3-*"))) == parallel.TRIES


RUNS_UNITS = """
import sys
from pathlib import Path
import units
from backend.ground import parallel
from backend.ground.where import Where

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


def test_the_main_module_is_not_run_by_the_processes_it_starts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import operator, os\n"
        "from backend.ground.parallel import pool\n"
        "print('the script runs', flush=True)\n"
        "print(pool(1).submit(operator.add, 1, 2).result(), flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n") == ["the script runs", "3", ""]


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
from backend.ground.parallel import run_units
import operator
print(run_units(operator.add, 1, [2, 3]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[3, 4]\n"
