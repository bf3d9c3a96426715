"""Run the SQL for judgements (stored grades), annotators' notes on them, and leads' replies to the notes."""

from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Row

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.judging.model import CORRECTION_S, GRADE_REFUSED, Judgement, MyReply
from backend.campaign.judging.rows.seats import GOLD_SEAT_NO, GRADED, Seat
from backend.campaign.selection.candidates.rows import PROBE_PAIRS
from backend.core import days
from backend.core.ids import AnnotatorId, BatchId, MomentId, PairId, PairKey
from backend.store.engine import Database, Select, fetch_one, run_later

_PAIR = f"p.pair_id, p.pair_key, p.batch_id, q.text, p.moment_id, v.name, m.start_s, m.end_s, {WHOLE}"
_OF_PAIR = "JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id)"

_JUDGEMENT = (
    "j.pair_id, j.annotator_id, j.grade, (j.seat_no + 1) / 2, "
    "strftime('%Y-%m-%dT%H:%M:%SZ', j.graded_at, 'unixepoch'), j.active_ms, j.elapsed_ms, j.contexts, j.simulated"
)
"""The columns of a judgement in the raw annotations of a release."""
_IN_ORDER = "ORDER BY p.query_id IS NULL, p.query_id, p.rank, j.pair_id, j.seat_no"


def changeable(graded_at: str) -> str:
    """Return SQL for whether a grade may still be corrected because of its age, given the SQL of its time.

    `:final` is `CORRECTION_S` seconds ago. A grade from later than `CORRECTION_S` from now is from before the clock was
    set back, and is final.
    """
    return f"({graded_at} > :final AND {graded_at} <= :final + {2 * CORRECTION_S})"


# The newest reply to each note of the person, for pairs that nobody can grade or correct any more.
# CROSS JOIN starts at the few replies, not at all judgements of the person: this runs at every exchange.
_REPLIES = f"""
  FROM note_reply AS r CROSS JOIN note AS n USING (judgement_id) CROSS JOIN judgement AS j USING (judgement_id)
  CROSS JOIN consensus AS c USING (pair_id)
  WHERE j.annotator_id = :me AND c.verdict IN ('consensus', 'discarded', 'adjudicated')
  AND NOT EXISTS (SELECT 1 FROM note_reply AS l WHERE l.judgement_id = r.judgement_id AND l.reply_id > r.reply_id)
  AND NOT EXISTS (SELECT 1 FROM judgement AS f WHERE f.pair_id = j.pair_id AND {changeable("f.graded_at")})
"""
_UNREAD = "NOT EXISTS (SELECT 1 FROM reply_read AS d WHERE d.reply_id = r.reply_id)"


@dataclass(frozen=True, slots=True)
class PairRow:
    """A pair with its query and its moment of a video.

    `pair_key` is the random key that browsers use. `whole` says that the moment is the whole video.
    """

    pair_id: PairId
    pair_key: PairKey
    batch_id: BatchId
    query: str
    moment_id: MomentId
    video: str
    start_s: float
    end_s: float
    whole: bool


@dataclass(frozen=True, slots=True)
class CurrentGrade:
    """The current grade of one annotator for a pair, that is the newest revision.

    `seat_no` is the number of the annotator's place at the pair, and `graded_at` is in seconds since 1970. `imported`
    means that the grade is from an earlier campaign.
    """

    seat_no: int
    annotator_id: AnnotatorId
    grade: int
    revision: int
    graded_at: float
    imported: bool
    gold: bool = False
    """Whether this is an answer to a gold question, not a judgement."""


def pair_by_key(db: Database, key: PairKey) -> PairRow | None:
    """Return the pair with this key, as a browser sends it; None if there is none."""
    return fetch_one(db, pair_select(key))


def pair_select(key: PairKey) -> Select[PairRow | None]:
    """Select the pair with this key, as a browser sends it; None if there is none."""
    return Select(
        f"SELECT {_PAIR} FROM pair p {_OF_PAIR} WHERE p.pair_key = :key",
        {"key": key},
        lambda rows: _pair(rows[0]) if rows else None,
    )


