"""Read what the agreement board needs beside the grades: where pairs come from, and what leads decided."""

from backend.campaign.monitoring.quality.rows.columns import numbers
from backend.campaign.monitoring.quality.rules.columns import Integers
from backend.campaign.selection.candidates.rows.lists import PROBE_PAIRS
from backend.store.engine import Database

PROBE = "probe"
"""The part of pairs that are judged for a probe alone, beside the splits."""


def version(db: Database) -> str:
    """Return another text whenever the board would be another one: grades and acts of leads are only ever added."""
    row = db.conn.execute(
        "SELECT (SELECT max(judgement_id) FROM judgement), (SELECT max(adjudication_id) FROM adjudication), "
        "(SELECT max(ruling_id) FROM ruling), "
        "(SELECT count(*) FROM pair), (SELECT count(*) FROM query)"
    ).fetchone()
    return "-".join(str(part or 0) for part in row)


def people(db: Database) -> dict[int, str]:
    """Return names by annotator_id."""
    return dict(db.conn.execute("SELECT annotator_id, name FROM annotator").fetchall())


def decided(db: Database) -> tuple[Integers, Integers]:
    """Return the pairs that a lead adjudicated, and their relevances."""
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(relevance) FROM consensus WHERE verdict = 'adjudicated'"
    ).fetchone()
    return numbers(row[0]), numbers(row[1])


def re_opened(db: Database) -> Integers:
    """The pairs that a lead re-opened for two more people."""
    return numbers(db.conn.execute("SELECT group_concat(pair_id) FROM re_opened").fetchone()[0])


def imported_pairs(db: Database) -> Integers:
    """The pairs that have grades of earlier campaigns."""
    return numbers(
        db.conn.execute(
            "SELECT group_concat(pair_id) FROM (SELECT DISTINCT pair_id FROM judgement WHERE imported = 1)"
        ).fetchone()[0]
    )


def made_up(db: Database) -> tuple[int, int]:
    """How many of the grades that count are of earlier campaigns, and how many a program made."""
    row = db.conn.execute(
        "SELECT coalesce(sum(imported), 0), coalesce(sum(simulated), 0) FROM judgement WHERE revision = 1"
    ).fetchone()
    return row[0], row[1]


def origins(db: Database) -> tuple[Integers, Integers]:
    """Every pair with a query, and its query; the id of a pair that is a probe's alone is negative there."""
    row = db.conn.execute(
        "SELECT group_concat(pair_id), group_concat(query_id) FROM ("
        f"SELECT p.pair_id, CASE WHEN p.pair_id IN {PROBE_PAIRS} THEN -p.query_id ELSE p.query_id END AS query_id "
        "FROM pair p WHERE p.query_id IS NOT NULL)"
    ).fetchone()
    return numbers(row[0]), numbers(row[1])


def queries(db: Database) -> list[tuple[int, str, str]]:
    """(query_id, text, split) of all queries with pairs, in the order of the ids."""
    return [
        tuple(row)
        for row in db.conn.execute(
            "SELECT query_id, text, split FROM query WHERE query_id IN (SELECT query_id FROM batch) ORDER BY query_id"
        )
    ]
