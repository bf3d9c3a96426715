"""The same work on a cluster: two worker processes of a Dask scheduler give what one process gives."""

import gc
import operator
import os
import signal
import subprocess
import sys
import time
from asyncio import BaseEventLoop, new_event_loop
from pathlib import Path

import pytest

import backend
import units
from backend.core import cluster, parallel
from backend.core.errors import ClusterUnavailable, InputError, Problem, WorkerLost
from backend.core.where import Where
from support import free_port

pytest.importorskip("distributed")


def test_what_a_unit_refuses_is_refused_here(on_cluster: Where) -> None:
    with pytest.raises(ZeroDivisionError):
        parallel.run_units(operator.truediv, 1, [1, 0, 2], on_cluster)
    problems = [Problem("a.csv", n, "is wrong") for n in (3, 4)]
    with pytest.raises(InputError) as refused:
        parallel.run_units(units.refuse, problems, [1], on_cluster)
    assert str(refused.value) == str(InputError(problems)) == "a.csv, row 3: is wrong\na.csv, row 4: is wrong"
    assert refused.value.problems == tuple(problems)


def test_a_unit_whose_worker_dies_is_done_again(on_cluster: Where, tmp_path: Path) -> None:
    assert parallel.run_units(units.first_try_dies, tmp_path, range(8), on_cluster) == [n * 10 for n in range(8)]
    assert (tmp_path / "3-1").exists()


def test_a_unit_that_ends_each_worker_is_named(on_cluster: Where, tmp_path: Path) -> None:
    with pytest.raises(WorkerLost, match=r"^unit 3: its process died 3 times"):
        parallel.run_units(units.always_dies, tmp_path, range(4), on_cluster, called="unit {}".format)
    assert parallel.run_units(operator.add, 1, [1, 2], on_cluster) == [2, 3]


def test_files_are_the_same_for_all_or_nothing_is_begun(on_cluster: Where, tmp_path: Path) -> None:
    video, empty = tmp_path / "a.mp4", tmp_path / "clips"
    video.write_bytes(b"1234")
    empty.mkdir()
    assert parallel.run_units(operator.add, 1, [1, 2], on_cluster, sees=[video, tmp_path / "none"], fills=[empty]) == [
        2,
        3,
    ]
    assert list(empty.iterdir()) == []
    for look in ((f"{video}", 5), (f"{tmp_path}/none", None), (f"{tmp_path}/none", 0)):
        assert look[0] in cluster._shortcoming(backend.__version__, [look])
    assert "but this machine has 0.0: install the same version" in cluster._shortcoming("0.0", [])


