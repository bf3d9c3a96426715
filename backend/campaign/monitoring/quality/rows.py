"""SQL for quality: all grades as columns, the query of each pair, leads' decisions, and the work of one annotator.

SQLite joins a column into one text, which numpy parses. Both steps run in C, and other threads go on meanwhile. Reading
a quarter of a million grades this way takes a tenth of a second, compared with a third of a second row by row.
"""

from typing import Any, NamedTuple

import msgspec
import numpy as np

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.judging.model import JUDGEMENTS_IMPORTED
from backend.campaign.judging.rows.judgements import changeable
from backend.campaign.monitoring.quality.model import FLAG_DISMISSED, FlagDismissal, FlagKind
from backend.campaign.monitoring.quality.rules.pairs import NOT_MEASURED, Codes, Grades, Skips, Truths
from backend.campaign.selection.candidates.rows import PROBE_PAIRS
from backend.core.days import DAY_MS
from backend.core.ids import AnnotatorId
from backend.scoring.statistics.agreement import Floats
from backend.store.engine import Database
from backend.store.events import newest

PROBE = "probe"
"""The name of the part with pairs that are judged only for a probe. It stands beside the splits."""


def version(db: Database) -> str:
    """Return a text that changes whenever a grade, a lead's decision, a pair or a query is added.

    Grades and leads' decisions are never changed or deleted, so additions are the only changes to look for.
    """
    row = db.conn.execute(
        f"SELECT {newest('judgement', 'judgement_id')}, (SELECT max(adjudication_id) FROM adjudication), "
        "(SELECT max(ruling_id) FROM ruling), "
        "(SELECT count(*) FROM pair), (SELECT count(*) FROM query)"
    ).fetchone()
    return "-".join(str(part or 0) for part in row)


def people(db: Database) -> dict[int, str]:
    """Map the id of each user to their name."""
    return dict(db.conn.execute("SELECT annotator_id, name FROM annotator").fetchall())


def decided(db: Database) -> tuple[Codes, Codes]:
    """Return two arrays: the ids of the pairs that a lead adjudicated, and the relevances that the lead gave."""
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(relevance) FROM consensus WHERE verdict = 'adjudicated'"
    ).fetchone()
    return numbers(row[0]), numbers(row[1])


def re_opened(db: Database) -> Codes:
    """Return the ids of the pairs that a lead re-opened for two more annotators."""
    return numbers(db.conn.execute("SELECT group_concat(pair_id) FROM re_opened").fetchone()[0])


def imported_pairs(db: Database) -> Codes:
    """Return the ids of the pairs that have grades of earlier campaigns."""
    return numbers(
        db.conn.execute(
            "SELECT group_concat(pair_id) FROM (SELECT DISTINCT pair_id FROM judgement WHERE imported = 1)"
        ).fetchone()[0]
    )


def made_up(db: Database) -> tuple[int, int]:
    """Return how many graded seats come from earlier campaigns, and how many were graded by a simulation.

    A seat is one annotator's place at a pair. Corrections of a grade are not counted again.
    """
    row = db.conn.execute(
        "SELECT coalesce(sum(imported), 0), coalesce(sum(simulated), 0) FROM judgement WHERE revision = 1"
    ).fetchone()
    return row[0], row[1]


def origins(db: Database) -> tuple[Codes, Codes]:
    """Return two arrays: the ids of all pairs, and the query id of each.

    The query id is negative if the pair is graded only for a probe, which tells how deep judging must go. Pairs without
    a query, such as practice pairs, are left out.
    """
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(query_id) FROM ("
        f"SELECT p.pair_id, CASE WHEN p.pair_id IN {PROBE_PAIRS} THEN -p.query_id ELSE p.query_id END AS query_id "
        "FROM pair p WHERE p.query_id IS NOT NULL)"
    ).fetchone()
    return numbers(row[0]), numbers(row[1])


def queries(db: Database) -> list[tuple[int, str, str]]:
    """Return (query_id, text, split) of all queries with pairs, sorted by id."""
    return [
        tuple(row)
        for row in db.conn.execute(
            "SELECT query_id, text, split FROM query WHERE query_id IN (SELECT query_id FROM batch) ORDER BY query_id"
        )
    ]


def given(db: Database) -> Grades:
    """Return every revision of every judgement, in the order in which they were given.

    If an imported judgement had no time in its file, it has the time of the import, and its `timed` is False.
    """
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(seat_no), group_concat(annotator_id), group_concat(grade), "
        "group_concat(CAST(graded_at * 1000 AS INTEGER)), group_concat(active_ms), "
        f"group_concat(coalesce(elapsed_ms, {NOT_MEASURED})), group_concat(imported) "
        "FROM (SELECT * FROM judgement ORDER BY judgement_id)"
    ).fetchone()
    pair, seat, annotator, grade, at_ms, active_ms, elapsed_ms, imported = (numbers(text) for text in row)
    imported_at = db.conn.execute("SELECT at FROM event WHERE kind = ?", [JUDGEMENTS_IMPORTED.kind])
    imports = [int(at * 1000) for (at,) in imported_at]
    timed = ~((imported == 1) & np.isin(at_ms, imports))
    active_ms, elapsed_ms = (np.minimum(times, DAY_MS) for times in (active_ms, elapsed_ms))
    read = Grades(pair, seat, annotator, grade, at_ms / 1000, timed, active_ms, elapsed_ms)
    return read.take(np.argsort(at_ms, kind="stable"))  # an import stores old judgements late


