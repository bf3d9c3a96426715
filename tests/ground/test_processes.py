"""Work in other processes: they end with whoever started them, and give back what one process would."""

import operator
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backend.ground import processes

PARENT = """
import os, time
from backend.ground import processes

if __name__ == "__main__":
    pool = processes.pool(1)
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""


def is_running(process: int) -> bool:
    """Whether a process is there and not merely waiting to be buried by whoever inherited it."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_worker_leaves_when_its_server_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    assert is_running(worker)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not is_running(worker):
            return
        time.sleep(0.05)
    raise AssertionError("the worker outlived its server")


# Work of other processes is a function that they can import, wherever the tests were started: one of Python's own.
def test_a_failing_unit_fails_the_whole() -> None:
    with pytest.raises(ZeroDivisionError):
        processes.run_units(operator.truediv, 1, [1, 0, 2], jobs=2)


def test_units_come_back_in_order_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    found = processes.run_units(
        operator.truediv, 4, [4, 2, 1], jobs=2, progress=lambda done, total: told.append((done, total))
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
    future = processes.alone(exec, STAY, {"told": str(told)})
    deadline = time.monotonic() + 60
    while not (told.exists() and told.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    worker = int(told.read_text())
    os.kill(worker, signal.SIGINT)
    told.unlink()
    future.result(60)
    assert worker != os.getpid()
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(worker)
