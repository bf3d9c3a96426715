"""Run the SQL for the status of pairs: verdicts, leads' actions, skips, and clips that cannot be shown.

A lead can decide the relevance of a pair, confirm that it is discarded, re-open it for two more annotators, or undo one
of these actions. Actions are never deleted, and the actions on one pair are numbered together, from 1. An action is in
force until a lead undoes it. Only the newest one in force can be undone.

A skip is never a grade. A blocked clip is stored with the reason and with who found the fault.
"""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from backend.campaign.judging.model import CLIP_REPORTED, OFFERED_AGAIN, ActKind, ReportedClip, SkipKind
from backend.campaign.judging.rules import MOST_GRADES
from backend.campaign.nouns import Verdict
from backend.core.ids import AnnotatorId, MomentId, PairId, PairKey
from backend.core.messages import to_stored
from backend.store.engine import Database, Select, fetch_one, run_later


class LeadAct(NamedTuple):
    """A lead's action on a pair, such as deciding its relevance or re-opening it for two more annotators.

    `revision` is its number among the actions on this pair, from 1. `relevance` is None unless the action decides it.
    `at` is in seconds since 1970. `stands` is False if the action was undone.
    """

    revision: int
    lead_id: AnnotatorId | None
    """None if the act was imported with an earlier campaign."""
    lead: str
    kind: ActKind
    relevance: int | None
    reason: str
    at: float
    stands: bool


_ACTS = (
    "SELECT a.revision, a.lead_id, coalesce(p.name, ''), a.kind, a.relevance, a.reason, a.at, a.stands "
    "FROM lead_act AS a LEFT JOIN annotator AS p ON p.annotator_id = a.lead_id"
)
NEXT_REVISION = (
    "(SELECT 1 + max(coalesce((SELECT max(revision) FROM adjudication WHERE pair_id = :pair), 0), "
    "coalesce((SELECT max(revision) FROM ruling WHERE pair_id = :pair), 0)))"
)


def acts(db: Database, pair_id: PairId) -> list[LeadAct]:
    """Return all actions of leads on a pair, the oldest first, including undone ones."""
    rows = db.conn.execute(f"{_ACTS} WHERE a.pair_id = ? ORDER BY a.revision", [pair_id])
    return [_act(row) for row in rows]


def add_decision(db: Database, pair_id: PairId, lead: AnnotatorId, relevance: int, reason: str, *, at: float) -> None:
    """Store a lead's decision on the relevance of a pair. The newest decision that was not undone is in force."""
    db.conn.execute(
        "INSERT INTO adjudication (pair_id, revision, lead_id, relevance, reason, decided_at) "
        f"VALUES (:pair, {NEXT_REVISION}, :lead, :relevance, :reason, :at)",
        {"pair": pair_id, "lead": lead, "relevance": relevance, "reason": reason, "at": at},
    )


def add_act(
    db: Database,
    pair_id: PairId,
    lead: AnnotatorId | None,
    kind: ActKind,
    reason: str,
    *,
    at: float,
    takes_back: int | None = None,
) -> None:
    """Store a lead's action on a pair other than a decision on its relevance.

    If the action undoes another one, `takes_back` is the revision of that other action.
    """
    db.conn.execute(
        "INSERT INTO ruling (pair_id, revision, lead_id, kind, takes_back, reason, ruled_at) "
        f"VALUES (:pair, {NEXT_REVISION}, :lead, :kind, :takes_back, :reason, :at)",
        {"pair": pair_id, "lead": lead, "kind": kind, "takes_back": takes_back, "reason": reason, "at": at},
    )


def decision_select(pair_id: PairId) -> Select[tuple[int | None, bool]]:
    """Select the relevance that a lead decided (None if no decision is in force), and whether the pair is re-opened.

    A re-opened pair gets grades from two more annotators.
    """
    return Select(
        "SELECT (SELECT relevance FROM lead_act WHERE pair_id = :pair AND kind = 'decided' AND stands "
        "ORDER BY revision DESC LIMIT 1) AS decided, EXISTS (SELECT 1 FROM re_opened WHERE pair_id = :pair) AS again",
        {"pair": pair_id},
        lambda rows: (rows[0][0], bool(rows[0][1])),
    )