def test_a_folder_that_a_worker_does_not_see_is_named(
    on_cluster: Where, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that means one folder here and another there: what a process finds under its own number."""
    (tmp_path / "seen").mkdir()
    monkeypatch.chdir(tmp_path)  # the workers stay where they are
    elsewhere = Path("/proc/self/cwd/seen")
    with pytest.raises(ClusterUnavailable, match=rf"^worker tcp://.* does not see {elsewhere} as this machine does"):
        parallel.run_units(units.always_dies, tmp_path, range(4), on_cluster, fills=[elsewhere])
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["seen"], "nothing was begun"


def test_a_path_that_is_another_place_elsewhere_is_refused(on_cluster: Where) -> None:
    with pytest.raises(ClusterUnavailable, match=r"^clips means a different place on each machine"):
        parallel.run_units(operator.add, 1, [1, 2], on_cluster, fills=[Path("clips")])


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    monkeypatch.setattr(cluster, "CONNECT_S", 0.2)
    gc.disable()  # what is left open would be closed by a collection, which may come while Dask holds a lock
    try:
        for address, why in (
            (f"tcp://127.0.0.1:{free_port()}", "Timed out"),
            ("here", "missing port number"),
            ("tls://127.0.0.1:1", "check your TLS configuration"),
        ):
            told = rf"^no scheduler answers at {address} \(.*{why}.* `dask scheduler`"
            with pytest.raises(ClusterUnavailable, match=told):
                parallel.run_units(operator.add, 1, [1, 2], Where(cluster=address))
        left = [found.status for found in gc.get_objects() if isinstance(found, Client)]
    finally:
        gc.enable()
    assert set(left) == {"closed"}


def test_a_scheduler_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "CONNECT_S", 0.2)
    with LocalCluster(n_workers=0, dashboard_address=":0", processes=True) as local:
        told = rf"^the scheduler at {local.scheduler_address} has no worker: .*`dask worker {local.scheduler_address}`"
        with pytest.raises(ClusterUnavailable, match=told):
            parallel.run_units(operator.add, 1, [1, 2], Where(cluster=local.scheduler_address))


RUNS_UNITS = """
import sys
from pathlib import Path
import units
from backend.core import parallel
from backend.core.where import Where

parallel.run_units(units.until_told, Path(sys.argv[1]), range(20), Where(cluster=sys.argv[2]))
"""


def test_ctrl_c_begins_nothing_more(on_cluster: Where, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", RUNS_UNITS, tmp_path, str(on_cluster.cluster)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    units.wait_for(
        lambda: process.poll() is not None or len(list(tmp_path.glob("begun-*"))) == 2, "the units did not begin"
    )
    process.send_signal(signal.SIGINT)
    told = process.communicate()[1]  # it waits for nobody: the units may not go on yet
    assert told.splitlines()[-1] == "KeyboardInterrupt", told
    (tmp_path / "go").touch()
    units.wait_for(lambda: len(list(tmp_path.glob("ended-*"))) == 2, "what was under way was not finished")
    assert parallel.run_units(operator.add, 1, [1, 2], on_cluster) == [2, 3]
    assert len(list(tmp_path.glob("begun-*"))) == 2


def test_a_loop_that_ends_late_says_nothing(
    on_cluster: Where, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On a busy machine the last turn of Dask's loop takes longer than the pause after its last message, 10 ms."""
    end = BaseEventLoop.shutdown_default_executor

    async def end_late(loop: BaseEventLoop, *limit: float) -> None:
        await end(loop, *limit)
        time.sleep(0.05)

    gc.collect()  # what earlier tests left is theirs
    caplog.clear()
    monkeypatch.setattr(BaseEventLoop, "shutdown_default_executor", end_late)
    assert parallel.run_units(operator.add, 1, [1, 2], on_cluster) == [2, 3]
    gc.collect()
    assert caplog.text == ""


def test_what_else_dasks_loop_has_to_say_is_said(caplog: pytest.LogCaptureFixture) -> None:
    from distributed.client import AllExit

    loop = new_event_loop()
    loop.set_exception_handler(cluster._report_loop_error)
    for own in (TimeoutError("Timeout"), AllExit()):
        loop.call_exception_handler({"message": "was never heard", "exception": own})
    loop.call_exception_handler({"message": "is wrong", "exception": ValueError("here")})
    loop.close()
    assert [record.message for record in caplog.records] == ["is wrong"]


@pytest.mark.long
def test_workers_that_go_and_a_scheduler_that_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "WITHOUT_WORKER_S", 0)
    monkeypatch.setattr(cluster, "FETCH_S", 0.5)
    for gone, told in (("worker", "has had no worker"), ("scheduler", "no longer answers")):
        with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as local:
            address = local.scheduler_address
            found = parallel.each_unit(units.tell, tmp_path, units.endless(), Where(cluster=address))
            next(found)
            if gone == "worker":
                local.scale(0)
            else:
                local.close()
            with pytest.raises(ClusterUnavailable, match=told):
                list(found)


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterUnavailable, match=r"reelrank\[dask\]"):
        parallel.run_units(os.getpid, None, [1, 2], Where(cluster="tcp://127.0.0.1:1"))
