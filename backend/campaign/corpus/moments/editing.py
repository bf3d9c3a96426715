"""List the moments of a project, show their clips, and add, remove, change, split or join moments.

Changes are made by hand or from a CSV file. A moment that has a caption, or was chosen for a query, cannot be changed.
Clips and thumbnails can also be made for spans that are no moments, such as a search system's predictions.

*Reads and writes* moment; one event for each change.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.corpus.moments import model, rows
from backend.campaign.corpus.moments.model import (
    MOMENTS_CHANGED,
    MOMENTS_TAKEN,
    MomentRow,
    Origin,
    TakenMoments,
    VideoMoments,
)
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge, lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, Overtaken, Problem, ProjectError, VideoUnreadable
from backend.core.ids import MomentId
from backend.core.messages import joined, said, said_n
from backend.core.reading import file_bytes
from backend.core.text_files import csv_text, read_csv
from backend.core.typed_text import nfc
from backend.media.jobs import ClipJob, clip_job, predicted, thumbnail
from backend.store import events
from backend.store.connection import reading, writing

COLUMNS = ("video", "start", "end")


@in_charge
def videos_and_moments(project: Project, by: Lead | Operator) -> list[VideoMoments]:
    """Return every video with the numbers of its moments, sorted by name."""
    with reading(project.store) as db:
        return rows.videos(db)


@in_charge
def moments_of_video(project: Project, by: Lead | Operator, video: str) -> list[MomentRow]:
    """Return the moments of a video, in order of time."""
    with reading(project.store) as db:
        return rows.of_video(db, video)


@in_charge
def change_moments(
    project: Project,
    by: Lead | Operator,
    video: str,
    gone: Sequence[MomentId],
    come: Sequence[model.Span],
    *,
    now: float,
) -> None:
    """Remove moments of a video and add new ones, all in one transaction.

    Args:
        project: the project.
        by: who changes them; their name goes on record.
        video: the name of the video.
        gone: ids of the moments to remove. A moment that something uses, such as a caption or a pair, cannot be
            removed.
        come: the spans (start, end) of the new moments, in seconds.
        now: seconds since 1970.

    Raises:
        Overtaken: a moment does not exist any more.
        ProjectError: a moment to remove is in use, or a new span is impossible or is a moment already. Nothing was
            written.
    """
    video = nfc(video)
    with writing(project.store) as db:
        removed = rows.by_ids(db, gone)
        if len(removed) < len(set(gone)) or any(row.video != video for row in removed):
            raise Overtaken(said("somebody changed or removed this moment: reload the page"))
        if used := [row for row in removed if row.used]:
            raise ProjectError(
                said(
                    "{moment} is in use ({users}), so it cannot change",
                    moment=_moment_text(used[0]),
                    users=_users(used[0]),
                )
            )
        duration_s = corpus.video_durations(db).get(video)
        if duration_s is None:
            raise ProjectError(said("the project has no video {video}", video=video))
        for span in come:
            if why := model.span_problem(*span, duration_s):
                raise ProjectError(why)
        rows.delete(db, [row.moment_id for row in removed])
        if rows.add(db, video, come, Origin.IMPORTED) < len(come):
            raise ProjectError(said("the video already has a moment with this start and end"))
        before, after = [[row.start_s, row.end_s] for row in removed], [[*span] for span in come]
        payload = {"video": video, "before": before, "after": after}
        events.note(db, MOMENTS_CHANGED, by, f"video:{video}", now=now, **payload)


@in_charge
def split_moment(project: Project, by: Lead | Operator, moment: MomentId, at_s: float, *, now: float) -> None:
    """Replace a moment by two: one up to `at_s` seconds of the video, and one from there.

    For errors, see `change_moments`.
    """
    row = _require_moment(project, moment)
    if not row.start_s < at_s < row.end_s:
        raise ProjectError(said("{at_s:g} s is not inside the moment ({moment})", at_s=at_s, moment=_moment_text(row)))
    change_moments(project, by, row.video, [moment], [(row.start_s, at_s), (at_s, row.end_s)], now=now)


@in_charge
def join_moments(project: Project, by: Lead | Operator, moments: Sequence[MomentId], *, now: float) -> None:
    """Replace two or more moments of one video by one that spans them all, from the first start to the last end.

    For errors, see `change_moments`.
    """
    with reading(project.store) as db:
        parts = rows.by_ids(db, moments)
    if len(parts) < 2:
        raise ProjectError(said("choose two moments or more to join"))
    if len({row.video for row in parts}) > 1:
        raise ProjectError(said("moments of different videos cannot be joined"))
    whole = model.hull((row.start_s, row.end_s) for row in parts)
    change_moments(project, by, parts[0].video, [row.moment_id for row in parts], [whole], now=now)


@in_charge
def take_moments(project: Project, by: Lead | Operator, file: Path, *, only: bool = False, now: float) -> TakenMoments:
    """Import the moments of a CSV file with the columns video, start and end (s); the project must have the videos.

    Args:
        project: the project.
        by: who imports them; their name goes on record.
        file: the file; other columns are ignored.
        only: whether to remove all other moments of the file's videos that nothing uses.
        now: seconds since 1970.

    Raises:
        InputError: the file has problems; the error lists them all, with their rows. Nothing was written.
    """
    table = read_csv(file_bytes(file), file.name, COLUMNS, numbers=COLUMNS[1:])
    problems = list(table.problems)
    spans_by_video: dict[str, dict[model.Span, None]] = defaultdict(dict)
    with writing(project.store) as db:
        durations = corpus.video_durations(db)
        for row, *cells in zip(table.rows, *(table.columns[name] for name in COLUMNS), strict=True):
            video, span = nfc(cells[0]), (_seconds(cells[1]), _seconds(cells[2]))
            if video not in durations:
                problems.append(Problem(file.name, row, said("the project has no video {video!r}", video=video)))
            elif why := model.span_problem(*span, durations[video]):
                problems.append(Problem(file.name, row, why))
            else:
                spans_by_video[video][span] = None
        if problems:
            raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
        if not spans_by_video:
            raise InputError.single(file.name, said("the file has no moments"))
        gone = stayed = new = 0
        for video, spans in spans_by_video.items():
            others = [m for m in rows.of_video(db, video) if (m.start_s, m.end_s) not in spans] if only else []
            free = [other for other in others if not other.used]
            rows.delete(db, [other.moment_id for other in free])
            gone, stayed = gone + len(free), stayed + len(others) - len(free)
            new += rows.add(db, video, spans, Origin.IMPORTED)
        total = sum(map(len, spans_by_video.values()))
        payload = {"file": file.name, "videos": len(spans_by_video), "moments": new, "gone": gone}
        asked = events.asked(spans={video: list(spans) for video, spans in spans_by_video.items()}, only=only)
        subject, changed = f"file:{file.name}", bool(new or gone)
        done = events.note_once(db, MOMENTS_TAKEN, by, subject, payload, now=now, changed=changed, asked=asked)
    return TakenMoments(total, new, gone, stayed, done)


@in_charge
def moments_csv(project: Project, by: Lead | Operator) -> str:
    """Return all moments as CSV that `take_moments` reads.

    The columns are video, start, end, origin, and the numbers of captions and pairs.
    """
    with reading(project.store) as db:
        moments = rows.all_moments(db)
    return csv_text(
        [*COLUMNS, "origin", "captions", "pairs"],
        ([row.video, row.start_s, row.end_s, row.origin.value, row.captions, row.pairs] for row in moments),
    )


def _require_moment(project: Project, moment: MomentId) -> MomentRow:
    with reading(project.store) as db:
        matches = rows.by_ids(db, [moment])
    if not matches:
        raise Overtaken(said("somebody changed or removed this moment: reload the page"))
    return matches[0]


def _moment_text(row: MomentRow) -> str:
    return said("{start_s:.2f} to {end_s:.2f} s of {video}", start_s=row.start_s, end_s=row.end_s, video=row.video)


def _users(row: MomentRow) -> str:
    captions = [said_n("{n} caption", "{n} captions", row.captions)] if row.captions else []
    pairs = [said_n("{n} pair", "{n} pairs", row.pairs)] if row.pairs else []
    return joined(said(" and "), [*captions, *pairs]) or said("by other parts of the project")


def _seconds(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


@lead_only
def moment_clip(project: Project, lead: Lead, video: str, start_s: float, end_s: float) -> ClipJob:
    """Return the clip of any span of a video; it stops at the video's end.

    For a moment of the project, this is the clip that annotators see. The clip of any other span gets a special file
    name. Otherwise `reelrank doctor` would report it as a clip that belongs to no moment.

    Raises:
        NotAllowed: the caller is not a lead.
        VideoUnreadable: the project has no file of that video, or the span begins after its end.
    """
    job, own = _span_clip(project, video, start_s, end_s)
    return job if own else predicted(job)


@lead_only
def moment_thumbnail(project: Project, lead: Lead, video: str, start_s: float, end_s: float) -> ClipJob:
    """Return the thumbnail of any span of a video, such as a moment or all of it.

    Raises:
        NotAllowed: the caller is not a lead.
        VideoUnreadable: the project has no file of that video, or the span begins after its end.
    """
    job, own = _span_clip(project, video, start_s, end_s)
    return thumbnail(job) if own else predicted(thumbnail(job))


def _span_clip(project: Project, video: str, start_s: float, end_s: float) -> tuple[ClipJob, bool]:
    """Return the clip of a span of a video, and whether the span is a moment of the project."""
    facts = corpus_rows.video_facts(project.store.db, video)
    if facts is None:
        raise VideoUnreadable(said("the project has no file of the video {video}", video=video))
    source = project.source(facts)
    if corpus_rows.is_moment(project.store.db, video, start_s, end_s):
        return clip_job(project.clips, source, start_s, end_s, facts.sha256), True
    if start_s >= facts.duration_s:
        raise VideoUnreadable(
            said(
                "the moment begins at {start_s:.2f} s, after the video's end at {duration_s:.2f} s",
                start_s=start_s,
                duration_s=facts.duration_s,
            )
        )
    return clip_job(project.clips, source, start_s, min(end_s, facts.duration_s), facts.sha256), False
