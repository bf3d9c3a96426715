"""What the routes credit as working time, whatever a browser claims; a lead reads it in the report of hours."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotate_app.server.annotator_routes import DescribeRoutes
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import Desks
from annotate_app.session.guard import Guard
from backend.campaign.monitoring.hours.report import hours
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.people import permissions
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import ClipJob
from backend.store.connection import writing
from describing import opened
from support import NOW, Judging

HUGE_MS = 2**31


@dataclass
class Page:
    """An annotator's page at a server with a clock of its own."""

    judging: Judging
    client: TestClient
    clock: list[float]

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.client.post(path, json=body, headers={"X-ReelRank": "1"})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def exchange(self, *grades: dict[str, Any]) -> dict[str, Any]:
        return self.post("/desk/exchange", grades=list(grades))

    def credited_s(self) -> float:
        return hours(self.judging.project, OPERATOR).hours * 3600


def grade(pair: str, key: str, **times: int) -> dict[str, Any]:
    return {"pair": pair, "grade": 2, "key": key, **times}


@contextmanager
def served(judging: Judging) -> Iterator[Page]:
    project, clock = judging.project, [NOW]
    clips: ClipWorker[ClipJob] = ClipWorker(cut_clip)
    app = Starlette(
        routes=[
            *Desks(lambda: project, clips, clock=lambda: clock[0]).routes(),
            *DescribeRoutes(lambda: project, clips, clock=lambda: clock[0]).routes(),
        ],
        middleware=[Middleware(Guard, project=lambda: project)],
    )
    with writing(project.store) as db:
        token = permissions.new_session(db, judging.annotators[0], now=time.time())
    with TestClient(app, base_url="http://testserver") as client:
        client.cookies.set("reelrank_session", token)
        yield Page(judging, client, clock)
    clips.stop()


async def _no_clips(*_: object) -> None:
    """These videos have no files."""


@pytest.fixture(autouse=True)
def without_clips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desks, "_cut_ahead", _no_clips)


@pytest.fixture
def page(judging: Judging) -> Iterator[Page]:
    with served(judging) as page:
        yield page


def test_one_grade_cannot_claim_more_time_than_passed(page: Page) -> None:
    pair = page.exchange()["desk"]["items"][0]["pair"]
    page.clock[0] += 5
    page.exchange(grade(pair, "one", active_ms=HUGE_MS, elapsed_ms=HUGE_MS))
    assert page.credited_s() == pytest.approx(5)


def test_a_body_of_many_corrections_replays_and_later_bodies_share_the_time(page: Page) -> None:
    pairs = [item["pair"] for item in page.exchange()["desk"]["items"]]
    page.clock[0] += 60
    body = [grade(pairs[n % 7], f"key-{n}", active_ms=40_000, elapsed_ms=HUGE_MS) for n in range(100)]
    page.exchange(*body)
    page.exchange(*body)
    assert page.credited_s() == pytest.approx(60)
    page.clock[0] += 15
    following = page.exchange(*body)["desk"]["items"][0]["pair"]
    page.exchange(grade(following, "next", active_ms=HUGE_MS), grade(pairs[0], "again", active_ms=HUGE_MS))
    assert page.credited_s() == pytest.approx(75)


def test_descriptions_and_grades_share_the_time(judging: Judging) -> None:
    opened(judging, at=NOW)
    with served(judging) as page:
        pair = page.exchange()["desk"]["items"][0]["pair"]
        page.clock[0] += 100
        event = {"kind": "describe", "video": "1", "start_s": 2.0, "end_s": 5.0, "sentence": "A woman pours tea."}
        sent = [
            event | {"key": f"d{n}", "description": f"description {n}", "active_ms": 30_000, "elapsed_ms": HUGE_MS}
            for n in range(4)
        ]
        assert page.post("/describe/exchange", events=sent)["accepted"] == ["d0", "d1", "d2", "d3"]
        page.exchange(grade(pair, "one", active_ms=HUGE_MS))
        assert page.credited_s() == pytest.approx(100)
