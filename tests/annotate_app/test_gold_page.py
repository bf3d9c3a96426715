"""The lead's page Gold: settings, how people stand, the answers behind a pause, letting go on."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.gold.questions import GoldOptions, gold_results, set_gold
from backend.campaign.setup.people.accounts import list_people
from reading import mounted, words
from small_project import SmallProject
from support import NOW

Open = Callable[..., AppTest]
ANSWERS = "aria-label='Answers'"
WHY = "Gold: 9 of 20 answers agree with the known grade, fewer than 50 %. The page Gold shows them."


@pytest.fixture
def gold(real_project: SmallProject) -> SmallProject:
    """Gold is chosen from five pairs of every grade; it is drawn alike in every test."""
    real_project.sql("UPDATE campaign SET gold_key = 'always the same'")
    set_gold(real_project.project, OPERATOR, GoldOptions(), pairs=25, now=NOW)
    return real_project


@pytest.fixture
def at_work(gold: SmallProject) -> SmallProject:
    """Dee is paused, Ben was warned and has met every gold pair, Eli has answered nothing."""
    gold.sql("UPDATE query SET text = 'A woman puts a <b>cup</b> on the table' WHERE query_id = 1")
    answer(gold, "Dee", 2, 3)
    worst = answer(gold, "Dee", 4, 0, "is this a *cup*?")
    find(gold, "Dee", "paused", 20, 9, worst)
    gold.sql("INSERT INTO pause (annotator_id, paused_at, reason) VALUES (?, ?, ?)", 5, NOW, WHY)
    find(gold, "Ben", "warned", 10, 6, answer(gold, "Ben", 2, 4))
    for rank in range(3, 15):
        right = gold.pair(2, rank).relevance
        assert right is not None
        answer(gold, "Ben", rank, right if rank > 3 else right + 2, query=2)
    return gold


def answer(project: SmallProject, name: str, rank: int, grade: int, note: str | None = None, *, query: int = 1) -> int:
    """Somebody's answer to gold, by a pair of a query; its id."""
    me, pair = project.person(name).annotator_id, project.pair(query, rank).pair_id
    project.sql("INSERT INTO gold_seat (pair_id, annotator_id, claim_no) VALUES (?, ?, 1)", pair, me)
    project.sql(
        "INSERT INTO gold_answer (pair_id, annotator_id, revision, grade, graded_at, event_key, note, after_judgement)"
        " VALUES (?, ?, 1, ?, ?, ?, ?, 0)",
        *(pair, me, grade, NOW, f"{name} {pair}", note),
    )
    found: int = project.project.store.db.conn.execute("SELECT max(gold_answer_id) FROM gold_answer").fetchone()[0]
    return found


def find(project: SmallProject, name: str, kind: str, answers: int, within: int, last: int) -> None:
    """What followed from somebody's answers, up to the one with this id."""
    project.sql(
        "INSERT INTO gold_finding (annotator_id, kind, answers, within, last_answer, graded, found_at)"
        " VALUES (?, ?, ?, ?, ?, 300, ?)",
        *(project.person(name).annotator_id, kind, answers, within, last, NOW),
    )


@pytest.fixture
def open_page(open_page_of: Open) -> Open:
    """Opens the page as the lead, or as somebody else."""
    return partial(open_page_of, "gold")


def test_without_gold_the_page_says_what_it_is_and_offers_it(open_page: Open, real_project: SmallProject) -> None:
    app = open_page()
    assert "Annotators who often miss gold pairs get a friendly warning, then are paused." in words(app)
    assert not app.tabs
    app.number_input(key="gold_share").set_value(7.5)
    app.number_input(key="gold_pairs").set_value(15)
    app.number_input(key="gold_warn").set_value(75.0)
    app.button[0].click().run()
    settings = gold_results(real_project.project, OPERATOR)[0].settings
    assert (settings.on, settings.share, settings.warn, settings.window) == (True, 0.075, 75, 20)
    assert "Gold questions now come from 15 pairs." in words(app)
    assert "**7.5 % of everybody's pairs**" in words(app)


def test_gold_comes_from_an_answer_key_in_a_file(open_page: Open, real_project: SmallProject) -> None:
    app = open_page()
    rows = "".join(f"{real_project.pair(1, rank).pair_id},{rank % 5}\n" for rank in (1, 2, 3))
    app.file_uploader(key="gold_key_file").set_value(("key.csv", f"pair_id,grade\n{rows}".encode(), "text/csv"))
    app.button[0].click().run()
    report = gold_results(real_project.project, OPERATOR)[0]
    assert (report.settings.on, report.pairs) == (True, 3)
    assert "Gold questions now come from 3 pairs." in words(app)


def test_who_is_paused_stands_with_the_reason_and_goes_on_by_a_press(open_page: Open, at_work: SmallProject) -> None:
    app = open_page()
    assert WHY in words(app)
    assert (
        "11 of the last 12 are right (91.7 %), 13 answers in all. They have seen every gold pair. Add more."
        in words(app)
    )
    assert "No answer yet." in words(app)
    who = at_work.person("Dee").annotator_id
    assert [button.key for button in app.button if button.key and button.key.startswith("gold-go-on")] == [
        f"gold-go-on-{who}"
    ]
    # What led to it comes first, the worst answer before the others.
    assert app.selectbox(key="address-who").value == str(who)
    assert re.findall(r">(\d)</span>, known is [^>]*>(\d)</span>: (wrong|right)", mounted(app, ANSWERS)) == [
        ("0", "4", "wrong"),
        ("3", "4", "right"),
    ]
    assert "A woman puts a <b>cup</b> on the table" in words(app)
    assert "Note: “is this a *cup*?”" in words(app)
    chosen = open_page(answer="1")
    assert "Note:" not in words(chosen), "the address says which answer is on show"
    assert re.findall(r"data-opens='(\d+)' aria-current", mounted(chosen, ANSWERS)) == ["1"]
    app.button(key=f"gold-go-on-{who}").click().run()
    assert not app.exception
    assert not any(one.pause for one in list_people(at_work.project, OPERATOR))
    app.button(key="gold-off").click().run()
    assert "Gold questions are off." in words(app)


def test_gold_that_one_grade_alone_would_pass_is_said(open_page: Open, gold: SmallProject) -> None:
    said = "An annotator who always gives 1 gets 60 % right and no warning."
    assert said not in words(open_page())
    set_gold(gold.project, OPERATOR, GoldOptions(warn=60.0), pairs=25, now=NOW)
    assert said in words(open_page())


def test_why_settled_pairs_are_left_out(gold: SmallProject, open_page_of: Open) -> None:
    told = next(one.value for one in open_page_of("gold").caption if "left out" in one.value)
    assert re.fullmatch(r"\d+ settled pairs? (is|are) left out: (\d+ [a-z ]+(, )?)+\.", told)
