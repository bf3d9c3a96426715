"""Make moments for the videos of a project: their detected shots, or windows of fixed lengths.

*Reads* the video files (for shots). *Writes* shot, moment, one event. The shots of each video are stored as soon as
they are found, so that a restarted command continues with the other videos. The moments are written in one transaction.
New moments from shots replace earlier ones from shots, and new windows replace earlier windows. Moments that are in use
or that a lead changed stay.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.moments import model, rows
from backend.campaign.corpus.moments.model import MOMENTS_PROPOSED, ByShots, ByWindows, Origin, ProposeReport
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Problem, ProjectError, VideoUnreadable
from backend.core.messages import joined, said
from backend.core.parallel import each_unit
from backend.core.progress import Progress, Steps, steps_of
from backend.core.where import HERE, Where
from backend.media.shots import DETECTOR, find_shots
from backend.media.sources import Source, VideoFacts, paths_of, place_of_video
from backend.store import events
from backend.store.connection import reading, writing

_WORTH_PROCESSES_S = 600.0
"""From this many seconds of video on, several processes are used; one core takes about 13 s for it."""


@in_charge
def propose_moments(
    project: Project,
    by: Lead | Operator,
    how: ByShots | ByWindows,
    *,
    videos: Sequence[str] | None = None,
    where: Where | None = None,
    now: float,
    progress: Progress | None = None,
) -> ProposeReport:
    """Make moments for videos of the project, from detected shots or as windows of fixed lengths.

    New moments from shots replace earlier ones from shots, and new windows replace earlier windows. Moments that
    something uses stay.

    Args:
        project: the project.
        by: who makes them; their name goes on record.
        how: by shots or by windows, with their options.
        videos: the names of the videos; None means all.
        where: where shots are detected; None means on this machine, in several processes if there is much video.
        now: seconds since 1970.
        progress: called with (current step, seconds of video done, all), for shots.

    Raises:
        ProjectError: an option is impossible, a video does not exist or cannot be read, or there would be too many
            windows. Nothing was written.
    """
    if why := model.option_problem(how):
        raise ProjectError(why)
    with reading(project.store) as db:
        durations = corpus.video_durations(db)
    names = sorted(durations if videos is None else set(videos))
    if unknown := [name for name in names if name not in durations]:
        raise ProjectError(said("the project has no video {video}", video=unknown[0]))
    if not names:
        raise ProjectError(said("the project has no videos yet: name their folder with --videos"))
    problems: list[Problem] = []
    if isinstance(how, ByShots):
        steps = steps_of(progress, said("looking for shots (seconds of video)"))
        shots, problems = _shots(project, names, durations, where, steps)
        spans = {name: model.from_shots(video_shots, how) for name, video_shots in shots.items()}
        origin, shot_count = Origin.SHOTS, sum(map(len, shots.values()))
    else:
        if (many := sum(model.window_count(durations[name], how) for name in names)) > model.MOST:
            raise ProjectError(
                said("these would be about {many:,} moments: use longer --lengths, or a larger --stride", many=many)
            )
        spans = {name: model.windows(durations[name], how) for name in names}
        origin, shot_count = Origin.WINDOWS, 0
    if not spans:
        raise ProjectError(joined("\n", [said("none of the videos can be read:"), *map(str, problems)]))
    with writing(project.store) as db:
        new, gone, stayed = rows.propose(db, origin, spans)
        payload = {"by": origin.value, "videos": len(spans), "moments": new, "gone": gone}
        subject, changed, asked = f"moments:{origin}", bool(new or gone), events.asked(how=how, videos=names)
        done = events.note_once(db, MOMENTS_PROPOSED, by, subject, payload, now=now, changed=changed, asked=asked)
    total = sum(map(len, spans.values()))
    return ProposeReport(len(spans), total, new, gone, stayed, shot_count, tuple(problems), done)


def _shots(
    project: Project, videos: Sequence[str], durations: dict[str, float], where: Where | None, progress: Steps | None
) -> tuple[dict[str, list[model.Span]], list[Problem]]:
    """Return the shots of each video by name, and a problem for each video whose file is missing or unreadable.

    Stored shots are used. The shots of other videos are detected, several videos at once, and stored.
    """
    with reading(project.store) as db:
        facts = {name: corpus.video_facts(db, name) for name in videos}
        known = rows.detectors(db)
        shots_by_video = {
            n: rows.shots(db, n) for n, f in facts.items() if f is not None and known.get(n) == _detector(f)
        }
    problems = [
        Problem(name, None, said("its file is not known: name the folder with --videos"))
        for name in videos
        if not facts[name]
    ]
    pending = [(name, f) for name, f in facts.items() if f is not None and name not in shots_by_video]
    units = [_Unit(project.source(f), durations[name]) for name, f in pending]
    total, done_s = sum(unit.duration_s for unit in units), 0.0

    def report(seconds: float) -> None:
        if progress:
            progress(int(min(total, done_s + seconds)), int(total))

    if where is None:
        where = Where(min(len(units), os.cpu_count() or 1)) if total > _WORTH_PROCESSES_S else HERE
    results = each_unit(
        _detect_shots,
        report if where == HERE else None,
        units,
        where,
        called=lambda unit: str(place_of_video(unit.source)),
        sees=paths_of(unit.source for unit in units),
    )
    for number, shots in results:
        name, measured = pending[number]
        done_s += units[number].duration_s
        report(0.0)
        if isinstance(shots, str):
            problems.append(Problem(name, None, shots))
            continue
        shots_by_video[name] = shots
        with writing(project.store) as db:
            rows.set_shots(db, name, shots, _detector(measured))
    return shots_by_video, sorted(problems, key=lambda problem: problem.file)


@dataclass(frozen=True, slots=True)
class _Unit:
    source: Source
    duration_s: float


def _detect_shots(report: Callable[[float], None] | None, unit: _Unit) -> list[model.Span] | str:
    """Return the shots of a video, or a message that says why it cannot be read.

    `unit` is the video's source and duration. `report` is called with the seconds of video done.
    """
    try:
        return find_shots(unit.source, unit.duration_s, report)
    except VideoUnreadable as error:
        return str(error)


def _detector(facts: VideoFacts) -> str:
    """Return a text that changes with the version of the shot detector or with the video's content.

    Stored shots with another text are outdated.
    """
    return f"{DETECTOR} of {facts.sha256[:16]}"
