"""The lead's pages as a person reads them, against the fake api, and the rules behind their sentences."""

import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.core.model import QueryId, Role, Verdict

Open = Callable[..., AppTest]


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch, project: fake_api.Project) -> Open:
    """Opens one page as somebody, as if their browser sent the cookie."""
    from annotate_app import auth

    def opened(page: str, who: str = "Lea", **query: str) -> AppTest:
        monkeypatch.setenv(auth.PROJECT_VARIABLE, str(project.folder))
        monkeypatch.setattr(auth, "token", lambda: f"token-of-{who}")

        def script(page: str) -> None:
            import importlib

            importlib.import_module(f"annotate_app.screens.{page}").page()

        app = AppTest.from_function(script, args=(page,), default_timeout=10)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return opened


def sentences(app: AppTest) -> list[str]:
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success", "text")
    return [element.value for kind in kinds for element in app.get(kind)]


def html(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


PAGES = ("queries", "disagreements", "people", "release")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_heading_of_its_name(open_page: Open, page: str) -> None:
    assert [title.value for title in open_page(page).title] == [page.capitalize()]


@pytest.mark.parametrize("page", PAGES)
def test_annotators_are_told_why_they_see_nothing(open_page: Open, page: str) -> None:
    app = open_page(page, "Ana")
    assert sentences(app) == ["This page is for leads. You are signed in as Ana (annotator)."]


@pytest.mark.parametrize("page", PAGES)
def test_who_was_signed_out_is_shown_the_way_back(open_page: Open, page: str) -> None:
    app = open_page(page, "nobody")
    assert sentences(app) == []
    assert "You are signed out." in html(app)
    assert 'href="/session/sign-in"' in html(app)


@pytest.mark.parametrize("page", PAGES)
def test_simulated_judgements_are_labelled(open_page: Open, project: fake_api.Project, page: str) -> None:
    assert not any("Simulated" in text for text in sentences(open_page(page)))
    project.status["simulated"] = 1204
    assert any("**Simulated judgements**: 1,204 of the 1,204" in text for text in sentences(open_page(page)))


# Queries


def test_queries_shows_the_counts_of_status(open_page: Open) -> None:
    shown = {metric.label: metric.value for metric in open_page("queries").metric}
    assert shown == {
        "Judgements": "1,204",
        "Pairs settled": "52 of 61",
        "Escalated": "2",
        "Discarded": "2",
        "People": "3",
    }


@pytest.mark.parametrize(
    ("last_five", "settled", "more", "sentence"),
    [
        ((3, 1, 4, 3, 3), 20, True, "Four of the last five are graded 3 or more: a second batch is likely to find"),
        ((3, 3, 3, 0, 0), 20, True, "Three of the last five are graded 3 or more: a second batch is likely"),
        ((3, 0, 0, 4, 0), 20, True, "Two of the last five are graded 3 or more: a second batch may find a few"),
        ((0, 0, 0, 4, 0), 20, True, "One of the last five is graded 3 or more: a second batch may find a few"),
        ((2, 2, 2, 2, 2), 20, True, "None of the last five is graded 3 or more: a second batch is unlikely"),
        ((4, 4, 4, None, None), 17, False, "Two of the last five are not settled yet."),
        ((4, 4, 4, 4, None), 19, False, "One of the last five is not settled yet."),
        ((None, 4, 4, 4, 0), 20, True, "Three of the last five are graded 3 or more"),
    ],
)
def test_what_the_last_five_suggest(
    project: fake_api.Project, last_five: tuple[int | None, ...], settled: int, more: bool, sentence: str
) -> None:
    from annotate_app.screens.queries import suggestion

    review = replace(project.queries[0], relevances=(4,) * 15 + last_five, settled=settled, more_candidates=more)
    assert suggestion(review).startswith(sentence)


def test_the_query_in_the_url_is_shown(open_page: Open) -> None:
    assert open_page("queries").subheader.len == 0
    app = open_page("queries", query="2")
    assert app.subheader[0].value == "Two people argue in a kitchen"
    assert app.selectbox(key="queries_box").value == 2
    assert html(app).count("rr-last") == 5
    assert open_page("queries", query="nonsense").subheader.len == 0
    assert open_page("queries", query="999").subheader.len == 0


def test_choosing_a_query_writes_the_url(open_page: Open) -> None:
    app = open_page("queries")
    app.selectbox(key="queries_box").select(3).run()
    assert app.query_params["query"] == "3"
    assert app.subheader[0].value == "A man opens a door and laughs"


def test_batch_2_opens_once(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("queries", query="1")
    assert any(text.startswith("Four of the last five are graded 3 or more") for text in sentences(app))
    app.button(key="open_batch").click().run()
    assert app.success[0].value == "Batch 2 is open: 20 pairs went to the annotators."
    assert project.queries[0].batches_open == 2
    assert app.button(key="open_batch").disabled


def test_batch_2_says_why_it_cannot_be_opened(open_page: Open) -> None:
    app = open_page("queries", query="3")
    assert app.button(key="open_batch").disabled
    assert any("pairs are not settled yet." in caption.value for caption in app.caption)


def test_a_project_without_candidates_says_what_to_do(open_page: Open, project: fake_api.Project) -> None:
    project.queries.clear()
    assert open_page("queries").info[0].value.startswith("No query has candidates yet.")


# Disagreements


def pairs_of(project: fake_api.Project, verdict: Verdict) -> list[Any]:
    return [pair for pair in project.pairs[QueryId(3)] if pair.verdict is verdict]


def test_a_card_tells_the_grades_and_the_rule(open_page: Open) -> None:
    app = open_page("disagreements")
    shown = " ".join(sentences(app)).replace("\\", "")
    assert "The first two grades differ by more than 1, so two further annotators grade it: two still to come." in shown
    assert "0 and 3 remain. They differ by more than 1: there is no consensus." in shown
    assert "Dee" in html(app)


def test_names_can_be_hidden(open_page: Open) -> None:
    app = open_page("disagreements")
    app.checkbox(key="dis_hide").check().run()
    assert "Annotator 4" in html(app)
    assert not any(name in html(app) for name in ("Ana", "Ben", "Dee", "Eli"))


def test_a_decision_needs_a_relevance_and_a_reason(open_page: Open, project: fake_api.Project) -> None:
    pair = pairs_of(project, Verdict.ESCALATED)[0].pair
    app = open_page("disagreements")
    button = f"FormSubmitter:decide-{pair}-Decide"
    app.button(key=button).click().run()
    assert app.error[0].value == "Please choose a relevance from 0 to 4."
    app.segmented_control(key=f"relevance-{pair}").select(4)
    app.text_input(key=f"reason-{pair}").input("   ")
    app.button(key=button).click().run()
    assert app.error[0].value == "Please give a reason: it is kept with the decision."
    assert not pairs_of(project, Verdict.ADJUDICATED)
    app.text_input(key=f"reason-{pair}").input("The whole action is there.")
    app.button(key=button).click().run()
    assert app.toast[0].value == "Decided: relevance 4."
    (decided,) = pairs_of(project, Verdict.ADJUDICATED)
    assert (decided.pair, decided.relevance, decided.reason) == (pair, 4, "The whole action is there.")
    assert f"relevance-{pair}" not in [control.key for control in app.segmented_control]


def test_ten_pairs_a_page(open_page: Open, project: fake_api.Project) -> None:
    fake_api.add_query(project, "Another", [None] * 20, False)
    app = open_page("disagreements")
    cards = [button.key for button in app.button if "decide-" in str(button.key)]
    assert len(cards) == 10
    everything = len(fake_api.disagreements(project))
    app.session_state["dis_page"] = -(-everything // 10)
    app.run()
    rest = [button.key for button in app.button if "decide-" in str(button.key)]
    assert len(rest) == (everything % 10 or 10)
    assert not set(rest) & set(cards)


def test_blocked_clips_are_listed_with_their_reason(open_page: Open) -> None:
    app = open_page("disagreements")
    reason = "friends\\_s03e07\\.mp4 is incomplete \\(its index is missing\\)\\: copy it again"
    assert any(reason in text.value for text in app.markdown)
    button = next(button for button in app.button if str(button.key).startswith("restore-"))
    button.click().run()
    assert any("None: every clip" in text.value for text in app.caption)


def test_nothing_to_decide_is_said(open_page: Open, project: fake_api.Project) -> None:
    project.pairs.clear()
    assert open_page("disagreements").success[0].value == "Nothing to decide: no pair is in this list."


# People


def test_somebody_new_gets_a_link_that_is_shown_once(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("people")
    app.text_input(key="new_name").input("Fay")
    app.selectbox(key="new_role").select("lead")
    app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    assert project.people["Fay"].role is Role.LEAD
    assert app.code[0].value.endswith("/session/invitation/invite-Fay")
    assert "**Send this link to Fay**" in sentences(app)
    assert app.run().code.len == 0


@pytest.mark.parametrize(
    ("name", "sentence"), [(" ", "Please give a name"), ("Ana", "There is a person called Ana already")]
)
def test_a_name_that_cannot_be(open_page: Open, name: str, sentence: str) -> None:
    app = open_page("people")
    app.text_input(key="new_name").input(name)
    app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    assert app.error[0].value.startswith(sentence)
    assert app.code.len == 0


def test_suspending_and_reinstating(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("people")
    assert [app.button(key=f"suspend-{number}").label for number in (1, 2, 4)] == [
        "Suspend",
        "Suspend",
        "Reinstate",
    ]
    assert app.button(key="suspend-1").disabled, "nobody locks themselves out"
    app.button(key="suspend-2").click().run()
    assert project.people["Ana"].suspended
    assert app.button(key="suspend-2").label == "Reinstate"


def test_an_invitation_leads_to_the_address_the_lead_uses() -> None:
    from annotate_app.screens.people import invitation_url

    url = invitation_url("https://grade.example.org:8443/people?x=1", "abc")
    assert url == "https://grade.example.org:8443/session/invitation/abc"


# Release


def test_what_a_release_would_leave_out(open_page: Open) -> None:
    texts = open_page("release").warning[0].value.split("  \n")[1:]
    assert texts[0] == ("8 pairs are not settled yet (6 open, 2 escalated). A release made now leaves them out.")
    assert texts[1].startswith("2 pairs are discarded")
    assert texts[2] == "1 pair is blocked, because the clip cannot be shown."


def test_earlier_releases_are_listed_by_their_hash(open_page: Open) -> None:
    assert list(open_page("release").table[0].value["SHA-256 of its manifest"]) == ["ab" * 32]


def test_making_and_downloading_a_release(
    open_page: Open, project: fake_api.Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate_app import export_worker

    future: Future[Path] = Future()
    monkeypatch.setattr(export_worker, "start", lambda folder, person, now: future)
    app = open_page("release")
    app.button(key="make_release").click().run()
    assert app.button(key="make_release").disabled, "one at a time"
    assert app.info[0].value.startswith("The release is being made.")
    future.set_result(export_worker.make(project.folder, project.people["Lea"], fake_api.NOON))
    app.run()
    assert app.success[0].value == "The release is ready: release-001.zip, 0.0 MB."
    assert len(app.get("download_button")) == 1
    assert not app.button(key="make_release").disabled
