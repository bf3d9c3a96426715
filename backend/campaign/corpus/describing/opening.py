"""Open and close describing: a lead's choice of people, videos, and how much is wanted.

*Reads* annotator, video. *Writes* describing_choice with its people and videos, events. Closing takes nothing away:
what somebody still has in the browser is kept when it comes.
"""

from dataclasses import replace

from backend.campaign.corpus.describing.model import DescribingChoice
from backend.campaign.corpus.describing.rows import choices
from backend.campaign.nouns import Annotator, Lead, Operator, Role
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, ProjectError
from backend.core.messages import joined, said
from backend.core.typed_text import nfc
from backend.store import events
from backend.store.connection import Database, reading, writing
from backend.store.events import EventKind


@permissions.in_charge
def describing_choice(project: Project, by: Lead | Operator) -> DescribingChoice:
    """Return the newest choice: whether describing is open, for whom, in which videos, and how much is wanted."""
    with reading(project.store) as db:
        return choices.standing(db)


@permissions.in_charge
def choose_describing(project: Project, by: Lead | Operator, chosen: DescribingChoice, *, now: float) -> None:
    """Open describing for these people and videos, or close it.

    Raises:
        ProjectError: unknown people or videos, leads, nobody, or impossible amounts. It names every problem.
    """
    with writing(project.store) as db:
        _choose(db, by, chosen, now=now)


@permissions.in_charge
def close_describing(project: Project, by: Lead | Operator, *, now: float) -> bool:
    """Close describing, and return whether it was open. Opening it again finds the same people and videos."""
    with writing(project.store) as db:
        there = choices.standing(db)
        if there.open:
            _choose(db, by, replace(there, open=False), now=now)
    return there.open


@permissions.signed_in
def may_describe(project: Project, person: Lead | Annotator) -> bool:
    """Return whether describing is open for a person. It never is for leads and paused annotators."""
    return isinstance(person, Annotator) and is_open_for(project.store.db, person)


@permissions.signed_in
def describing_comes_first(project: Project, person: Lead | Annotator) -> bool:
    """Return whether a person may describe and has nothing to grade, because no pair was handed out yet."""
    return may_describe(project, person) and choices.is_all_there_is(project.store.db)


def is_open_for(db: Database, me: Annotator) -> bool:
    """Whether this person may describe now; nobody who is paused."""
    return choices.is_open_for(db, me.annotator_id) and people.standing_pause(db, me.annotator_id) is None


def require_open(db: Database, me: Annotator) -> None:
    """Refuse whoever may not describe now.

    Raises:
        NotAllowed: describing is closed, or not for this person, or they are paused.
    """
    if people.standing_pause(db, me.annotator_id) is not None:
        raise NotAllowed(said("you are paused: ask your lead; what you wrote is kept"))
    if not choices.is_open_for(db, me.annotator_id):
        raise NotAllowed(said("describing is not open for you (any more): ask your lead"))


def _choose(db: Database, by: Lead | Operator, chosen: DescribingChoice, *, now: float) -> None:
    chosen = replace(chosen, videos=None if chosen.videos is None else tuple(map(nfc, chosen.videos)))
    videos = choices.videos_named(db, chosen.videos or ())
    if problems := _problems(db, chosen, set(videos)):
        raise ProjectError(joined("; ", problems))
    choices.add(db, chosen, videos.values(), at=now, by=by.annotator_id)
    payload: dict[str, object] = {
        "people": None if chosen.people is None else len(chosen.people),
        "videos": None if chosen.videos is None else len(videos),
        "per_video": chosen.per_video,
        "per_minute": chosen.per_minute,
    }
    events.record(
        db,
        EventKind.DESCRIBING_OPENED if chosen.open else EventKind.DESCRIBING_CLOSED,
        at=now,
        actor=by.annotator_id,
        subject="describing",
        payload=payload if chosen.open else {},
    )


def _problems(db: Database, chosen: DescribingChoice, known: set[str]) -> list[str]:
    found = []
    if chosen.people is not None:
        if not chosen.people:
            found.append(said("nobody may describe: choose at least one person, or everybody"))
        for annotator_id in dict.fromkeys(chosen.people):
            person = people.by_id(db, annotator_id)
            if person is None:
                found.append(said("there is no person {person}", person=annotator_id))
            elif person.role is Role.LEAD:
                found.append(
                    said("{name} is a lead: leads review descriptions, annotators write them", name=person.name)
                )
    if chosen.videos is not None:
        if not chosen.videos:
            found.append(said("no video is to be described: choose at least one, or all"))
        if missing := [name for name in dict.fromkeys(chosen.videos) if name not in known]:
            more = said(" and {n} more", n=len(missing) - 3) if len(missing) > 3 else ""
            found.append(said("the project has no video {missing}{more}", missing=", ".join(missing[:3]), more=more))
    if chosen.per_video is not None and chosen.per_video < 1:
        found.append(said("at least one description a video is needed; leave the number out for any"))
    if chosen.per_minute is not None and not 0 < chosen.per_minute < 1000:
        found.append(said("descriptions a minute have to be above 0; leave the number out for any"))
    if chosen.per_video is not None and chosen.per_minute is not None:
        found.append(said("say how many descriptions a video, or how many a minute, not both"))
    return found
