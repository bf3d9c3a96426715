"""What a lead sees and does about next batches, over a real project: one query's, and all of them at once."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.desk.exchange import desk, shown
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.review.status import status_counts
from backend.campaign.selection.batches.model import AcceptedReport, BatchRule
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.selection.batches.suggestions import batch_suggestions, set_batch_rule
from backend.campaign.setup.people import accounts as people
from reading import words
from settled_batches import settle
from support import NOW, Judging

Open = Callable[..., AppTest]


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Three queries with a decision to make: the rule says open, open, do not open."""
    settle(judging)
    return judging


@pytest.fixture
def open_all(open_judging: Open) -> AppTest:
    """The page with all queries."""
    return open_judging("queries")


@pytest.fixture
def one(open_judging: Open, judging: Judging) -> Open:
    """Opens the page of the query with this place."""
    queries = [query.query_id for query in list_queries(judging.project, OPERATOR)]
    return lambda place: open_judging("queries", query=str(queries[place]))


def buttons(app: AppTest) -> dict[str, bool]:
    """Every button about a batch by its label, and whether it can be pressed."""
    ours = [button for button in app.button if "batch" in button.label or button.label == "Take back"]
    return {button.label: not button.disabled for button in ours}


def reason(app: AppTest, text: str, label: str) -> AppTest:
    app.text_input[0].set_value(text)
    return press(app, label)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return app.run()


def test_the_rule_is_told_with_its_numbers_and_the_batch_opened_and_undone(one: Open, settled: Judging) -> None:
    app = one(0)
    assert "The rule: mean 2.4 (needs 2.0), 3 of 5 graded 3 or more :green-badge[open]" in words(app)
    app.button(key="open_batch").click().run()
    assert "Batch 2 is open: 20 pairs for the annotators." in words(app.run()), "until it is dismissed"
    assert "Lea opened batch 2, " in words(app)
    assert "Nobody has worked on it yet." in words(app)
    assert buttons(app) == {"Open batch 3": False, "Undo batch 2": True}
    assert "taking a batch back needs a reason" in words(reason(app, " ", "Undo batch 2"))
    app = reason(app, "the wrong query", "Undo batch 2")
    assert "Batch 2 is undone: 20 pairs removed." in words(app)
    assert buttons(app) == {"Open batch 2": True, "Decline batch 2": True}
    assert status_counts(settled.project, OPERATOR)["batches"] == {"1": 3, "2": 0}


def test_a_batch_is_declined_with_a_reason_and_that_taken_back(one: Open, settled: Judging) -> None:
    app = reason(one(2), "one show, *again*", "Decline batch 2")
    assert "Batch 2 is declined." in words(app)
    assert "Lea declined batch 2, " in words(app)
    assert "“one show, *again*”" in words(app)
    assert buttons(app) == {"Take back": True}
    app = reason(app, "it is two shows", "Take back")
    assert buttons(app) == {"Open batch 2": True, "Decline batch 2": True}
    assert ":gray-badge[do not open]" in words(app)


def test_what_is_in_the_way_is_said(one: Open, judging: Judging) -> None:
    app = one(0)
    assert "20 pairs are not settled yet." in words(app)
    assert ":orange-badge[cannot tell]" in words(app)
    assert buttons(app) == {"Open batch 2": False}
    for pair in query_pairs(judging.project, OPERATOR, list_queries(judging.project, OPERATOR)[0].query_id)[:19]:
        judging.grade(0, pair.pair, 2)
        judging.grade(1, pair.pair, 2)
    assert "1 pair is not settled yet." in words(one(0))


def test_a_batch_that_people_work_on_stays_and_says_why(one: Open, settled: Judging) -> None:
    project, carla = settled.project, settled.annotators[2]
    query = list_queries(project, OPERATOR)[0].query_id
    open_batch(project, settled.lead, query, now=NOW)
    shown(project, carla, desk(project, carla, now=NOW).items[0].pair, now=NOW)
    app = one(0)
    assert "It stays: a pair of it is on the screen of Carla." in words(app)
    assert "Undo batch 2" not in buttons(app)


