"""The doctor finds nothing in a project that people worked in, and exactly what was broken in one that was broken."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from backend.campaign.corpus.moments.editing import moment_clip
from backend.campaign.desk.clips import report_clip
from backend.campaign.desk.exchange import desk, record_skips
from backend.campaign.doctor import examination
from backend.campaign.doctor import examination as doctor_checks
from backend.campaign.doctor.database import move
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import SkipEvent, SkipKind
from backend.campaign.nouns import OPERATOR, Verdict
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.selection.candidates import rows
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.ids import PairKey
from backend.media.jobs import SAFE_AGE_S, ClipForm, Profile, clip_job, gif, storyboard, thumbnail, with_context
from backend.store import connection
from backend.store.postgresql import PostgresStore
from postgres import Cluster
from support import NOW, PARTLY, Judging

LATER = NOW + 60.0


@dataclass
class Worked:
    """A project with something of everything: verdicts of every kind, a correction, a skip, a fault, a release."""

    judging: Judging
    video: Path

    @property
    def project(self) -> Project:
        return self.judging.project

    def found(self, *, repair: bool = False) -> dict[str, doctor_checks.Finding]:
        report = doctor(self.project, now=LATER, repair=repair)
        return {finding.check: finding for finding in report.findings}


@pytest.fixture
def worked(judging: Judging) -> Worked:
    pairs = [pair.pair for pair in judging.pairs()]
    for n, key in enumerate(pairs[:20]):
        judging.grade(0, key, n % 5)
        judging.grade(1, key, n * 2 % 5)
    escalated = [pair.pair for pair in judging.pairs() if pair.verdict is Verdict.ESCALATED]
    for key, grades in zip(escalated[:3], ((4, 4), (0, 4), (2,)), strict=True):
        for who, grade in zip((2, 3), grades, strict=False):
            judging.grade(who, key, grade)
    judging.grade(0, pairs[20], 1)
    judging.grade(0, pairs[20], 3)  # taken back
    project = judging.project
    adjudicate(project, judging.lead, PairKey(escalated[3]), 2, "seen it", now=NOW)
    report_clip(project, judging.lead, PairKey(pairs[41]), "damaged index", now=NOW)
    skip = SkipEvent(PairKey(pairs[42]), SkipKind.CANNOT_JUDGE, "too dark", "skip-1")
    record_skips(project, judging.annotators[0], [skip], now=NOW)
    for person in judging.annotators[:3]:
        desk(project, person, now=NOW)
    export_release(project, OPERATOR, project.folder / "release", PARTLY, now=NOW)
    video = project.folder / "v.mp4"
    video.touch()
    project.store.db.conn.execute(
        "UPDATE video SET path = 'v.mp4', fps_num = 25, fps_den = 1, width_px = 64, height_px = 48, has_audio = 0, "
        "sha256 = 'ab' WHERE video_id <= 3"
    )
    return Worked(judging, video)


@contextmanager
def unguarded(worked: Worked) -> Iterator[sqlite3.Connection]:
    """The database as another program would have it: no references looked at, no record append-only."""
    with closing(sqlite3.connect(worked.project.folder / "reelrank.db", isolation_level=None)) as db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        yield db
        for _, sql in triggers:
            db.execute(sql)


def one(db: sqlite3.Connection, sql: str) -> int:
    value: int = db.execute(sql).fetchone()[0]
    return value


SETTLED = "SELECT min(pair_id) FROM consensus WHERE verdict = 'consensus'"
ESCALATED = "SELECT max(pair_id) FROM consensus WHERE verdict = 'escalated'"
UNTOUCHED = (
    "SELECT max(pair_id) FROM pair WHERE NOT EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = pair.pair_id "
    "AND s.annotator_id IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = pair.moment_id)"
)


def test_a_project_that_people_worked_in_is_well(worked: Worked) -> None:
    verdicts = {pair.verdict for pair in worked.judging.pairs()}
    assert verdicts == set(Verdict)
    report = doctor(worked.project, now=LATER)
    assert report.findings == ()
    assert report.well
    assert len(report.checks) == len(set(report.checks)) == len(examination.CHECKS)


BROKEN: list[tuple[str, set[str]]] = [
    ("DROP INDEX seat_claims", {"schema"}),
    ("DROP TABLE invitation", {"schema"}),
    (
        "INSERT INTO skip (pair_id, annotator_id, kind, reason, skipped_at, event_key, lifted_at) "
        "VALUES (1, 999, 'skip', 'x', 1, 'k', 2)",
        {"references"},
    ),
    (
        "UPDATE query SET text = (SELECT text FROM query WHERE split = 'val' LIMIT 1) "
        "WHERE query_id = (SELECT min(query_id) FROM query WHERE split = 'train')",
        {"splits"},
    ),
    ("UPDATE batch SET number = NULL WHERE batch_id = 2", {"probes"}),
    (
        f"UPDATE seat SET annotator_id = 2, claim_no = 99 WHERE seat_no = 2 AND pair_id = ({UNTOUCHED})",
        {"judged seats"},
    ),
    (f"UPDATE seat SET lease_until = {LATER} WHERE seat_no = 1 AND pair_id = ({SETTLED})", {"grades"}),
    (
        f"UPDATE seat SET annotator_id = NULL, claim_no = NULL WHERE seat_no = 1 AND pair_id = ({SETTLED})",
        {"references", "grades"},
    ),
    (f"DELETE FROM seat WHERE seat_no = 2 AND pair_id = ({UNTOUCHED})", {"number of seats"}),
    (f"UPDATE seat SET seat_no = 3 WHERE seat_no = 2 AND pair_id = ({UNTOUCHED})", {"number of seats"}),
    (f"INSERT INTO seat (pair_id, seat_no) SELECT ({UNTOUCHED}), 3", {"number of seats"}),
    (
        f"INSERT INTO seat (pair_id, seat_no) SELECT pair_id, 3 FROM ({SETTLED.replace('min(pair_id)', 'pair_id')} "
        "AND pair_id NOT IN (SELECT pair_id FROM seat WHERE seat_no = 3) LIMIT 1)",
        {"number of seats"},
    ),
    (
        f"DELETE FROM seat WHERE seat_no > 2 AND annotator_id IS NULL AND pair_id = ({ESCALATED})",
        {"number of seats", "escalations"},
    ),
    (f"UPDATE seat SET closed = 1 WHERE seat_no = 2 AND pair_id = ({UNTOUCHED})", {"closed seats"}),
    (
        "INSERT INTO personal_token (annotator_id, token_key, secret_hash, name, scope, created_at, expires_at) "
        f"VALUES (2, '{'k' * 12}', '{'0' * 64}', 'for ever', 'read', 1, 367 * 86400)",
        {"tokens"},
    ),
    (f"UPDATE seat SET repeat = 1 WHERE seat_no = 2 AND pair_id = ({SETTLED})", {"one person once"}),
    (
        f"INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key) "
        f"SELECT pair_id, seat_no, annotator_id, 3, grade, 1, 'x' FROM judgement "
        f"WHERE seat_no = 1 AND pair_id = ({SETTLED})",
        {"revisions"},
    ),
    (
        f"INSERT INTO skip (pair_id, annotator_id, kind, reason, skipped_at, event_key) "
        f"SELECT pair_id, annotator_id, 'skip', 'x', 1, 'k' FROM seat WHERE seat_no = 1 AND pair_id = ({SETTLED})",
        {"skips"},
    ),
    (
        f"INSERT INTO event (at, kind, subject, payload) SELECT 1, 'escalated', 'pair:' || ({UNTOUCHED}), '{{}}'",
        {"escalations"},
    ),
    (
        f"UPDATE consensus SET relevance = (relevance + 1) % 5 WHERE pair_id = ({SETTLED})",
        {"consensus"},
    ),
    (f"UPDATE consensus SET mean = mean + 0.5 WHERE pair_id = ({SETTLED})", {"consensus"}),
    (f"UPDATE consensus SET rule_version = 'another' WHERE pair_id = ({SETTLED})", {"consensus"}),
    ("UPDATE consensus SET relevance = 1 WHERE verdict = 'adjudicated'", {"consensus"}),
    (f"DELETE FROM consensus WHERE pair_id = ({SETTLED})", {"consensus"}),
    (
        "INSERT INTO ruling (pair_id, revision, lead_id, kind, reason, ruled_at) "
        f"SELECT ({SETTLED}), 5, annotator_id, 'discard_confirmed', '', 1 FROM annotator WHERE role = 'lead'",
        {"acts of leads"},
    ),
    (
        f"INSERT INTO ruling (pair_id, revision, kind, reason, ruled_at) VALUES (({SETTLED}), 1, 're_opened', 'x', 1)",
        {"number of seats", "consensus"},
    ),
    ("DELETE FROM agenda WHERE batch_id = 2", {"agenda"}),
    ("UPDATE agenda SET nearest = 4 WHERE batch_id = 2", {"agenda"}),
    ("UPDATE agenda SET position = position + 1 WHERE batch_id = 2", {"agenda"}),
    (
        f"UPDATE seat SET lease_until = {LATER + 3600} WHERE (pair_id, seat_no) = "
        "(SELECT pair_id, seat_no FROM seat WHERE lease_until IS NOT NULL ORDER BY 1, 2 LIMIT 1)",
        {"leases"},
    ),
    ("UPDATE video SET path = 'gone.mp4' WHERE video_id = 1", {"videos"}),
    ("""UPDATE "release" SET manifest = replace(manifest, '"tolerance": 1', '"tolerance": 2')""", {"releases"}),
]


@pytest.mark.parametrize(("break_it", "found"), BROKEN)
def test_what_is_broken_is_found_and_nothing_else(worked: Worked, break_it: str, found: set[str]) -> None:
    with unguarded(worked) as db:
        assert db.execute(break_it).rowcount in (1, -1)  # -1: a statement about the schema
    findings = worked.found()
    assert set(findings) == found
    assert all(finding.count == 1 and len(finding.examples) == 1 for finding in findings.values())


def test_a_person_at_both_seats_of_a_pair_is_found(worked: Worked) -> None:
    with unguarded(worked) as db:
        db.execute("DROP INDEX seat_person")
        pair = one(db, UNTOUCHED)
        db.execute(f"UPDATE seat SET annotator_id = 2, lease_until = {LATER} WHERE pair_id = {pair}")
    findings = worked.found()
    assert set(findings) == {"schema", "one person once"}
    assert findings["one person once"].examples == (f"pair {pair}, annotator 2",)


def test_a_second_grade_of_one_person_is_allowed_where_it_was_imported(worked: Worked) -> None:
    with unguarded(worked) as db:
        db.execute("INSERT INTO pair (pair_id, pair_key) VALUES (900, 'by number')")
        for seat, repeat in ((1, 0), (2, 1)):
            db.execute(
                "INSERT INTO seat (pair_id, seat_no, annotator_id, repeat) VALUES (900, ?, 2, ?)", (seat, repeat)
            )
            db.execute(
                "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key, "
                "imported) VALUES (900, ?, 2, 1, 3, 1, ?, 1)",
                (seat, f"import:{seat}"),
            )
        db.execute("INSERT INTO consensus VALUES (900, 'consensus', 3, 3.0, 'tvr-ranking-1')")
    assert worked.found() == {}


def test_the_trigger_that_keeps_records_is_missed(worked: Worked) -> None:
    worked.project.store.db.conn.execute("DROP TRIGGER judgement_no_update")
    assert worked.found()["schema"].examples == ("trigger judgement_no_update",)


def test_only_the_first_few_are_named_and_all_are_counted(worked: Worked) -> None:
    with unguarded(worked) as db:
        db.execute("UPDATE consensus SET rule_version = 'another'")
        pairs = [row[0] for row in db.execute("SELECT pair_id FROM consensus ORDER BY pair_id")]
    finding = worked.found()["consensus"]
    assert finding.count == len(pairs) > doctor_checks.EXAMPLES
    assert finding.examples == tuple(f"pair {pair}" for pair in pairs[: doctor_checks.EXAMPLES])


def test_an_index_that_does_not_match_its_table_is_found_though_the_database_opens(worked: Worked) -> None:
    """SQLite's full check; the one at every opening leaves indexes out."""
    path = worked.project.folder / "reelrank.db"
    worked.project.store.close()
    entry = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE name = 'event_subject'"
    for act in ("hide", "write", "show"):
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA writable_schema = 1")
            if act == "hide":
                row = db.execute(entry).fetchone()
                db.execute("DELETE FROM sqlite_master WHERE name = 'event_subject'")
            elif act == "write":
                db.execute("INSERT INTO event (at, kind, subject, payload) VALUES (1, 'x', 'y', '{}')")
            else:
                db.execute(
                    "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)", row
                )
    report = doctor(open_project(worked.project.folder), now=LATER)
    assert [finding.check for finding in report.findings] == ["database"]
    assert "missing from index event_subject" in report.findings[0].examples[0]


