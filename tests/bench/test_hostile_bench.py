"""Somebody floods the server, by grades that cannot count or by websocket: what a key press of somebody else takes.

One server as people start it; the flood and the bystander ask over HTTP. Never fails on a time.
"""

import re
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate_app.server.answers import MOST_EVENTS
from backend.campaign import demo
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project
from backend.media.jobs import clip_job
from backend.media.sources import source_at
from backend.store.connection import writing
from bench import campaign
from bench.flood import Person, at_work, flood
from bench.tables import sized, table
from bench.websocket_flood import Shape, websocket_flood
from browser.app_server import AppServer
from support import have_read

pytestmark = pytest.mark.bench

AT_ONCE = 45
LASTS_S = sized(6.0, 10.0)
PASSWORD = "a long password"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A campaign on its first day, and the sessions of its people."""
    folder = tmp_path_factory.mktemp("flooded") / "project"
    project = campaign.open_project(folder, 4_000)
    tokens = sessions_of_people(project, AT_ONCE + 1)
    project.store.close()
    return folder, tokens


def sessions_of_people(project: Project, count: int) -> list[str]:
    """Add annotators who may begin at once, with all clips there; return a session of each."""
    now, names = time.time(), [f"person {n}" for n in range(count)]
    for name in names:
        add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=now)
    have_read(project)
    have_clips(project)
    return [sign_in(project, name, PASSWORD, now=now) for name in names]


def have_clips(project: Project) -> None:
    """All videos are one, and the clips of its moments there: else each desk would report every clip of its pairs."""
    video = min(demo.clip_folder().glob("*.mp4"))
    with writing(project.store) as db:
        db.conn.execute(
            "UPDATE video SET path = ?, sha256 = 'one', fps_num = 25, fps_den = 1, width_px = 640, height_px = 360, "
            "has_audio = 0",
            [str(video)],
        )
        spans = db.conn.execute("SELECT DISTINCT start_s, end_s FROM moment").fetchall()
    project.clips.folder.mkdir(parents=True, exist_ok=True)
    for start_s, end_s in spans:
        clip_job(project.clips, source_at(video), start_s, end_s, "one").path.touch()


@pytest.fixture
def server(made: tuple[Path, list[str]], tmp_path: Path) -> Iterator[AppServer]:
    """A fresh one for every flood: what somebody handed in in the hour before counts."""
    folder = Path(shutil.copytree(made[0], tmp_path / "project"))
    served = AppServer(folder, tmp_path / "log")
    served.start()
    yield served
    served.stop()


def spread(took: list[float]) -> str:
    ordered = sorted(took)
    parts = (statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1])
    return " / ".join(f"{part * 1e3:.0f} ms" for part in parts)


ROWS: list[list[str]] = []


@pytest.mark.parametrize(
    ("what", "people", "events"),
    [
        ("one person, 300 grades a request", 1, 300),
        (f"one person, {MOST_EVENTS} grades a request", 1, MOST_EVENTS),
        (f"{AT_ONCE} people, {MOST_EVENTS} grades a request", AT_ONCE, MOST_EVENTS),
        (f"{AT_ONCE} people, 300 grades a request", AT_ONCE, 300),
    ],
)
def test_a_key_press_beside_a_flood(
    server: AppServer, made: tuple[Path, list[str]], what: str, people: int, events: int
) -> None:
    bystander, *others = made[1]
    me = Person(server.port, bystander)
    at_work(me, 1.0)
    quiet, pair = at_work(me, LASTS_S / 2)
    tokens = [others[n % people] for n in range(AT_ONCE)]
    with flood(server.port, tokens, pair, events) as statuses:
        beside, _ = at_work(me, LASTS_S)
    answers = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
    ROWS.append([what, spread(quiet), spread(beside), answers])


def test_table() -> None:
    head = f"{AT_ONCE} requests at once, all the time|a key press before|a key press meanwhile|answers to the flood"
    table("A flood of grades that cannot count: median / p95 / longest", ROWS, ["starlette", "uvicorn"], head)


WITHOUT_LIMITS = (sys.executable, str(Path(__file__).with_name("unlimited.py")))
GIVES_UP_S = 20.0
WEBSOCKET_ROWS: list[list[str]] = []
SHAPES = {
    "1 person, 10 pages, 5 runs a second each": Shape(10, runs_per_s=5),
    "1 person, 20 pages, 10 runs a second each": Shape(20, runs_per_s=10),
    "1 person, 60 pages, as fast as they can": Shape(60),
    "1 person, 20 pages that open and close": Shape(20, reconnects=True),
    "1 person, 15 pages, 23 MB of widget state": Shape(15, state_bytes=23_000_000),
    f"{AT_ONCE} people, 90 pages, as fast as they can": Shape(90, people=AT_ONCE),
}


def memory_mb(server: AppServer) -> dict[str, float]:
    """What the server's own process has (VmRSS) and had at most (VmHWM)."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return {name: int(kb) / 1024 for name, kb in re.findall(r"(VmRSS|VmHWM):\s+(\d+) kB", status)}


@pytest.mark.parametrize("what", SHAPES)
def test_a_key_press_beside_a_websocket_flood(made: tuple[Path, list[str]], tmp_path: Path, what: str) -> None:
    row = [what]
    for program in (WITHOUT_LIMITS, None):
        folder = Path(shutil.copytree(made[0], tmp_path / f"{program is None}"))
        more = {} if program is None else {"program": program}
        server = AppServer(folder, tmp_path / "log", **more)
        server.start()
        try:
            bystander, *others = made[1]
            me = Person(server.port, bystander, timeout_s=GIVES_UP_S)
            with websocket_flood(server.port, [bystander], Shape(1, runs_per_s=2)):
                at_work(me, 2.0)  # what the first page loads is there now
            quiet, _ = at_work(me, LASTS_S / 2)
            before = memory_mb(server)["VmRSS"]
            with websocket_flood(server.port, others, SHAPES[what]) as outcome:
                try:
                    beside = spread(at_work(me, LASTS_S)[0])
                except TimeoutError:
                    beside = f"none within {GIVES_UP_S:.0f} s"
                grown = memory_mb(server)["VmHWM"] - before
        finally:
            server.stop()
        did = ", ".join(f"{count} {name}" for name, count in sorted(outcome.items()))
        row += [spread(quiet), beside, f"{max(0.0, grown):.0f} MB", did]
    WEBSOCKET_ROWS.append(row)


def test_websocket_table() -> None:
    columns = ("a key press before", "meanwhile", "memory", "what the flood did")
    head = "|".join(["flood", *columns, *(f"{column}, limited" for column in columns)])
    table("A flood by websocket: median / p95 / longest", WEBSOCKET_ROWS, ["streamlit", "uvicorn", "websockets"], head)
