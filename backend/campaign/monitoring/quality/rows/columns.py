"""Read every grade of the campaign as columns.

SQLite writes a column as one text, which numpy reads: two steps in C, during which other threads go on. A quarter of a
million grades take a tenth of a second so, and a third if they come as rows.
"""

from typing import Any

import numpy as np

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.monitoring.quality.rules.columns import NOT_MEASURED, Floats, Grades, Integers, Skips, Truths
from backend.core.days import DAY_MS
from backend.core.ids import AnnotatorId
from backend.store.engine import Database


def given(db: Database) -> Grades:
    """Return every revision of every judgement, in the order of giving.

    An imported judgement whose file did not say when it was given bears the time of its import.
    """
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(seat_no), group_concat(annotator_id), group_concat(grade), "
        "group_concat(CAST(graded_at * 1000 AS INTEGER)), group_concat(active_ms), "
        f"group_concat(coalesce(elapsed_ms, {NOT_MEASURED})), group_concat(imported) "
        "FROM (SELECT * FROM judgement ORDER BY judgement_id)"
    ).fetchone()
    pair, seat, annotator, grade, at_ms, active_ms, elapsed_ms, imported = (numbers(text) for text in row)
    imports = [int(at * 1000) for (at,) in db.conn.execute("SELECT at FROM event WHERE kind = 'judgements_imported'")]
    timed = ~((imported == 1) & np.isin(at_ms, imports))
    active_ms, elapsed_ms = (np.minimum(times, DAY_MS) for times in (active_ms, elapsed_ms))
    read = Grades(pair, seat, annotator, grade, at_ms / 1000, timed, active_ms, elapsed_ms)
    return read.take(np.argsort(at_ms, kind="stable"))  # an earlier campaign's come in late


def clips(db: Database) -> tuple[Integers, Floats, Truths]:
    """Of every pair with a moment: its id, ascending, the length of its clip (s), whether that is a whole video."""
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(length_ms), group_concat(whole) FROM ("
        f"SELECT p.pair_id, CAST(round((m.end_s - m.start_s) * 1000) AS INTEGER) AS length_ms, {WHOLE} AS whole "
        "FROM pair p JOIN moment m USING (moment_id) JOIN video v USING (video_id) ORDER BY p.pair_id)"
    ).fetchone()
    pair, length_ms, whole = (numbers(text) for text in row)
    return pair, length_ms / 1000, whole == 1


def skips(db: Database) -> Skips:
    """Return every current skip, in the order of making."""
    row = db.conn.execute(
        "SELECT group_concat(annotator_id), group_concat(pair_id), group_concat(broken) FROM "
        "(SELECT annotator_id, pair_id, CAST(kind = 'broken_clip' AS INTEGER) AS broken FROM skip "
        "WHERE lifted_at IS NULL ORDER BY skip_id)"
    ).fetchone()
    annotator, pair, broken = (numbers(text) for text in row)
    return Skips(annotator, pair, broken == 1)


def annotators(db: Database) -> list[tuple[AnnotatorId, str]]:
    """Return everybody who grades or graded here, by name."""
    rows = db.conn.execute("SELECT annotator_id, name FROM annotator WHERE role = 'annotator' ORDER BY name")
    return [(AnnotatorId(row[0]), row[1]) for row in rows]


def numbers(text: Any) -> Integers:
    """A column that SQLite wrote as `3,1,4`; None where it has no row."""
    return np.fromstring(text or "", dtype=np.int64, sep=",")
