"""Find faults in a project that one SQL query cannot find, and repair those where nothing can be lost.

Each inspection takes the project, its database and the time, and returns a text for each fault. Each repair takes the
project and the time. Repairs never change judgements (stored grades), seats (annotators' places at pairs) and events;
damage there needs a backup.

*Reads* the database, the project's folder, video files. *Writes*, in repairs, consensus (the verdicts on pairs), agenda
(batches of pairs with free places), the paths of moved videos, the clip cache, file permissions, and what a killed
process left.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.doctor import rows as invariants
from backend.campaign.judging.rows import pair_status
from backend.campaign.judging.verdicts import consensus_rule, expected_verdicts, rebuild_verdicts
from backend.campaign.nouns import FIRST_ROUND_SEATS, RE_OPENED_SEATS, SECOND_ROUND_SEATS, Verdict
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.places import DATABASE_FILE, entries
from backend.core.file_system import close_to_others, leads_out, open_to_others, private_umask
from backend.core.leftovers import OURS, PART, abandoned
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

LEASE_SLACK_S = 60.0
"""Seconds by which a lease may exceed the settings: the doctor and a server read the clock at different times."""


def long_leases(project: Project, db: Database, now: float) -> list[str]:
    """Return the seats (places of annotators at a pair) that are reserved for longer than the settings allow."""
    latest = now + project.lease_s + LEASE_SLACK_S
    return invariants.listed(db, invariants.LONG_LEASES, {"latest": latest})


def wrong_seats(project: Project, db: Database, now: float) -> Iterable[str]:
    """Yield the pairs with more or fewer seats (places for annotators) than their grades need.

    A pair needs two seats, four if the first two grades differ too much, and six if a lead re-opened it.
    `backend.campaign.judging.verdicts.settle` sets the right number.
    """
    grades, rule, re_opened = pair_status.grades_by_pair(db), consensus_rule(db), pair_status.all_re_opened(db)
    for pair, has_moment, seats, highest, judged in invariants.seat_counts(db):
        pair_grades = grades.get(pair, [])
        # A pair with a third grade was escalated once, so it has four seats even if its grades agree by now. A pair of
        # which only the number is known is not handed out, so it has no free seats.
        is_re_opened = pair in re_opened
        is_escalated = (
            len(pair_grades) > len(FIRST_ROUND_SEATS) or rule(pair_grades, is_re_opened).verdict is Verdict.ESCALATED
        )
        expected = len(FIRST_ROUND_SEATS) + len(SECOND_ROUND_SEATS) * is_escalated + len(RE_OPENED_SEATS) * is_re_opened
        expected = expected if has_moment else judged
        if seats != expected or highest != seats:
            yield f"pair {pair}: {seats} seats, {expected} wanted"


def wrong_consensus(project: Project, db: Database, now: float) -> Iterable[str]:
    """Return the pairs whose stored verdict differs from what their grades and leads' decisions give now."""
    expected = expected_verdicts(db)
    stored = invariants.consensus_rows(db)
    return [f"pair {pair}" for pair in sorted({*expected, *stored}) if expected.get(pair) != stored.get(pair)]


def orphaned_clips(project: Project, db: Database, now: float) -> Iterable[str]:
    """Yield the names of files in the clip cache that are unfinished, or show neither a moment nor a prediction."""
    files = clip_files(project)
    known = set(predicted(files))
    if files.keys() <= known:
        return
    for start_s, end_s, sha256, video_s in invariants.clips(db):
        job = clip_job(project.clips, Path(), start_s, end_s, sha256)
        known |= {
            clip.path.name for clip in (job, with_context(job, video_s), storyboard(job), thumbnail(job), gif(job))
        }
    for name in sorted(files.keys() - known):
        if name.endswith(FINISHED) or abandoned(project.clips.folder / name, now, SAFE_AGE_S):
            yield name