def batch_select(key: PairKey) -> Select[BatchId | None]:
    """Select the batch of the pair with this key; None if there is no such pair, or if it is in no batch."""
    sql = "SELECT batch_id FROM pair WHERE pair_key = :key"
    return Select(sql, {"key": key}, lambda rows: rows[0][0] if rows else None)


def ungraded_select(me: AnnotatorId) -> Select[list[PairRow]]:
    """Select the pairs that are reserved for this annotator and not graded, gold questions included, in any order."""
    return Select(
        f"SELECT {_PAIR} FROM (SELECT pair_id FROM seat WHERE annotator_id = :me AND lease_until IS NOT NULL "
        "UNION SELECT pair_id FROM gold_seat WHERE annotator_id = :me AND lease_until IS NOT NULL) AS s "
        f"JOIN pair p USING (pair_id) {_OF_PAIR}",
        {"me": me},
        lambda rows: [_pair(row) for row in rows],
    )


def _pair(row: Row) -> PairRow:
    return PairRow(
        PairId(row[0]),
        PairKey(row[1]),
        BatchId(row[2]),
        row[3],
        MomentId(row[4]),
        row[5],
        float(row[6]),
        float(row[7]),
        bool(row[8]),
    )


def key_press_select(pair_id: PairId, key: str) -> Select[tuple[tuple[PairId, AnnotatorId] | None, str | None]]:
    """Select whether a grade was stored or refused; `key` identifies the key press that gave it.

    The answer has two values. The first is (pair, annotator) of the stored grade; None if no grade was stored. The
    second is the reason for which the grade was refused at this pair; None if it was not refused.
    """

    def read(rows: list[Row]) -> tuple[tuple[PairId, AnnotatorId] | None, str | None]:
        owners = [(PairId(row[0]), AnnotatorId(row[1])) for row in rows if row[0] is not None]
        reasons = [row[2] for row in rows if row[0] is None]
        return owners[-1] if owners else None, reasons[-1] if reasons else None

    return Select(
        "SELECT pair_id, annotator_id, NULL FROM judgement WHERE event_key = :key "
        "UNION ALL SELECT pair_id, annotator_id, NULL FROM gold_answer WHERE event_key = :key "
        "UNION ALL SELECT NULL, NULL, payload ->> 'why' FROM event WHERE subject = :subject "
        "AND kind = :refused AND payload ->> 'event_key' = :key",
        {"key": key, "subject": f"pair:{pair_id}", "refused": GRADE_REFUSED.kind},
        read,
    )


def add(
    db: Database,
    seat: Seat,
    me: AnnotatorId,
    grade: int,
    *,
    revision: int,
    at: float,
    active_ms: int,
    elapsed_ms: int | None,
    contexts: int,
    event_key: str,
    simulated: bool = False,
    note: str | None = None,
) -> None:
    """Append a judgement (a stored grade) of annotator `me` at a seat, the annotator's place at a pair.

    The database refuses it if the seat is not this annotator's. The seat may be of a gold question (a hidden pair with
    a known grade). Then the grade is stored as an answer to the question. `note` is the note that came with it, for
    leads; None if there is none, and an empty text removes an earlier note.
    """
    given = [seat.pair_id, me, revision, grade, at, active_ms, elapsed_ms, contexts, event_key]
    if seat.gold:
        run_later(
            db,
            "INSERT INTO gold_answer (pair_id, annotator_id, revision, grade, graded_at, active_ms, elapsed_ms, "
            "contexts, event_key, note, after_judgement) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "(SELECT coalesce(max(judgement_id), 0) FROM judgement WHERE annotator_id = ?))",
            [*given, note, me],
        )
        return
    run_later(
        db,
        "INSERT INTO judgement (pair_id, annotator_id, revision, grade, graded_at, active_ms, elapsed_ms, contexts, "
        "event_key, seat_no, simulated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*given, seat.seat_no, simulated],
    )
    if note is not None:
        run_later(
            db,
            "INSERT INTO note (judgement_id, text) SELECT judgement_id, ? FROM judgement WHERE event_key = ?",
            [note, event_key],
        )