def test_the_second_lead_is_told_who_was_first(one: Open, settled: Judging) -> None:
    app = one(0)
    max_ = people.add(settled.project.store, OPERATOR, "Max", Role.LEAD, now=NOW)
    query = list_queries(settled.project, OPERATOR)[0].query_id
    open_batch(settled.project, max_, query, now=NOW - 200)
    app.button(key="open_batch").click().run()
    assert "Max opened batch 2 of this query 3 minutes ago" in app.error[0].value.replace("\\", "")


def test_all_suggestions_are_shown_then_accepted_in_one_act(settled: Judging, open_all: AppTest) -> None:
    app = open_all
    assert "val: 2 with one batch (of 2) · test: 1 with one batch (of 1)" in words(app)
    assert buttons(app) == {"Next batches": True}
    app.button(key="next_batches_look").click().run()
    assert "| :green-badge[open] | 2 | 0 | 2 | 40 |\n" in words(app)
    assert "A next batch is worth opening if the last 5 have a mean relevance of 2.0 or more" in words(app)
    assert app.button(key="next_batches_accept").label == "Open 2 batches"
    app.checkbox(key="next_batches_decline").check().run()
    assert app.button(key="next_batches_accept").label == "Open 2 batches and decline 1 batch"
    app.button(key="next_batches_accept").click().run()
    assert not app.exception
    assert "Opened 2 batches: 40 pairs for the annotators. Declined: 1." in words(app)
    assert buttons(app) == {"Next batches": True}
    assert batch_suggestions(settled.project, OPERATOR).queries == ()
    app.button(key="next_batches_look").click().run()
    assert app.button(key="next_batches_accept").disabled
    assert "Declined: 1. Waiting for grades: 0." in words(app)
    assert "The rule recommends no further batches." in words(app)


def test_only_what_was_looked_at_is_accepted(settled: Judging, open_all: AppTest) -> None:
    app = open_all
    app.button(key="next_batches_look").click().run()
    max_ = people.add(settled.project.store, OPERATOR, "Max", Role.LEAD, now=NOW)
    set_batch_rule(settled.project, max_, BatchRule(5, 4.0, None, 3), "fewer", now=NOW)
    app.button(key="next_batches_accept").click().run()
    assert "Max changed the rule just now (“fewer”). Check what it recommends now" in words(app)
    assert "the last 5 have a mean relevance of 4.0 or more" in words(app)
    assert app.button(key="next_batches_accept").disabled


def test_the_rule_is_changed_with_a_reason_and_suggests_anew(settled: Judging, open_all: AppTest) -> None:
    app = open_all
    app.button(key="next_batches_look").click().run()
    app.number_input(key="batch_rule_mean").set_value(0.8)
    press(app, "Change the rule")
    assert "a new rule needs a reason" in words(app)
    app.number_input(key="batch_rule_mean").set_value(0.8)
    app.text_input(key="batch_rule_reason").set_value("more recall")
    press(app, "Change the rule")
    assert "the last 5 have a mean relevance of 0.8 or more, or 3 of them are graded 3 or more." in words(app)
    assert "Version 2, Lea, " in words(app)
    assert "“more recall”" in words(app)
    assert app.button(key="next_batches_accept").label == "Open 3 batches"


@pytest.mark.parametrize(
    ("done", "text"),
    [
        (AcceptedReport(1308, 26_160, 0, 0), "Opened 1,308 batches: 26,160 pairs for the annotators."),
        (AcceptedReport(1, 20, 2, 0), "Opened 1 batch: 20 pairs for the annotators. Declined: 2."),
        (AcceptedReport(1, 20, 0, 3), "because another lead was faster or a grade changed: 3."),
    ],
)
def test_what_was_done_is_told(done: AcceptedReport, text: str) -> None:
    from annotate_app.screens.queries.next_batches import accepted_message

    assert text in accepted_message(done)


def test_shares_are_those_of_the_paper_where_the_numbers_are() -> None:
    from annotate_app.screens.queries.next_batches import shares

    found = {"val": {"1": 264, "2": 236}, "test": {"1": 1473, "2": 1308}}
    assert shares(found) == (
        "val: 264 with one batch, 236 with two (of 500) · test: 1,473 with one batch, 1,308 with two (of 2,781)"
    )
