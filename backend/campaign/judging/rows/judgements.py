"""Judgements, broken clips, and the verdicts that follow from grades and from what leads did."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from sqlite3 import Row

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.judging.rows import gold_seats
from backend.campaign.judging.rows.seats import GRADED, Seat
from backend.campaign.nouns import Verdict
from backend.campaign.selection.candidates.rows.lists import PROBE_PAIRS
from backend.core.ids import AnnotatorId, BatchId, MomentId, PairId, PairKey
from backend.core.saying import kept
from backend.store.engine import Database, added
from backend.store.events import EventKind

_PAIR = f"p.pair_id, p.pair_key, p.batch_id, q.text, p.moment_id, v.name, m.start_s, m.end_s, {WHOLE}"
_OF_PAIR = "JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id)"


@dataclass(frozen=True, slots=True)
class PairRow:
    """What a pair is made of."""

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
class Standing:
    """The grade that counts for one seat: its newest revision."""

    seat_no: int
    annotator_id: AnnotatorId
    grade: int
    revision: int
    graded_at: float
    imported: bool
    gold: bool = False
    """No judgement, and of a gold pair."""


def pair_by_key(db: Database, key: PairKey) -> PairRow | None:
    """The pair behind an opaque name."""
    row = db.conn.execute(f"SELECT {_PAIR} FROM pair p {_OF_PAIR} WHERE p.pair_key = ?", [key]).fetchone()
    return _pair(row) if row else None


def _pair(row: Row) -> PairRow:
    return PairRow(
        PairId(row[0]), PairKey(row[1]), BatchId(row[2]), row[3], MomentId(row[4]), row[5], row[6], row[7], bool(row[8])
    )


def key_press(db: Database, pair_id: PairId, key: str) -> tuple[tuple[PairId, AnnotatorId] | None, str | None]:
    """(pair and person that a key press was stored for before, why it was refused at this pair), each if it was."""
    owner, why = None, None
    for row in db.conn.execute(
        "SELECT pair_id, annotator_id, NULL FROM judgement WHERE event_key = :key "
        "UNION ALL SELECT pair_id, annotator_id, NULL FROM gold_answer WHERE event_key = :key "
        "UNION ALL SELECT NULL, NULL, payload ->> 'why' FROM event WHERE subject = :subject "
        "AND kind = 'grade_refused' AND payload ->> 'event_key' = :key",
        {"key": key, "subject": f"pair:{pair_id}"},
    ):
        if row[0] is None:
            why = row[2]
        else:
            owner = PairId(row[0]), AnnotatorId(row[1])
    return owner, why


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
) -> int:
    """Append a judgement, and tell its id; the composite foreign key refuses one without its seat.

    At a gold seat it is an answer, which keeps its `note` itself.
    """
    if seat.gold:
        return added(
            db,
            "INSERT INTO gold_answer (pair_id, annotator_id, revision, grade, graded_at, active_ms, elapsed_ms, "
            "contexts, event_key, note, after_judgement) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "(SELECT coalesce(max(judgement_id), 0) FROM judgement WHERE annotator_id = ?)) RETURNING gold_answer_id",
            [seat.pair_id, me, revision, grade, at, active_ms, elapsed_ms, contexts, event_key, note, me],
        )
    return added(
        db,
        "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, active_ms, elapsed_ms, "
        "contexts, event_key, simulated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING judgement_id",
        [seat.pair_id, seat.seat_no, me, revision, grade, at, active_ms, elapsed_ms, contexts, event_key, simulated],
    )


def standing(db: Database, pair_id: PairId) -> list[Standing]:
    """The grades of a pair that count, in seat order."""
    rows = db.conn.execute(
        "SELECT seat_no, annotator_id, grade, revision, graded_at, imported FROM standing WHERE pair_id = ? "
        "ORDER BY seat_no",
        [pair_id],
    )
    return [Standing(r[0], AnnotatorId(r[1]), r[2], r[3], r[4], bool(r[5])) for r in rows]


def own(db: Database, pair_id: PairId, me: AnnotatorId) -> Standing | None:
    """The grade of a pair that counts for this person, gold or not; None if they have not graded it."""
    if found := next((grade for grade in standing(db, pair_id) if grade.annotator_id == me), None):
        return found
    row = db.conn.execute(
        "SELECT grade, revision, graded_at FROM gold_answer WHERE annotator_id = ? AND pair_id = ? "
        "ORDER BY revision DESC LIMIT 1",
        [me, pair_id],
    ).fetchone()
    return Standing(gold_seats.SEAT_NO, me, row[0], row[1], row[2], imported=False, gold=True) if row else None


def last_graded(db: Database, me: AnnotatorId) -> tuple[PairRow, int] | None:
    """The pair this person graded last and the grade they gave; the order of saving counts, clocks go astray.

    Never one that they answered in an exam.
    """
    row = db.conn.execute(
        f"SELECT {_PAIR}, g.grade FROM ("
        "SELECT * FROM (SELECT pair_id, grade, after_judgement AS place, 1 AS gold FROM gold_answer "
        "WHERE annotator_id = :me ORDER BY gold_answer_id DESC LIMIT 1) "
        "UNION ALL SELECT * FROM (SELECT pair_id, grade, judgement_id, 0 FROM judgement AS j WHERE annotator_id = :me "
        "AND NOT EXISTS (SELECT 1 FROM known_pair k WHERE k.pair_id = j.pair_id AND k.annotator_id = j.annotator_id) "
        f"ORDER BY judgement_id DESC LIMIT 1)) AS g JOIN pair p USING (pair_id) {_OF_PAIR} "
        "ORDER BY g.place DESC, g.gold DESC LIMIT 1",
        {"me": me},
    ).fetchone()
    return (_pair(row), row[9]) if row else None


def counts(db: Database, me: AnnotatorId, since: float) -> tuple[int, int]:
    """How many pairs this person graded for the first time at or after an instant, and how many in all."""
    later, in_all = db.conn.execute(
        "SELECT (SELECT count(*) FROM judgement WHERE annotator_id = :me AND revision = 1 AND graded_at >= :since) "
        "+ (SELECT count(*) FROM gold_answer WHERE annotator_id = :me AND revision = 1 AND graded_at >= :since), "
        f"{GRADED}",
        {"me": me, "since": since},
    ).fetchone()
    return later, in_all


def verdict(db: Database, pair_id: PairId) -> Verdict:
    """The stored verdict of a pair."""
    row = db.conn.execute("SELECT verdict FROM consensus WHERE pair_id = ?", [pair_id]).fetchone()
    return Verdict(row[0]) if row else Verdict.OPEN


def set_verdict(
    db: Database,
    pair_id: PairId,
    verdict: Verdict,
    relevance: int | None,
    mean: float | None,
    rule_version: str,
) -> None:
    """Store what the rule, or a lead, says now; an open pair has no row."""
    if verdict is Verdict.OPEN:
        db.conn.execute("DELETE FROM consensus WHERE pair_id = ?", [pair_id])
        return
    db.conn.execute(
        "INSERT INTO consensus (pair_id, verdict, relevance, mean, rule_version) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (pair_id) DO UPDATE SET verdict = excluded.verdict, relevance = excluded.relevance, "
        "mean = excluded.mean, rule_version = excluded.rule_version",
        [pair_id, verdict.value, relevance, mean, rule_version],
    )


BY_PERSON, BY_FILE = "person", "file"
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
        {"moment": moment_id, "subject": f"moment:{moment_id}", "kind": EventKind.CLIP_REPORTED},
    ).fetchone()
    return bool(row[0])


def remove_fault(db: Database, moment_id: MomentId) -> None:
    """This moment's clip may be shown again."""
    db.conn.execute("DELETE FROM clip_fault WHERE moment_id = ?", [moment_id])


