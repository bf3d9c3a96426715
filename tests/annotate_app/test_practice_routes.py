"""The routes that the tutorial talks to, over a real project: who is let in, what is told when."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from starlette.testclient import TestClient

from annotate_app.screens.grade import lesson
from annotate_app.server.clip_worker import ClipWorker
from annotate_app.server.routes import own_routes
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.qualification.guideline.practice_pairs import choose_practice, practice_items
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.core.ids import MomentId
from backend.media.clips import ensure as cut_clip
from served import browsing
from support import NOW, Judging

PASSWORD, WHY = "a long password", "qqwhy it is right"
OURS = {"X-ReelRank": "1"}


@dataclass
class Newcomer:
    """Somebody who was never here, and their browser."""

    judging: Judging
    person: Person
    client: TestClient
    token: str

    def post(self, path: str, **body: object) -> tuple[int, dict[str, object]]:
        answer = self.client.post(path, json={"person": self.person.annotator_id, **body}, headers=OURS)
        return answer.status_code, answer.json()


@pytest.fixture
def nova(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> Iterator[Newcomer]:
    judging.rows("UPDATE video SET path = name")
    monkeypatch.setattr("time.time", lambda: NOW)
    project = judging.project
    choose_practice(project, judging.lead, "Somebody waves.", MomentId(1), 3, WHY, now=NOW)
    person = add_person_with_password(project, OPERATOR, "Nova", Role.ANNOTATOR, PASSWORD, now=NOW)
    clips = ClipWorker(cut_clip)
    token = sign_in(project, "Nova", PASSWORD, now=NOW)
    with browsing(project, own_routes(lambda: project, clips, lambda project, lead: {}), token) as client:
        yield Newcomer(judging, person, client, token)
    clips.stop()


def practice(nova: Newcomer) -> str:
    return practice_items(nova.judging.project, nova.person, now=NOW)[0].pair


def test_a_page_with_the_tutorial_holds_no_right_grade_and_the_answer_tells_it(nova: Newcomer) -> None:
    shown = lesson(nova.judging.project, nova.person, now=NOW)
    assert (shown["reading"], shown["version"], len(shown["practice"])) == ("first", 1, 1)
    assert "qqwhy" not in json.dumps(shown)
    assert "right" not in shown["practice"][0]
    status, told = nova.post(f"/practice/{practice(nova)}", grade=1, key="k1")
    assert (status, told) == (200, {"own": 1, "right": 3, "agrees": False, "explanation": WHY})


def test_what_is_no_practice_pair_or_no_grade_is_refused_in_words(nova: Newcomer) -> None:
    status, said = nova.post("/practice/nothing", grade=1, key="k1")
    assert (status, "no longer a practice pair" in str(said["message"])) == (404, True)
    status, said = nova.post(f"/practice/{practice(nova)}", grade=9, key="k1")
    assert (status, said["message"]) == (404, "9 is not a grade: grades are 0 to 4")
    assert nova.client.get("/practice/nothing.mp4").status_code == 403


def test_another_site_or_another_person_answers_nothing(nova: Newcomer) -> None:
    path = f"/practice/{practice(nova)}"
    assert nova.client.post(path, json={"grade": 1, "key": "k"}).status_code == 403
    other = nova.judging.annotators[0].annotator_id
    assert nova.client.post(path, json={"grade": 1, "key": "k", "person": other}, headers=OURS).status_code == 401
    for token in ("", "wrong"):
        nova.client.cookies.set("reelrank_session", token, domain="testserver.local")
        assert nova.client.post(path, json={"grade": 1, "key": "k"}, headers=OURS).status_code in (303, 401)
        assert nova.client.get(f"{path}.mp4").status_code in (303, 401)
    nova.client.cookies.set("reelrank_session", nova.token, domain="testserver.local")
    assert practice_items(nova.judging.project, nova.person, now=NOW)[0].own is None


def test_reading_to_the_end_leads_to_the_desk(nova: Newcomer) -> None:
    status, answer = nova.post("/desk/exchange", grades=[], skips=[])
    desk = answer["desk"]
    assert isinstance(desk, dict)
    assert (status, desk["state"], desk["items"]) == (200, "guideline", [])
    status, said = nova.post("/desk/guideline", version=2)
    assert (status, said["message"]) == (404, "the guideline has no version 2: reload the page")
    status, answer = nova.post("/desk/guideline", version=1)
    desk = answer["desk"]
    assert isinstance(desk, dict)
    assert (status, desk["state"], len(desk["items"])) == (200, "ready", 7)
