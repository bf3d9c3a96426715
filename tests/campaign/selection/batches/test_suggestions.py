"""Accepting what the rule suggests for all queries at once, and adjusting the rule."""

import pytest

from backend.campaign.desk.exchange import desk
from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR, Person
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.selection.batches import suggestions
from backend.campaign.selection.batches.model import AcceptedReport, BatchRule, NextState, RuleWord
from backend.campaign.selection.batches.next_batch import next_batch, open_batch
from backend.campaign.selection.batches.suggestions import (
    accept_suggestions,
    batch_rule_versions,
    batch_shares,
    batch_suggestions,
    set_batch_rule,
)
from backend.campaign.setup.project.folder import open_project
from backend.core.errors import InputError, Overtaken, ProjectError
from support import NOW, Judging


def states(judging: Judging) -> list[NextState]:
    queries = list_queries(judging.project, OPERATOR)
    return [next_batch(judging.project, OPERATOR, query.query_id).state for query in queries]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two queries a transaction, and nobody to wait for."""
    monkeypatch.setattr(suggestions, "AT_ONCE", 2)
    monkeypatch.setattr(suggestions, "REST_S", 0)


def test_what_would_be_done_is_told_before_and_then_done(settled: Judging) -> None:
    project, lead = settled.project, settled.lead
    seen = batch_suggestions(project, lead)
    assert [one.reading.word.value for one in seen.queries] == ["open", "open", "do not open"]
    assert (seen.pairs(), seen.declined, seen.unsettled, seen.rule.version) == (40, 0, 0, 1)
    told: list[tuple[str, int, int]] = []
    done = accept_suggestions(project, lead, seen, decline=True, now=NOW, progress=lambda *step: told.append(step))
    assert done == AcceptedReport(opened=2, pairs=40, declined=1, overtaken=0)
    assert told == [("queries", 2, 3), ("queries", 3, 3)]
    assert states(settled) == [NextState.ENDED, NextState.ENDED, NextState.DECLINED]
    declined = next_batch(project, lead, seen.queries[2].query_id).declined
    assert declined is not None
    assert declined.reason == "The rule: mean 0.8 (needs 2.0), 0 of 5 graded 3 or more: do not open"
    assert batch_shares(project, OPERATOR) == {"val": {"2": 2}, "test": {"1": 1}}
    assert doctor(project, now=NOW).findings == ()


def test_where_nothing_is_left_it_says_so(settled: Judging, judging: Judging) -> None:
    project, lead = settled.project, settled.lead
    accept_suggestions(project, lead, batch_suggestions(project, lead), now=NOW)
    seen = batch_suggestions(project, lead)
    with pytest.raises(ProjectError, match="The rule recommends no further batches"):
        accept_suggestions(project, lead, seen, now=NOW)
    seen = batch_suggestions(judging.project, judging.lead)
    with pytest.raises(ProjectError, match=r"no query needs a decision about its next batch; 3 wait for grades$"):
        accept_suggestions(judging.project, judging.lead, seen, decline=True, now=NOW)


def test_the_second_of_two_leads_is_told_and_does_what_is_left(settled: Judging, max_: Person) -> None:
    project, lead = settled.project, settled.lead
    seen = batch_suggestions(project, max_)
    open_batch(project, lead, seen.queries[0].query_id, now=NOW)
    done = accept_suggestions(project, max_, seen, now=NOW + 60)
    assert done == AcceptedReport(opened=1, pairs=20, declined=0, overtaken=1)
    with pytest.raises(
        Overtaken, match=r"^Lea opened batch 2 of “.+” 2 minutes ago, so nothing of what you saw is left"
    ):
        accept_suggestions(project, max_, seen, now=NOW + 120)


def test_nothing_is_accepted_that_another_rule_suggested(settled: Judging, max_: Person) -> None:
    project, lead = settled.project, settled.lead
    seen = batch_suggestions(project, max_)
    assert set_batch_rule(project, lead, BatchRule(5, 2.5, None, 3), "only means", based_on=1, now=NOW) == 2
    with pytest.raises(
        Overtaken, match=r"^Lea changed the rule 1 minute ago \(“only means”\)\. Check what it recommends"
    ):
        accept_suggestions(project, max_, seen, now=NOW + 60)
    assert states(settled) == [NextState.READY] * 3
    assert {one.reading.word for one in batch_suggestions(project, max_).queries} == {RuleWord.LEAVE}


def test_a_corrected_grade_is_another_suggestion(settled: Judging) -> None:
    """What was looked at was open by a mean of 2.4; a lead's decision makes it 1.8 meanwhile."""
    project, lead = settled.project, settled.lead
    seen = batch_suggestions(project, lead)
    pair = query_pairs(project, lead, seen.queries[1].query_id)[15]
    adjudicate(project, lead, pair.pair, 0, "nothing there", now=NOW)
    assert accept_suggestions(project, lead, seen, now=NOW).overtaken == 1


def test_a_process_that_dies_in_between_leaves_whole_queries_and_the_rest_suggested(
    settled: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, lead = settled.project, settled.lead
    monkeypatch.setattr(suggestions, "AT_ONCE", 1)

    def die(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    seen = batch_suggestions(project, lead)
    with pytest.raises(KeyboardInterrupt):
        suggestions.accept_suggestions(project, OPERATOR, seen, decline=True, now=NOW, progress=die)
    assert states(settled) == [NextState.ENDED, NextState.READY, NextState.READY]
    assert doctor(project, now=NOW).findings == ()
    left = batch_suggestions(project, lead)
    assert accept_suggestions(project, lead, left, decline=True, now=NOW).opened == 1


def test_others_get_in_between_two_transactions(settled: Judging) -> None:
    """While the act rests, nobody holds the lock: somebody else's desk is filled."""
    project, carla = settled.project, settled.annotators[2]
    seen = batch_suggestions(project, OPERATOR)
    found: list[int] = []

    def rest(seconds: float) -> None:
        other = open_project(project.folder)
        found.append(len(desk(other, carla, now=NOW).items))
        other.store.close()

    suggestions.accept_suggestions(project, OPERATOR, seen, decline=True, now=NOW, rest=rest)
    assert found == [7]


def test_the_rule_has_versions_with_who_and_why(settled: Judging, max_: Person) -> None:
    project, lead = settled.project, settled.lead
    looser = BatchRule(4, None, 1, 2)
    with pytest.raises(ProjectError, match="a new rule needs a reason"):
        set_batch_rule(project, lead, looser, " ", now=NOW)
    with pytest.raises(InputError, match="the grade has to be 1 to 4, not 7"):
        set_batch_rule(project, lead, BatchRule(5, 2.0, 3, 7), "why", now=NOW)
    assert set_batch_rule(project, lead, looser, "more recall", based_on=1, now=NOW) == 2
    with pytest.raises(Overtaken, match=r"^Lea changed the rule 2 minutes ago \(“more recall”\): read it"):
        set_batch_rule(project, max_, BatchRule(5, 3.0, 3, 3), "fewer", based_on=1, now=NOW + 120)
    with pytest.raises(ProjectError, match="already says this"):
        set_batch_rule(project, max_, looser, "fewer", now=NOW)
    versions = batch_rule_versions(project, OPERATOR)
    assert [(one.version, one.by, one.since, one.reason) for one in versions] == [
        (1, None, None, ""),
        (2, "Lea", NOW, "more recall"),
    ]
    assert versions[0].rule == BatchRule(5, 2.0, 3, 3)
    assert [len(query.last) for query in list_queries(project, lead)] == [4, 4, 4]
