"""A project whose videos never lie on this machine: from a bucket to a release, by commands and the desk's routes."""

import json
import secrets
import time
import tomllib
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import Desks
from annotate_app.session.guard import Guard
from backend.campaign.monitoring.videos.check import video_states
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.release.export import card, freezing
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.ids import PairKey
from backend.encoders import sentence
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import ClipJob
from cli.conftest import Run
from s3_server import S3, serving_s3
from support import NOW, WordEncoder, have_read

pytestmark = pytest.mark.long

DEMO = Path(__file__).parents[2] / "assets" / "demo"
VIDEOS = ("moving_boxes", "park_book", "playground_catch", "rainy_street")
PASSWORD = "long enough for everybody"
PEOPLE = ("Ana", "Ben", "Cleo", "Dan")


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    with serving_s3() as served:
        for name, value in served.environ.items():
            monkeypatch.setenv(name, value)
        yield served


@pytest.fixture(autouse=True)
def _no_model_and_no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    monkeypatch.setattr(freezing, "figures", lambda documents: dict.fromkeys(card.FIGURES, b"not drawn"))


@contextmanager
def desk_of(project: Project, name: str, now: float) -> Iterator[TestClient]:
    clips: ClipWorker[ClipJob] = ClipWorker(cut_clip)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        clips.stop()

    app = Starlette(
        routes=Desks(lambda: project, clips, clock=lambda: now).routes(),
        middleware=[Middleware(Guard, project=lambda: project)],
        lifespan=lifespan,
    )
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as client:
        client.cookies.set("reelrank_session", sign_in(project, name, PASSWORD, now=time.time()))
        yield client


def grade_all(client: TestClient, heard: list[Response], grades: Iterable[int], *, look_at: int = 0) -> list[str]:
    """Somebody grades all that they are handed, and looks at each form of the first clips; the pairs, in order."""
    pairs: list[str] = []
    sent: dict[str, Any] = {}
    for grade in grades:
        heard.append(answer := client.post("/desk/exchange", json=sent, headers={"X-ReelRank": "1"}))
        assert answer.status_code == 200
        items = answer.json()["desk"]["items"]
        if not items:
            return pairs
        pairs.append(pair := items[0]["pair"])
        if len(pairs) <= look_at:
            for form in ("mp4", "mp4?context=1", "webp"):
                heard.append(clip := client.get(f"/clips/{pair}.{form}"))
                assert clip.status_code == 200
            heard.append(part := client.get(f"/clips/{pair}.mp4", headers={"Range": "bytes=8-15"}))
            assert (part.status_code, len(part.content)) == (206, 8)
        sent = {"grades": [{"pair": pair, "grade": grade, "key": secrets.token_hex(8), "active_ms": 9000}]}
    raise AssertionError("the work never ended")


def test_from_a_bucket_to_a_release(s3: S3, reelrank: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = s3.bucket("films")
    s3.fill(bucket, {f"season one/{name}.mp4": (DEMO / f"{name}.mp4").read_bytes() for name in VIDEOS})
    lines = [line for line in (DEMO / "moments.jsonl").read_text().splitlines() if json.loads(line)["video"] in VIDEOS]
    moments = [json.loads(line) for line in lines]
    (tmp_path / "moments.jsonl").write_text("\n".join(lines))
    folder = tmp_path / "project"

    def run(*arguments: object) -> str:
        out = reelrank.out(*arguments)
        return out

    run("init", folder, "--encoder", "minilm")
    with (folder / "reelrank.toml").open("a") as settings:
        cast = tomllib.loads((DEMO / "cast.toml").read_text())
        settings.writelines(f'"{name}" = "{words}"\n' for name, words in cast.get("cast", cast).items())
    run("import", folder, tmp_path / "moments.jsonl", "--videos", f"{bucket}/season one")
    run("rewrite", folder)
    run("queries", folder, "--val", 1, "--test", 1, "--seed", 3)
    run("candidates", folder, "--batch-size", 5)
    project = open_project(folder)
    states = {one.video: one.path for one in video_states(project, OPERATOR)}
    assert states == {name: f"{bucket}/season one/{name}.mp4" for name in VIDEOS}
    lead, *_ = (
        add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=NOW)
        for name, role in (("Lea", Role.LEAD), *((name, Role.ANNOTATOR) for name in PEOPLE))
    )
    have_read(project)
    s3.asked.clear()
    heard: list[Response] = []
    # Of the first pair two disagree, and so do the two who are asked then; a lead decides.
    graded = []
    for nth, (name, grades) in enumerate(zip(PEOPLE, ((3,), (0, *[3] * 9), (4,), (0,)), strict=True)):
        with desk_of(project, name, NOW + 3600 * nth) as client:
            given = chain(grades, repeat(grades[-1], 20))
            graded.append(grade_all(client, heard, given, look_at=2 if nth == 0 else 0))

    gets = [span for method, place, span in s3.asked if method == "GET" and place.endswith(".mp4")]
    assert len(gets) > 0
    assert all(gets), "read by ranges alone"
    for answer in heard:
        text = answer.text if "json" in answer.headers["content-type"] else ""
        for secret in (*VIDEOS, "films-", "season", "s3://", s3.endpoint):
            assert secret not in f"{text} {answer.headers.raw}"

    assert [len(pairs) for pairs in graded] == [10, 10, 1, 1]
    (disputed,) = graded[2]
    assert graded[3] == graded[2] == graded[1][:1]
    adjudicate(project, lead, PairKey(disputed), 1, "seen it twice", now=NOW + 5 * 3600)
    run("export", folder, tmp_path / "release")
    truth = [
        moment
        for split in ("val", "test")
        for query in json.loads((tmp_path / "release" / f"{split}.json").read_text())
        for moment in query["relevant_moment"]
    ]
    assert sorted(moment["relevance"] for moment in truth) == [1, *[3] * 9]
    spans = {(one["video"], one["start"], one["end"]) for one in moments}
    assert {(one["video_name"], *one["timestamp"]) for one in truth} <= spans
    assert "s3://" not in "".join(file.read_text() for file in (tmp_path / "release").glob("*.json"))
    assert "nothing found" in run("doctor", folder)
