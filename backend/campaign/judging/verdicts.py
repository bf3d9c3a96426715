"""Compute the verdicts on pairs, and store them with the seats (places for annotators) that follow from them.

The rule is one pure function, `backend.campaign.judging.rules.decide`. *Reads* judgements, decisions of leads. *Writes*
consensus (the verdicts), seats of further rounds, agenda (batches with free seats), events.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from backend.campaign.judging.model import DE_ESCALATED, ESCALATED
from backend.campaign.judging.rows import judgements, pair_status, seats
from backend.campaign.judging.rules import RULE_VERSION, Decision, decide, version
from backend.campaign.nouns import Operator, Person, Rounding, Verdict
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.project import rows as project_rows
from backend.core.errors import ProjectError
from backend.core.ids import PairId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Select, Store, fetch, writing


class PairStatus:
    """What the verdict on a pair follows from, and what is stored of it, as SELECTs to be fetched together."""

    def __init__(self, pair_id: PairId, person: Person | Operator) -> None:
        self.grades = judgements.grades_select(pair_id)
        self.decision = pair_status.decision_select(pair_id)
        self.verdict = pair_status.verdict_select(pair_id)
        self.second_round = seats.second_round_select(pair_id, person.annotator_id)
        self.rule = project_rows.rule_select()

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        """The SELECTs."""
        return self.grades, self.decision, self.verdict, self.second_round, self.rule

    def decide(self) -> Callable[[Sequence[int], bool], Decision]:
        """Return the consensus rule, as `consensus_rule` does; see there for errors."""
        return _rule(*self.rule.result)


def settle(db: Database, pair_id: PairId, person: Person | Operator, *, now: float) -> None:
    """Update the verdict on one pair, and its number of seats (places for annotators).

    Both follow from the pair's grades and the decisions of leads.

    Args:
        db: the project's database, in the transaction that changed a grade or a decision.
        pair_id: the pair.
        person: who made that change (named in the event log).
        now: seconds since 1970.
    """
    status = PairStatus(pair_id, person)
    fetch(db, *status.selects)
    settle_by(db, pair_id, person, [given.grade for given in status.grades.result], status, now=now)


def settle_by(
    db: Database, pair_id: PairId, person: Person | Operator, grades: list[int], status: PairStatus, *, now: float
) -> None:
    """Update the verdict on one pair as `settle` does, given its grades and what `status` fetched."""
    ruled, re_opened = status.decision.result
    decision = status.decide()(grades, re_opened)
    verdict = decision.verdict
    if verdict is not Verdict.OPEN or ruled is not None or status.verdict.result is not Verdict.OPEN:
        pair_status.set_verdict(db, pair_id, *_verdict(decision, ruled), version(re_opened))
    actor = person.annotator_id
    subject = f"pair:{pair_id}"
    has_second_round, is_any_left = status.second_round.result
    if verdict is Verdict.ESCALATED and not has_second_round:
        seats.open_second_round(db, pair_id)
        events.record(db, ESCALATED, at=now, actor=actor, subject=subject, payload={"grades": grades})
    elif verdict in (Verdict.OPEN, Verdict.CONSENSUS) and is_any_left:
        # One of the first two people corrected their grade before anybody graded a further seat.
        seats.close_second_round(db, pair_id)
        events.record(db, DE_ESCALATED, at=now, actor=actor, subject=subject, payload={"grades": grades})
    if ruled is not None:
        seats.close(db, pair_id)
    candidates_rows.refresh_agenda_of_pair(db, pair_id)


def rebuild_verdicts(store: Store) -> int:
    """Compute the verdicts on all pairs again from grades and leads' decisions; return the number of verdicts.

    If the stored verdicts are right, none changes.
    """
    with writing(store) as db:
        derived = expected_verdicts(db)
        pair_status.replace_verdicts(db, ((pair, *row) for pair, row in derived.items()))
    return len(derived)


def expected_verdicts(db: Database) -> dict[PairId, tuple[Verdict, int | None, float | None, str]]:
    """Return what the table `consensus` should hold, by pair: (verdict, relevance, mean grade, version of the rule).

    Pairs that still need their first grades are left out. The rule does not depend on the order of grades, so it runs
    once for each distinct combination of grades.
    """
    grades, ruled = pair_status.grades_by_pair(db), pair_status.all_adjudicated(db)
    re_opened, rule = pair_status.all_re_opened(db), cache(consensus_rule(db))
    rows = {
        pair: (
            *_verdict(rule(tuple(grades.get(pair, ())), pair in re_opened), ruled.get(pair)),
            version(pair in re_opened),
        )
        for pair in sorted({*grades, *ruled})
    }
    return {pair: row for pair, row in rows.items() if row[0] is not Verdict.OPEN}


def consensus_rule(db: Database) -> Callable[[Sequence[int], bool], Decision]:
    """Return the function that computes the verdict on a pair by this campaign's settings.

    The settings are how far two grades may differ and still agree, and how their mean is rounded.

    Its arguments are the grades of the pair, and whether a lead re-opened the pair for two more annotators.

    Raises:
        ProjectError: the campaign uses a version of the rule that this code does not have.
    """
    return _rule(*project_rows.rule(db))


def _rule(rule_version: str, tolerance: int, rounding: Rounding) -> Callable[[Sequence[int], bool], Decision]:
    if rule_version != RULE_VERSION:
        raise ProjectError(
            said(
                "this campaign uses the rule {rule_version}, but this ReelRank has the rule {known}: use "
                "the ReelRank that made the campaign, or a newer one",
                rule_version=rule_version,
                known=RULE_VERSION,
            )
        )
    with_facts = partial(decide, tolerance=tolerance, rounding=rounding)
    return lambda grades, re_opened: with_facts(grades, re_opened=re_opened)


def _verdict(decision: Decision, ruled: int | None) -> tuple[Verdict, int | None, float | None]:
    """Return (verdict, relevance, mean of the grades) to store for a pair.

    `ruled` is the relevance that a lead decided, which replaces that of the consensus rule; None without a decision.
    """
    if ruled is None:
        return decision.verdict, decision.relevance, decision.mean
    return Verdict.ADJUDICATED, ruled, decision.mean