def all_adjudicated(db: Database) -> dict[PairId, int]:
    """Return the relevance that a lead decided, for every pair with a decision in force."""
    # The newest one comes last and stays in the dictionary.
    rows = db.conn.execute(
        "SELECT pair_id, relevance FROM lead_act WHERE kind = 'decided' AND stands ORDER BY pair_id, revision"
    )
    return {PairId(row[0]): row[1] for row in rows}


def is_re_opened(db: Database, pair_id: PairId) -> bool:
    """Return whether a lead re-opened a pair, so that it gets grades from two more annotators."""
    return bool(db.conn.execute("SELECT EXISTS (SELECT 1 FROM re_opened WHERE pair_id = ?)", [pair_id]).fetchone()[0])


def all_re_opened(db: Database) -> set[PairId]:
    """Return the pairs that a lead re-opened, so that they get grades from two more annotators."""
    return {PairId(row[0]) for row in db.conn.execute("SELECT pair_id FROM re_opened")}


def last_act_select(pair_id: PairId) -> Select[ActKind | None]:
    """Select the kind of the newest action of a lead on a pair that is not undone; None if there is none."""
    return Select(
        "SELECT kind FROM lead_act WHERE pair_id = :pair AND stands ORDER BY revision DESC LIMIT 1",
        {"pair": pair_id},
        lambda rows: ActKind(rows[0][0]) if rows else None,
    )


def lead_has_gone_on(last_act: ActKind | None, seat_no: int) -> bool:
    """Return whether a lead has acted on a pair since an annotator graded it, so that the grade stays as it is.

    `seat_no` is the number of the annotator's place at the pair. An undone action does not count. A re-opening does not
    count for the annotators who graded the pair because of it.
    """
    return last_act is not None and (seat_no <= MOST_GRADES or last_act is not ActKind.RE_OPENED)


def _act(row: tuple[int, int | None, str, str, int | None, str, float, int]) -> LeadAct:
    lead = None if row[1] is None else AnnotatorId(row[1])
    return LeadAct(row[0], lead, row[2], ActKind(row[3]), row[4], row[5], row[6], bool(row[7]))


def verdict(db: Database, pair_id: PairId) -> Verdict:
    """Return the stored verdict on a pair: `OPEN` if none is stored."""
    return fetch_one(db, verdict_select(pair_id))


def verdict_select(pair_id: PairId) -> Select[Verdict]:
    """Select the stored verdict on a pair: `OPEN` if none is stored."""
    sql = "SELECT verdict FROM consensus WHERE pair_id = :pair"
    return Select(sql, {"pair": pair_id}, lambda rows: Verdict(rows[0][0]) if rows else Verdict.OPEN)


def set_verdict(
    db: Database,
    pair_id: PairId,
    verdict: Verdict,
    relevance: int | None,
    mean: float | None,
    rule_version: str,
) -> None:
    """Store the verdict on a pair; for an open pair, which still needs its first grades, delete the stored one."""
    if verdict is Verdict.OPEN:
        run_later(db, "DELETE FROM consensus WHERE pair_id = ?", [pair_id])
        return
    run_later(
        db,
        "INSERT INTO consensus (pair_id, verdict, relevance, mean, rule_version) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (pair_id) DO UPDATE SET verdict = excluded.verdict, relevance = excluded.relevance, "
        "mean = excluded.mean, rule_version = excluded.rule_version",
        [pair_id, verdict.value, relevance, mean, rule_version],
    )


def grades_by_pair(db: Database) -> dict[PairId, list[int]]:
    """Return the current grades of every graded pair, the grades of a pair in ascending order."""
    grades: defaultdict[PairId, list[int]] = defaultdict(list)
    for pair_id, grade in db.conn.execute("SELECT pair_id, grade FROM standing ORDER BY pair_id, grade"):
        grades[pair_id].append(grade)
    return grades


def replace_verdicts(db: Database, verdicts: Iterable[tuple[PairId, Verdict, int | None, float | None, str]]) -> None:
    """Replace all stored verdicts by these tuples (pair, verdict, relevance, mean grade, rule version).

    Pairs that still need their first grades have no verdict and are left out.
    """
    db.conn.execute("DELETE FROM consensus")
    db.conn.executemany(
        "INSERT INTO consensus (pair_id, verdict, relevance, mean, rule_version) VALUES (?, ?, ?, ?, ?)",
        ((pair_id, verdict.value, *rest) for pair_id, verdict, *rest in verdicts),
    )


