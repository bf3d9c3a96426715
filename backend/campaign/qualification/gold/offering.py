"""Offer gold questions to annotators, and warn or pause whoever misses too many.

*Reads* gold pairs, answers, seats. *Writes* gold_seat, gold_rhythm, gold_finding, pauses, events. An offered pair goes
out as one of the second round would: `backend.campaign.judging` hands it out and takes its grade.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.campaign.judging import staffing
from backend.campaign.judging.model import Desk, DeskState
from backend.campaign.judging.rows import assignments, gold_seats
from backend.campaign.nouns import Annotator
from backend.campaign.qualification.answers.rules import KnownPair, misses
from backend.campaign.qualification.gold import rows as gold
from backend.campaign.qualification.gold.rows import GoldFinding, GoldGrade
from backend.campaign.qualification.gold.rules import APART, Consequence, choose, consequence, gap
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.model import GoldSettings
from backend.core.events import Event, EventGroup
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, writing

TOLD_FOR = 5
"""A warning stays on the desk for so many pairs, so that one lost answer, or a page loaded anew, does not lose it."""
GOLD_WARNED = Event(
    "gold_warned", EventGroup.TRAINING, said("warned by gold: {within} of {answers} answers were right")
)
"""answers, within: the person is told at the next pairs"""
GOLD_PAUSED = Event(
    "gold_paused", EventGroup.TRAINING, said("paused by gold: {within} of {answers} answers were right")
)
"""answers, within"""


def offer(store: Store, person: Annotator, settings: GoldSettings) -> None:
    """Offer this person the gold pairs that are due by the claims they have made.

    Not ahead of them: where there is nothing else to grade, nothing more becomes due. Where they have met every gold
    pair, the turn passes.
    """
    me = person.annotator_id
    with writing(store) as db:
        next_at, claims = gold.next_at(db, me), gold_seats.claims(db, me)
        gold.withdraw_seen(db, me)
        if next_at is not None and next_at > claims:
            return
        key, offers = facts.gold_key(db), gold.offers(db, me)
        if next_at is None:
            next_at = claims + gap(key, me, offers, settings.share)
        while next_at <= claims:
            pair = choose(_fit_for(db, me), key, me, offers)
            if pair is not None:
                gold.offer(db, pair, me)
                offers += 1
            next_at += gap(key, me, offers, settings.share)
        gold.set_next(db, me, next_at)


def follow(store: Store, person: Annotator, desk: Desk[Any], settings: GoldSettings, *, now: float) -> Desk[Any]:
    """Draw the consequence from somebody's answers, if there is one and this is the moment; their desk after it.

    The moment is when a query begins and the last gold pair lies some pairs back: it tells nobody which pair it was.
    """
    me = person.annotator_id
    with writing(store) as db:
        last = gold.last_finding(db, me)
        begins = bool(desk.items) and desk.items[0].position == 1
        if begins and gold.own_pairs_since_gold(db, me, APART) >= APART:
            answers = gold.answers(db, me, after=last.last_answer if last else 0)
            within = within_tolerance(answers, facts.grading(db).tolerance)
            warned = last is not None and last.kind is Consequence.WARNED
            what = consequence(within, settings, warned=warned)
            if what is not None:
                counted = within[-settings.window :]
                last = GoldFinding(what, len(counted), sum(counted), answers[-1].gold_answer_id, desk.in_all, now)
                _draw(store, person, last, settings, again=warned)
                if what is Consequence.PAUSED:
                    return Desk(DeskState.PAUSED, (), None, desk.today, desk.in_all)
    told = last is not None and last.kind is Consequence.WARNED and desk.in_all - last.graded < TOLD_FOR
    return replace(desk, warned=True) if told else desk


def _fit_for(db: Database, me: AnnotatorId) -> list[KnownPair]:
    """Gold pairs for this person: of queries that they are assigned to, so that none stands out; others where none is.

    (A person with an assignment would wonder at a query that is not theirs.)
    """
    fit, mine = gold.fit_for(db, me), assignments.standing(db, me)
    inside = assignments.inside(db, mine, [known.pair_id for known in fit])
    return [known for known in fit if known.pair_id in inside] or fit


def within_tolerance(answers: Sequence[GoldGrade], tolerance: int) -> list[bool]:
    """Whether each answer is within the campaign's tolerance of the right grade."""
    return [not misses(answer.own, answer.right, tolerance) for answer in answers]


def _draw(store: Store, person: Annotator, found: GoldFinding, settings: GoldSettings, *, again: bool) -> None:
    me = person.annotator_id
    paused = found.kind is Consequence.PAUSED
    with writing(store) as db:
        gold.add_finding(db, me, found)
        events.record(
            db,
            GOLD_PAUSED if paused else GOLD_WARNED,
            at=found.at,
            actor=None,
            subject=f"annotator:{me}",
            payload={"answers": found.answers, "within": found.within},
        )
        if paused:
            level = settings.pause if 100 * found.within < settings.pause * found.answers else settings.warn
            after = ", after a warning" if again else ""
            reason = (
                f"Gold: {found.within} of {found.answers} answers agree with the known grade, fewer than "
                f"{level:g} %{after}. The page Gold shows them."
            )
            staffing.begin_pause(db, None, me, reason, now=found.at)