def put(path: Path, age_s: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (LATER - age_s, LATER - age_s))
    return path


def test_clips_of_no_moment_and_what_was_never_finished_are_found_and_removed(worked: Worked) -> None:
    clips, folder = worked.project.clips, worked.project.clips.folder
    moment = worked.project.store.db.conn.execute("SELECT start_s, end_s FROM moment WHERE video_id = 1").fetchone()
    job = clip_job(clips, worked.video, moment[0], moment[1], "ab")
    wanted = [
        put(job.path, 10 * SAFE_AGE_S),
        put(with_context(job, 60.0).path, 10 * SAFE_AGE_S),
        put(storyboard(job).path, 10 * SAFE_AGE_S),
        put(thumbnail(job).path, 10 * SAFE_AGE_S),
        put(gif(job).path, 10 * SAFE_AGE_S),
        put(folder / "being-cut.mp4.7.7.part", 1),
    ]
    orphans = [
        put(folder / f"{'0' * 40}.mp4", 10 * SAFE_AGE_S),
        put(storyboard(clip_job(clips, worked.video, 0.0, 1.5, "gone")).path, 10 * SAFE_AGE_S),
        put(folder / "left.mp4.7.7.part", 2 * SAFE_AGE_S),
        put(clip_job(clips, worked.video, moment[0], moment[1] + 1, "ab").path, 1),
        put(clip_job(clips, worked.video, moment[0], moment[1], "the video before").path, 1),
    ]
    finding = worked.found()["clips"]
    assert set(finding.examples) == {path.name for path in orphans}
    assert worked.found(repair=True)["clips"].repaired
    assert sorted(folder.iterdir()) == sorted(wanted)
    assert worked.found() == {}
    otherwise = put(clip_job(replace(clips, profile=Profile(ClipForm.WEBM)), worked.video, *moment, "ab").path, 1)
    assert worked.found()["clips"].examples == (otherwise.name,), "made by settings that were changed since"


