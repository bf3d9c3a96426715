"""Check that the data of a project are consistent, explain each fault, and repair faults on request.

*Reads* everything. *Writes* only what `inspections` repairs: stored results that can be computed again, and files that
can be made again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.doctor import inspections
from backend.campaign.doctor import rows as invariants
from backend.campaign.doctor.inspections import clip_files, predicted
from backend.campaign.release.export import kept_releases as keeping
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.people.permissions import commands_only
from backend.campaign.setup.project.folder import Project
from backend.core import typed_text as name_rules
from backend.store.connection import Database, reading


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a project, such as that the files of all videos are still in their places.

    `meaning` explains a fault and what to do about it. `look(project, db, now)` returns a text for each fault.
    `repair(project, now)` mends the faults; it is None if a repair could lose something.
    """

    name: str
    meaning: str
    look: Callable[[Project, Database, float], Iterable[str]]
    repair: Callable[[Project, float], object] | None = None


EXAMPLES = 5
"""The number of faults of one check that the report names."""
RESTORE = "Stop the server and put a backup in its place: `reelrank restore DIR BACKUP`."


def _listed_by(query: str) -> Callable[[Project, Database, float], Iterable[str]]:
    return lambda project, db, now: invariants.listed(db, query)


def _lost(name: str, meaning: str, query: str) -> Check:
    """Return a check that finds faults with an SQL query; only restoring a backup can repair them."""
    return Check(name, f"{meaning} {RESTORE}", _listed_by(query))


