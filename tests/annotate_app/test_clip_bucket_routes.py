"""Two front ends with one bucket of clips: cut once, shown to whom a clip is, and nobody waits when it is away."""

import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
from httpx import Response
from msgspec import structs
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import Desks
from annotate_app.session.guard import Guard
from backend.campaign.doctor.examination import doctor
from backend.campaign.monitoring.progress.progress import bucket_troubles, cut_queued_clips
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import ClipJob
from backend.store.connection import writing
from player_harness import make_clip
from s3_server import S3, serving_s3
from support import NOW, VERBS, WordEncoder, have_read

pytestmark = pytest.mark.long

PASSWORD = "long enough for everybody"
VIDEO = "dinner_at_monicas"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with serving_s3() as served, pytest.MonkeyPatch.context() as environment:
        for name, value in served.environ.items():
            environment.setenv(name, value)
        yield served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, s3: S3) -> Path:
    """A project of one video, with a bucket."""
    at = tmp_path_factory.mktemp("bucket")
    lines = [
        {"video": VIDEO, "start": n * 0.5, "end": n * 0.5 + 1.6, "caption": f"Person {n} {VERBS[n % 8]} in room {n}."}
        for n in range(24)
    ]
    (at / "moments.jsonl").write_text("\n".join(map(json.dumps, lines)))
    make_clip(at / f"{VIDEO}.mp4", 1, seconds=14, width=64, height=48)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        project = init_project(at / "project", encoder="minilm")
        import_corpus(project, OPERATOR, at / "moments.jsonl", "jsonl", videos=at, now=NOW)
        draw_queries(project, OPERATOR, val=1, test=1, seed=5, now=NOW)
        choose_candidates(project, OPERATOR, now=NOW)
    for name, role in (("Ana", Role.ANNOTATOR), ("Lea", Role.LEAD)):
        add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=NOW)
    have_read(project)
    project.store.close()
    settings = project.folder / "reelrank.toml"
    bucket = s3.bucket("routes")
    settings.write_text(settings.read_text().replace("# bucket = ", f'bucket = "{bucket}/ours" # '))
    return project.folder


@contextmanager
def front_end(folder: Path, own: Path, name: str = "Ana", signed_s: float = 0.0) -> Iterator[TestClient]:
    """One of several over the project's database, with a folder of clips of its own; who asks has signed in."""
    opened = open_project(folder)
    settings = structs.replace(opened.settings, clips=structs.replace(opened.settings.clips, signed_s=signed_s))
    project = replace(opened, folder=own, live=SimpleNamespace(current=settings))
    clips: ClipWorker[ClipJob] = ClipWorker(cut_clip)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        clips.stop()

    app = Starlette(
        routes=Desks(lambda: project, clips).routes(),
        middleware=[Middleware(Guard, project=lambda: project)],
        lifespan=lifespan,
    )
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as client:
        client.cookies.set("reelrank_session", sign_in(project, name, PASSWORD, now=time.time()))
        yield client
    project.store.close()


@contextmanager
def gold_among_the_work(folder: Path) -> Iterator[None]:
    project = open_project(folder)
    for on in (True, False):
        with writing(project.store) as db:
            project_rows.set_gold(db, replace(project_rows.gold(db), on=on))
        if on:
            yield
    project.store.close()


def desk(client: TestClient) -> Response:
    return client.post("/desk/exchange", json={}, headers={"X-ReelRank": "1"})


def pairs(answer: Response) -> list[str]:
    return [item["pair"] for item in answer.json()["desk"]["items"]]


def told(answer: Response) -> str:
    """All of an answer but the pictures themselves."""
    text = answer.text if "json" in answer.headers.get("content-type", "") else ""
    return f"{answer.url} {answer.headers.raw} {text}"


