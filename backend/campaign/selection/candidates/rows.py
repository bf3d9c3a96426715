"""Store and read candidate lists with their sources, batches of pairs, and the agenda.

The agenda is the table of batches with pairs that still need annotators, those nearest to completion first. It is
derived from the seats (the places for annotators at each pair). It has one row for each batch, so that finding the next
batch is fast however many pairs there are. Call `refresh_agenda` after every change that may affect the row of a batch.
"""

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from backend.campaign.selection.candidates.model import CandidateSource, FoundSpan, SourceKind
from backend.campaign.setup.project.model import PROJECT_SPLIT, StoredSettings
from backend.core.ids import AnnotatorId, BatchId, MomentId, PairId, QueryId
from backend.store.engine import Database, insert_returning_id, run_later

# The seats without a judgement. The holder does not matter: a lease may end.
_WANTING = """
  FROM pair p JOIN seat s USING (pair_id)
  WHERE (s.annotator_id IS NULL OR s.lease_until IS NOT NULL) AND s.closed = 0
    AND p.batch_id IS NOT NULL AND {where}
    AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id)
    AND NOT EXISTS (SELECT 1 FROM set_aside o WHERE o.pair_id = p.pair_id)
"""
AGENDA_ROWS = (
    "SELECT w.batch_id, max(w.seat_no) AS nearest, max(q.position) AS position "
    f"FROM (SELECT p.batch_id, p.query_id, min(s.seat_no) AS seat_no {_WANTING} GROUP BY p.pair_id) AS w "
    "JOIN query q USING (query_id) GROUP BY w.batch_id"
)
"""SQL for the rows that the agenda should have; `where` restricts it to some pairs."""


def refresh_agenda(db: Database, batch_id: BatchId) -> None:
    """Update the row of one batch in the agenda, the table of batches that still need annotators."""
    _refresh(db, "SELECT :number", batch_id)


def refresh_agenda_of_pair(db: Database, pair_id: PairId) -> None:
    """Update the row of a pair's batch in the agenda, the table of batches that still need annotators.

    A pair without a batch changes nothing.
    """
    _refresh(db, "SELECT batch_id FROM pair WHERE pair_id = :number", pair_id)


def _refresh(db: Database, which: str, number: int) -> None:
    """Write the row of one batch in the agenda, the table of batches that still need annotators, if it has changed.

    `which` is SQL with the parameter `number` that selects the batch.
    """
    where, values = f"p.batch_id = ({which})", {"number": number}
    wanting = _WANTING.format(where=where)
    run_later(db, f"DELETE FROM agenda WHERE batch_id = ({which}) AND NOT EXISTS (SELECT 1 {wanting})", values)
    run_later(
        db,
        f"INSERT INTO agenda (batch_id, nearest, position) {AGENDA_ROWS.format(where=where)} ON CONFLICT (batch_id) "
        "DO UPDATE SET nearest = excluded.nearest WHERE agenda.nearest <> excluded.nearest",
        values,
    )


def refresh_agenda_of_moment(db: Database, moment_id: MomentId) -> None:
    """Update the rows of all batches with this moment in the agenda, the table of batches that need annotators."""
    for row in db.conn.execute("SELECT DISTINCT batch_id FROM pair WHERE moment_id = ?", [moment_id]).fetchall():
        refresh_agenda(db, BatchId(row[0]))


def rebuild_agenda(db: Database) -> None:
    """Rebuild the whole agenda, which is the table of batches that still need annotators."""
    db.conn.execute("DELETE FROM agenda")
    db.conn.execute(f"INSERT INTO agenda (batch_id, nearest, position) {AGENDA_ROWS.format(where='TRUE')}")


PROBE_PAIRS = "(SELECT t.pair_id FROM batch AS o JOIN pair AS t USING (batch_id) WHERE o.number IS NULL)"
"""SQL for the pairs that are judged for a probe alone, for use in a condition."""

