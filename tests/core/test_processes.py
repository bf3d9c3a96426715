"""Processes beside this one: they end with whoever started them, and run nothing of it that they were not given."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import units
from backend.core import processes

PARENT = """
import os, time
from backend.core import processes

if __name__ == "__main__":
    pool = processes.pool(1)
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
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not units.is_running(worker):
            return
        time.sleep(0.05)
    raise AssertionError("the worker outlived its server")


ENDING = """
import multiprocessing, sys, time
from concurrent.futures import wait
from pathlib import Path
from backend.core import processes
import units

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    pool = processes.pool(1)
    idle = pool.submit(abs, -1)
    idle.result()
    future = processes.alone(units.fill, folder)
    while not (folder / "begun").exists():
        time.sleep(0.01)
    workers = [worker.pid for worker in multiprocessing.active_children()]
    assert len(workers) == 2
    processes.end_all(patience_s=50)  # a busy machine takes longer than is waited for otherwise
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


STAY = """
import os, pathlib, time
file = pathlib.Path(told)
file.write_text(str(os.getpid()))
while file.exists():
    time.sleep(0.01)
"""


BETWEEN = """
import sys, time
from pathlib import Path
from loky import process_executor
from backend.core import processes

def stand_still(begun):
    def measure(pid, force_gc=False):
        begun.touch()
        time.sleep(60)
    process_executor._get_memory_usage = measure

if __name__ == "__main__":
    begun = Path(sys.argv[1])
    pool = processes.pool(1, stand_still, (begun,))
    pool.submit(abs, -1).result()
    while not begun.exists():
        time.sleep(0.01)
    processes.end_all()
"""


def test_a_worker_that_ends_between_two_tasks_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "between.py").write_text(BETWEEN)
    command = [sys.executable, "-c", "import between, runpy; runpy.run_module('between', run_name='__main__')"]
    paths = os.pathsep.join(map(str, (tmp_path, Path(processes.__file__).parents[2])))
    ended = subprocess.run(
        [*command, tmp_path / "begun"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert (ended.stdout, ended.stderr) == ("", "")


def test_one_act_in_a_process_of_its_own_outlives_ctrl_c_and_its_process_ends_with_it(tmp_path: Path) -> None:
    told = tmp_path / "told"
    future = processes.alone(exec, STAY, {"told": str(told)})
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


def test_the_main_module_is_not_run_by_the_processes_it_starts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import operator, os\n"
        "from backend.core.processes import pool\n"
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
