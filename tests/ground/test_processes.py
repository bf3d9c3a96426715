"""Workers of the server end with it, however it ends."""

import signal
import subprocess
import sys
import time
from pathlib import Path

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