STILL_LISTED = (
    "((SELECT count(*) FROM candidate k WHERE k.query_id = {query}) - (SELECT count(*) FROM batch n "
    "JOIN pair t USING (batch_id) WHERE n.query_id = {query} AND n.number IS NOT NULL))"
)
"""SQL for the number of a query's candidates that no batch has handed out.

It is below 0 for pairs of an earlier campaign, which came from no list."""


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One entry of a stored candidate list, which is never recomputed."""

    query_id: QueryId
    rank: int
    moment_id: MomentId
    similarity: float


_New = tuple[MomentId, int, float | None, str | None]
"""A pair to create: its moment, rank, similarity, and the encoder of the similarity."""


def add_candidates(
    db: Database, rows: Iterable[CandidateRow], encoder: str, *, at: float, by: AnnotatorId | None = None
) -> None:
    """Store candidate lists found by captions alone, with the identity of the encoder."""
    add_listed(db, ((row.query_id, row.rank, row.moment_id, row.similarity, encoder) for row in rows))
    note_similar(db, encoder, at=at, by=by)


def add_listed(db: Database, rows: Iterable[tuple[QueryId, int, MomentId, float | None, str | None]]) -> None:
    """Store entries of candidate lists, each (query, rank, moment, similarity, encoder).

    Similarity and encoder are both None if the candidate was not found by its caption.
    """
    db.conn.executemany(
        "INSERT INTO candidate (query_id, rank, moment_id, similarity, encoder) VALUES (?, ?, ?, ?, ?)", rows
    )


def list_pairs(db: Database) -> None:
    """Store the pairs of an earlier campaign as the candidate lists of their queries, which have no lists yet."""
    db.conn.execute(
        "INSERT INTO candidate (query_id, rank, moment_id, similarity, encoder) "
        "SELECT p.query_id, row_number() OVER (PARTITION BY p.query_id ORDER BY p.rank, p.pair_id), p.moment_id, "
        "p.similarity, p.encoder FROM pair p JOIN batch b USING (batch_id) WHERE b.number IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM candidate k WHERE k.query_id = p.query_id)"
    )


def listed(db: Database) -> dict[QueryId, list[MomentId]]:
    """Map each validation or test query to the moments of its stored candidate list, by rank."""
    moments: dict[QueryId, list[MomentId]] = defaultdict(list)
    for row in db.conn.execute(
        "SELECT k.query_id, k.moment_id FROM candidate k JOIN query q USING (query_id) WHERE q.split <> 'train' "
        "ORDER BY k.query_id, k.rank"
    ):
        moments[QueryId(row[0])].append(MomentId(row[1]))
    return moments


def last_rank(db: Database, query_id: QueryId) -> int:
    """Return the rank of the last candidate in a query's list; 0 without any."""
    row = db.conn.execute("SELECT coalesce(max(rank), 0) FROM candidate WHERE query_id = ?", [query_id]).fetchone()
    return int(row[0])


def handed_out(db: Database) -> dict[QueryId, set[MomentId]]:
    """Map each query to the moments that its batches have given to annotators.

    Moments that were judged only to learn how deep judging must go (the query's probe) are left out.
    """
    moments: dict[QueryId, set[MomentId]] = defaultdict(set)
    for row in db.conn.execute(
        "SELECT p.query_id, p.moment_id FROM pair p JOIN batch b USING (batch_id) WHERE b.number IS NOT NULL"
    ):
        moments[QueryId(row[0])].add(MomentId(row[1]))
    return moments


def open_batches(db: Database) -> dict[QueryId, int]:
    """Map each query to its number of open batches."""
    rows = db.conn.execute("SELECT query_id, count(*) FROM batch WHERE number IS NOT NULL GROUP BY query_id")
    return {QueryId(row[0]): row[1] for row in rows}


def training_lists(db: Database, query_ids: Sequence[QueryId]) -> dict[QueryId, list[CandidateRow]]:
    """Map training queries to their stored candidate lists, by rank.

    Only a project made from a release stores such lists.
    """
    lists: dict[QueryId, list[CandidateRow]] = {}
    for query_id in query_ids:
        rows = db.conn.execute(
            "SELECT rank, moment_id, similarity FROM candidate WHERE query_id = ? ORDER BY rank", [query_id]
        )
        lists[query_id] = [CandidateRow(query_id, *row) for row in rows]
    return lists


def longest_training_list(db: Database) -> int:
    """Return the length of the longest stored list of a training query; 0 where no such list is stored."""
    training = "SELECT query_id FROM query WHERE split = 'train'"
    row = db.conn.execute(f"SELECT coalesce(max(rank), 0) FROM candidate WHERE query_id IN ({training})").fetchone()
    return int(row[0])


def encoder_of_candidates(db: Database) -> str | None:
    """Return the identity of the encoder that computed the stored similarities; None if there are none."""
    row = db.conn.execute("SELECT encoder FROM candidate WHERE encoder IS NOT NULL LIMIT 1").fetchone()
    return row[0] if row else None


def open_batch(
    db: Database, campaign: StoredSettings, query_id: QueryId, number: int, *, at: float, by: AnnotatorId | None
) -> int:
    """Give a query's next candidates by rank to annotators, as one batch of at most the campaign's batch size.

    `number` is the number of the batch, from 1.

    Returns:
        The number of pairs in the batch (0 if no candidate is left).
    """
    chosen = db.conn.execute(
        """
        SELECT k.moment_id FROM candidate k WHERE k.query_id = ? AND NOT EXISTS (
          SELECT 1 FROM pair p JOIN batch b USING (batch_id)
          WHERE p.query_id = k.query_id AND p.moment_id = k.moment_id AND b.number IS NOT NULL)
        ORDER BY k.rank LIMIT ?
        """,
        [query_id, campaign.batch_size],
    )
    moments = [MomentId(row[0]) for row in chosen]
    open_batch_of(db, campaign, query_id, number, moments, at=at, by=by)
    return len(moments)


