"""Give an annotator the videos to describe, and store the descriptions that their browser sends, each exactly once.

A description is a moment that the annotator marked, with a sentence. It is accepted even if it arrives after describing
was closed, or if the video already has as many as wanted. During a pause, everything is refused.

*Reads* choices, descriptions, shots, videos, pauses, the name mapping. *Writes* description, description_act,
describing_seen, events (refusals).
"""

from collections import defaultdict
from collections.abc import Sequence

from backend.campaign.corpus.captions.name_mapping import known_words, name_mapping_of
from backend.campaign.corpus.describing import opening
from backend.campaign.corpus.describing.model import (
    DESCRIPTION_REFUSED,
    DescribeAnswer,
    DescribeEvent,
    DescribeKind,
    DescriberSelf,
    DescribeWork,
    DescriptionAct,
    DescriptionStatus,
    MyDescription,
    RefusedEvent,
    VideoWork,
)
from backend.campaign.corpus.describing.rows import descriptions
from backend.campaign.corpus.describing.rows.descriptions import DescriptionRow
from backend.campaign.corpus.describing.rules import (
    ALSO_TAKEN,
    description_problem,
    is_allowed,
    same_span,
    sentence_notes,
    video_order,
    wanted_count,
)
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.moments import rows as moments
from backend.campaign.nouns import Annotator
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.crediting import work_time
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, NotAllowed, ProjectError, VideoUnreadable
from backend.core.ids import VideoId
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.media.jobs import ClipJob, clip_job, is_cut, predicted
from backend.store import events as log
from backend.store.connection import Database, Store, reading, writing

MOST_VIDEOS = 40
"""How many videos are shown at once; more follow when some are done."""


@permissions.annotator_only
def describe_work(project: Project, person: Annotator) -> DescribeWork:
    """Return the videos that an annotator may describe now, with shots and with what they and others described there.

    Raises:
        NotAllowed: describing is not open for this annotator.
    """
    with reading(project.store) as db:
        opening.require_open(db, person)
        me, choice = person.annotator_id, descriptions.current_choice(db)
        videos = {str(row.video_id): row for row in descriptions.chosen_videos(db, me)}
        wanted_counts = {
            key: wanted_count(row.duration_s, choice.per_video, choice.per_minute) for key, row in videos.items()
        }
        keys = video_order(
            [
                (key, row.written, (most := wanted_counts[key]) is not None and row.written >= most)
                for key, row in videos.items()
            ],
            {key for key, row in videos.items() if row.returned},
            {key for key, row in videos.items() if row.mine},
            me,
            project.secret,
        )
        page = keys[:MOST_VIDEOS]
        ids = [videos[key].video_id for key in page]
        mine = _by_video(author_view(project, db, person, descriptions.of_person(db, me, ids)))
        taken: defaultdict[VideoId, list[tuple[float, float]]] = defaultdict(list)
        for video_id, span in descriptions.spans_of_others(db, me, ids):
            taken[video_id].append(span)
        written, accepted = descriptions.totals(db, me)
        jobs = {key: _video_clip(project, db, videos[key].name) for key in page}
        return DescribeWork(
            [
                VideoWork(
                    key=key,
                    name=videos[key].name,
                    duration_s=videos[key].duration_s,
                    fps=videos[key].fps,
                    clip=f"/describe/videos/{key}.mp4",
                    frames=f"/describe/videos/{key}.json",
                    shots=moments.shots(db, videos[key].name),
                    mine=mine.get(key, ()),
                    taken=taken[videos[key].video_id],
                    wanted=wanted_counts[key],
                    written=videos[key].written,
                    ready=is_cut(jobs[key]),
                )
                for key in page
            ],
            len(keys) - len(page),
            descriptions.guideline(db, me),
            DescriberSelf(me, person.name, written, accepted),
        )


