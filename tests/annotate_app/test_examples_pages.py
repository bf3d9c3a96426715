"""Examples of the guideline on the lead's pages, and the way their clips leave the server."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.campaign.judging.model import ActKind
from backend.campaign.nouns import Role, Verdict
from backend.campaign.qualification.guideline.model import Example
from backend.campaign.review.model import GivenAct, PairReview
from backend.core.ids import PairKey, QueryId
from support import new_campaign

Open = Callable[[], AppTest]
NOTE = "She puts it down in full view."
STANDING = Example(7, 3, PairKey("elsewhere"), "A woman puts a cup down", NOTE, True)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def decided(project: fake_api.Project, monkeypatch: pytest.MonkeyPatch) -> PairReview:
    """The only pair of the list Decided: relevance 3, by a lead."""
    pair = replace(
        project.pairs[QueryId(2)][5],
        verdict=Verdict.ADJUDICATED,
        relevance=3,
        acts=(GivenAct("Lea", ActKind.DECIDED, 3, "The *whole* quarrel is there.", fake_api.NOON),),
    )
    project.pairs[QueryId(2)][5] = pair
    return pair


@pytest.fixture
def open_decided(monkeypatch: pytest.MonkeyPatch, project: fake_api.Project, decided: PairReview) -> Open:
    """Opens the list Decided as the lead."""
    from annotate_app.session import auth

    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(project.folder))
    monkeypatch.setattr(auth, "token", lambda: "token-of-Lea")

    def script() -> None:
        from annotate_app.screens import disagreements

        disagreements.page()

    def opened() -> AppTest:
        app = AppTest.from_function(script, default_timeout=60).run()
        app.segmented_control(key="address-show").select("decided").run()
        assert not app.exception
        return app

    return opened


def show(app: AppTest) -> None:
    next(button for button in app.button if button.label == "Show it").click().run()
    assert not app.exception


def written(app: AppTest) -> str:
    return "\n".join(text.value for kind in ("markdown", "caption") for text in app.get(kind))


def test_a_decided_pair_becomes_an_example_with_the_reason_as_its_note(
    open_decided: Open, project: fake_api.Project, decided: PairReview
) -> None:
    app = open_decided()
    assert app.text_input(key=f"example-note-{decided.pair}").value == "The *whole* quarrel is there."
    show(app)
    (example,) = project.examples
    assert (example.grade, example.pair, example.note) == (3, decided.pair, "The *whole* quarrel is there.")
    assert "The guideline shows this as the example of 3. “The \\*whole\\* quarrel is there\\.”" in written(app)
    assert not [button for button in app.button if button.label == "Show it"]


def test_a_note_in_other_words_counts(open_decided: Open, project: fake_api.Project, decided: PairReview) -> None:
    app = open_decided()
    app.text_input(key=f"example-note-{decided.pair}").input(NOTE)
    show(app)
    assert [example.note for example in project.examples] == [NOTE]


def test_the_lead_reads_which_example_a_choice_replaces(open_decided: Open, project: fake_api.Project) -> None:
    project.examples = [STANDING]
    app = open_decided()
    assert "It replaces “A woman puts a cup down”." in written(app)
    show(app)
    assert [example.query for example in project.examples] == ["Two people argue in a kitchen"]


def test_a_refusal_is_said_at_the_pair(open_decided: Open, project: fake_api.Project, decided: PairReview) -> None:
    app = open_decided()
    app.text_input(key=f"example-note-{decided.pair}").input(" ")
    show(app)
    assert [error.value for error in app.error] == ["an example needs a note"]
    assert project.examples == []


def test_an_example_is_withdrawn_where_it_is_shown(
    open_decided: Open, project: fake_api.Project, decided: PairReview
) -> None:
    project.examples = [replace(STANDING, pair=decided.pair)]
    app = open_decided()
    app.button(key=f"example-withdraw-3-{decided.pair}").click().run()
    assert not app.exception
    assert project.examples == []


def test_an_example_whose_relevance_changed_says_that_it_does_not_show(
    open_decided: Open, project: fake_api.Project, decided: PairReview
) -> None:
    project.examples = [replace(STANDING, pair=decided.pair, grade=1, showing=False)]
    app = open_decided()
    assert "Chosen as the example of 1, but not shown: its relevance is 3 now" in written(app)
    assert [button.label for button in app.button if button.label == "Show it"] == ["Show it"]


def test_a_pair_without_a_relevance_or_a_clip_cannot_be_chosen(
    open_decided: Open, decided: PairReview, project: fake_api.Project
) -> None:
    for change in ({"relevance": None}, {"fault": "damaged"}):
        project.pairs[QueryId(2)][5] = replace(decided, **change)
        assert not [button for button in open_decided().button if button.label == "Show it"]


def test_somebody_who_is_no_lead_any_more_chooses_nothing(open_decided: Open, project: fake_api.Project) -> None:
    app = open_decided()
    project.people["Lea"] = replace(project.people["Lea"], role=Role.ANNOTATOR)
    show(app)
    assert project.examples == []


def test_a_browser_gets_the_words_and_the_address_of_an_example_and_nothing_else() -> None:
    from annotate_app.shared.guideline import guideline

    grades = guideline(new_campaign(), [replace(STANDING, pair=PairKey("qqsecretqq"))])["grades"]
    assert [grade["shown"] is not None for grade in grades] == [False, False, False, True, False]
    assert grades[3]["shown"] == {"query": STANDING.query, "note": NOTE, "clip": "/examples/3.mp4?v=7"}
    assert "qqsecretqq" not in json.dumps(grades)


# The route


@pytest.fixture
def client(project: fake_api.Project) -> Iterator[TestClient]:
    from annotate_app.server.clip_worker import ClipWorker
    from annotate_app.server.routes import own_routes
    from annotate_app.session.guard import Guard

    clips: ClipWorker[fake_api.ClipJob] = ClipWorker(fake_api.cut_clip)
    app = Starlette(
        routes=own_routes(lambda: project, clips, lambda project, lead: {}),
        middleware=[Middleware(Guard, project=lambda: project)],
    )
    with TestClient(app, follow_redirects=False) as found:
        yield found
    clips.stop()


@pytest.mark.parametrize("who", ["Ana", "Lea"])
def test_everybody_who_is_signed_in_gets_the_clip(client: TestClient, project: fake_api.Project, who: str) -> None:
    project.examples = [STANDING]
    client.cookies.set("reelrank_session", f"token-of-{who}")
    for path in ("/examples/3.mp4?v=7", "/examples/3.mp4"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "video/mp4")
        assert answer.content == bytes(range(256)) * 40  # what the fake cuts
        assert answer.headers["cache-control"] == "private, no-cache"
    part = client.get("/examples/3.mp4?v=7", headers={"Range": "bytes=256-257"})
    assert (part.status_code, part.content) == (206, b"\x00\x01")


@pytest.mark.parametrize("token", ["", "wrong", "token-of-Cem"], ids=["none", "unknown", "suspended"])
def test_strangers_do_not(client: TestClient, project: fake_api.Project, token: str) -> None:
    project.examples = [STANDING]
    client.cookies.set("reelrank_session", token)
    answer = client.get("/examples/3.mp4")
    assert answer.status_code in (303, 401)
    assert bytes(16) not in answer.content


@pytest.mark.parametrize(
    "path", ["/examples/2.mp4", "/examples/3.mp4?v=6", "/examples/3.mp4?v=x", "/examples/9.mp4", "/examples/x.mp4"]
)
def test_what_is_no_example_is_not_there(client: TestClient, project: fake_api.Project, path: str) -> None:
    project.examples = [STANDING]
    client.cookies.set("reelrank_session", "token-of-Ana")
    assert client.get(path).status_code == 404


def test_an_example_that_does_not_show_has_no_clip(client: TestClient, project: fake_api.Project) -> None:
    project.examples = [replace(STANDING, showing=False)]
    client.cookies.set("reelrank_session", "token-of-Ana")
    assert client.get("/examples/3.mp4?v=7").status_code == 404


def test_an_annotator_does_not_learn_the_file_of_an_example_that_cannot_be_cut(
    client: TestClient, project: fake_api.Project
) -> None:
    project.examples = [replace(STANDING, pair=fake_api.BROKEN)]
    client.cookies.set("reelrank_session", "token-of-Ana")
    answer = client.get("/examples/3.mp4?v=7")
    assert (answer.status_code, "friends" in answer.text) == (404, False)
    assert project.reported == []


def test_a_database_that_is_away_is_told_by_the_guard(client: TestClient, project: fake_api.Project) -> None:
    project.examples, project.unavailable = [STANDING], "The disk is full: make room."
    client.cookies.set("reelrank_session", "token-of-Ana")
    assert client.get("/examples/3.mp4?v=7").status_code == 503