def test_what_one_front_end_has_cut_the_other_takes_and_an_annotator_sees_no_name(
    s3: S3, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, shown = [], {}
    s3.asked.clear()
    with front_end(folder, tmp_path / "a") as client:
        heard.append(answer := desk(client))
        for pair in pairs(answer):
            heard += [clip := client.get(f"/clips/{pair}.mp4"), client.get(f"/clips/{pair}.webp")]
            shown[pair] = clip.content
            assert (clip.status_code, clip.headers["content-type"]) == (200, "video/mp4")
    put = [place for method, place, _ in s3.asked if method == "PUT"]
    assert len(put) == len(set(put)) == 2 * len(shown) > 0
    video = folder.parent / f"{VIDEO}.mp4"
    hidden = video.rename(tmp_path / "hidden.mp4")  # whoever cuts now fails
    with front_end(folder, tmp_path / "b") as client:
        heard.append(desk(client))
        for pair, content in shown.items():
            heard += [part := client.get(f"/clips/{pair}.mp4", headers={"Range": "bytes=5-14"})]
            assert (part.status_code, part.content) == (206, content[5:15])
            assert client.get(f"/clips/{pair}.mp4").content == content
    hidden.rename(video)
    assert [place for method, place, _ in s3.asked if method == "PUT"] == put
    for answer in heard:
        assert VIDEO not in told(answer)
        assert f"routes-{s3.port}" not in told(answer)


def test_a_desk_is_sent_to_the_bucket_and_a_lead_is_not(s3: S3, folder: Path, tmp_path: Path) -> None:
    with front_end(folder, tmp_path / "a") as client:
        (pair, *_) = pairs(desk(client))
        clip = client.get(f"/clips/{pair}.mp4").content
    with front_end(folder, tmp_path / "b", signed_s=60) as client:
        desk(client)
        sent = client.get(f"/clips/{pair}.mp4")
        assert (sent.status_code, sent.headers["cache-control"], sent.content) == (307, "no-store", b"")
        with urlopen(sent.headers["location"]) as answer:
            assert answer.read() == clip
            assert VIDEO not in f"{told(sent)} {answer.url} {answer.headers}"
        here = client.get(f"/clips/{pair}.mp4?here=1")
        assert (here.status_code, here.content) == (200, clip)
        context = client.get(f"/clips/{pair}.mp4?context=1")
        assert (context.status_code, "x-reelrank-before" in context.headers) == (200, True)
        s3.refuse = 503
        away = client.get(f"/clips/{pair}.mp4")
        s3.refuse = 0
        assert (away.status_code, away.content) == (200, clip)
    with front_end(folder, tmp_path / "c", "Lea", signed_s=60) as client:
        assert client.get(f"/clips/{pair}.mp4").status_code == 200
    with front_end(folder, tmp_path / "d", signed_s=60) as client, gold_among_the_work(folder):
        desk(client)
        assert client.get(f"/clips/{pair}.mp4").status_code == 200, "a bucket tells for how long it has had a clip"


def test_while_the_bucket_is_away_people_go_on_and_leads_are_told(s3: S3, folder: Path, tmp_path: Path) -> None:
    s3.refuse = 503
    with front_end(folder, tmp_path / "a") as client:
        answer = desk(client)
        for pair in pairs(answer):
            clip = client.get(f"/clips/{pair}.mp4")
            assert (clip.status_code, "bucket" in told(clip)) == (200, False)
    project = replace(open_project(folder), folder=tmp_path / "a")
    (trouble,) = bucket_troubles(project, OPERATOR)
    assert "routes" in trouble
    assert "cannot be reached" in trouble

    def found() -> list[str]:
        return [one.check for one in doctor(project, now=time.time()).findings]

    assert "bucket of clips" in found()
    s3.refuse = 0
    assert "bucket of clips" not in found()
    report = cut_queued_clips(project, OPERATOR)
    assert report.clips.failed == ()
    assert report.clips.there + report.clips.shared + report.clips.cut > 0
    assert bucket_troubles(project, OPERATOR) == []
    project.store.close()