def author_view(
    project: Project, db: Database, person: Annotator, rows: Sequence[DescriptionRow]
) -> list[MyDescription]:
    """Return descriptions as their author sees them, each with hints, for example that the sentence may contain a name.

    `person` is the author of all `rows`.
    """
    if not rows:
        return []
    names, known = usable_name_mapping(project), known_words()
    others: defaultdict[VideoId, list[tuple[float, float]]] = defaultdict(list)
    video_ids = list(dict.fromkeys(row.video_id for row in rows))
    for video_id, span in descriptions.spans_of_others(db, person.annotator_id, video_ids):
        others[video_id].append(span)
    return [
        MyDescription(
            description=row.key,
            video=str(row.video_id),
            start_s=row.start_s,
            end_s=row.end_s,
            sentence=row.sentence,
            status=row.status,
            words=row.words,
            notes=[
                *sentence_notes(row.sentence, names, known),
                *([ALSO_TAKEN] if any(same_span(row.span, span) for span in others[row.video_id]) else ()),
            ]
            if row.status in (DescriptionStatus.WAITING, DescriptionStatus.RETURNED)
            else (),
        )
        for row in rows
    ]


def usable_name_mapping(project: Project) -> dict[str, str]:
    """Return the phrases that replace character names, to give hints about names in sentences.

    The result is empty if `cast.csv` or the settings have errors. Those are not reported here.
    """
    try:
        return name_mapping_of(project)
    except InputError:
        return {}


@permissions.annotator_only
def describe_clip(project: Project, person: Annotator, video: str) -> ClipJob:
    """Return a whole video as a clip, for an annotator who may describe it now or could describe it earlier.

    Args:
        project: the project.
        person: who describes.
        video: the id of the video, as text.

    Raises:
        ProjectError: this person may not describe the video, or is paused.
        VideoUnreadable: the project does not know the video's file.
    """
    with reading(project.store) as db:
        video_id = VideoId(int(video)) if video.isdecimal() and len(video) < 18 else None
        name_and_duration = descriptions.video(db, video_id) if video_id is not None else None
        if people.standing_pause(db, person.annotator_id) is not None:
            raise ProjectError(said("you are paused: ask your lead; what you wrote is kept"))
        if (
            video_id is None
            or name_and_duration is None
            or not descriptions.ever_chosen(db, person.annotator_id, video_id)
        ):
            raise ProjectError(said("you are not asked to describe this video (any more): reload the page"))
        return _video_clip(project, db, name_and_duration[0])


def _video_clip(project: Project, db: Database, video: str) -> ClipJob:
    facts = corpus.video_facts(db, video)
    if facts is None:
        raise VideoUnreadable(
            said(
                "{name}: {why}",
                name=video,
                why=said("no video file known; import the corpus again with --videos FOLDER"),
            )
        )
    # This clip shows no moment of the project: `predicted` lets the doctor distinguish it.
    return predicted(clip_job(project.clips, project.source(facts), 0.0, facts.duration_s, facts.sha256))


@permissions.annotator_only
def note_describing_seen(project: Project, person: Annotator, version: int, *, now: float) -> None:
    """Record that an annotator was shown a version of the guideline for describing.

    Raises:
        ProjectError: there is no such version.
    """
    with writing(project.store) as db:
        if not 1 <= version <= descriptions.guideline(db).version:
            raise ProjectError(said("the guideline has no version {version}: reload the page", version=version))
        descriptions.note_seen(db, person.annotator_id, version, at=now)


def _by_video(descriptions_: Sequence[MyDescription]) -> dict[str, list[MyDescription]]:
    videos: defaultdict[str, list[MyDescription]] = defaultdict(list)
    for description in descriptions_:
        videos[description.video].append(description)
    return videos


@permissions.annotator_only
def describe_frames(project: Project, person: Annotator, video: str) -> list[float]:
    """Return the times of all frames of a video, in seconds on its own time line; the first time may differ from 0.

    `video` is the id of the video, as text.

    Raises:
        ProjectError: this annotator may not describe the video, or is paused.
        VideoUnreadable: the video's file is unknown, or has no readable frame.
    """
    from backend.media.frames import frame_times  # loads PyAV

    return frame_times(describe_clip(project, person, video).source)


_ACCEPTED = said("a lead has accepted this description: to change it, ask them to undo that")


