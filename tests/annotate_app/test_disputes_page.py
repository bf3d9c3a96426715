"""The page Disputes as a lead reads it, case by case, over a real project."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.desk.exchange import record_grades
from backend.campaign.judging.model import ActKind, GradeEvent
from backend.campaign.judging.queue import block_clip
from backend.campaign.monitoring.progress.progress import lacking_annotators
from backend.campaign.nouns import OPERATOR, Person, Role, Verdict
from backend.campaign.review.adjudicating import adjudicate, re_open
from backend.campaign.review.model import ReviewList
from backend.campaign.review.status import review_page
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.core.ids import PairKey
from reading import html, read
from served import blocked, review
from small_project import DISCARDED, ESCALATED, FAULT, OPEN, PASSWORD, SKIPPED, TEXTS, SmallProject
from support import NOW, have_read, sit

Open = Callable[..., AppTest]


@pytest.fixture
def open_page(open_page_of: Open) -> Open:
    """Opens the page with an address."""
    return lambda **values: open_page_of("disputes", **values)


@pytest.fixture
def escalated(real_project: SmallProject) -> PairKey:
    return real_project.pair(3, ESCALATED[0]).pair


@pytest.fixture
def discarded(real_project: SmallProject) -> PairKey:
    return real_project.pair(3, DISCARDED).pair


@pytest.fixture
def skipped(real_project: SmallProject) -> PairKey:
    return real_project.pair(3, SKIPPED).pair


def grade(small: SmallProject, who: Person, pair: PairKey, given: int, took_ms: int = 5000) -> None:
    sit(small.project, who, [pair], now=NOW - 60)
    event = GradeEvent(pair, given, f"{who.name} {pair} again", took_ms, took_ms)
    assert record_grades(small.project, who, [event], now=NOW)[0].status == "saved"


def escalate(small: SmallProject, query: int, number: int) -> None:
    """Escalate so many pairs of a query, past all rules."""
    small.sql(
        "UPDATE consensus SET verdict = 'escalated', relevance = NULL, mean = NULL "
        "WHERE pair_id IN (SELECT pair_id FROM pair WHERE query_id = ? AND rank <= ?)",
        *(query, number),
    )


def sentences(app: AppTest) -> list[str]:
    kinds = ("header", "markdown", "caption", "info", "warning", "error", "success")
    return [read(element.value) for kind in kinds for element in app.get(kind)]


def undecided(small: SmallProject) -> list[PairKey]:
    """The pairs of the list To decide, in order."""
    return [row.pair for row in review_page(small.project, small.lead, ReviewList.TO_DECIDE, size=99).rows]


def press(app: AppTest, pair: PairKey, label: str) -> None:
    of_form = f"FormSubmitter:decide-{pair}"
    next(one for one in app.button if one.label == label and str(one.key).startswith(of_form)).click().run()
    assert not app.exception


def address(app: AppTest, name: str) -> str:
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def on_show(app: AppTest) -> str:
    [control] = [str(control.key) for control in app.segmented_control if str(control.key).startswith("relevance-")]
    return control.removeprefix("relevance-")


def test_a_case_tells_the_grades_and_the_rule(open_page: Open, escalated: PairKey, discarded: PairKey) -> None:
    shown = " ".join(sentences(open_page(case=escalated)))
    assert "The first two grades differ by more than 1, so two further annotators grade it: two still to come." in shown
    app = open_page(case=discarded)
    assert "0 and 3 remain. They differ by more than 1: there is no consensus." in " ".join(sentences(app))
    assert "Dee" in html(app)


def test_a_moment_without_a_caption_says_so(open_page: Open, real_project: SmallProject, escalated: PairKey) -> None:
    real_project.sql("INSERT INTO moment (moment_id, video_id, start_s, end_s) VALUES (101, 1, 54, 56)")
    real_project.sql("UPDATE pair SET moment_id = 101 WHERE pair_key = ?", escalated)
    shown = " ".join(sentences(open_page(case=escalated)))
    assert "no caption" in shown
    assert "None" not in shown


def test_six_grades_and_a_re_opening_are_told(open_page: Open, real_project: SmallProject, discarded: PairKey) -> None:
    project = real_project.project
    re_open(project, real_project.lead, discarded, "Two readings.", now=NOW)
    app = open_page(case=discarded)
    assert "a lead re-opened the pair: two more annotators grade it, two still to come." in " ".join(sentences(app))
    assert "<td>re-opened for two more</td><td>Two readings.</td>" in html(app)
    for name in ("Fay", "Gus"):
        newcomer = add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=NOW)
        have_read(project)
        grade(real_project, newcomer, discarded, 3)
    app = open_page(case=discarded)
    told = "Without the two lowest (0, 0) and the two highest (3, 4) of six grades, 3 and 3 differ by at most 1"
    assert told in " ".join(sentences(app))
    assert html(app).count("<td>re-opened</td>") == 2


def test_names_can_be_hidden(open_page: Open, discarded: PairKey) -> None:
    app = open_page(case=discarded)
    app.checkbox(key="dis_hide").check().run()
    assert "Annotator 4" in html(app)
    assert not any(name in html(app) for name in ("Ana", "Ben", "Dee", "Eli"))


def test_a_decision_needs_a_relevance_and_a_reason_and_the_next_case_comes(
    open_page: Open, real_project: SmallProject, escalated: PairKey
) -> None:
    app = open_page(case=escalated)
    press(app, escalated, "Adjudicate")
    assert read(app.error[0].value) == "Choose a relevance first: 0 to 4."
    app.segmented_control(key=f"relevance-{escalated}").select(4)
    app.text_input(key=f"reason-{escalated}").input("   ")
    press(app, escalated, "Adjudicate")
    assert read(app.error[0].value) == "Write a reason first (key W). It is stored with the decision."
    assert review(real_project, escalated).verdict is Verdict.ESCALATED
    app.text_input(key=f"reason-{escalated}").input("The whole action is there.")
    press(app, escalated, "Adjudicate")
    assert read(app.success[0].value) == f"Relevance 4 saved: “{TEXTS[2]}”"
    decided = review(real_project, escalated)
    assert (decided.verdict, decided.relevance) == (Verdict.ADJUDICATED, 4)
    assert decided.reason == "The whole action is there."
    assert on_show(app) != escalated
    assert address(app, "case") == on_show(app)


def test_what_was_done_last_is_undone_and_the_case_is_back(
    open_page: Open, real_project: SmallProject, discarded: PairKey
) -> None:
    app = open_page(case=discarded)
    assert not any("Undo" in label for label in buttons(app))
    press(app, discarded, "Confirm discard")
    assert read(app.success[0].value) == f"Discard confirmed: “{TEXTS[2]}”"
    assert review(real_project, discarded).confirmed
    assert on_show(app) != discarded
    app.button(key="dis-undo").click().run()
    assert (on_show(app), read(app.success[0].value)) == (discarded, f"Undone: “{TEXTS[2]}”")
    assert [(act.kind, act.reason) for act in review(real_project, discarded).acts] == [
        (ActKind.DISCARD_CONFIRMED, ""),
        (ActKind.TAKEN_BACK, "Undone at once."),
    ]
    assert not any("Undo" in label for label in buttons(app))


def test_a_discard_is_re_opened_with_a_reason(open_page: Open, real_project: SmallProject, discarded: PairKey) -> None:
    app = open_page(case=discarded)
    press(app, discarded, "Re-open for two more")
    assert read(app.error[0].value).startswith("Write a reason, then press Enter")
    assert "Adjudicate" not in buttons(app), "Enter does what the lead meant"
    press(app, discarded, "Cancel")
    assert "Adjudicate" in buttons(app)
    press(app, discarded, "Re-open for two more")
    app.text_input(key=f"reason-{discarded}").input("Two readings.")
    press(app, discarded, "Re-open for two more")
    assert (review(real_project, discarded).verdict, review(real_project, discarded).re_opened) == (
        Verdict.ESCALATED,
        True,
    )
    app = open_page(case=discarded)
    assert "Re-open for two more" not in buttons(app), "once"
    app.text_input(key=f"reason-{discarded}").input("Too few people.")
    press(app, discarded, "Take back")
    assert (on_show(app), review(real_project, discarded).acts[-1].reason) == (discarded, "Too few people.")


def test_a_re_opening_for_which_nobody_is_left_warns_before_and_after(
    open_page: Open, real_project: SmallProject, discarded: PairKey
) -> None:
    app = open_page(case=discarded)
    lacks = "Re-opening needs 2 more annotators who have not seen this pair."
    assert f'{lacks} <a href="/people" target="_self">Invite annotators</a>' in html(app)
    app.text_input(key=f"reason-{discarded}").input("Two readings.")
    press(app, discarded, "Re-open for two more")
    assert f"{lacks} [Invite annotators](/people)" in read(app.warning[0].value)
    for name in ("Fay", "Gus"):
        real_project.join(name)
    project, lead = real_project.project, real_project.lead
    assert lacking_annotators(project, lead, discarded, 2) == 0


def test_a_result_stays_until_it_is_dismissed_or_another_one_follows(
    open_page: Open, real_project: SmallProject, discarded: PairKey
) -> None:
    app = open_page(case=discarded)
    press(app, discarded, "Confirm discard")
    app.checkbox(key="dis_hide").check().run()
    assert read(app.success[0].value).startswith("Discard confirmed")
    next(button for button in app.button if button.label == "Dismiss").click().run()
    assert not app.success


@pytest.mark.parametrize(
    ("rank", "possible"),
    [
        (ESCALATED[0], {"Adjudicate"}),
        (DISCARDED, {"Adjudicate", "Confirm discard", "Re-open for two more"}),
    ],
)
def test_only_what_is_possible_has_a_button(
    open_page: Open, real_project: SmallProject, rank: int, possible: set[str]
) -> None:
    acts = {"Adjudicate", "Confirm discard", "Re-open for two more", "Take back"}
    assert set(buttons(open_page(case=real_project.pair(3, rank).pair))) & acts == possible


def test_reasons_given_lately_are_offered_again(
    open_page: Open, real_project: SmallProject, escalated: PairKey, discarded: PairKey
) -> None:
    adjudicate(real_project.project, real_project.lead, escalated, 1, "Only her *coat*.", now=NOW)
    app = open_page(case=discarded)
    [pills] = [group for group in app.get("button_group") if str(group.key) == f"again-{discarded}"]
    pills.select("Only her *coat*.").run()
    assert app.text_input(key=f"reason-{discarded}").value == "Only her *coat*."


def test_who_is_overtaken_by_another_lead_sees_what_they_decided_and_keeps_what_they_typed(
    open_page: Open, real_project: SmallProject, escalated: PairKey
) -> None:
    app = open_page(case=escalated)
    app.segmented_control(key=f"relevance-{escalated}").select(4)
    app.text_input(key=f"reason-{escalated}").input("The whole action is there.")
    adjudicate(real_project.project, real_project.other_lead, escalated, 1, "<i>why</i> not", now=NOW)
    press(app, escalated, "Adjudicate")
    assert read(app.error[0].value).startswith("Max decided this pair just now: relevance 1")
    assert "<td>Max</td>" in html(app), "the case is still there, though its list has it no more"
    assert "No longer in this list" in " ".join(sentences(app))
    assert "<td>&lt;i&gt;why&lt;/i&gt; not</td>" in html(app)
    assert app.text_input(key=f"reason-{escalated}").value == "The whole action is there."
    app.checkbox(key="dis_hide").check().run()
    assert "<td>Max</td>" not in html(app)
    assert app.segmented_control(key=f"relevance-{escalated}").value == 4
    press(app, escalated, "Adjudicate")
    assert read(app.success[0].value) == f"Relevance 4 saved: “{TEXTS[2]}”"
    decided = review(real_project, escalated)
    assert [(made.lead, made.relevance) for made in decided.decisions] == [("Max", 1), ("Lea", 4)]
    assert on_show(app) != escalated


def test_a_case_that_another_list_was_chosen_over_is_gone(
    open_page: Open, real_project: SmallProject, escalated: PairKey
) -> None:
    app = open_page(case=escalated)
    adjudicate(real_project.project, real_project.other_lead, escalated, 1, "why not", now=NOW)
    app.segmented_control(key=f"relevance-{escalated}").select(4)
    app.text_input(key=f"reason-{escalated}").input("Yes.")
    press(app, escalated, "Adjudicate")
    assert on_show(app) == escalated
    app.segmented_control(key="address-show").select("discarded").run()
    app.segmented_control(key="address-show").select("to_decide").run()
    assert on_show(app) != escalated


def test_next_and_previous_go_through_the_list_and_over_its_pages(open_page: Open, real_project: SmallProject) -> None:
    escalate(real_project, 1, 7)
    keys = undecided(real_project)
    assert len(keys) == 12, "two pages of them"
    app = open_page()
    seen = [on_show(app)]
    assert app.button(key="case-previous").disabled
    for _ in keys[1:]:
        app.button(key="case-next").click().run()
        seen.append(on_show(app))
    assert seen == keys
    assert (address(app, "page"), app.button(key="case-next").disabled) == ("2", True)
    for key in (keys[10], keys[9], keys[8]):
        app.button(key="case-previous").click().run()
        assert on_show(app) == key
    assert "page" not in app.query_params


def test_a_search_narrows_the_list(open_page: Open, real_project: SmallProject) -> None:
    escalate(real_project, 2, 4)
    real_project.sql("UPDATE query SET text = 'A dog barks' WHERE query_id = 2")
    app = open_page()
    app.text_input(key="address-q").input("DOG").run()
    assert address(app, "q") == "DOG"
    assert on_show(app) in {real_project.pair(2, rank).pair for rank in range(1, 5)}
    app.text_input(key="address-q").input("no such words").run()
    assert app.success[0].value == "No pair in this list matches your search."


def test_grades_that_came_too_fast_are_marked(open_page: Open, real_project: SmallProject, escalated: PairKey) -> None:
    assert "too fast" not in html(open_page(case=escalated))
    pair = real_project.pair(3, OPEN[0]).pair
    for name, given, took_ms in (("Ana", 0, 5000), ("Ben", 4, 900)):
        grade(real_project, real_project.person(name), pair, given, took_ms)
    shown = html(open_page(case=pair))
    assert shown.count("too fast") == 1
    assert "0.9 s <span class='rr-fast'" in shown


def skipped_page(open_page: Open) -> AppTest:
    return open_page(show="skipped")


def test_skipped_pairs_are_shown_with_kind_reason_and_person(open_page: Open) -> None:
    app = skipped_page(open_page)
    shown = html(app)
    assert "<td>Ana</td><td>cannot be judged</td><td>too &lt;b&gt;dark&lt;/b&gt;</td>" in shown
    assert "<td>Eli</td><td>would rather not</td>" in shown
    assert "to the 2 people who skipped it" in sentences(app)
    app.checkbox(key="dis_hide").check().run()
    assert "Eli" not in html(app)
    assert "too &lt;b&gt;dark" in html(app)


def test_a_skipped_pair_is_offered_again(open_page: Open, real_project: SmallProject, skipped: PairKey) -> None:
    app = skipped_page(open_page)
    app.button(key=f"offer-{skipped}").click().run()
    assert read(app.success[1].value) == f"Offered again to 2 people who skipped it: “{TEXTS[2]}”"
    assert review(real_project, skipped).skips == ()
    assert app.success[0].value == "No skipped pairs."
    assert len(blocked(real_project)) == 1, "other clips stay blocked"


def test_offering_a_blocked_pair_again_shows_its_clip_again(
    open_page: Open, real_project: SmallProject, skipped: PairKey
) -> None:
    block_clip(real_project.project, real_project.lead, skipped, "black", now=NOW)
    app = skipped_page(open_page)
    assert "to the 2 people who skipped it, and show the clip again" in sentences(app)
    app.button(key=f"offer-{skipped}").click().run()
    assert (review(real_project, skipped).skips, review(real_project, skipped).fault) == ((), "")


def test_a_settled_pair_has_no_button_that_offers_it_to_nobody(
    open_page: Open, real_project: SmallProject, skipped: PairKey
) -> None:
    for name in ("Ben", "Dee"):
        grade(real_project, real_project.person(name), skipped, 3)
    app = skipped_page(open_page)
    assert f"offer-{skipped}" not in [button.key for button in app.button]
    assert "This pair is settled. It needs no more grades." in sentences(app)


def test_blocked_clips_are_listed_with_their_reason(open_page: Open) -> None:
    app = open_page(show="blocked")
    assert FAULT in html(app)
    assert '<a href="/queries?query=' in html(app), "from the pair to its query"
    button = next(button for button in app.button if str(button.key).startswith("restore-"))
    button.click().run()
    assert [read(one.value) for one in app.success] == ["Annotators get this pair again.", "No clip is blocked."]


def test_nothing_to_decide_is_said(open_page: Open, real_project: SmallProject) -> None:
    for pair in undecided(real_project):
        adjudicate(real_project.project, real_project.lead, pair, 1, "seen it", now=NOW)
    assert open_page().success[0].value == "No pairs in this list."