def current_grades(db: Database, pair_id: PairId) -> list[CurrentGrade]:
    """Return the current grades of a pair, in the order of the annotators' places at it."""
    return fetch_one(db, grades_select(pair_id))


def grades_select(pair_id: PairId) -> Select[list[CurrentGrade]]:
    """Select the current grades of a pair, in the order of the annotators' places at it."""
    return Select(
        "SELECT seat_no, annotator_id, grade, revision, graded_at, imported FROM standing WHERE pair_id = :pair "
        "ORDER BY seat_no",
        {"pair": pair_id},
        lambda rows: [CurrentGrade(r[0], AnnotatorId(r[1]), r[2], r[3], r[4], bool(r[5])) for r in rows],
    )


def own_grade_select(pair_id: PairId, me: AnnotatorId) -> Select[CurrentGrade | None]:
    """Select this annotator's current grade of a pair; None if they have not graded it.

    Their answer counts too if the pair is a gold question (a hidden pair with a known grade).
    """
    return Select(
        "SELECT seat_no, grade, revision, graded_at, imported, 0 AS gold FROM standing "
        "WHERE pair_id = :pair AND annotator_id = :me "
        f"UNION ALL SELECT * FROM (SELECT {GOLD_SEAT_NO}, grade, revision, graded_at, 0, 1 FROM gold_answer "
        "WHERE annotator_id = :me AND pair_id = :pair ORDER BY revision DESC LIMIT 1) AS known ORDER BY gold",
        {"pair": pair_id, "me": me},
        lambda rows: _own_grade(rows[0], me) if rows else None,
    )


def _own_grade(row: Row, me: AnnotatorId) -> CurrentGrade:
    return CurrentGrade(row[0], me, row[1], row[2], row[3], imported=bool(row[4]), gold=bool(row[5]))


def last_graded_select(me: AnnotatorId) -> Select[tuple[PairRow, int] | None]:
    """Select (pair, grade) of the pair that this annotator graded last; None if there is none.

    Pairs that they answered in an exam are left out.
    """
    sql, values = _graded(me, 1)
    return Select(sql, values, lambda rows: (_pair(rows[0]), rows[0][9]) if rows else None)


def recently_graded(db: Database, me: AnnotatorId, most: int) -> list[tuple[PairRow, int, float]]:
    """Return (pair, grade, time in seconds since 1970) of the pairs that this annotator graded last, newest first.

    Pairs come in the order of saving, because clocks may be wrong. Pairs that the annotator answered in an exam are
    left out. The result has at most `most` pairs. It may have fewer although there are more, because corrected pairs
    have several grades and only a limited number of grades is read.
    """
    rows = db.conn.execute(*_graded(me, 2 * most))
    newest: dict[PairId, tuple[PairRow, int, float]] = {}
    for row in rows:
        newest.setdefault(PairId(row[0]), (_pair(row), row[9], row[10]))
    return list(newest.values())[:most]


def _graded(me: AnnotatorId, rows: int) -> tuple[str, dict[str, int]]:
    """Return SQL for the newest grades of a person, with its values; `rows` is their largest number."""
    sql = (
        f"SELECT {_PAIR}, g.grade, g.graded_at FROM ("
        "SELECT * FROM (SELECT pair_id, grade, graded_at, after_judgement AS place, 1 AS gold, gold_answer_id AS nth "
        "FROM gold_answer WHERE annotator_id = :me ORDER BY gold_answer_id DESC LIMIT :rows) AS known "
        "UNION ALL SELECT * FROM (SELECT pair_id, grade, graded_at, judgement_id, 0, 0 FROM judgement AS j "
        "WHERE annotator_id = :me AND NOT EXISTS "
        "(SELECT 1 FROM known_pair k WHERE k.pair_id = j.pair_id AND k.annotator_id = j.annotator_id) "
        f"ORDER BY judgement_id DESC LIMIT :rows) AS given) AS g JOIN pair p USING (pair_id) {_OF_PAIR} "
        "ORDER BY g.place DESC, g.gold DESC, g.nth DESC LIMIT :rows"
    )
    return sql, {"me": me, "rows": rows}


