"""The routes of the page Describe, over a real project with a real video: who is let in, frames, what is answered."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import monotonic, sleep

import av
import pytest
from starlette.testclient import TestClient

from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import own_routes
from backend.campaign.corpus.describing.opening import close_describing
from backend.campaign.nouns import OPERATOR, Person
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import ClipJob
from backend.media.probe import probe
from describing import opened
from served import browsing
from support import NOW, Judging

PASSWORD = "a long password"
OURS = {"X-ReelRank": "1"}
SPAN = {"start_s": 0.5, "end_s": 1.5, "sentence": "A dot moves."}
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Describer:
    """Somebody for whom describing is open, and their browser."""

    judging: Judging
    person: Person
    client: TestClient
    source: Path

    def send(self, *events: dict[str, object]) -> tuple[int, dict[str, object]]:
        body = {"person": self.person.annotator_id, "events": events}
        answer = self.client.post("/describe/exchange", json=body, headers=OURS)
        return answer.status_code, answer.json()


def described(key: str, **more: object) -> dict[str, object]:
    """An event as a browser sends it."""
    return {"key": key, "kind": "describe", "video": "1", "description": f"of {key}", **SPAN, **more}


@pytest.fixture
def dana(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> Iterator[Describer]:
    monkeypatch.setattr("time.time", lambda: NOW)
    project = opened(judging).project
    source = project.folder / "videos" / "dot.mp4"
    source.parent.mkdir()
    shutil.copy(sorted((ROOT / "assets" / "demo").glob("*.mp4"))[0], source)
    with closing(sqlite3.connect(project.folder / "reelrank.db")) as db, db:
        facts = probe(source)
        db.execute(
            "UPDATE video SET path = 'videos/dot.mp4', duration_s = ?, fps_num = ?, fps_den = ?, sha256 = ? "
            "WHERE video_id = 1",
            [facts.duration_s, facts.fps.numerator, facts.fps.denominator, facts.sha256],
        )
    person = add_person_with_password(project, OPERATOR, "Dana", judging.annotators[0].role, PASSWORD, now=NOW)
    videos = ClipWorker(cut_clip)
    routes = own_routes(lambda: project, ClipWorker(somebody_waits), lambda project, lead: {}, videos)
    with browsing(project, routes, sign_in(project, "Dana", PASSWORD, now=NOW)) as client:
        yield Describer(judging, person, client, source)
    videos.stop()


def somebody_waits(job: ClipJob) -> Path:
    raise AssertionError(f"{job.path.name} holds up whoever waits for a clip")


def frames_of(source: Path) -> list[Fraction]:
    """The times of all pictures, by decoding every one."""
    with av.open(str(source)) as container:
        return [frame.pts * frame.time_base for frame in container.decode(video=0)]


def test_a_description_goes_in_once_and_comes_back_PLACE(dana: Describer) -> None:
    found = dana.client.get("/describe/work").json()
    assert sorted(found) == ["guideline", "me", "more", "videos"]
    assert (found["me"]["name"], found["me"]["person"]) == ("Dana", dana.person.annotator_id)
    assert found["guideline"]["version"] == 1
    assert "Use no names" in found["guideline"]["text"]
    assert not found["guideline"]["seen"]
    seen = dana.client.post(
        "/describe/guideline", json={"person": dana.person.annotator_id, "version": 1}, headers=OURS
    )
    assert seen.status_code == 204
    for _ in range(2):
        status, answer = dana.send(described("k1"), described("k2", start_s=9.0, end_s=1.0))
        assert (status, answer["accepted"]) == (200, ["k1"])
        assert [one["key"] for one in answer["refused"]] == ["k2"]
        assert [one["sentence"] for one in answer["mine"]] == ["A dot moves."]
        assert answer["returned"] == []
    again = dana.client.get("/describe/work").json()
    assert again["guideline"]["seen"]
    mine = next(video for video in again["videos"] if video["key"] == "1")["mine"]
    assert [(one["description"], one["start_s"], one["end_s"], one["status"]) for one in mine] == [
        ("of k1", 0.5, 1.5, "waiting")
    ]


def test_the_whole_video_comes_as_a_clip_with_the_times_of_its_frames(dana: Describer) -> None:
    video = next(one for one in dana.client.get("/describe/work").json()["videos"] if one["key"] == "1")
    assert not video["ready"]
    until = monotonic() + 60
    while not dana.client.get(f"/describe/videos/{video['key']}/ready").json()["ready"]:
        assert monotonic() < until
        sleep(0.05)
    clip = dana.client.get(video["clip"])
    assert clip.headers["content-type"] == "video/mp4"
    times = dana.client.get(video["frames"]).json()
    real = frames_of(dana.source)
    assert times == [float(time) for time in real]
    made = dana.source.with_name("clip.mp4")
    made.write_bytes(clip.content)
    assert [time - real[0] for time in real] == frames_of(made)
    assert times[-1] < video["duration_s"]
    assert next(one for one in dana.client.get("/describe/work").json()["videos"] if one["key"] == "1")["ready"]


def test_a_video_without_a_file_is_told_and_asked_for_again(dana: Describer) -> None:
    dana.source.unlink()
    until = monotonic() + 60
    while (answer := dana.client.get("/describe/videos/1/ready")).status_code == 200:
        assert monotonic() < until
        sleep(0.05)
    assert (answer.status_code, "dot" in answer.text) == (404, False)
    for path in ("/describe/videos/1.mp4", "/describe/videos/1.json"):
        assert dana.client.get(path).status_code == 404
    assert dana.client.get("/describe/videos/1/ready").json() == {"ready": False}


def test_only_those_come_in_for_whom_describing_is_open(dana: Describer) -> None:
    foreign = dana.client.post("/describe/exchange", json={"events": []})
    assert foreign.status_code == 403
    other = dana.client.post("/describe/exchange", json={"person": 1, "events": []}, headers=OURS)
    assert other.status_code == 401
    broken = dana.client.post("/describe/exchange", json={"events": [{"kind": "eat"}]}, headers=OURS)
    assert broken.status_code == 400
    close_describing(dana.judging.project, OPERATOR, now=NOW)
    refused = dana.client.get("/describe/work")
    assert (refused.status_code, "closed for you" in refused.json()["message"]) == (403, True)
    assert dana.send(described("k1"))[1]["accepted"] == ["k1"]  # written before it was closed
    dana.client.cookies.clear()
    assert dana.client.get("/describe/work").status_code == 401
    assert dana.client.get("/describe/videos/1.mp4").status_code == 401
