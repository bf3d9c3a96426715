"""Find what breaks the invariants that need more than one query, and repair what loses nothing.

Each inspection takes the project, its database and the time, and yields what is wrong, in words. Each repair takes the
project and the time. Judgements, seats and events are never touched; a backup is the answer to damage there.

*Reads* the database, the project's folder, video files. *Writes*, in repairs, consensus, agenda, where moved videos
lie, the clip cache, and folders that a killed process left.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.doctor import rows as invariants
from backend.campaign.judging.grades import consensus_rule, expected_verdicts, rebuild_verdicts
from backend.campaign.judging.rows import pair_status
from backend.campaign.nouns import FIRST_ROUND_SEATS, RE_OPENED_SEATS, SECOND_ROUND_SEATS, Verdict
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.places import entries
from backend.core import atomic_output
from backend.core.file_system import close_to_others, leads_out, open_to_others, private_umask
from backend.core.typed_text import nfc
from backend.media.content import size_of
from backend.media.jobs import (
    FINISHED,
    PREDICTED,
    SAFE_AGE_S,
    cached,
    clip_job,
    gif,
    storyboard,
    thumbnail,
    with_context,
)
from backend.store.connection import Database, reading, writing

UNTOUCHED_S = 3600.0
"""What nothing was written to for so long, nobody is still making."""

LEASE_SLACK_S = 60.0
"""A lease may be so much longer than the settings say: the doctor and a server look at the clock one after another."""


def long_leases(project: Project, db: Database, now: float) -> list[str]:
    """Seats that are held for longer than the settings allow."""
    latest = now + project.lease_s + LEASE_SLACK_S
    return invariants.listed(db, invariants.LONG_LEASES, {"latest": latest})


def wrong_seats(project: Project, db: Database, now: float) -> Iterable[str]:
    """Pairs with another number of seats than the rule gives them; see `backend.campaign.judging.grades.settle`."""
    grades, rule, re_opened = pair_status.grades_by_pair(db), consensus_rule(db), pair_status.all_re_opened(db)
    for pair, has_moment, seats, highest, judged in invariants.seat_counts(db):
        given = grades.get(pair, [])
        # A third grade was asked for once, so the fourth is too; a pair known by number alone is not handed out.
        further = pair in re_opened
        more = len(given) > len(FIRST_ROUND_SEATS) or rule(given, further).verdict is Verdict.ESCALATED
        wanted = len(FIRST_ROUND_SEATS) + len(SECOND_ROUND_SEATS) * more + len(RE_OPENED_SEATS) * further
        wanted = wanted if has_moment else judged
        if seats != wanted or highest != seats:
            yield f"pair {pair}: {seats} seats, {wanted} wanted"


def wrong_consensus(project: Project, db: Database, now: float) -> Iterable[str]:
    """Pairs whose stored verdict is not what the rule, or a lead's decision, gives now."""
    wanted = expected_verdicts(db)
    held = invariants.consensus_rows(db)
    return [f"pair {pair}" for pair in sorted({*wanted, *held}) if wanted.get(pair) != held.get(pair)]


def orphaned_clips(project: Project, db: Database, now: float) -> Iterable[str]:
    """Clips that neither a moment of the project nor a prediction has, and what a killed process left of one."""
    files = clip_files(project)
    known = set(predicted(files))
    if files.keys() <= known:
        return
    for start_s, end_s, sha256, video_s in invariants.clips(db):
        job = clip_job(project.clips, Path(), start_s, end_s, sha256)
        known |= {one.path.name for one in (job, with_context(job, video_s), storyboard(job), thumbnail(job), gif(job))}
    for name in sorted(files.keys() - known):
        if name.endswith(FINISHED) or files[name].st_mtime <= now - SAFE_AGE_S:
            yield name


def clip_files(project: Project) -> dict[str, os.stat_result]:
    """Return the files of the clip cache by name."""
    return {path.name: stat for path, stat in cached(project.clips)}


def predicted(files: Iterable[str]) -> list[str]:
    """The finished clips of what runs predicted: no moment has them, and they go when the cache is full."""
    return [name for name in files if name.startswith(PREDICTED) and name.endswith(FINISHED)]


def same_names(names: Iterable[str]) -> list[str]:
    """Names that are canonically equal."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(nfc(name), []).append(name)
    return [" and ".join(map(ascii, same)) for same in by_form.values() if len(same) > 1]


def missing_videos(project: Project, db: Database, now: float) -> Iterable[str]:
    """Videos that somebody may still have to see and that are not where they were, or are not of their size."""
    facts = corpus.all_facts(db)
    for name, path in invariants.videos_wanted(db):
        source = project.source(facts[name])
        try:
            size = size_of(source)
        except OSError:
            yield f"{name} ({path})"
        else:
            if size != facts[name].size_bytes > 0:
                yield f"{name} ({path}, of another size)"


def find_moved(project: Project, now: float) -> None:
    """Look for moved videos by their content."""
    from backend.campaign.monitoring.videos import check  # it loads PyAV, which nothing else here needs

    check.find_moved(project)


def bucket_troubles(project: Project, db: Database, now: float) -> Iterable[str]:
    """What keeps the bucket of clips from being read, asked now, or written, as it was met last."""
    from backend.media import clip_bucket

    clip_bucket.look(project.clips, now)
    return clip_bucket.troubles(project.clips)


def left_behind(project: Project, db: Database, now: float) -> Iterable[str]:
    """Folders in which something was being made when its process was killed, by their path in the project."""
    for depth in ("", "*/"):
        for found in sorted(project.folder.glob(f"{depth}{atomic_output.OURS}*")):
            ours = found.is_dir() and not found.is_symlink() and not leads_out(found, project.folder)
            if ours and atomic_output.last_written(found) < now - UNTOUCHED_S:
                yield found.relative_to(project.folder).as_posix()


def remove_left_behind(project: Project, now: float) -> None:
    """Remove the folders of `left_behind`."""
    with reading(project.store) as db:
        found = list(left_behind(project, db, now))
    for name in found:
        shutil.rmtree(project.folder / name, ignore_errors=True)


def read_by_others(project: Project, db: Database, now: float) -> Iterable[str]:
    """Files and folders of the project that others than its user may use; none if nobody else gets into its folder."""
    if project.folder.stat().st_mode & private_umask() & 0o011:
        found = {place for place in entries(project.folder) if open_to_others(place)}
        yield from sorted(place.relative_to(project.folder).as_posix() for place in found)


def close_project(project: Project, now: float) -> None:
    """Leave the files and folders of `read_by_others` to their owner."""
    with reading(project.store) as db:
        found = list(read_by_others(project, db, now))
    for name in found:
        close_to_others(project.folder / name)


def rebuild_consensus(project: Project, now: float) -> None:
    """Make the verdicts anew, and with them the agenda."""
    with writing(project.store) as db:
        rebuild_verdicts(project.store)
        candidates_rows.rebuild_agenda(db)  # it leaves out what has a verdict


def rebuild_agenda(project: Project, now: float) -> None:
    """Make the agenda anew."""
    with writing(project.store) as db:
        candidates_rows.rebuild_agenda(db)


def remove_clips(project: Project, now: float) -> None:
    """Remove the clips of `orphaned_clips`."""
    with reading(project.store) as db:
        orphans = list(orphaned_clips(project, db, now))
    for name in orphans:
        (project.clips.folder / name).unlink(missing_ok=True)