def counts(db: Database, me: AnnotatorId, now: float) -> tuple[int, int]:
    """Return how many pairs this annotator first graded on the day of `now` (seconds since 1970), and how many in all.

    Grades of a later day, from before the clock was set back, do not count towards today's quota.
    """
    return fetch_one(db, counts_select(me, now))


def counts_select(me: AnnotatorId, now: float) -> Select[tuple[int, int]]:
    """Select how many pairs this annotator first graded on the day of `now`, and how many in all; see `counts`."""
    of_today = "annotator_id = :me AND revision = 1 AND graded_at >= :since AND graded_at < :until"
    return Select(
        f"SELECT (SELECT count(*) FROM judgement WHERE {of_today}) "
        f"+ (SELECT count(*) FROM gold_answer WHERE {of_today}) AS today, {GRADED} AS in_all",
        {"me": me, "since": days.midnight(now), "until": days.end_of_day(days.day_of(now))},
        lambda rows: (rows[0][0], rows[0][1]),
    )


def released_grades(
    db: Database,
) -> Iterator[tuple[PairId, AnnotatorId, int, int, str, int, int | None, int, int]]:
    """Yield the current grades for a release.

    Each is (pair, annotator, grade, round, time in UTC, active_ms, elapsed_ms, contexts, simulated). Rounds count from
    1: the first two grades, then two more if these disagree, then two more if a lead asks for them. `contexts` is how
    often the person watched the seconds around the moment. Pairs that were only graded to find out how deep judging
    must go (probes) are left out.
    """
    rows = db.conn.execute(
        f"SELECT {_JUDGEMENT} FROM standing j JOIN pair p USING (pair_id) "
        f"WHERE pair_id NOT IN {PROBE_PAIRS} {_IN_ORDER}"
    )
    for r in rows:
        yield PairId(r[0]), AnnotatorId(r[1]), r[2], r[3], r[4], r[5], r[6], r[7], r[8]


def all_judgements(db: Database, *, revisions: bool, names: bool, first: int, most: int) -> list[Judgement]:
    """Return the judgements of all pairs, in the order of a release.

    Judgements of probes (pairs that are graded only to learn how deep judging must go) are included.

    Args:
        db: the database.
        revisions: also return grades that their annotator corrected later.
        names: fill the field `name`, which is None otherwise.
        first: how many judgements to skip.
        most: how many judgements to return at most; below 0, all.
    """
    current = "SELECT max(l.revision) FROM judgement l WHERE l.pair_id = j.pair_id AND l.seat_no = j.seat_no"
    rows = db.conn.execute(
        f"SELECT {_JUDGEMENT}, p.query_id, a.name, j.revision, j.revision = ({current}), j.imported, "
        f"j.pair_id IN {PROBE_PAIRS} FROM {'judgement' if revisions else 'standing'} j JOIN pair p USING (pair_id) "
        f"JOIN annotator a USING (annotator_id) {_IN_ORDER}, j.revision LIMIT :most OFFSET :first",
        {"most": most, "first": first},
    )
    return [
        Judgement(
            pair_id=PairId(r[0]),
            query_id=r[9],
            annotator=AnnotatorId(r[1]),
            name=r[10] if names else None,
            grade=r[2],
            round=r[3],
            revision=r[11],
            current=bool(r[12]),
            graded_at=r[4],
            active_ms=r[5],
            elapsed_ms=r[6],
            contexts=r[7],
            simulated=bool(r[8]),
            imported=bool(r[13]),
            probe=bool(r[14]),
        )
        for r in rows
    ]