class GoneOn(StrEnum):
    """What another annotator did with a pair after a person's grade, so that the grade can no longer be changed."""

    GRADED = "graded"
    ON_SCREEN = "on screen"


def gone_on_select(pair_id: PairId, me: AnnotatorId, *, now: float) -> Select[GoneOn | None]:
    """Select what another annotator did with a pair after a person graded it; None if nobody did anything.

    Either somebody graded the pair later, or somebody who was asked for a further grade has the clip on screen. A clip
    that is only loaded ahead does not count, and neither does one whose reservation has run out.
    """
    return Select(
        "SELECT EXISTS (SELECT 1 FROM judgement WHERE pair_id = :pair AND annotator_id <> :me AND judgement_id > "
        "(SELECT max(judgement_id) FROM judgement WHERE pair_id = :pair AND annotator_id = :me)) AS graded, "
        "EXISTS (SELECT 1 FROM seat AS mine JOIN seat AS theirs USING (pair_id) WHERE pair_id = :pair "
        "AND mine.annotator_id = :me AND (mine.seat_no + 1) / 2 < (theirs.seat_no + 1) / 2 "
        "AND theirs.annotator_id <> :me AND theirs.shown_at IS NOT NULL AND theirs.lease_until >= :now) AS shown",
        {"pair": pair_id, "me": me, "now": now},
        lambda rows: GoneOn.GRADED if rows[0][0] else GoneOn.ON_SCREEN if rows[0][1] else None,
    )


def skip_owner(db: Database, key: str) -> tuple[PairId, AnnotatorId] | None:
    """Return (pair, annotator) of the skip with this key, which a browser gave it; None if there is none."""
    row = db.conn.execute("SELECT pair_id, annotator_id FROM skip WHERE event_key = ?", [key]).fetchone()
    return (PairId(row[0]), AnnotatorId(row[1])) if row else None


def add_skip(
    db: Database, pair_id: PairId, me: AnnotatorId, kind: SkipKind, reason: str, key: str, *, at: float
) -> None:
    """Store an annotator's skip of a pair; an earlier skip of the same pair by them is undone."""
    lift_skips(db, pair_id, me, at=at)
    db.conn.execute(
        "INSERT INTO skip (pair_id, annotator_id, kind, reason, skipped_at, event_key) VALUES (?, ?, ?, ?, ?, ?)",
        [pair_id, me, kind.value, reason, at, key],
    )


def recent_skips(db: Database, me: AnnotatorId, *, since: float, now: float) -> int:
    """Count the skips, including reports of broken clips, that an annotator made after `since` and until `now`.

    Both times are in seconds since 1970. Undone skips count too.
    """
    row = db.conn.execute(
        "SELECT count(*) FROM skip WHERE annotator_id = ? AND skipped_at > ? AND skipped_at <= ?", [me, since, now]
    ).fetchone()
    return int(row[0])


def reporters(db: Database, moment_id: MomentId) -> int:
    """Count the annotators who reported a moment's clip as broken, at any pair with this moment.

    Undone reports do not count.
    """
    row = db.conn.execute(
        "SELECT count(DISTINCT k.annotator_id) FROM skip k JOIN pair p USING (pair_id) "
        "WHERE p.moment_id = ? AND k.kind = 'broken_clip' AND k.lifted_at IS NULL",
        [moment_id],
    ).fetchone()
    return int(row[0])


def has_reported(db: Database, pair_id: PairId, me: AnnotatorId) -> bool:
    """Return whether this annotator reported the clip of a pair as broken and the report was not undone."""
    row = db.conn.execute(
        "SELECT 1 FROM skip WHERE pair_id = ? AND annotator_id = ? AND kind = 'broken_clip' AND lifted_at IS NULL",
        [pair_id, me],
    ).fetchone()
    return row is not None


def reported_clips(db: Database) -> list[ReportedClip]:
    """Return the clips that somebody reported as broken but that others still get, sorted by video and time."""
    rows = db.conn.execute(
        "SELECT min(p.pair_key), v.name, m.start_s, m.end_s, group_concat(DISTINCT a.name), min(k.reason), "
        "max(k.skipped_at) FROM skip k JOIN pair p USING (pair_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) JOIN annotator a USING (annotator_id) "
        "WHERE k.kind = 'broken_clip' AND k.lifted_at IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id) "
        "GROUP BY m.moment_id, v.name, m.start_s, m.end_s ORDER BY v.name, m.start_s, m.end_s"
    )
    return [ReportedClip(PairKey(r[0]), r[1], r[2], r[3], r[4], r[5], r[6]) for r in rows]


