"""Let leads open and close describing, choose who may describe which videos, and write the guideline for it.

In describing, annotators mark moments in videos and write a sentence for each. If a browser still holds unsent work
when describing is closed, the work is saved when it arrives. All versions of the guideline are kept.

*Reads* annotator, video. *Writes* describing_choice with its people and videos, describing_guideline, events.
"""

from dataclasses import replace

from backend.campaign.corpus.describing.model import (
    DESCRIBING_CLOSED,
    DESCRIBING_OPENED,
    DESCRIBING_REWORDED,
    DescribingChoice,
    DescribingGuideline,
)
from backend.campaign.corpus.describing.rows import descriptions
from backend.campaign.nouns import Annotator, Lead, Operator, Role
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, Overtaken, ProjectError
from backend.core.messages import joined, said
from backend.core.typed_text import nfc, reason_of, tidy
from backend.store import events
from backend.store.connection import Database, reading, writing


@permissions.in_charge
def describing_choice(project: Project, by: Lead | Operator) -> DescribingChoice:
    """Return the current settings for describing videos: whether it is open, for whom, and in which videos.

    They also say how many descriptions are wanted.
    """
    with reading(project.store) as db:
        return descriptions.current_choice(db)


@permissions.in_charge
def choose_describing(project: Project, by: Lead | Operator, choice: DescribingChoice, *, now: float) -> None:
    """Store new settings for describing videos: let chosen people describe chosen videos, or let nobody describe.

    Raises:
        ProjectError: a person or video does not exist, a person is a lead, nobody or nothing is chosen, or a number is
            out of range. The error names every problem.
    """
    with writing(project.store) as db:
        _choose(db, by, choice, now=now)


@permissions.in_charge
def close_describing(project: Project, by: Lead | Operator, *, now: float) -> bool:
    """Close describing, so that nobody may describe videos; return whether it was open.

    The chosen people and videos stay chosen.
    """
    with writing(project.store) as db:
        choice = descriptions.current_choice(db)
        if choice.open:
            _choose(db, by, replace(choice, open=False), now=now)
    return choice.open


@permissions.signed_in
def may_describe(project: Project, person: Lead | Annotator) -> bool:
    """Return whether a person may describe videos now; never True for leads and paused annotators."""
    return isinstance(person, Annotator) and is_open_for(project.store.db, person)


@permissions.signed_in
def describing_comes_first(project: Project, person: Lead | Annotator) -> bool:
    """Return whether a person may describe videos and has nothing to grade, because the project has no pairs yet."""
    return may_describe(project, person) and descriptions.has_no_pairs(project.store.db)


def is_open_for(db: Database, me: Annotator) -> bool:
    """Return whether an annotator may describe videos now; False while they are paused."""
    return descriptions.is_open_for(db, me.annotator_id) and people.standing_pause(db, me.annotator_id) is None


def require_open(db: Database, me: Annotator) -> None:
    """Check that an annotator may describe videos now.

    Raises:
        NotAllowed: describing is closed, this person was not chosen for it, or they are paused.
    """
    if people.standing_pause(db, me.annotator_id) is not None:
        raise NotAllowed(said("you are paused: ask your lead; what you wrote is kept"))
    if not descriptions.is_open_for(db, me.annotator_id):
        raise NotAllowed(said("describing is closed for you: ask your lead"))


def _choose(db: Database, by: Lead | Operator, choice: DescribingChoice, *, now: float) -> None:
    choice = replace(choice, videos=None if choice.videos is None else tuple(map(nfc, choice.videos)))
    videos = descriptions.videos_named(db, choice.videos or ())
    if problems := _problems(db, choice, set(videos)):
        raise ProjectError(joined("; ", problems))
    descriptions.add_choice(db, choice, videos.values(), at=now, by=by.annotator_id)
    if not choice.open:
        events.note(db, DESCRIBING_CLOSED, by, "describing", now=now)
        return
    payload = {
        "people": None if choice.people is None else len(choice.people),
        "videos": None if choice.videos is None else len(videos),
        **{"per_video": choice.per_video, "per_minute": choice.per_minute},
    }
    events.note(db, DESCRIBING_OPENED, by, "describing", now=now, **payload)


