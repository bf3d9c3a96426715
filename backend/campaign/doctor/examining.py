"""Look for whatever cannot be: the invariants of a project, checked one by one.

*Reads* everything. *Writes*, only where it is asked to repair, what is derived or disposable: consensus, agenda,
where moved videos lie, the clip cache, folders that a killed process left. Judgements, seats and events are never
touched; a backup is the answer to damage there.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.doctor import rows as invariants
from backend.campaign.judging import consensus
from backend.campaign.judging.rows import judgements, rulings
from backend.campaign.nouns import FIRST_ROUND_SEATS, RE_OPENED_SEATS, SECOND_ROUND_SEATS, Verdict
from backend.campaign.release.export import keeping
from backend.campaign.selection.candidates.rows import agenda
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.places import entries
from backend.core import arriving
from backend.core import person_names as name_rules
from backend.core.links import leads_out
from backend.core.private import close_to_others, open_to_others, private_umask
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

EXAMPLES = 5
"""So many of what was found are named."""

UNTOUCHED_S = 3600.0
"""What nothing was written to for so long, nobody is still making."""

LEASE_SLACK_S = 60.0
"""A lease may be so much longer than the settings say: the doctor and a server look at the clock one after another."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant that does not hold."""

    check: str
    count: int
    examples: tuple[str, ...]
    meaning: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """What was looked at, and what was found. `well` when nothing is left to do.

    `predicted_clips` in the cache show what runs predicted, not a moment of the project.
    """

    checks: tuple[str, ...]
    findings: tuple[Finding, ...]
    predicted_clips: int

    @property
    def well(self) -> bool:
        """Whether nothing was found, or all of it was repaired."""
        return all(finding.repaired for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant: `look` names what breaks it, `repair` mends it where that loses nothing."""

    name: str
    meaning: str
    look: Callable[[Project, Database, float], Iterable[str]]
    repair: Callable[[Project, float], object] | None = None


def examine(project: Project, *, now: float, repair: bool = False) -> DoctorReport:
    """Run every check, all of one instant of the database.

    Args:
        project: the project; its server may be running.
        now: seconds since 1970.
        repair: make consensus and agenda anew, find moved videos again, and remove orphaned clips and what was left
            behind, where something was found there.
    """
    found = _look(project, CHECKS, now)
    predicted_clips = len(_predicted(_clip_files(project)))
    if not repair:
        return DoctorReport(_names(CHECKS), tuple(found.values()), predicted_clips)
    mended = [check for check in CHECKS if check.name in found and check.repair]
    for check in mended:
        if check.repair:
            check.repair(project, now)
    left = _look(project, mended, now)
    findings = tuple(
        Finding(f.check, f.count, f.examples, f.meaning, repaired=f.check not in left and f.check in _names(mended))
        for f in found.values()
    )
    return DoctorReport(_names(CHECKS), findings, predicted_clips)


def _look(project: Project, checks: Sequence[Check], now: float) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    with reading(project.store) as db:
        for check in checks:
            if broken := list(check.look(project, db, now)):
                found[check.name] = Finding(check.name, len(broken), tuple(broken[:EXAMPLES]), check.meaning)
                if check is CHECKS[0]:
                    break  # on damaged pages nothing else can be believed
    return found


def _names(checks: Sequence[Check]) -> tuple[str, ...]:
    return tuple(check.name for check in checks)


def _sql(query: str) -> Callable[[Project, Database, float], Iterable[str]]:
    """A check that is one query."""
    return lambda project, db, now: invariants.listed(db, query)


def _long_leases(project: Project, db: Database, now: float) -> list[str]:
    latest = now + project.lease_s + LEASE_SLACK_S
    return invariants.listed(db, invariants.LONG_LEASES, {"latest": latest})


def _seats(project: Project, db: Database, now: float) -> Iterable[str]:
    """Pairs with another number of seats than the rule gives them; see `backend.campaign.judging.consensus.settle`."""
    grades, rule, re_opened = judgements.grades_by_pair(db), consensus.rule(db), rulings.all_re_opened(db)
    for pair, has_moment, seats, highest, judged in invariants.seat_counts(db):
        given = grades.get(pair, [])
        # A third grade was asked for once, so the fourth is too; a pair known by number alone is not handed out.
        further = pair in re_opened
        more = len(given) > len(FIRST_ROUND_SEATS) or rule(given, further).verdict is Verdict.ESCALATED
        wanted = len(FIRST_ROUND_SEATS) + len(SECOND_ROUND_SEATS) * more + len(RE_OPENED_SEATS) * further
        wanted = wanted if has_moment else judged
        if seats != wanted or highest != seats:
            yield f"pair {pair}: {seats} seats, {wanted} wanted"


def _consensus(project: Project, db: Database, now: float) -> Iterable[str]:
    """Pairs whose stored verdict is not what the rule, or a lead's decision, gives now."""
    wanted = consensus.expected(db)
    held = invariants.consensus_rows(db)
    return [f"pair {pair}" for pair in sorted({*wanted, *held}) if wanted.get(pair) != held.get(pair)]


def _orphaned_clips(project: Project, db: Database, now: float) -> Iterable[str]:
    """Clips that neither a moment of the project nor a prediction has, and what a killed process left of one."""
    files = _clip_files(project)
    known = set(_predicted(files))
    if files.keys() <= known:
        return
    for start_s, end_s, sha256, video_s in invariants.clips(db):
        job = clip_job(project.clips, Path(), start_s, end_s, sha256)
        known |= {one.path.name for one in (job, with_context(job, video_s), storyboard(job), thumbnail(job), gif(job))}
    for name in sorted(files.keys() - known):
        if name.endswith(FINISHED) or files[name].st_mtime <= now - SAFE_AGE_S:
            yield name


def _clip_files(project: Project) -> dict[str, os.stat_result]:
    return {path.name: stat for path, stat in cached(project.clips)}


def _predicted(files: Iterable[str]) -> list[str]:
    """The finished clips of what runs predicted: no moment has them, and they go when the cache is full."""
    return [name for name in files if name.startswith(PREDICTED) and name.endswith(FINISHED)]


def _same_names(names: Iterable[str]) -> list[str]:
    by_form: dict[str, list[str]] = {}
    for name in names:
        by_form.setdefault(nfc(name), []).append(name)
    return [" and ".join(map(ascii, same)) for same in by_form.values() if len(same) > 1]


def _missing_videos(project: Project, db: Database, now: float) -> Iterable[str]:
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


def _find_moved(project: Project, now: float) -> None:
    from backend.campaign.monitoring.videos import looking  # it loads PyAV, which nothing else here needs

    looking.find_moved(project)


def _bucket(project: Project, db: Database, now: float) -> Iterable[str]:
    """What keeps the bucket of clips from being read, asked now, or written, as it was met last."""
    from backend.media import clip_bucket

    clip_bucket.look(project.clips, now)
    return clip_bucket.troubles(project.clips)


def _left_behind(project: Project, db: Database, now: float) -> Iterable[str]:
    """Folders in which something was being made when its process was killed, by their path in the project."""
    for depth in ("", "*/"):
        for found in sorted(project.folder.glob(f"{depth}{arriving.OURS}*")):
            ours = found.is_dir() and not found.is_symlink() and not leads_out(found, project.folder)
            if ours and arriving.last_written(found) < now - UNTOUCHED_S:
                yield found.relative_to(project.folder).as_posix()


def _remove_left_behind(project: Project, now: float) -> None:
    with reading(project.store) as db:
        found = list(_left_behind(project, db, now))
    for name in found:
        shutil.rmtree(project.folder / name, ignore_errors=True)


def _read_by_others(project: Project, db: Database, now: float) -> Iterable[str]:
    """Files and folders of the project that others than its user may use; none if nobody else gets into its folder."""
    if project.folder.stat().st_mode & private_umask() & 0o011:
        found = {place for place in entries(project.folder) if open_to_others(place)}
        yield from sorted(place.relative_to(project.folder).as_posix() for place in found)


def _close_to_others(project: Project, now: float) -> None:
    with reading(project.store) as db:
        found = list(_read_by_others(project, db, now))
    for name in found:
        close_to_others(project.folder / name)


def _rebuild_consensus(project: Project, now: float) -> None:
    with writing(project.store) as db:
        consensus.rebuild(project.store)
        agenda.rebuild(db)  # it leaves out what has a verdict


def _rebuild_agenda(project: Project, now: float) -> None:
    with writing(project.store) as db:
        agenda.rebuild(db)


def _remove_clips(project: Project, now: float) -> None:
    with reading(project.store) as db:
        orphans = list(_orphaned_clips(project, db, now))
    for name in orphans:
        (project.clips.folder / name).unlink(missing_ok=True)


RESTORE = "Stop the server and put a backup in its place: `reelrank restore DIR BACKUP`."

CHECKS = (
    Check(
        "database",
        f"SQLite finds the file damaged; nothing else was looked at. {RESTORE}",
        lambda project, db, now: project.store.damaged_pages(),
    ),
    Check(
        "schema",
        "Tables, indexes, triggers or views are not as this version makes them: another program has changed the "
        f"database. {RESTORE}",
        lambda project, db, now: project.store.schema_differences(),
    ),
    Check(
        "names",
        "People are called what nobody can read, or look like somebody else. They may go on signing in with the very "
        "same name; `reelrank move` to PostgreSQL refuses names that look alike.",
        lambda project, db, now: name_rules.troubles(people.names(db)),
    ),
    Check(
        "nul",
        "Texts have the NUL character, which an earlier version took: work goes on, but `reelrank move` to PostgreSQL "
        "refuses them.",
        lambda project, db, now: project.store.texts_with_nul(),
    ),
    Check(
        "network",
        "SQLite's locks do not hold on a network file system, and the database can be damaged there. Keep the project "
        "on a disk of this machine, or move its database to PostgreSQL (see docs/operations.md).",
        lambda project, db, now: [project.network_warning] if project.network_warning else [],
    ),
    Check(
        "video names",
        "Names of videos are canonically equal, and differ only in how Unicode writes their letters. An annotation "
        "file that names one of them means the composed one.",
        lambda project, db, now: _same_names(corpus.known_videos(db)),
    ),
    Check(
        "references",
        f"Rows point to rows that do not exist. {RESTORE}",
        lambda project, db, now: project.store.dangling(),
    ),
    Check(
        "splits",
        f"Training queries have the text of a validation or test query. {RESTORE}",
        _sql(invariants.SPLITS),
    ),
    Check(
        "probes",
        "The probes of these queries hold pairs that belong into an open batch, or nobody is to judge the queries. "
        f"{RESTORE}",
        _sql(invariants.PROBES),
    ),
    Check(
        "declined batches",
        f"A batch is open that a lead declined, and nobody took that decision back. {RESTORE}",
        _sql(invariants.DECLINED),
    ),
    Check(
        "judged seats",
        f"A seat counts as judged, but nobody's grade is there. {RESTORE}",
        _sql(invariants.JUDGED_WITHOUT_GRADE),
    ),
    Check(
        "grades",
        f"A grade lies at a seat that is free, held, or somebody else's. {RESTORE}",
        _sql(invariants.GRADE_WITHOUT_JUDGED),
    ),
    Check(
        "number of seats",
        f"A pair has two seats, four after escalation, six once re-opened; numbered from 1. These have not. {RESTORE}",
        _seats,
    ),
    Check(
        "acts of leads",
        f"What leads did about a pair is numbered 1, 2, 3 and so on, and only what is there is taken back. {RESTORE}",
        _sql(invariants.RULINGS),
    ),
    Check(
        "one person once",
        "Nobody sits at a pair twice (but the further grades of an imported campaign, which say so). "
        f"These people do. {RESTORE}",
        _sql(invariants.TWICE_AT_A_PAIR),
    ),
    Check(
        "revisions",
        f"The revisions of a grade are 1, 2, 3 and so on. Here some are missing. {RESTORE}",
        _sql(invariants.REVISIONS),
    ),
    Check(
        "skips",
        "Somebody skipped a pair and has a seat at it all the same. Offer the pair again on the lead's page, or sign "
        "the person out.",
        _sql(invariants.SKIPPED_AND_SEATED),
    ),
    Check(
        "exam answers",
        "Answers of the exam lack a revision, belong to another exam, or were given to a missed item before the "
        f"attempt was handed in or the key was there. {RESTORE}",
        _sql(invariants.EXAM_ANSWERS),
    ),
    Check(
        "exam keys",
        f"An exam whose key is not there yet has right grades, which people may have been told. {RESTORE}",
        _sql(invariants.EXAM_KEYS),
    ),
    Check(
        "exam judgements",
        "These count as a lead's use of an exam's answers, but nobody gave such an answer, or no lead said so. "
        f"{RESTORE}",
        _sql(invariants.EXAM_JUDGEMENTS),
    ),
    Check(
        "gold",
        "Answers at gold pairs lack a revision or their place, or somebody also judged the pair. " + RESTORE,
        _sql(invariants.GOLD_ANSWERS),
    ),
    Check(
        "descriptions",
        "Descriptions do not stand as what was done about them says, or their caption belongs to another moment. "
        f"{RESTORE}",
        _sql(invariants.DESCRIPTIONS),
    ),
    Check(
        "escalations",
        f"The event log says that these pairs were given two further seats, and they are not there. {RESTORE}",
        _sql(invariants.ESCALATED_WITHOUT_SEATS),
    ),
    Check(
        "consensus",
        "The stored verdict is not what the rule gives for the grades. It is derived: --repair makes it anew.",
        _consensus,
        _rebuild_consensus,
    ),
    Check(
        "agenda",
        "The list of batches with places left is wrong, so pairs may be handed out late or not at all. It is derived: "
        "--repair makes it anew.",
        lambda project, db, now: invariants.wrong_agenda(db),
        _rebuild_agenda,
    ),
    Check(
        "leases",
        "Seats are held for longer than `lease_minutes` allows: the clock was set back. They come back once somebody "
        "asks for work; set the clock right.",
        _long_leases,
    ),
    Check(
        "clips",
        "Files in cache/clips belong to no moment of the project and to no prediction, or were never finished. "
        "--repair removes them.",
        _orphaned_clips,
        _remove_clips,
    ),
    Check(
        "bucket of clips",
        "Mend network, keys or rights, then `reelrank clips DIR` puts there what it lacks. Nobody waits for it, and no "
        "clip that lies there is looked at or removed: other projects may share it.",
        _bucket,
    ),
    Check(
        "left behind",
        "Hidden folders hold what was being made when its process was killed, such as half a release; nobody has "
        "written there for an hour. --repair removes them.",
        _left_behind,
        _remove_left_behind,
    ),
    Check(
        "read by others",
        "Other users of this machine may read or change these files and folders: the database has sessions, and "
        "settings may have passwords. --repair leaves them to their owner. If a group shares the project, set "
        "REELRANK_UMASK=007 (see docs/operations.md).",
        _read_by_others,
        _close_to_others,
    ),
    Check(
        "videos",
        "Pairs wait to be judged, or are asked in the exam, whose video is not where it was, or is another one. "
        "--repair looks for it by its content where the others lie; `reelrank probe DIR --videos FOLDER` elsewhere.",
        _missing_videos,
        _find_moved,
    ),
    Check(
        "releases",
        "Releases are not what was noted down when they were made, or their files are gone. Put the files back from a "
        f"copy of the project's folder; for a manifest: {RESTORE}",
        lambda project, db, now: keeping.damaged(project, db),
    ),
)