def open_batch_of(
    db: Database,
    campaign: StoredSettings,
    query_id: QueryId,
    number: int,
    moments: Collection[MomentId],
    *,
    part: int = 1,
    at: float,
    by: AnnotatorId | None,
) -> None:
    """Give these candidates of a query, which are in no batch yet, to annotators as one batch.

    `part` is 1 for the candidates of the original list, and higher for those of runs that were submitted later. Each
    new pair gets its first free places for annotators. Candidates that are already judged in the query's probe (a
    sample that tells how deep judging must go) move to the batch with their grades.
    """
    probe = db.conn.execute("SELECT batch_id FROM batch WHERE query_id = ? AND number IS NULL", [query_id]).fetchone()
    probed: set[int] = set()
    if probe:
        rows = db.conn.execute("SELECT moment_id FROM pair WHERE batch_id = ?", [probe[0]])
        probed = {row[0] for row in rows}.intersection(moments)
    missing = set(moments) - probed
    new = [
        (MomentId(row[0]), row[1], row[2], row[3])
        for row in db.conn.execute(
            "SELECT moment_id, rank, similarity, encoder FROM candidate WHERE query_id = ? ORDER BY rank", [query_id]
        )
        if row[0] in missing
    ]
    batch_id = _hand_out(db, campaign, query_id, number, new, part=part, at=at, by=by)
    if probe:
        db.conn.executemany(
            "UPDATE pair SET batch_id = ? WHERE query_id = ? AND moment_id = ?",
            ((batch_id, query_id, moment_id) for moment_id in probed),
        )
        refresh_agenda(db, BatchId(probe[0]))
    refresh_agenda(db, batch_id)


def open_probe(
    db: Database, campaign: StoredSettings, query_id: QueryId, rows: Iterable[CandidateRow], *, at: float
) -> int:
    """Store the probe of a query, a sample of moments that is judged to learn how deep judging must go.

    Moments that are in a batch already are left out.

    Returns:
        The number of pairs in the probe.
    """
    held = {row[0] for row in db.conn.execute("SELECT moment_id FROM pair WHERE query_id = ?", [query_id])}
    made_by = encoder_of_candidates(db)
    new: list[_New] = [(row.moment_id, row.rank, row.similarity, made_by) for row in rows if row.moment_id not in held]
    refresh_agenda(db, _hand_out(db, campaign, query_id, None, new, part=1, at=at, by=None))
    return len(new)


def _hand_out(
    db: Database,
    campaign: StoredSettings,
    query_id: QueryId,
    number: int | None,
    rows: Sequence[_New],
    *,
    part: int,
    at: float,
    by: AnnotatorId | None,
) -> BatchId:
    """Create a batch with these candidates as pairs, each with its first free places for annotators.

    The pairs are numbered in random order, so that a number does not reveal the rank. `number` is None for a probe, a
    sample of moments that tells how deep judging must go. `part` is 1 for candidates of the original list, and higher
    for those of runs that were submitted later.
    """
    sql = "INSERT INTO batch (query_id, number, part, opened_at, opened_by) VALUES (?, ?, ?, ?, ?) RETURNING batch_id"
    batch_id = BatchId(insert_returning_id(db, sql, [query_id, number, part, at, by]))
    # The key is random, so that it reveals nothing about the pair.
    pairs: list[tuple[object, ...]] = [
        (secrets.token_urlsafe(12), batch_id, query_id, *row) for row in secrets.SystemRandom().sample(rows, len(rows))
    ]
    columns = "pair_key, batch_id, query_id, moment_id, rank, similarity, encoder"
    if first := _first_pair_of_part(db):
        pairs = [(*pair, number) for number, pair in enumerate(pairs, start=first)]
        columns += ", pair_id"
    marks = ", ".join("?" * (columns.count(",") + 1))
    db.conn.executemany(f"INSERT INTO pair ({columns}) VALUES ({marks})", pairs)
    db.conn.executemany(
        "INSERT INTO seat (pair_id, seat_no) SELECT pair_id, ? FROM pair WHERE batch_id = ?",
        ((seat_no, batch_id) for seat_no in range(1, campaign.seats + 1)),
    )
    return batch_id


_NUMBERED = ("judgement", "skip", "adjudication", "exam", "example", "release", "event")


