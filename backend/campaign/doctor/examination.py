"""Check every invariant of a project: what breaks each, what that means, and how to mend it.

*Reads* everything. *Writes* only what `inspections` repairs: what is derived or disposable.
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
    """One invariant: `look` names what breaks it, `repair` mends it where that loses nothing."""

    name: str
    meaning: str
    look: Callable[[Project, Database, float], Iterable[str]]
    repair: Callable[[Project, float], object] | None = None


EXAMPLES = 5
"""So many of what was found are named."""
RESTORE = "Stop the server and put a backup in its place: `reelrank restore DIR BACKUP`."


def _listed_by(query: str) -> Callable[[Project, Database, float], Iterable[str]]:
    return lambda project, db, now: invariants.listed(db, query)


def _lost(name: str, meaning: str, query: str) -> Check:
    """What only a backup mends."""
    return Check(name, f"{meaning} {RESTORE}", _listed_by(query))


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
        "The probes of these queries hold pairs that belong into an open batch, or nobody is to judge the queries.",
        invariants.PROBES,
    ),
    _lost(
        "declined batches",
        "A batch is open that a lead declined, and nobody took that decision back.",
        invariants.DECLINED,
    ),
    _lost("judged seats", "A seat counts as judged, but nobody's grade is there.", invariants.JUDGED_WITHOUT_GRADE),
    _lost("grades", "A grade lies at a seat that is free, held, or somebody else's.", invariants.GRADE_WITHOUT_JUDGED),
    _lost(
        "closed seats",
        "A seat without a grade is closed while a lead's decision on its pair stands, and only then.",
        invariants.WRONGLY_CLOSED,
    ),
    Check(
        "number of seats",
        f"A pair has two seats, four after escalation, six once re-opened; numbered from 1. These have not. {RESTORE}",
        inspections.wrong_seats,
    ),
    _lost(
        "acts of leads",
        "What leads did about a pair is numbered 1, 2, 3 and so on, and only what is there is taken back.",
        invariants.RULINGS,
    ),
    _lost(
        "one person once",
        "Nobody sits at a pair twice (but the further grades of an imported campaign, which say so). These people do.",
        invariants.TWICE_AT_A_PAIR,
    ),
    _lost("revisions", "The revisions of a grade are 1, 2, 3 and so on. Here some are missing.", invariants.REVISIONS),
    Check(
        "skips",
        "Somebody skipped a pair and has a seat at it all the same. Offer the pair again on the lead's page, or sign "
        "the person out.",
        _listed_by(invariants.SKIPPED_AND_SEATED),
    ),
    _lost(
        "exam answers",
        "Answers of the exam lack a revision, belong to another exam, or were given to a missed item before the "
        "attempt was handed in or the key was there.",
        invariants.EXAM_ANSWERS,
    ),
    _lost(
        "exam keys",
        "An exam whose key is not there yet has right grades, which people may have been told.",
        invariants.EXAM_KEYS,
    ),
    _lost(
        "exam judgements",
        "These count as a lead's use of an exam's answers, but nobody gave such an answer, or no lead said so.",
        invariants.EXAM_JUDGEMENTS,
    ),
    _lost(
        "gold",
        "Answers at gold pairs lack a revision or their place, or somebody also judged the pair.",
        invariants.GOLD_ANSWERS,
    ),
    _lost(
        "descriptions",
        "Descriptions do not stand as what was done about them says, or their caption belongs to another moment.",
        invariants.DESCRIPTIONS,
    ),
    _lost(
        "escalations",
        "The event log says that these pairs were given two further seats, and they are not there.",
        invariants.ESCALATED_WITHOUT_SEATS,
    ),
    Check(
        "consensus",
        "The stored verdict is not what the rule gives for the grades. It is derived: --repair makes it anew.",
        inspections.wrong_consensus,
        inspections.rebuild_consensus,
    ),
    Check(
        "agenda",
        "The list of batches with places left is wrong, so pairs may be handed out late or not at all. It is derived: "
        "--repair makes it anew.",
        lambda project, db, now: invariants.wrong_agenda(db),
        inspections.rebuild_agenda,
    ),
    Check(
        "leases",
        "Seats are held for longer than `lease_minutes` allows: the clock was set back. They come back once somebody "
        "asks for work; set the clock right.",
        inspections.long_leases,
    ),
    Check(
        "clips",
        "Files in cache/clips belong to no moment of the project and to no prediction, or were never finished. "
        "--repair removes them.",
        inspections.orphaned_clips,
        inspections.remove_clips,
    ),
    Check(
        "bucket of clips",
        "Mend network, keys or rights, then `reelrank clips DIR` puts there what it lacks. Nobody waits for it, and no "
        "clip that lies there is looked at or removed: other projects may share it.",
        inspections.bucket_troubles,
    ),
    Check(
        "left behind",
        "Hidden folders hold what was being made when its process was killed, such as half a release; nobody has "
        "written there for an hour. --repair removes them.",
        inspections.left_behind,
        inspections.remove_left_behind,
    ),
    Check(
        "read by others",
        "Other users of this machine may read or change these files and folders: the database has sessions, and "
        "settings may have passwords. --repair leaves them to their owner. If a group shares the project, set "
        "REELRANK_UMASK=007 (see docs/operations.md).",
        inspections.read_by_others,
        inspections.close_project,
    ),
    Check(
        "videos",
        "Pairs wait to be judged, or are asked in the exam, whose video is not where it was, or is another one. "
        "--repair looks for it by its content where the others lie; `reelrank probe DIR --videos FOLDER` elsewhere.",
        inspections.missing_videos,
        inspections.find_moved,
    ),
    Check(
        "releases",
        "Releases are not what was noted down when they were made, or their files are gone. Put the files back from a "
        f"copy of the project's folder; for a manifest: {RESTORE}",
        lambda project, db, now: keeping.damaged(project, db),
    ),
)


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


@commands_only
def doctor(project: Project, *, now: float, repair: bool = False) -> DoctorReport:
    """Check every invariant of a project, all of one instant of the database.

    Repairs mend what is derived or disposable, never what people did.

    Args:
        project: the project; its server may be running.
        now: seconds since 1970.
        repair: make consensus and agenda anew, find moved videos again, and remove orphaned clips and what was left
            behind, where something was found there.
    """
    names, found = tuple(check.name for check in CHECKS), _look(project, CHECKS, now)
    predicted_clips = len(predicted(clip_files(project)))
    if not repair:
        return DoctorReport(names, tuple(found.values()), predicted_clips)
    mended = [check for check in CHECKS if check.name in found and check.repair]
    for check in mended:
        if check.repair:
            check.repair(project, now)
    mended_names = {check.name for check in mended} - _look(project, mended, now).keys()
    findings = tuple(replace(finding, repaired=finding.check in mended_names) for finding in found.values())
    return DoctorReport(names, findings, predicted_clips)


def _look(project: Project, checks: Sequence[Check], now: float) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    with reading(project.store) as db:
        for check in checks:
            if broken := list(check.look(project, db, now)):
                found[check.name] = Finding(check.name, len(broken), tuple(broken[:EXAMPLES]), check.meaning)
                if check is CHECKS[0]:
                    break  # on damaged pages nothing else can be believed
    return found