def lift_all_skips(db: Database, me: AnnotatorId, *, reports_only: bool, at: float) -> tuple[int, list[MomentId]]:
    """Undo all skips of an annotator, or, with `reports_only`, only their reports of broken clips.

    Return how many were undone, and the moments whose clips they had reported.
    """
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


def lift_skips(db: Database, pair_id: PairId, me: AnnotatorId | None, *, at: float) -> int:
    """Undo the skip of a pair by annotator `me`, or by everybody if `me` is None; return the number of skips undone."""
    cursor = db.conn.execute(
        "UPDATE skip SET lifted_at = :at WHERE pair_id = :pair AND lifted_at IS NULL "
        "AND annotator_id = coalesce(:me, annotator_id)",
        {"at": at, "pair": pair_id, "me": me},
    )
    return cursor.rowcount


def last_offer(db: Database, pair_id: PairId) -> tuple[str, float] | None:
    """Return (name of the lead, time in seconds since 1970) of the last time that a skipped pair was offered again.

    None if that never happened.
    """
    row = db.conn.execute(
        "SELECT a.name, e.at FROM event e JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.subject = ? AND e.kind = ? ORDER BY e.event_id DESC LIMIT 1",
        [f"pair:{pair_id}", OFFERED_AGAIN.kind],
    ).fetchone()
    return (row[0], row[1]) if row else None


def skips_left_to_others(db: Database, me: AnnotatorId) -> int:
    """Count the pairs that this annotator skipped and that still need grades.

    Skipped gold questions (hidden pairs with known grades) count too, because the annotator must not be able to tell
    them from other pairs.
    """
    count: int = db.conn.execute(
        "SELECT count(*) FROM skip k LEFT JOIN consensus c USING (pair_id) WHERE k.annotator_id = :me "
        "AND k.lifted_at IS NULL AND (coalesce(c.verdict, 'escalated') = 'escalated' OR EXISTS (SELECT 1 "
        "FROM gold_seat g WHERE g.pair_id = k.pair_id AND g.annotator_id = :me))",
        {"me": me},
    ).fetchone()[0]
    return count


def skipped_pair_count(db: Database) -> int:
    """Count the pairs that at least one annotator skipped; undone skips do not count."""
    count: int = db.conn.execute("SELECT count(DISTINCT pair_id) FROM skip WHERE lifted_at IS NULL").fetchone()[0]
    return count


BY_PERSON, BY_FILE = "person", "file"
"""How a fault of a clip was found: by a person who looked at it, or by reading the file."""


def add_fault(db: Database, moment_id: MomentId, reason: str, *, at: float, found_by: str = BY_PERSON) -> None:
    """Store that a moment's clip cannot be shown, and why. A reason that is already stored stays."""
    db.conn.execute(
        "INSERT OR IGNORE INTO clip_fault (moment_id, reason, reported_at, found_by) VALUES (?, ?, ?, ?)",
        [moment_id, to_stored(reason), at, found_by],
    )


def is_faulty(db: Database, moment_id: MomentId) -> bool:
    """Return whether a moment's clip is stored as one that cannot be shown."""
    row = db.conn.execute("SELECT EXISTS (SELECT 1 FROM clip_fault WHERE moment_id = ?)", [moment_id]).fetchone()
    return bool(row[0])


def is_blocked_by_reports(db: Database, moment_id: MomentId) -> bool:
    """Return whether a moment is not handed out only because annotators reported its clip as broken.

    False if its file has a fault, or if a lead has reported it later.
    """
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM clip_fault WHERE moment_id = :moment AND found_by = 'person') AND 'annotator' = "
        "(SELECT a.role FROM event e JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.subject = :subject AND e.kind = :kind ORDER BY e.event_id DESC LIMIT 1)",
        {"moment": moment_id, "subject": f"moment:{moment_id}", "kind": CLIP_REPORTED.kind},
    ).fetchone()
    return bool(row[0])


def remove_fault(db: Database, moment_id: MomentId) -> None:
    """Forget that a moment's clip cannot be shown, so that its pairs are handed out again."""
    db.conn.execute("DELETE FROM clip_fault WHERE moment_id = ?", [moment_id])