@permissions.annotator_only
def describe_exchange(
    project: Project, person: Annotator, events: Sequence[DescribeEvent], *, now: float
) -> DescribeAnswer:
    """Store what an annotator did on the page for describing, as sent by the browser, in the order given.

    Sending an action again changes nothing. The answer says which actions were accepted or refused.

    Raises:
        NotAllowed: this annotator was never allowed to describe.
        StoreUnavailable: the database cannot be written. Send all actions without an answer again.
    """
    store = project.store
    with reading(store) as db:
        if not descriptions.was_open_for(db, person.annotator_id):
            raise NotAllowed(said("describing is closed for you: ask your lead"))
    accepted: list[str] = []
    refused: list[RefusedEvent] = []
    for event in events:
        why = _store_event(store, person, event, now=now)
        if why is None:
            accepted.append(event.key)
        else:
            refused.append(RefusedEvent(event.key, why))
    with reading(store) as db:
        me = person.annotator_id
        sent = [descriptions.by_key(db, key) for key in dict.fromkeys(event.description for event in events)]
        mine = [row for row in sent if row is not None and row.annotator_id == me]
        returned = descriptions.returned_to(db, me)
        descriptions_ = author_view(project, db, person, [*mine, *returned])
    return DescribeAnswer(accepted, refused, descriptions_[len(mine) :], descriptions_[: len(mine)])


def _store_event(store: Store, person: Annotator, event: DescribeEvent, *, now: float) -> str | None:
    """Save that an annotator wrote, changed or withdrew a description; return why this is refused, None if accepted.

    The reason is addressed to the annotator. Refused actions are kept in the event log.
    """
    with writing(store) as db:
        me = person.annotator_id
        if (known := descriptions.stored_event(db, event.key)) is not None:
            same = known == (event.description, me)
            return None if same else said("the page sent something under a name that is taken: reload the page")
        if (earlier := descriptions.earlier_refusal(db, me, event.key)) is not None:
            return earlier
        row = descriptions.by_key(db, event.description)
        video_id, why = _event_video(db, person, event, row)
        if why is None and video_id is not None:
            if event.kind is not DescribeKind.WITHDRAW:
                since = descriptions.first_open_for(db, me)
                work = work_time(db, me, event.active_ms, event.elapsed_ms, since=since, now=now)
                descriptions.write(db, event, tidy(event.sentence), video_id, me, work, at=now)
            elif row is not None:  # recorded even if withdrawn already, so that sending the event again changes nothing
                descriptions.withdraw(db, row.description_id, me, event.key, at=now)
            return None
        log.record(
            db,
            DESCRIPTION_REFUSED,
            at=now,
            actor=me,
            subject=f"description:{event.description}",
            payload={
                **{"event_key": event.key, "why": why, "kind": event.kind, "video": event.video},
                **{"start_s": event.start_s, "end_s": event.end_s, "sentence": event.sentence},
            },
        )
    return why


def _event_video(
    db: Database, person: Annotator, event: DescribeEvent, row: DescriptionRow | None
) -> tuple[VideoId | None, str | None]:
    """Return the id of the video that an annotator's action is about, and why the action is refused (None if accepted).

    The id may be None if the action is refused. `row` is the description that the action is about, if it exists
    already.
    """
    if not event.key or not event.description:
        return None, said("the page sent something without a name: reload the page")
    if people.standing_pause(db, person.annotator_id) is not None:
        return None, said("your work is paused; what you wrote is kept in the log but does not count")
    if row is not None and row.annotator_id != person.annotator_id:
        return None, said("this is somebody else's description")
    if event.kind is DescribeKind.WITHDRAW:
        if row is None:
            return None, said("there is no such description to withdraw: reload the page")
        return row.video_id, None if is_allowed(DescriptionAct.WITHDRAWN, row.status) else _ACCEPTED
    video_id = VideoId(int(event.video)) if event.video.isdecimal() else None
    video = descriptions.video(db, video_id) if video_id is not None and video_id < 2**63 else None
    if video_id is None or video is None or (row is not None and row.video_id != video_id):
        return None, said("there is no such video in the project: reload the page")
    if not descriptions.ever_chosen(db, person.annotator_id, video_id):
        return None, said("you were not asked to describe {video}", video=video[0])
    if row is not None and not is_allowed(DescriptionAct.WRITTEN, row.status):
        return None, _ACCEPTED
    return video_id, description_problem(event.start_s, event.end_s, tidy(event.sentence), video[1])