def last_rows(db: Database) -> dict[str, int]:
    """Return the highest number so far of grades, skips, leads' decisions and other acts, by the name of its column.

    Stored with an act, it tells which work came before it, also if the clock is set back. 0 if there is none.
    """
    highest = ", ".join(f'(SELECT coalesce(max({table}_id), 0) FROM "{table}")' for table in _NUMBERED)
    row = db.conn.execute(f"SELECT {highest}").fetchone()
    return {f"{table}_id": number for table, number in zip(_NUMBERED, row, strict=True)}


def _first_pair_of_part(db: Database) -> int | None:
    """Return the next number of a pair in a part of a split project; None in other projects.

    The parts number their pairs far apart, so that they never give two pairs one number.
    """
    row = db.conn.execute(
        "SELECT payload ->> 'first_pair', (SELECT max(pair_id) FROM pair) FROM event WHERE kind = ?",
        [PROJECT_SPLIT.kind],
    ).fetchone()
    return max(int(row[0]), (row[1] or 0) + 1) if row else None


def batch_counts(db: Database) -> dict[str, int]:
    """Return how many queries have a first, a second ... batch open, by the batch number as a text.

    The keys '1' and '2' always exist.
    """
    sql = "SELECT number, count(*) FROM batch WHERE number IS NOT NULL GROUP BY number"
    counts = dict(db.conn.execute(sql).fetchall())
    return {str(n): counts.get(n, 0) for n in range(1, max([2, *counts]) + 1)}


def probe_counts(db: Database) -> dict[str, int]:
    """Return two counts by key: `queries` with a probe, and `pairs` that are judged only for a probe.

    A probe is a sample of a query's moments that is judged to learn how deep judging must go.
    """
    sql = f"SELECT (SELECT count(*) FROM batch WHERE number IS NULL), (SELECT count(*) FROM {PROBE_PAIRS})"
    return dict(zip(("queries", "pairs"), db.conn.execute(sql).fetchone(), strict=True))


def add_source(
    db: Database, source: CandidateSource, found: Iterable[FoundSpan], *, at: float, by: AnnotatorId | None
) -> None:
    """Store a source of candidates, and the spans that it found."""
    source_id = _add(db, source, at=at, by=by)
    db.conn.executemany(
        "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((span.query_id, span.moment_id, source_id, span.rank, span.score, span.start_s, span.end_s) for span in found),
    )


def note_similar(db: Database, encoder: str, *, at: float, by: AnnotatorId | None) -> None:
    """Record the search by captions as the source of all candidates that have a similarity.

    Candidates of training queries are left out. `encoder` is the identity of the encoder.
    """
    judged = "WHERE q.split <> 'train' AND k.similarity IS NOT NULL"
    depth = db.conn.execute(f"SELECT max(k.rank) FROM candidate k JOIN query q USING (query_id) {judged}").fetchone()[0]
    if not depth:
        return
    source_id = _add(db, CandidateSource(SourceKind.CAPTIONS, encoder, None, depth), at=at, by=by)
    db.conn.execute(
        "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) "
        "SELECT k.query_id, k.moment_id, ?, k.rank, k.similarity, m.start_s, m.end_s "
        f"FROM candidate k JOIN query q USING (query_id) JOIN moment m USING (moment_id) {judged}",
        [source_id],
    )


def all_sources(db: Database) -> list[CandidateSource]:
    """Return every source of candidates: first those of the original lists, then runs that were submitted later."""
    rows = db.conn.execute("SELECT kind, name, sha256, depth, part FROM source ORDER BY part, source_id")
    return [CandidateSource(SourceKind(row[0]), *row[1:]) for row in rows]


def pooling_state(db: Database) -> tuple[int, ...]:
    """Return numbers of which at least one changes if candidates, pairs, moments, queries or sources are added."""
    row = db.conn.execute(
        "SELECT (SELECT count(*) FROM candidate), (SELECT count(*) FROM pair), (SELECT count(*) FROM moment), "
        "(SELECT coalesce(max(moment_id), 0) FROM moment), (SELECT count(*) FROM query), (SELECT count(*) FROM source)"
    ).fetchone()
    return tuple(row)


def last_part(db: Database) -> int:
    """Return the number of the latest pooling (making candidates of submitted runs); 0 if no source was ever added.

    It is 1 for the sources of the original candidate lists, and higher for those of later poolings.
    """
    return int(db.conn.execute("SELECT coalesce(max(part), 0) FROM source").fetchone()[0])


def _add(db: Database, source: CandidateSource, *, at: float, by: AnnotatorId | None) -> int:
    return insert_returning_id(
        db,
        "INSERT INTO source (kind, name, sha256, depth, part, added_at, added_by) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "RETURNING source_id",
        [source.kind, source.name, source.sha256, source.depth, source.part, at, by],
    )