def note_select(pair_id: PairId, me: AnnotatorId) -> Select[str]:
    """Select this annotator's current note on a pair; empty if there is none."""
    return Select(
        "SELECT text FROM standing_note WHERE pair_id = :pair AND annotator_id = :me UNION ALL SELECT * FROM ("
        "SELECT note FROM gold_answer WHERE pair_id = :pair AND annotator_id = :me AND note IS NOT NULL "
        "ORDER BY revision DESC LIMIT 1) AS known",
        {"pair": pair_id, "me": me},
        lambda rows: str(rows[0][0]) if rows else "",
    )


def note_by_id(db: Database, judgement_id: int) -> tuple[PairId, str] | None:
    """Return (pair, text) of the note that came with a judgement, current or replaced; None if there is none."""
    row = db.conn.execute(
        "SELECT j.pair_id, n.text FROM note n JOIN judgement j USING (judgement_id) WHERE n.judgement_id = ?",
        [judgement_id],
    ).fetchone()
    return (PairId(row[0]), row[1]) if row else None


def newest_reply(db: Database, judgement_id: int) -> tuple[int, str, str, float] | None:
    """Return (id, name of the lead, text, time in seconds since 1970) of the newest reply to a note; None without one.

    `judgement_id` is the judgement with the note.
    """
    row = db.conn.execute(
        "SELECT r.reply_id, a.name, r.text, r.replied_at FROM note_reply r "
        "JOIN annotator a ON a.annotator_id = r.lead_id WHERE r.judgement_id = ? ORDER BY r.reply_id DESC LIMIT 1",
        [judgement_id],
    ).fetchone()
    return (row[0], row[1], row[2], row[3]) if row else None


def add_reply(db: Database, judgement_id: int, lead: AnnotatorId, text: str, *, at: float) -> None:
    """Store a lead's reply to the note that came with a judgement."""
    db.conn.execute(
        "INSERT INTO note_reply (judgement_id, lead_id, text, replied_at) VALUES (?, ?, ?, ?)",
        [judgement_id, lead, text, at],
    )


def replies_to(db: Database, me: AnnotatorId, *, final_before: float) -> list[MyReply]:
    """Return the leads' replies that an annotator may read: unread ones, then read ones, each the newest first.

    Args:
        db: the database.
        me: the annotator who wrote the notes.
        final_before: a reply may be read only if its pair needs no more grades and all its grades are older than this
            time, in seconds since 1970. So nobody learns something about a pair that can still change.
    """
    query = "SELECT q.text FROM pair AS p JOIN query AS q USING (query_id) WHERE p.pair_id = j.pair_id"
    grade = "SELECT s.grade FROM standing AS s WHERE s.pair_id = j.pair_id AND s.seat_no = j.seat_no"
    rows = db.conn.execute(
        f"SELECT r.reply_id, ({query}), ({grade}), n.text, r.text, r.replied_at, {_UNREAD} AS is_new {_REPLIES} "
        "ORDER BY is_new DESC, r.reply_id DESC",
        {"me": me, "final": final_before},
    )
    return [MyReply(r[0], r[1], r[2], r[3], r[4], r[5], bool(r[6])) for r in rows]


def unread_replies(db: Database, me: AnnotatorId, *, final_before: float) -> int:
    """Count the replies to their notes that an annotator may read and has not read; see `replies_to`."""
    return fetch_one(db, unread_select(me, final_before=final_before))


def unread_select(me: AnnotatorId, *, final_before: float) -> Select[int]:
    """Select how many replies to their notes an annotator may read and has not read; see `replies_to`."""
    sql = f"SELECT count(*) {_REPLIES} AND {_UNREAD}"
    return Select(sql, {"me": me, "final": final_before}, lambda rows: int(rows[0][0]))


def mark_replies_read(db: Database, me: AnnotatorId, *, final_before: float, at: float) -> None:
    """Mark all replies that an annotator may read now as read; see `replies_to`."""
    db.conn.execute(
        f"INSERT INTO reply_read (reply_id, read_at) SELECT r.reply_id, :at {_REPLIES} AND {_UNREAD}",
        {"me": me, "final": final_before, "at": at},
    )
