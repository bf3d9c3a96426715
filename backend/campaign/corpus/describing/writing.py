"""Store what describers write: each event by itself, once, and nothing that anybody typed is lost.

*Reads* choices, videos, pauses. *Writes* description, description_act, events (refusals). What was marked and written
while describing was open counts also after it was closed, and beyond what was wanted; nothing counts during a pause.
"""

from collections.abc import Sequence

from backend.campaign.corpus.describing import work
from backend.campaign.corpus.describing.model import (
    DescribeAnswer,
    DescribeEvent,
    DescribeKind,
    DescriptionAct,
    RefusedEvent,
)
from backend.campaign.corpus.describing.rows import choices, descriptions
from backend.campaign.corpus.describing.rows.descriptions import DescriptionRow
from backend.campaign.corpus.describing.rules import may, wrong
from backend.campaign.nouns import Annotator
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.crediting import work_time
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed
from backend.core.ids import VideoId
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.store import events as log
from backend.store.connection import Database, Store, reading, writing
from backend.store.events import EventKind

_ACCEPTED = said("a lead has accepted this description: ask them to take it back if it is to change")


@permissions.annotator_only
def describe_exchange(
    project: Project, person: Annotator, events: Sequence[DescribeEvent], *, now: float
) -> DescribeAnswer:
    """Store what a describer's browser sends, in the order of doing. Sending an event again changes nothing.

    Raises:
        NotAllowed: describing was never open for this person.
        StoreUnavailable: the database cannot be written; what is in no answer may be sent again.
    """
    store = project.store
    with reading(store) as db:
        if not choices.was_open_for(db, person.annotator_id):
            raise NotAllowed(said("describing is not open for you: ask your lead"))
    accepted: list[str] = []
    refused: list[RefusedEvent] = []
    for event in events:
        why = _take(store, person, event, now=now)
        if why is None:
            accepted.append(event.key)
        else:
            refused.append(RefusedEvent(event.key, why))
    with reading(store) as db:
        me = person.annotator_id
        about = [descriptions.by_key(db, key) for key in dict.fromkeys(event.description for event in events)]
        mine = [row for row in about if row is not None and row.annotator_id == me]
        back = descriptions.returned_to(db, me)
        shown = work.as_seen(project, db, person, [*mine, *back])
    return DescribeAnswer(accepted, refused, shown[len(mine) :], shown[: len(mine)])


def _take(store: Store, person: Annotator, event: DescribeEvent, *, now: float) -> str | None:
    """Save one event; why it cannot count, in words for its author, or None. What cannot count is kept in the log."""
    with writing(store) as db:
        me = person.annotator_id
        if (known := descriptions.event_known(db, event.key)) is not None:
            same = known == (event.description, me)
            return None if same else said("this was sent under the name of something else: reload the page")
        if (before := descriptions.refusal_known(db, me, event.key)) is not None:
            return before
        there = descriptions.by_key(db, event.description)
        video_id, why = _about(db, person, event, there)
        if why is None and video_id is not None:
            if event.kind is not DescribeKind.WITHDRAW:
                since = choices.first_open_for(db, me)
                work = work_time(db, me, event.active_ms, event.elapsed_ms, since=since, now=now)
                descriptions.write(db, event, tidy(event.sentence), video_id, me, work, at=now)
            elif there is not None:  # also once more: an event that left no trace would count when it is sent again
                descriptions.withdraw(db, there.description_id, me, event.key, at=now)
            return None
        log.record(
            db,
            EventKind.DESCRIPTION_REFUSED,
            at=now,
            actor=me,
            subject=f"description:{event.description}",
            payload={
                **{"event_key": event.key, "why": why, "kind": event.kind, "video": event.video},
                **{"start_s": event.start_s, "end_s": event.end_s, "sentence": event.sentence},
            },
        )
    return why


def _about(
    db: Database, person: Annotator, event: DescribeEvent, there: DescriptionRow | None
) -> tuple[VideoId | None, str | None]:
    """The video of an event, or why the event cannot count."""
    if not event.key or not event.description:
        return None, said("the page sent something without a name: reload it")
    if people.standing_pause(db, person.annotator_id) is not None:
        return None, said("your work is paused; what you wrote is kept in the log but does not count")
    if there is not None and there.annotator_id != person.annotator_id:
        return None, said("this is somebody else's description")
    if event.kind is DescribeKind.WITHDRAW:
        if there is None:
            return None, said("there is no such description to withdraw")
        return there.video_id, None if may(DescriptionAct.WITHDRAWN, there.status) else _ACCEPTED
    video_id = VideoId(int(event.video)) if event.video.isdecimal() else None
    video = descriptions.video(db, video_id) if video_id is not None and video_id < 2**63 else None
    if video_id is None or video is None or (there is not None and there.video_id != video_id):
        return None, said("there is no such video in the project: reload the page")
    if not choices.ever_chosen(db, person.annotator_id, video_id):
        return None, said("{video} is not among the videos that you were asked to describe", video=video[0])
    if there is not None and not may(DescriptionAct.WRITTEN, there.status):
        return None, _ACCEPTED
    return video_id, wrong(event.start_s, event.end_s, tidy(event.sentence), video[1])