def test_what_a_killed_export_left_is_named_and_removed_and_nothing_that_is_being_made(worked: Worked) -> None:
    folder = worked.project.folder
    left = put(folder / "releases" / ".reelrank-abc" / "part" / "val.json", 7200)
    busy = put(folder / "releases" / ".reelrank-new" / "part" / "val.json", 60)
    here = put(folder / ".reelrank-top" / "half.db", 7200)
    for path in (left, busy, here):  # a file that grows does not touch its folders
        for own in (path.parent, path.parent.parent):
            os.utime(own, (LATER - 7200, LATER - 7200))
    releases = [folder / "releases" / ".reelrank-new", *(folder / "releases").glob("*.zip")]
    finding = worked.found()["left behind"]
    assert finding.examples == (".reelrank-top", "releases/.reelrank-abc")
    assert worked.found(repair=True)["left behind"].repaired
    assert sorted((folder / "releases").iterdir()) == sorted(releases)
    assert busy.exists()
    assert not here.parent.exists()
    assert "left behind" not in worked.found()


def test_clips_that_a_lead_looks_at_on_the_leaderboard_are_no_orphans(worked: Worked) -> None:
    """A nightly doctor failed after anybody had looked at Cases, and --repair deleted what was on the screen."""
    name, start_s, end_s = worked.project.store.db.conn.execute(
        "SELECT name, start_s, end_s FROM moment JOIN video USING (video_id) WHERE video_id = 1"
    ).fetchone()
    lead = worked.judging.lead
    predicted = moment_clip(worked.project, lead, name, start_s + 0.25, end_s - 0.25)
    truth = moment_clip(worked.project, lead, name, start_s, end_s)
    held = [put(predicted.path, 1), put(truth.path, 1)]
    put(predicted.path.with_name(predicted.path.name + ".7.7.part"), 2 * SAFE_AGE_S)  # whoever cut it was killed
    assert worked.found()["clips"].examples == (predicted.path.name + ".7.7.part",)
    report = doctor(worked.project, now=LATER, repair=True)
    assert report.well
    assert report.predicted_clips == 1
    assert sorted(worked.project.clips.folder.iterdir()) == sorted(held)
    # The moment of a pair has one clip, whoever looks at it.
    assert truth.path == clip_job(worked.project.clips, worked.video, start_s, end_s, "ab").path