def released_standing(
    db: Database,
) -> Iterator[tuple[PairId, AnnotatorId, int, int, str, int, int | None, int, int]]:
    """(pair, annotator, grade, round, when in UTC, active_ms, elapsed_ms, contexts, simulated) of all that count.

    Not of pairs that are a probe's alone.
    """
    rows = db.conn.execute(
        "SELECT pair_id, annotator_id, grade, (seat_no + 1) / 2, "
        "strftime('%Y-%m-%dT%H:%M:%SZ', graded_at, 'unixepoch'), active_ms, elapsed_ms, contexts, "
        f"simulated FROM standing JOIN pair p USING (pair_id) WHERE pair_id NOT IN {PROBE_PAIRS} "
        "ORDER BY p.query_id IS NULL, p.query_id, p.rank, pair_id, seat_no"
    )
    for r in rows:
        yield PairId(r[0]), AnnotatorId(r[1]), r[2], r[3], r[4], r[5], r[6], r[7], r[8]


def grades_by_pair(db: Database) -> dict[PairId, list[int]]:
    """The grades that count of every pair that has any, sorted."""
    found: defaultdict[PairId, list[int]] = defaultdict(list)
    for pair_id, grade in db.conn.execute("SELECT pair_id, grade FROM standing ORDER BY pair_id, grade"):
        found[pair_id].append(grade)
    return found


def replace_verdicts(db: Database, verdicts: Iterable[tuple[PairId, Verdict, int | None, float | None, str]]) -> None:
    """Put these (pair, verdict, relevance, mean, version of the rule) in the place of all stored; none is open."""
    db.conn.execute("DELETE FROM consensus")
    db.conn.executemany(
        "INSERT INTO consensus (pair_id, verdict, relevance, mean, rule_version) VALUES (?, ?, ?, ?, ?)",
        ((pair_id, verdict.value, *rest) for pair_id, verdict, *rest in verdicts),
    )
