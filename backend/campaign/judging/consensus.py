"""Apply the consensus rule to pairs as their grades come in, and open two more seats where it asks for them.

*Reads* judgements, what leads did. *Writes* consensus, seats, events. The rule itself is one pure function,
`backend.campaign.judging.rules.decide`.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

from backend.campaign.judging.model import DE_ESCALATED, ESCALATED
from backend.campaign.judging.rows import judgements, seats
from backend.campaign.judging.rows import verdicts as rows_verdicts
from backend.campaign.judging.rules import RULE_VERSION, Decision, decide, version
from backend.campaign.nouns import Operator, Person, Verdict
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.project import rows as facts
from backend.core.errors import ProjectError
from backend.core.ids import PairId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, writing


def settle(db: Database, pair_id: PairId, person: Person | Operator, *, now: float) -> None:
    """Bring the verdict of one pair, and its number of seats, in line with its grades.

    Args:
        db: the project's database, in the transaction of the act that is the occasion.
        pair_id: the pair.
        person: whose act it is (named in the event log).
        now: when.
    """
    grades, verdict, decided = _apply_rule(db, pair_id)
    actor = person.annotator_id
    subject = f"pair:{pair_id}"
    if verdict is Verdict.ESCALATED and seats.open_second_round(db, pair_id):
        events.record(db, ESCALATED, at=now, actor=actor, subject=subject, payload={"grades": grades})
    elif verdict in (Verdict.OPEN, Verdict.CONSENSUS) and seats.close_second_round(db, pair_id):
        # A correction within the first two: nobody had sat down at the further seats yet.
        events.record(db, DE_ESCALATED, at=now, actor=actor, subject=subject, payload={"grades": grades})
    if decided:
        seats.close(db, pair_id)
    candidates_rows.refresh_agenda_of_pair(db, pair_id)


def rebuild(store: Store) -> int:
    """Make every verdict anew from grades and what leads did, to the same rows as before; how many there are."""
    with writing(store) as db:
        verdicts = expected(db)
        rows_verdicts.replace_verdicts(db, ((pair, *row) for pair, row in verdicts.items()))
    return len(verdicts)


def expected(db: Database) -> dict[PairId, tuple[Verdict, int | None, float | None, str]]:
    """What the derived table should hold, by pair: verdict, relevance, mean, version of the rule.

    The rule does not depend on the order of grades, so it is asked once for each distinct set of them.
    """
    given, ruled = rows_verdicts.grades_by_pair(db), rows_verdicts.all_adjudicated(db)
    more, of_set = rows_verdicts.all_re_opened(db), cache(rule(db))
    rows = {
        pair: (*_verdict(of_set(tuple(given.get(pair, ())), pair in more), ruled.get(pair)), version(pair in more))
        for pair in sorted({*given, *ruled})
    }
    return {pair: row for pair, row in rows.items() if row[0] is not Verdict.OPEN}


def rule(db: Database) -> Callable[[Sequence[int], bool], Decision]:
    """The consensus rule with this campaign's tolerance and rounding: of grades, and whether the pair was re-opened.

    Raises:
        ProjectError: the campaign is decided by a rule that this code does not have.
    """
    rule_version, tolerance, rounding = facts.rule(db)
    if rule_version != RULE_VERSION:
        raise ProjectError(
            said(
                "this campaign is decided by the rule {rule_version}, but this ReelRank has {known}: use "
                "the ReelRank that it was made with, or a newer one",
                rule_version=rule_version,
                known=RULE_VERSION,
            )
        )
    with_facts = partial(decide, tolerance=tolerance, rounding=rounding)
    return lambda grades, re_opened: with_facts(grades, re_opened=re_opened)


def _apply_rule(db: Database, pair_id: PairId) -> tuple[list[int], Verdict, bool]:
    """Store the verdict of one pair.

    Returns:
        Its current grades, what the rule alone says of them, and whether a lead's decision stands.
    """
    grades = [standing.grade for standing in judgements.standing(db, pair_id)]
    ruled, re_opened = rows_verdicts.decision_of_lead(db, pair_id)
    decision = rule(db)(grades, re_opened)
    verdict = _verdict(decision, ruled)
    rows_verdicts.set_verdict(db, pair_id, *verdict, version(re_opened))
    return grades, decision.verdict, ruled is not None


def _verdict(decision: Decision, ruled: int | None) -> tuple[Verdict, int | None, float | None]:
    """What is stored of a pair: what the rule says, or the relevance that a lead decided on."""
    if ruled is None:
        return decision.verdict, decision.relevance, decision.mean
    return Verdict.ADJUDICATED, ruled, decision.mean