def test_a_video_is_missed_only_while_somebody_must_see_it(worked: Worked) -> None:
    worked.video.unlink()
    assert worked.found()["videos"].count == 3
    project = worked.project
    with connection.writing(project.store) as db:
        db.conn.execute("DELETE FROM seat WHERE annotator_id IS NULL OR lease_until IS NOT NULL")
    assert "videos" not in worked.found()


SOURCE = ("judgement", "adjudication", "event", "seat", "skip", "clip_fault", "pair", '"release"')


def contents(worked: Worked, tables: tuple[str, ...]) -> list[list[tuple[object, ...]]]:
    db = worked.project.store.db.conn
    return [[tuple(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")] for table in tables]


@pytest.mark.parametrize(
    "break_it",
    [
        "DELETE FROM consensus",
        "UPDATE consensus SET verdict = 'discarded', relevance = NULL, mean = NULL",
        "INSERT INTO consensus SELECT pair_id, 'discarded', NULL, NULL, 'x' FROM pair WHERE pair_id NOT IN "
        "(SELECT pair_id FROM consensus)",
        "DELETE FROM agenda",
        "UPDATE agenda SET nearest = 4",
    ],
)
def test_repair_makes_what_is_derived_anew_and_leaves_the_record_alone(worked: Worked, break_it: str) -> None:
    derived, source = contents(worked, ("consensus", "agenda")), contents(worked, SOURCE)
    worked.project.store.db.conn.execute(break_it)
    if "consensus" in break_it:
        with connection.writing(worked.project.store) as db:
            rows.rebuild_agenda(db)  # it follows a wrong consensus, and must follow the right one again
    report = doctor(worked.project, now=LATER, repair=True)
    assert report.findings
    assert report.well
    assert contents(worked, ("consensus", "agenda")) == derived
    assert contents(worked, SOURCE) == source
    assert worked.found() == {}


def test_repair_does_not_touch_what_people_did(worked: Worked) -> None:
    with unguarded(worked) as db:
        db.execute(f"UPDATE seat SET lease_until = {LATER} WHERE seat_no = 1 AND pair_id = ({SETTLED})")
        db.execute("DELETE FROM agenda")
    source = contents(worked, SOURCE)
    report = doctor(worked.project, now=LATER, repair=True)
    assert {finding.check: finding.repaired for finding in report.findings} == {"grades": False, "agenda": True}
    assert not report.well
    assert contents(worked, SOURCE) == source


AN_EXAM = """
  INSERT INTO exam (exam_id, set_at, source, most_missed, key_from) VALUES (90, 1, 'x', 50, 'median');
  INSERT INTO exam_item (item_id, exam_id, pair_id, right_grade) VALUES (91, 90, 1, {right})
"""
FURTHER = [
    (
        "UPDATE video SET name = CASE video_id WHEN 1 THEN 'cafe\u0301' WHEN 2 THEN 'caf\u00e9' ELSE name END",
        "video names",
    ),
    (f"UPDATE annotator SET name = '{'x' * 81}' WHERE annotator_id = 2", "names"),
    (
        "UPDATE annotator SET suspended = 1 WHERE annotator_id = 2; "
        "INSERT INTO personal_token (annotator_id, token_key, secret_hash, name, scope, created_at, expires_at) "
        f"VALUES (2, '{'k' * 12}', '{'0' * 64}', 'left', 'read', 1, 2)",
        "tokens",
    ),
    (
        "UPDATE batch SET number = 2 WHERE batch_id = 1; "
        "INSERT INTO declined_batch (query_id, number, declined_at, reason) "
        "SELECT query_id, 2, 1, 'x' FROM batch WHERE batch_id = 1",
        "declined batches",
    ),
    (AN_EXAM.format(right=3), "exam keys"),
    (
        AN_EXAM.format(right="NULL")
        + "; INSERT INTO exam_attempt (attempt_id, exam_id, annotator_id, number, attempt_key, "
        "started_at) VALUES (92, 90, 2, 1, 'k', 1); "
        "INSERT INTO exam_answer (attempt_id, item_id, revision, again, grade, answered_at, event_key) "
        "VALUES (92, 91, 2, 0, 3, 1, 'e')",
        "exam answers",
    ),
    (
        "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key) SELECT pair_id, "
        f"seat_no, annotator_id, 2, grade, 1, 'exam:x' FROM judgement WHERE seat_no = 1 AND pair_id = ({SETTLED})",
        "exam judgements",
    ),
    ("INSERT INTO gold_seat (pair_id, annotator_id, claim_no) VALUES (1, 2, 5)", "gold"),
    (
        "INSERT INTO description (description_key, video_id, annotator_id, status, revision, start_s, end_s, sentence) "
        "VALUES ('d', 1, 2, 'waiting', 1, 0, 1, 's')",
        "descriptions",
    ),
    ("ALTER TABLE pause ADD COLUMN more INTEGER", "schema"),
]
"""What nothing above breaks."""


class _TakenBack(Exception):
    """So that the next one finds the project as it was."""


def said_of(project: Project, break_it: str) -> dict[str, doctor_checks.Finding]:
    """What the doctor says while this is so; no rule keeps it from being so, and nothing of it stays."""
    found: dict[str, doctor_checks.Finding] = {}
    with suppress(_TakenBack), connection.writing(project.store) as db:
        run = db.conn.execute
        triggers = []
        if isinstance(project.store, PostgresStore):
            with project.store.one() as raw:
                raw.execute("SET LOCAL session_replication_role = replica")
        else:
            run("PRAGMA defer_foreign_keys = ON")
            triggers = run("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for row in triggers:
            run(f"DROP TRIGGER {row[0]}")
        for statement in break_it.split(";"):
            run(statement)
        for row in triggers:
            run(row[1])
        found = {finding.check: finding for finding in doctor(project, now=LATER).findings}
        raise _TakenBack
    return found


@pytest.mark.long
def test_of_postgresql_it_says_the_same_whatever_is_broken(worked: Worked, cluster: Cluster, tmp_path: Path) -> None:
    project = worked.project
    put(project.clips.folder / f"{'0' * 40}.mp4", 10 * SAFE_AGE_S)
    put(project.folder / ".reelrank-top" / "half.db", 7200)
    os.utime(project.folder / ".reelrank-top", (LATER - 7200, LATER - 7200))
    project.store.close()
    folder = Path(shutil.copytree(project.folder, tmp_path / "moved"))
    move(folder, cluster.address(cluster.new()), now=NOW)
    moved = open_project(folder)
    never = {"clips", "left behind"}  # both are found each time
    met = set(never)
    for break_it, checks in [*BROKEN, *((sql, {check}) for sql, check in FURTHER)]:
        here, there = said_of(project, break_it), said_of(moved, break_it)
        assert checks | never <= set(here), break_it
        for said in (here, there):  # rows of SQLite have numbers of their own
            if "references" in said:
                said["references"] = replace(said["references"], examples=())
        assert there == here, break_it
        met |= set(here)
    # Pages, the rights of files and the file system are the server's own business, PostgreSQL takes no NUL, and the
    # bucket is nobody's database.
    theirs = {"database", "nul", "bucket of clips", "read by others", "network"}
    assert met == {check.name for check in examination.CHECKS} - theirs
    assert set(said_of(moved, "SELECT 1")) == never
    moved.store.close()