def _problems(db: Database, choice: DescribingChoice, known: set[str]) -> list[str]:
    problems = []
    if choice.people is not None:
        if not choice.people:
            problems.append(said("no person is chosen: choose at least one, or everybody"))
        for annotator_id in dict.fromkeys(choice.people):
            person = people.by_id(db, annotator_id)
            if person is None:
                problems.append(said("there is no person {person}", person=annotator_id))
            elif person.role is Role.LEAD:
                problems.append(
                    said("{name} is a lead: leads review descriptions, annotators write them", name=person.name)
                )
    if choice.videos is not None:
        if not choice.videos:
            problems.append(said("no video is chosen: choose at least one, or all"))
        if missing := [name for name in dict.fromkeys(choice.videos) if name not in known]:
            more = said(" and {n} more", n=len(missing) - 3) if len(missing) > 3 else ""
            problems.append(said("the project has no video {missing}{more}", missing=", ".join(missing[:3]), more=more))
    if choice.per_video is not None and choice.per_video < 1:
        problems.append(said("descriptions a video: write 1 or more, or leave it empty for any number"))
    if choice.per_minute is not None and not 0 < choice.per_minute < 1000:
        problems.append(said("descriptions a minute: write a number above 0, or leave it empty for any number"))
    if choice.per_video is not None and choice.per_minute is not None:
        problems.append(said("set descriptions a video or descriptions a minute, not both"))
    return problems


LONGEST_TEXT = 4000
LONGEST_REASON = 200


@permissions.in_charge
def describing_guideline(project: Project, by: Lead | Operator) -> DescribingGuideline:
    """Return the newest version of the guideline for describers."""
    with reading(project.store) as db:
        return descriptions.guideline(db)


@permissions.in_charge
def reword_describing(
    project: Project, by: Lead | Operator, text: str, reason: str, *, based_on: int | None = None, now: float
) -> int:
    """Replace the guideline for annotators who describe videos; each of them is shown the new version once.

    Args:
        project: the project.
        by: who rewords it.
        text: the whole text, one rule a line.
        reason: why, in a sentence that describers also read.
        based_on: the version that the lead looked at; None skips this check.
        now: seconds since 1970.

    Returns:
        The number of the new version.

    Raises:
        Overtaken: somebody has stored another version after `based_on`.
        ProjectError: the text is empty or too long, there is no reason, or nothing changed.
    """
    text = "\n".join(line for line_ in text.splitlines() if (line := tidy(line_)))
    if not text:
        raise ProjectError(said("the guideline is empty: write what to mark and how to describe it"))
    if len(text) > LONGEST_TEXT:
        raise ProjectError(
            said("the guideline has {length} characters: use at most {longest}", length=len(text), longest=LONGEST_TEXT)
        )
    needed = said("a change needs a reason: write one sentence, which describers will read")
    reason = reason_of(reason, LONGEST_REASON, needed)
    with writing(project.store) as db:
        old = descriptions.guideline(db)
        if based_on is not None and based_on != old.version:
            who = old.by or said("the command line", _context="by")
            raise Overtaken(
                said(
                    "{who} changed the guideline meanwhile (version {version}): read it, then change yours",
                    who=who,
                    version=old.version,
                )
            )
        if text == old.text:
            events.refuse_if_done(db, DESCRIBING_REWORDED, now=now, reason=reason)
            raise ProjectError(said("nothing changed: the guideline says this already"))
        version = descriptions.add_guideline(db, text, reason, at=now, by=by.annotator_id)
        events.note(db, DESCRIBING_REWORDED, by, "describing", now=now, version=version, reason=reason)
    return version