def clips(db: Database) -> tuple[Codes, Floats, Truths]:
    """Return three arrays over all pairs with a moment, sorted by pair id.

    They are the pair's id, the length of its clip in seconds, and whether the clip is a whole video.
    """
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(length_ms), group_concat(whole) FROM ("
        f"SELECT p.pair_id, CAST(round((m.end_s - m.start_s) * 1000) AS INTEGER) AS length_ms, {WHOLE} AS whole "
        "FROM pair p JOIN moment m USING (moment_id) JOIN video v USING (video_id) ORDER BY p.pair_id)"
    ).fetchone()
    pair, length_ms, whole = (numbers(text) for text in row)
    return pair, length_ms / 1000, whole == 1


def skips(db: Database) -> Skips:
    """Return every skip (an annotator's refusal to grade a pair) that was not taken back, the oldest first."""
    row = db.conn.execute(
        "SELECT group_concat(annotator_id), group_concat(pair_id), group_concat(broken), "
        "group_concat(CAST(skipped_at * 1000 AS INTEGER)) FROM "
        "(SELECT annotator_id, pair_id, CAST(kind = 'broken_clip' AS INTEGER) AS broken, skipped_at FROM skip "
        "WHERE lifted_at IS NULL ORDER BY skip_id)"
    ).fetchone()
    annotator, pair, broken, at_ms = (numbers(text) for text in row)
    return Skips(annotator, pair, broken == 1, at_ms / 1000)


def dismissals(db: Database) -> dict[tuple[int, FlagKind], FlagDismissal]:
    """Map (annotator id, kind of flag) to the newest dismissal of this quality flag by a lead."""
    rows = db.conn.execute(
        "SELECT e.subject, e.payload, e.at, a.name FROM event e JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.kind = ? ORDER BY e.event_id",
        [FLAG_DISMISSED.kind],
    )
    newest = {}
    for subject, text, at, by in rows:
        payload = msgspec.json.decode(text)
        who = int(subject.removeprefix("annotator:"))
        newest[who, FlagKind(payload["flag"])] = FlagDismissal(at, by, payload["reason"])
    return newest


def annotators(db: Database) -> list[tuple[AnnotatorId, str]]:
    """Return (annotator_id, name) of all annotators, sorted by name."""
    rows = db.conn.execute("SELECT annotator_id, name FROM annotator WHERE role = 'annotator' ORDER BY name")
    return [(AnnotatorId(row[0]), row[1]) for row in rows]


def numbers(text: Any) -> Codes:
    """Convert a column that SQLite wrote as text, such as `3,1,4`, to an array. None gives an empty array."""
    return np.fromstring(text or "", dtype=np.int64, sep=",")


class Given(NamedTuple):
    """One grade of an annotator, with what they may know about the graded pair.

    `is_first` is False if the grade corrects an earlier one, and `stands` is False if it was corrected later. `recent`
    says whether somebody graded the pair so recently that they may still correct their grade. `relevance` and `agreed`
    are None unless the pair's verdict is final. `agreed` is the unrounded mean of a consensus, or a lead's relevance.
    Times are in seconds since 1970.
    """

    grade: int
    at: float
    active_ms: int
    is_first: bool
    stands: bool
    simulated: bool
    imported: bool
    recent: bool
    relevance: int | None
    agreed: float | None


def judgements_of(db: Database, me: AnnotatorId, *, final_before: float) -> list[Given]:
    """Return every grade that an annotator gave, the oldest first.

    Answers to gold questions (hidden pairs with a known grade) are among them. Otherwise annotators could find these
    pairs by counting.

    Args:
        db: the database.
        me: the annotator.
        final_before: an instant in seconds since 1970. A verdict is returned only if all grades of its pair are older.
            So nobody learns how others graded a pair while its grades can still be corrected.
    """
    fresh = changeable("n.graded_at")
    rows = db.conn.execute(
        f"""
        WITH fresh AS MATERIALIZED (  -- CROSS JOIN: people are few, and each has an index by time
          SELECT j.pair_id FROM annotator a CROSS JOIN judgement j USING (annotator_id)
          WHERE {changeable("j.graded_at")})
        SELECT j.grade, j.graded_at, j.active_ms, j.revision = 1,
          EXISTS (SELECT 1 FROM standing s WHERE s.judgement_id = j.judgement_id), j.simulated,
          j.imported, j.pair_id IN (SELECT pair_id FROM fresh) AS recent, c.relevance,
          CASE c.verdict WHEN 'consensus' THEN c.mean ELSE c.relevance END
        FROM judgement j
        LEFT JOIN consensus c ON c.pair_id = j.pair_id AND c.verdict IN ('consensus', 'adjudicated') AND NOT recent
        WHERE j.annotator_id = :me
        UNION ALL
        SELECT g.grade, g.graded_at, g.active_ms, g.revision = 1, g.revision = n.revision, 0, 0,
          {fresh}, iif({fresh}, NULL, c.relevance),
          iif({fresh}, NULL, CASE c.verdict WHEN 'consensus' THEN c.mean ELSE c.relevance END)
        FROM gold_answer g JOIN (SELECT pair_id, max(revision) AS revision, max(graded_at) AS graded_at
          FROM gold_answer WHERE annotator_id = :me GROUP BY pair_id) AS n USING (pair_id)
        LEFT JOIN consensus c ON c.pair_id = g.pair_id AND c.verdict IN ('consensus', 'adjudicated')
        WHERE g.annotator_id = :me
        ORDER BY 2
        """,
        {"me": me, "final": final_before},
    )
    return [
        Given(r[0], r[1], r[2], bool(r[3]), bool(r[4]), bool(r[5]), bool(r[6]), bool(r[7]), r[8], r[9]) for r in rows
    ]


def skips_of(db: Database, me: AnnotatorId) -> int:
    """Return how many skips of this annotator (refusals to grade a pair) were not taken back."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM skip WHERE annotator_id = ? AND lifted_at IS NULL", [me]
    ).fetchone()[0]
    return count