CHECKS = (
    Check(
        "database",
        f"SQLite found the file damaged, so nothing else was checked. {RESTORE}",
        lambda project, db, now: project.store.damaged_pages(),
    ),
    Check(
        "schema",
        "Tables, indexes, triggers or views differ from those of this version: another program changed the "
        f"database. {RESTORE}",
        lambda project, db, now: project.store.schema_differences(),
    ),
    Check(
        "names",
        "Names of people are unreadable, or look like other names. These people can still sign in with the same "
        "name, but `reelrank move` to PostgreSQL refuses names that look alike.",
        lambda project, db, now: name_rules.troubles(people.names(db)),
    ),
    Check(
        "tokens",
        "These tokens are of suspended people, or work for more than a year. ReelRank makes none like this: another "
        "program changed the database. Revoke them with `reelrank users tokens DIR --revoke KEY`.",
        _listed_by(invariants.ODD_TOKENS),
    ),
    Check(
        "nul",
        "Texts have the NUL character, which an earlier version accepted. Work can go on, but `reelrank move` to "
        "PostgreSQL refuses them.",
        lambda project, db, now: project.store.texts_with_nul(),
    ),
    Check(
        "network",
        "SQLite's locks do not hold on a network file system, and the database can be damaged there. Keep the project "
        "on a disk of this machine, or move its database to PostgreSQL (see docs/database.md).",
        lambda project, db, now: [project.network_warning] if project.network_warning else [],
    ),
    Check(
        "video names",
        "Names of videos differ only in how Unicode encodes their letters. If an annotation file has such a name, it "
        "means the video with the composed form.",
        lambda project, db, now: inspections.same_names(corpus.known_videos(db)),
    ),
    Check(
        "references",
        f"Rows point to rows that do not exist. {RESTORE}",
        lambda project, db, now: project.store.dangling(),
    ),
    _lost("splits", "Training queries have the text of a validation or test query.", invariants.SPLITS),
    _lost(
        "probes",
        "The probes of these queries have pairs that belong to an open batch, or the queries are not to be graded.",
        invariants.PROBES,
    ),
    _lost(
        "declined batches",
        "A batch is open although a lead declined it and nobody took that back.",
        invariants.DECLINED,
    ),
    _lost("judged seats", "A seat counts as judged but has no grade.", invariants.JUDGED_WITHOUT_GRADE),
    _lost(
        "grades", "A grade belongs to a seat that is free, held, or another person's.", invariants.GRADE_WITHOUT_JUDGED
    ),
    _lost(
        "closed seats",
        "Seats without a grade have to be closed while a lead's decision on their pair is in force, and only then.",
        invariants.WRONGLY_CLOSED,
    ),
    Check(
        "number of seats",
        f"A pair has two seats, four after escalation, six once re-opened, numbered from 1. These differ. {RESTORE}",
        inspections.wrong_seats,
    ),
    _lost(
        "acts of leads",
        "Decisions of leads about a pair are numbered 1, 2, 3 and so on, and only an existing one can be taken "
        "back. These are not.",
        invariants.RULINGS,
    ),
    _lost(
        "one person once",
        "These people have two seats at one pair. Only imported campaigns may have further grades of one person.",
        invariants.TWICE_AT_A_PAIR,
    ),
    _lost(
        "revisions",
        "The revisions of a grade are numbered 1, 2, 3 and so on. Here some are missing.",
        invariants.REVISIONS,
    ),
    Check(
        "skips",
        "Somebody skipped a pair but still has a seat at it. Offer the pair again on the page Disputes, or sign the "
        "person out.",
        _listed_by(invariants.SKIPPED_AND_SEATED),
    ),
    _lost(
        "exam answers",
        "Answers of the exam lack a revision, belong to another exam, or repeat a missed item before the attempt was "
        "handed in or the answer key existed.",
        invariants.EXAM_ANSWERS,
    ),
    _lost(
        "exam keys",
        "An exam without its answer key already has right grades, which people may have seen.",
        invariants.EXAM_KEYS,
    ),
    _lost(
        "exam judgements",
        "These judgements count as answers of an exam, but nobody gave such an answer, or no lead let it count.",
        invariants.EXAM_JUDGEMENTS,
    ),
    _lost(
        "gold",
        "Answers to gold questions lack a revision or a place, or the same person also judged the pair.",
        invariants.GOLD_ANSWERS,
    ),
    _lost(
        "descriptions",
        "Descriptions contradict their history, or their caption belongs to another moment.",
        invariants.DESCRIPTIONS,
    ),
    _lost(
        "escalations",
        "The activity log says that these pairs got two further seats, but the seats are missing.",
        invariants.ESCALATED_WITHOUT_SEATS,
    ),
    Check(
        "consensus",
        "The stored verdict differs from what the rule gives for the grades. --repair computes it again.",
        inspections.wrong_consensus,
        inspections.rebuild_consensus,
    ),
    Check(
        "agenda",
        "The list of batches with free seats is wrong, so pairs may be handed out late or not at all. --repair "
        "computes it again.",
        lambda project, db, now: invariants.wrong_agenda(db),
        inspections.rebuild_agenda,
    ),
    Check(
        "leases",
        "Seats are held for longer than `lease_minutes` allows, because the clock was set back. Set the clock right. "
        "The seats become free when somebody next asks for work.",
        inspections.long_leases,
    ),
    Check(
        "clips",
        "Files in cache/clips belong to no moment and no prediction, or were never finished. --repair removes them.",
        inspections.orphaned_clips,
        inspections.remove_clips,
    ),
    Check(
        "bucket of clips",
        "The bucket cannot be used. Check network, keys and permissions, then run `reelrank clips DIR` to upload "
        "missing clips. Work can go on meanwhile. Clips in the bucket are never removed, because other projects may "
        "share it.",
        inspections.bucket_troubles,
    ),
    Check(
        "left behind",
        "A process that was killed left unfinished files, such as half a release. The next command removes those of "
        "this machine by itself; it could not remove these, or they are of another machine and older than an hour. "
        "--repair tries again.",
        inspections.left_behind,
        inspections.remove_left_behind,
    ),
    Check(
        "read by others",
        "Other users of this machine can read or change these files and folders, which may hold sessions and "
        "passwords. --repair restricts them to their owner. If a group shares the project, set REELRANK_UMASK=007 "
        "(see docs/database.md).",
        inspections.read_by_others,
        inspections.close_project,
    ),
    Check(
        "videos",
        "Pairs that wait for grades or are in the exam have a video that was moved or replaced. --repair looks for its "
        "content in the folders of the other videos; `reelrank probe DIR --videos FOLDER` looks elsewhere.",
        inspections.missing_videos,
        inspections.find_moved,
    ),
    Check(
        "releases",
        "Releases changed since they were made, or their files are gone. Copy the files back from a copy of the "
        f"project's folder. For a manifest: {RESTORE}",
        lambda project, db, now: keeping.damaged_releases(project, db),
    ),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check that found faults: how many, the first `EXAMPLES` (5) of them, and what they mean.

    `check` is the name of the check, and `repaired` says whether the faults were repaired.
    """

    check: str
    count: int
    examples: tuple[str, ...]
    meaning: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The result of checking a project: the names of all checks, and a finding for each check that found faults.

    `predicted_clips` is the number of clips in the cache that show predictions of search systems, not moments of the
    project.
    """

    checks: tuple[str, ...]
    findings: tuple[Finding, ...]
    predicted_clips: int

    @property
    def well(self) -> bool:
        """Whether there were no faults, or all of them were repaired."""
        return all(finding.repaired for finding in self.findings)


@commands_only
def doctor(project: Project, *, now: float, repair: bool = False) -> DoctorReport:
    """Run all checks of a project on one snapshot of its database, and repair faults on request.

    Repairs change only what can be computed or made again, never what people did.

    Args:
        project: the project; its server may be running.
        now: seconds since 1970.
        repair: whether to run the repair of each check that found faults. Repairs recompute the verdicts on pairs, and
            the table of batches (pairs of one query handed out together) with free places. They also find moved videos,
            remove clips and folders that nothing needs, and restrict files to their owner.
    """
    names, by_check = tuple(check.name for check in CHECKS), _look(project, CHECKS, now)
    predicted_clips = len(predicted(clip_files(project)))
    if not repair:
        return DoctorReport(names, tuple(by_check.values()), predicted_clips)
    mended = [check for check in CHECKS if check.name in by_check and check.repair]
    for check in mended:
        if check.repair:
            check.repair(project, now)
    mended_names = {check.name for check in mended} - _look(project, mended, now).keys()
    findings = tuple(replace(finding, repaired=finding.check in mended_names) for finding in by_check.values())
    return DoctorReport(names, findings, predicted_clips)


def _look(project: Project, checks: Sequence[Check], now: float) -> dict[str, Finding]:
    findings: dict[str, Finding] = {}
    with reading(project.store) as db:
        for check in checks:
            if broken := list(check.look(project, db, now)):
                findings[check.name] = Finding(check.name, len(broken), tuple(broken[:EXAMPLES]), check.meaning)
                if check is CHECKS[0]:
                    break  # with damaged pages no other result can be trusted
    return findings
