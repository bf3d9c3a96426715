"""The page Disagreements as a lead reads it, case by case, against the fake api."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.campaign.judging.model import ActKind
from backend.campaign.nouns import Verdict
from backend.campaign.review.model import GivenAct, GivenGrade
from backend.core.ids import PairKey, QueryId
from reading import read

Open = Callable[..., AppTest]


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def open_page(open_screen: Open) -> Open:
    """Opens the page with an address."""
    return lambda **values: open_screen("disagreements", **values)


def sentences(app: AppTest) -> list[str]:
    kinds = ("subheader", "markdown", "caption", "info", "warning", "error", "success")
    return [read(element.value) for kind in kinds for element in app.get(kind)]


def html(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def pairs_of(project: fake_api.Project, verdict: Verdict) -> list[Any]:
    return [pair for pair in project.pairs[QueryId(3)] if pair.verdict is verdict]


def one(project: fake_api.Project, verdict: Verdict) -> PairKey:
    return PairKey(pairs_of(project, verdict)[0].pair)


def state(project: fake_api.Project, key: PairKey) -> Any:
    return next(pair for pairs in project.pairs.values() for pair in pairs if pair.pair == key)


def press(app: AppTest, pair: PairKey, label: str) -> None:
    app.button(key=f"FormSubmitter:decide-{pair}-{label}").click().run()
    assert not app.exception


def address(app: AppTest, name: str) -> str:
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def on_show(app: AppTest) -> str:
    [control] = [str(control.key) for control in app.segmented_control if str(control.key).startswith("relevance-")]
    return control.removeprefix("relevance-")


def listed(app: AppTest) -> list[str]:
    """The pairs of the list beside the case."""
    [mounted] = [element for element in app.get("bidi_component") if "rr-list" in str(element.proto)]
    return str(mounted.proto).split("data-opens=")[1:]


def test_a_case_tells_the_grades_and_the_rule(open_page: Open, project: fake_api.Project) -> None:
    shown = " ".join(sentences(open_page(case=one(project, Verdict.ESCALATED))))
    assert "The first two grades differ by more than 1, so two further annotators grade it: two still to come." in shown
    app = open_page(case=one(project, Verdict.DISCARDED))
    assert "0 and 3 remain. They differ by more than 1: there is no consensus." in " ".join(sentences(app))
    assert "Dee" in html(app)


def test_a_moment_without_a_caption_says_so(open_page: Open, project: fake_api.Project) -> None:
    pairs, key = project.pairs[QueryId(3)], one(project, Verdict.ESCALATED)
    at = next(nth for nth, pair in enumerate(pairs) if pair.pair == key)
    pairs[at] = replace(pairs[at], caption=None)
    shown = " ".join(sentences(open_page(case=key)))
    assert "no caption" in shown
    assert "None" not in shown


def test_six_grades_and_a_re_opening_are_told(open_page: Open, project: fake_api.Project) -> None:
    pairs, key = project.pairs[QueryId(3)], one(project, Verdict.DISCARDED)
    at = next(nth for nth, pair in enumerate(pairs) if pair.pair == key)
    opened = GivenAct("Lea", ActKind.RE_OPENED, None, "Two readings.", fake_api.NOON)
    pairs[at] = replace(pairs[at], verdict=Verdict.ESCALATED, acts=(opened,))
    app = open_page(case=key)
    assert "a lead re-opened the pair: two more annotators grade it, two still to come." in " ".join(sentences(app))
    assert "<td>re-opened for two more</td><td>Two readings.</td>" in html(app)
    grades = [
        GivenGrade(f"No {n}", grade, n // 2 + 1, fake_api.NOON, 900) for n, grade in enumerate((0, 4, 1, 3, 3, 4))
    ]
    pairs[at] = replace(
        pairs[at], verdict=Verdict.CONSENSUS, relevance=3, mean=3.0, grades=tuple(grades), acts=(opened,)
    )
    app = open_page(case=key)
    told = "Without the two lowest (0, 1) and the two highest (4, 4) of six grades, 3 and 3 differ by at most 1"
    assert told in " ".join(sentences(app))
    assert html(app).count("<td>re-opened</td>") == 2


def test_names_can_be_hidden(open_page: Open, project: fake_api.Project) -> None:
    app = open_page(case=one(project, Verdict.DISCARDED))
    app.checkbox(key="dis_hide").check().run()
    assert "Annotator 4" in html(app)
    assert not any(name in html(app) for name in ("Ana", "Ben", "Dee", "Eli"))


def test_a_decision_needs_a_relevance_and_a_reason_and_the_next_case_comes(
    open_page: Open, project: fake_api.Project
) -> None:
    pair = one(project, Verdict.ESCALATED)
    app = open_page(case=pair)
    press(app, pair, "Decide")
    assert read(app.error[0].value) == "Please choose a relevance from 0 to 4."
    app.segmented_control(key=f"relevance-{pair}").select(4)
    app.text_input(key=f"reason-{pair}").input("   ")
    press(app, pair, "Decide")
    assert read(app.error[0].value) == "Please give a reason: it is kept with the decision."
    assert not pairs_of(project, Verdict.ADJUDICATED)
    app.text_input(key=f"reason-{pair}").input("The whole action is there.")
    press(app, pair, "Decide")
    assert app.toast[0].value == "Decided: relevance 4."
    (decided,) = pairs_of(project, Verdict.ADJUDICATED)
    assert (decided.pair, decided.relevance, decided.reason) == (pair, 4, "The whole action is there.")
    assert on_show(app) != pair
    assert address(app, "case") == on_show(app)


def test_what_was_done_last_is_undone_and_the_case_is_back(open_page: Open, project: fake_api.Project) -> None:
    pair = one(project, Verdict.DISCARDED)
    app = open_page(case=pair)
    assert not any("Undo" in label for label in buttons(app))
    press(app, pair, "Confirm discard")
    assert app.toast[0].value == "Confirmed: the pair stays discarded."
    assert state(project, pair).confirmed
    assert on_show(app) != pair
    app.button(key="dis-undo").click().run()
    assert (on_show(app), app.toast[0].value) == (pair, "Undone.")
    assert [(act.kind, act.reason) for act in state(project, pair).acts] == [
        (ActKind.DISCARD_CONFIRMED, ""),
        (ActKind.TAKEN_BACK, "Undone at once."),
    ]
    assert not any("Undo" in label for label in buttons(app))


def test_a_discard_is_re_opened_with_a_reason(open_page: Open, project: fake_api.Project) -> None:
    pair = one(project, Verdict.DISCARDED)
    app = open_page(case=pair)
    press(app, pair, "Re-open for two more")
    assert read(app.error[0].value).startswith("Please give a reason (key W)")
    app.text_input(key=f"reason-{pair}").input("Two readings.")
    press(app, pair, "Re-open for two more")
    assert (state(project, pair).verdict, state(project, pair).re_opened) == (Verdict.ESCALATED, True)
    app = open_page(case=pair)
    assert "Re-open for two more" not in buttons(app), "once"
    app.text_input(key=f"reason-{pair}").input("Too few people.")
    press(app, pair, "Take back")
    assert (on_show(app), state(project, pair).acts[-1].reason) == (pair, "Too few people.")


@pytest.mark.parametrize(
    ("verdict", "possible"),
    [
        (Verdict.ESCALATED, {"Decide"}),
        (Verdict.DISCARDED, {"Decide", "Confirm discard", "Re-open for two more"}),
    ],
)
def test_only_what_is_possible_has_a_button(
    open_page: Open, project: fake_api.Project, verdict: Verdict, possible: set[str]
) -> None:
    acts = {"Decide", "Confirm discard", "Re-open for two more", "Take back"}
    assert set(buttons(open_page(case=one(project, verdict)))) & acts == possible


def test_reasons_given_lately_are_offered_again(open_page: Open, project: fake_api.Project) -> None:
    escalated = pairs_of(project, Verdict.ESCALATED)[0].pair
    fake_api.adjudicate(project, project.people["Lea"], escalated, 1, "Only her *coat*.", now=fake_api.NOON)
    pair = one(project, Verdict.DISCARDED)
    app = open_page(case=pair)
    [pills] = [group for group in app.get("button_group") if str(group.key) == f"again-{pair}"]
    pills.select("Only her *coat*.").run()
    assert app.text_input(key=f"reason-{pair}").value == "Only her *coat*."


def test_who_is_overtaken_by_another_lead_sees_what_they_decided_and_keeps_what_they_typed(
    open_page: Open, project: fake_api.Project
) -> None:
    pair = one(project, Verdict.ESCALATED)
    app = open_page(case=pair)
    app.segmented_control(key=f"relevance-{pair}").select(4)
    app.text_input(key=f"reason-{pair}").input("The whole action is there.")
    fake_api.adjudicate(
        project, replace(project.people["Lea"], name="Max"), pair, 1, "<i>why</i> not", now=fake_api.NOON
    )
    press(app, pair, "Decide")
    assert read(app.error[0].value).startswith("Max decided this pair just now: relevance 1")
    assert "<td>Max</td>" in html(app), "the case is still there, though its list has it no more"
    assert "Not in this list (any more)" in " ".join(sentences(app))
    assert "<td>&lt;i&gt;why&lt;/i&gt; not</td>" in html(app)
    assert app.text_input(key=f"reason-{pair}").value == "The whole action is there."
    app.checkbox(key="dis_hide").check().run()
    assert "<td>Max</td>" not in html(app)
    assert app.segmented_control(key=f"relevance-{pair}").value == 4
    press(app, pair, "Decide")
    assert app.toast[0].value == "Decided: relevance 4."
    (decided,) = pairs_of(project, Verdict.ADJUDICATED)
    assert [(made.lead, made.relevance) for made in decided.decisions] == [("Max", 1), ("Lea", 4)]
    assert on_show(app) != pair


def test_a_case_that_another_list_was_chosen_over_is_gone(open_page: Open, project: fake_api.Project) -> None:
    pair = one(project, Verdict.ESCALATED)
    app = open_page(case=pair)
    fake_api.adjudicate(project, project.people["Lea"], pair, 1, "why not", now=fake_api.NOON)
    app.segmented_control(key=f"relevance-{pair}").select(4)
    app.text_input(key=f"reason-{pair}").input("Yes.")
    press(app, pair, "Decide")
    assert on_show(app) == pair
    app.segmented_control(key="address-show").select("discarded").run()
    app.segmented_control(key="address-show").select("to_decide").run()
    assert on_show(app) != pair


def test_next_and_previous_go_through_the_list_and_over_its_pages(open_page: Open, project: fake_api.Project) -> None:
    fake_api.add_query(project, "Another", [None] * 20, False)
    keys = [row.pair for row in fake_api.case_page(project, project.people["Lea"], "to_decide", size=99).rows]
    assert len(keys) > 10
    app = open_page()
    seen = [on_show(app)]
    assert app.button(key="case-previous").disabled
    for _ in keys[1:]:
        app.button(key="case-next").click().run()
        seen.append(on_show(app))
    assert seen == keys
    assert (address(app, "page"), app.button(key="case-next").disabled) == (str(-(-len(keys) // 10)), True)
    for key in reversed(keys[:-1]):
        app.button(key="case-previous").click().run()
        assert on_show(app) == key
    assert "page" not in app.query_params


def test_ten_pairs_are_listed_beside_the_case(open_page: Open, project: fake_api.Project) -> None:
    fake_api.add_query(project, "Another", [None] * 20, False)
    everything = fake_api.case_page(project, project.people["Lea"], "to_decide", size=99).count
    first, last = listed(open_page()), listed(open_page(page=str(-(-everything // 10))))
    assert (len(first), len(last)) == (10, everything % 10 or 10)
    assert not set(first) & set(last)


def test_a_search_narrows_the_list(open_page: Open, project: fake_api.Project) -> None:
    fake_api.add_query(project, "A dog barks", [None] * 4, False)
    app = open_page()
    app.text_input(key="address-q").input("DOG").run()
    assert address(app, "q") == "DOG"
    assert on_show(app) in {pair.pair for pair in project.pairs[QueryId(4)]}
    app.text_input(key="address-q").input("no such words").run()
    assert app.success[0].value == "No query and no video in this list has these words."


def test_grades_that_came_too_fast_are_marked(open_page: Open, project: fake_api.Project) -> None:
    key = one(project, Verdict.ESCALATED)
    assert "too fast" not in html(open_page(case=key))
    pairs = project.pairs[QueryId(3)]
    at = pairs.index(pairs_of(project, Verdict.ESCALATED)[0])
    first, second = pairs[at].grades
    pairs[at] = replace(pairs[at], grades=(first, replace(second, too_fast=True, active_ms=900)))
    shown = html(open_page(case=key))
    assert shown.count("too fast") == 1
    assert "0.9 s <span class='rr-fast'" in shown


def skipped_page(open_page: Open) -> AppTest:
    return open_page(show="skipped")


def test_skipped_pairs_are_shown_with_kind_reason_and_person(open_page: Open) -> None:
    app = skipped_page(open_page)
    shown = html(app)
    assert "<td>Ana</td><td>cannot be judged</td><td>too &lt;b&gt;dark&lt;/b&gt;</td>" in shown
    assert "<td>Cem</td><td>would rather not</td>" in shown
    assert "to the 2 people who skipped it" in sentences(app)
    app.checkbox(key="dis_hide").check().run()
    assert "Cem" not in html(app)
    assert "too &lt;b&gt;dark" in html(app)


def test_a_skipped_pair_is_offered_again(open_page: Open, project: fake_api.Project) -> None:
    app = skipped_page(open_page)
    app.button(key="offer-skipped").click().run()
    assert app.toast[0].value == "Offered again to 2 who skipped it."
    assert project.skipped == []
    assert app.success[0].value == "Nothing was skipped, or all of it was offered again."
    assert len(project.blocked) == 1, "other clips stay blocked"


def test_offering_a_blocked_pair_again_shows_its_clip_again(open_page: Open, project: fake_api.Project) -> None:
    project.skipped[0] = replace(project.skipped[0], pair=project.blocked[0].pair)
    app = skipped_page(open_page)
    assert "to the 2 people who skipped it, and show the clip again" in sentences(app)
    app.button(key="offer-blocked").click().run()
    assert (project.skipped, project.blocked) == ([], [])


def test_a_settled_pair_has_no_button_that_offers_it_to_nobody(open_page: Open, project: fake_api.Project) -> None:
    project.skipped[0] = replace(project.skipped[0], verdict=Verdict.CONSENSUS, relevance=3)
    app = skipped_page(open_page)
    assert "offer-skipped" not in [button.key for button in app.button]
    assert "Settled: nobody is asked about this pair any more." in sentences(app)


def test_a_failed_offer_says_why_at_its_pair(open_page: Open, project: fake_api.Project) -> None:
    app = skipped_page(open_page)
    project.unavailable = "The disk is full: make room."
    app.button(key="offer-skipped").click().run()
    assert [read(error.value) for error in app.error] == ["The disk is full: make room."]
    assert len(project.skipped) == 1


def test_a_skipped_pair_can_be_decided(open_page: Open) -> None:
    app = skipped_page(open_page)
    assert "FormSubmitter:decide-skipped-Decide" in [button.key for button in app.button]


def test_blocked_clips_are_listed_with_their_reason(open_page: Open) -> None:
    app = open_page(show="blocked")
    assert "friends_s03e07.mp4 is incomplete (its index is missing): copy it again" in html(app)
    assert '<a href="/queries?query=' in html(app), "from the pair to its query"
    button = next(button for button in app.button if str(button.key).startswith("restore-"))
    button.click().run()
    assert app.success[0].value == "None: every clip handed out so far could be shown."


def test_nothing_to_decide_is_said(open_page: Open, project: fake_api.Project) -> None:
    project.pairs.clear()
    assert open_page().success[0].value == "Nothing to decide: no pair is in this list."
