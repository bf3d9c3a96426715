"""Set gold questions: choose the pairs, switch them on and off.

*Reads* pairs, consensus. *Writes* campaign, gold_pair, offers that nobody took up, events.
"""

import secrets
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.answers import rows as answers
from backend.campaign.qualification.answers.key_file import read_key
from backend.campaign.qualification.gold import rows as gold
from backend.campaign.qualification.gold.rules import MOST_SHARE, constant, draw
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import GoldSettings
from backend.core.errors import ProjectError
from backend.core.reading import bytes_of
from backend.core.saying import joined, said
from backend.store import events
from backend.store.connection import Database, writing
from backend.store.events import EventKind

SETTLED = "settled pairs"
PAIRS = 500
"""So many gold pairs last one person, at the usual share, for 10,000 pairs."""


@dataclass(frozen=True, slots=True)
class GoldReport:
    """What gold is chosen from now: how many pairs of each right grade of the scale, and what looks like it.

    Always giving `constant` would be right in `constant_right` percent.
    """

    pairs: int
    grades: tuple[int, ...]
    settings: GoldSettings
    constant: int
    constant_right: float


@dataclass(frozen=True, slots=True)
class GoldOptions:
    """What a lead says; what is None stays as the campaign has it."""

    share: float | None = None
    window: int | None = None
    fewest: int | None = None
    warn: float | None = None
    pause: float | None = None


@permissions.in_charge
def set_gold(
    project: Project,
    by: Lead | Operator,
    options: GoldOptions,
    file: Path | None = None,
    *,
    pairs: int = PAIRS,
    now: float,
) -> GoldReport:
    """Mix pairs with known grades into everybody's work from now on.

    Without a file the pairs are settled ones whose relevance is known well, as evenly over their grades as there are.

    Args:
        project: the project.
        by: who says so.
        options: share, window and levels.
        file: a CSV file `pair_id,grade` with the lead's own key, instead of a draw.
        pairs: at most so many, where they are drawn.
        now: seconds since 1970.

    Raises:
        InputError: with every problem of the file; nothing of it was taken.
        ProjectError: there is no pair whose grade is known, or a number makes no sense.
    """
    data = bytes_of(file) if file else None
    with writing(project.store) as db:
        settings = _settings(facts.gold(db), options)
        key = facts.gold_key(db) or secrets.token_hex(8)
        if file is not None and data is not None:
            given = read_key(db, data, file.name, now=now)
            if not given:
                raise ProjectError(said("{name} has no pair in it", name=file.name))
            gold.replace_pairs(db, [(pair, right) for pair, right, _ in given])
        else:
            if pairs < 1:
                raise ProjectError(said("gold needs at least one pair"))
            drawn = draw(answers.well_known(db, now=now), pairs, key)
            if not drawn:
                raise ProjectError(
                    said(
                        "there is no pair yet whose grade is known well (decided by a lead, or graded alike, with a "
                        "clip, not corrected any more): settle some pairs first, or bring the key in a file"
                    )
                )
            gold.replace_pairs(db, [(one.pair_id, None) for one in drawn])
        gold.withdraw_all(db)
        facts.set_gold(db, settings)
        facts.set_gold_key(db, key)
        told = report(db)
        payload = {"source": file.name if file else SETTLED, "pairs": told.pairs, "share": settings.share}
        payload |= {"window": settings.window, "fewest": settings.fewest, "warn": settings.warn}
        _tell(db, EventKind.GOLD_SET, by, payload | {"pause": settings.pause}, now)
    return told


@permissions.in_charge
def end_gold(project: Project, by: Lead | Operator, *, now: float) -> bool:
    """Mix no gold into anybody's work any more, and return whether it was. Answers and pauses stay."""
    with writing(project.store) as db:
        settings = facts.gold(db)
        if settings.on:
            gold.withdraw_all(db)
            facts.set_gold(db, replace(settings, on=False))
            _tell(db, EventKind.GOLD_ENDED, by, {}, now)
    return settings.on


def report(db: Database) -> GoldReport:
    """What gold is chosen from."""
    known, grading = gold.known(db), facts.grading(db)
    grades = Counter(one.right for one in known)
    always, right = constant(known, grading.scale.grades, grading.tolerance)
    by_grade = tuple(grades[grade] for grade in grading.scale.grades)
    return GoldReport(len(known), by_grade, facts.gold(db), always, right)


def _settings(before: GoldSettings, options: GoldOptions) -> GoldSettings:
    new = GoldSettings(
        on=True,
        share=before.share if options.share is None else options.share,
        window=before.window if options.window is None else options.window,
        fewest=before.fewest if options.fewest is None else options.fewest,
        warn=before.warn if options.warn is None else options.warn,
        pause=before.pause if options.pause is None else options.pause,
    )
    problems = []
    if not 0 < new.share <= MOST_SHARE:
        problems.append(
            said(
                "a share of {share:g} makes no sense: give more than 0 and at most {most:g}",
                share=new.share,
                most=MOST_SHARE,
            )
        )
    if not 1 <= new.fewest <= new.window:
        problems.append(
            said(
                "accuracy over the last {window} answers, from {fewest} on, makes no sense: begin with at least one, "
                "and with no more than it is counted over",
                window=new.window,
                fewest=new.fewest,
            )
        )
    if not 0 <= new.pause <= new.warn <= 100:
        problems.append(
            said(
                "a warning below {warn:g} % and a pause below {pause:g} % make no sense: both are between 0 and 100, "
                "and the pause is not above the warning",
                warn=new.warn,
                pause=new.pause,
            )
        )
    if problems:
        raise ProjectError(joined("; ", problems))
    return new


def _tell(db: Database, kind: EventKind, by: Lead | Operator, payload: dict[str, object], now: float) -> None:
    events.record(db, kind, at=now, actor=by.annotator_id, subject="campaign", payload=payload)
