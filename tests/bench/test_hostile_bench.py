"""Somebody floods the desk's route with grades that cannot count: what a key press of somebody else takes meanwhile.

One server as people start it; the flood and the bystander ask over HTTP. Never fails on a time.
"""

import shutil
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate_app.server.turns import MOST_EVENTS
from backend import api
from backend.campaign.demo import clips as demo_clips
from backend.campaign.nouns import Role
from backend.media.jobs import clip_job
from backend.media.sources import source_at
from backend.store.connection import writing
from bench import campaign
from bench.flood import Person, at_work, flood
from bench.tables import sized, table
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
    now = time.time()
    names = [f"person {n}" for n in range(AT_ONCE + 1)]
    for name in names:
        api.add_person_with_password(project, api.OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=now)
    have_read(project)
    have_clips(project)
    tokens = [api.sign_in(project, name, PASSWORD, now=now) for name in names]
    project.store.close()
    return folder, tokens


def have_clips(project: api.Project) -> None:
    """All videos are one, and the clips of its moments there: else each desk would report every clip of its pairs."""
    video = min(demo_clips.folder().glob("*.mp4"))
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