def clip_files(project: Project) -> dict[str, os.stat_result]:
    """Map the name of each file in the clip cache to its `os.stat_result`."""
    return {path.name: stat for path, stat in cached(project.clips)}


def predicted(files: Iterable[str]) -> list[str]:
    """Return the names of finished clips that show predictions of search systems.

    Such clips belong to no moment, and are deleted when the cache is full.
    """
    return [name for name in files if name.startswith(PREDICTED) and name.endswith(FINISHED)]


def same_names(names: Iterable[str]) -> list[str]:
    """Return a text for each group of names that differ only in how Unicode encodes their letters."""
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(nfc(name), []).append(name)
    return [" and ".join(map(ascii, same)) for same in by_form.values() if len(same) > 1]


def missing_videos(project: Project, db: Database, now: float) -> Iterable[str]:
    """Yield the videos that are needed for grading or an exam, and whose file is missing or has another size."""
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
    """Find the new places of moved videos by their content, and store their paths."""
    from backend.campaign.monitoring.videos import check  # it loads PyAV, which nothing else here needs

    check.find_moved(project)


def bucket_troubles(project: Project, db: Database, now: float) -> Iterable[str]:
    """Return messages about problems with the cloud storage of clips.

    Reading from it is tried now. Problems with writing are those of the last attempt.
    """
    from backend.media import clip_bucket

    clip_bucket.check_now(project.clips, now)
    return clip_bucket.troubles(project.clips)


def left_behind(project: Project, db: Database, now: float) -> Iterable[str]:
    """Yield the unfinished folders and files that an interrupted process left, by their path in the project."""
    for pattern in (f"{OURS}*", f"*/{OURS}*", f"{DATABASE_FILE}{PART}*"):  # the last: of earlier versions
        for path in sorted(project.folder.glob(pattern)):
            if not path.is_symlink() and not leads_out(path, project.folder) and abandoned(path, now):
                yield path.relative_to(project.folder).as_posix()


def remove_left_behind(project: Project, now: float) -> None:
    """Remove the unfinished folders and files that `left_behind` finds."""
    with reading(project.store) as db:
        names = list(left_behind(project, db, now))
    for name in names:
        path = project.folder / name
        with suppress(OSError):  # what stays is found again, and named
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def read_by_others(project: Project, db: Database, now: float) -> Iterable[str]:
    """Yield the project's files and folders that other users of the machine may read or change.

    There are none if other users cannot enter the project's folder.
    """
    if project.folder.stat().st_mode & private_umask() & 0o011:
        exposed = {place for place in entries(project.folder) if open_to_others(place)}
        yield from sorted(place.relative_to(project.folder).as_posix() for place in exposed)


def close_project(project: Project, now: float) -> None:
    """Restrict the files and folders that `read_by_others` finds to their owner."""
    with reading(project.store) as db:
        names = list(read_by_others(project, db, now))
    for name in names:
        close_to_others(project.folder / name)


def rebuild_consensus(project: Project, now: float) -> None:
    """Recompute the stored verdicts on pairs, and then the agenda, which depends on them.

    The agenda is the table of batches (pairs of one query handed out together) in which annotators can still take a
    place.
    """
    with writing(project.store) as db:
        rebuild_verdicts(project.store)
        candidates_rows.rebuild_agenda(db)  # the agenda leaves out pairs that have a verdict


def rebuild_agenda(project: Project, now: float) -> None:
    """Recompute the agenda, the table of batches in which annotators can still take a place.

    A batch is a group of pairs of one query that are handed out together.
    """
    with writing(project.store) as db:
        candidates_rows.rebuild_agenda(db)


def remove_clips(project: Project, now: float) -> None:
    """Delete the clips that `orphaned_clips` finds."""
    with reading(project.store) as db:
        orphans = list(orphaned_clips(project, db, now))
    for name in orphans:
        (project.clips.folder / name).unlink(missing_ok=True)
