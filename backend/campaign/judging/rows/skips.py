"""Skips, which are never grades, and clips that cannot be shown: which, why, and who found out."""

from backend.campaign.judging.model import CLIP_REPORTED, OFFERED_AGAIN, ReportedClip, SkipKind
from backend.core.ids import AnnotatorId, MomentId, PairId, PairKey
from backend.core.messages import kept
from backend.store.engine import Database


def event_owner(db: Database, key: str) -> tuple[PairId, AnnotatorId] | None:
    """The pair and the person of a skip that was stored before."""
    row = db.conn.execute("SELECT pair_id, annotator_id FROM skip WHERE event_key = ?", [key]).fetchone()
    return (PairId(row[0]), AnnotatorId(row[1])) if row else None


def add(db: Database, pair_id: PairId, me: AnnotatorId, kind: SkipKind, reason: str, key: str, *, at: float) -> None:
    """Note a skip; it takes the place of one that this person made of the pair before."""
    lift(db, pair_id, me, at=at)
    db.conn.execute(
        "INSERT INTO skip (pair_id, annotator_id, kind, reason, skipped_at, event_key) VALUES (?, ?, ?, ?, ?, ?)",
        [pair_id, me, kind.value, reason, at, key],
    )


def recent(db: Database, me: AnnotatorId, *, since: float, now: float) -> int:
    """How many skips and reports this person made after `since`, lifted ones too."""
    row = db.conn.execute(
        "SELECT count(*) FROM skip WHERE annotator_id = ? AND skipped_at > ? AND skipped_at <= ?", [me, since, now]
    ).fetchone()
    return int(row[0])


def reporters(db: Database, moment_id: MomentId) -> int:
    """Count the people who reported a moment's clip as broken, at any of its pairs."""
    row = db.conn.execute(
        "SELECT count(DISTINCT k.annotator_id) FROM skip k JOIN pair p USING (pair_id) "
        "WHERE p.moment_id = ? AND k.kind = 'broken_clip' AND k.lifted_at IS NULL",
        [moment_id],
    ).fetchone()
    return int(row[0])


def has_reported(db: Database, pair_id: PairId, me: AnnotatorId) -> bool:
    """Whether this person says of a pair that its clip is broken."""
    row = db.conn.execute(
        "SELECT 1 FROM skip WHERE pair_id = ? AND annotator_id = ? AND kind = 'broken_clip' AND lifted_at IS NULL",
        [pair_id, me],
    ).fetchone()
    return row is not None


def reported(db: Database) -> list[ReportedClip]:
    """The clips that somebody says are broken and that are shown to others, by video and time."""
    rows = db.conn.execute(
        "SELECT min(p.pair_key), v.name, m.start_s, m.end_s, group_concat(DISTINCT a.name), min(k.reason), "
        "max(k.skipped_at) FROM skip k JOIN pair p USING (pair_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) JOIN annotator a USING (annotator_id) "
        "WHERE k.kind = 'broken_clip' AND k.lifted_at IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id) "
        "GROUP BY m.moment_id, v.name, m.start_s, m.end_s ORDER BY v.name, m.start_s, m.end_s"
    )
    return [ReportedClip(PairKey(r[0]), r[1], r[2], r[3], r[4], r[5], r[6]) for r in rows]


def lift_all(db: Database, me: AnnotatorId, *, reports_only: bool, at: float) -> tuple[int, list[MomentId]]:
    """Lift a person's skips, or only their reports of broken clips: how many, and the moments they had reported."""
    rows = db.conn.execute(
        "SELECT k.kind, p.moment_id FROM skip k JOIN pair p USING (pair_id) "
        "WHERE k.annotator_id = ? AND k.lifted_at IS NULL",
        [me],
    ).fetchall()
    reports = [MomentId(row[1]) for row in rows if row[0] == SkipKind.BROKEN_CLIP]
    cursor = db.conn.execute(
        "UPDATE skip SET lifted_at = :at WHERE annotator_id = :me AND lifted_at IS NULL "
        "AND (kind = 'broken_clip' OR NOT :reports_only)",
        {"at": at, "me": me, "reports_only": reports_only},
    )
    return cursor.rowcount, sorted(set(reports))


def lift(db: Database, pair_id: PairId, me: AnnotatorId | None, *, at: float) -> int:
    """The pair may be offered again to this person, or (None) to everybody who skipped it; how many skips that were."""
    cursor = db.conn.execute(
        "UPDATE skip SET lifted_at = :at WHERE pair_id = :pair AND lifted_at IS NULL "
        "AND annotator_id = coalesce(:me, annotator_id)",
        {"at": at, "pair": pair_id, "me": me},
    )
    return cursor.rowcount


def last_offer(db: Database, pair_id: PairId) -> tuple[str, float] | None:
    """Who last offered a pair again to people who had skipped it, and when."""
    row = db.conn.execute(
        "SELECT a.name, e.at FROM event e JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.subject = ? AND e.kind = ? ORDER BY e.event_id DESC LIMIT 1",
        [f"pair:{pair_id}", OFFERED_AGAIN.kind],
    ).fetchone()
    return (row[0], row[1]) if row else None


def left_to_others(db: Database, me: AnnotatorId) -> int:
    """How many pairs that are not settled, or look so to them, this person skipped."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM skip k LEFT JOIN consensus c USING (pair_id) WHERE k.annotator_id = :me "
        "AND k.lifted_at IS NULL AND (coalesce(c.verdict, 'escalated') = 'escalated' OR EXISTS (SELECT 1 "
        "FROM gold_seat g WHERE g.pair_id = k.pair_id AND g.annotator_id = :me))",
        {"me": me},
    ).fetchone()[0]
    return count


def pair_count(db: Database) -> int:
    """How many pairs a skip stands at."""
    count: int = db.conn.execute("SELECT count(DISTINCT pair_id) FROM skip WHERE lifted_at IS NULL").fetchone()[0]
    return count


BY_PERSON = "person"


BY_FILE = "file"
"""Who found that a clip cannot be shown: somebody who looked at it, or whoever read the file."""


def add_fault(db: Database, moment_id: MomentId, reason: str, *, at: float, found_by: str = BY_PERSON) -> None:
    """This moment's clip cannot be shown; the first reason stays."""
    db.conn.execute(
        "INSERT OR IGNORE INTO clip_fault (moment_id, reason, reported_at, found_by) VALUES (?, ?, ?, ?)",
        [moment_id, kept(reason), at, found_by],
    )


def is_faulty(db: Database, moment_id: MomentId) -> bool:
    """Whether this moment's clip cannot be shown."""
    row = db.conn.execute("SELECT EXISTS (SELECT 1 FROM clip_fault WHERE moment_id = ?)", [moment_id]).fetchone()
    return bool(row[0])


def is_blocked_by_reports(db: Database, moment_id: MomentId) -> bool:
    """Whether a moment is blocked because annotators reported it: no file, and no lead after them, said so."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM clip_fault WHERE moment_id = :moment AND found_by = 'person') AND 'annotator' = "
        "(SELECT a.role FROM event e JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.subject = :subject AND e.kind = :kind ORDER BY e.event_id DESC LIMIT 1)",
        {"moment": moment_id, "subject": f"moment:{moment_id}", "kind": CLIP_REPORTED.kind},
    ).fetchone()
    return bool(row[0])


def remove_fault(db: Database, moment_id: MomentId) -> None:
    """This moment's clip may be shown again."""
    db.conn.execute("DELETE FROM clip_fault WHERE moment_id = ?", [moment_id])
