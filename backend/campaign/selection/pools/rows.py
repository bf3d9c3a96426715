"""SQL for projects in which people check whether the videos of pools match their queries."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.campaign.nouns import Verdict
from backend.campaign.selection.pools.model import CheckFacts, PutInAs
from backend.core.ids import MomentId, QueryId
from backend.store.engine import Database


@dataclass(frozen=True, slots=True)
class PoolPlace:
    """A video of a pool that people check, with the current verdict and relevance of its pair.

    `query` is the query's text. `source` names the file of pools and the query's id in it. `put_in_as` is the role
    there.
    """

    query: str
    source: str
    video: str
    put_in_as: PutInAs
    verdict: Verdict
    relevance: int | None


def add(db: Database, facts: CheckFacts, places: Iterable[tuple[QueryId, MomentId, PutInAs]]) -> None:
    """Store which file of pools a project checks, how the sample was drawn, and which videos to check."""
    db.conn.execute(
        "INSERT INTO pool_check (pool_check_id, file, sha256, seed, queries, drawn, negatives) "
        "VALUES (1, ?, ?, ?, ?, ?, ?)",
        [facts.file, facts.sha256, facts.seed, facts.queries, facts.drawn, facts.negatives],
    )
    db.conn.executemany(
        "INSERT INTO pool_place (query_id, moment_id, put_in_as) VALUES (?, ?, ?)",
        ((query, moment, put_in_as.value) for query, moment, put_in_as in places),
    )


def facts(db: Database) -> CheckFacts | None:
    """Return which file of pools the project checks, and how the sample was drawn; None if it checks no pools."""
    row = db.conn.execute("SELECT file, sha256, seed, queries, drawn, negatives FROM pool_check").fetchone()
    return CheckFacts(*row) if row else None


def places(db: Database) -> list[PoolPlace]:
    """Return every video that people check in this project, sorted by query and rank."""
    rows = db.conn.execute(
        "SELECT q.text, q.source, v.name, o.put_in_as, coalesce(c.verdict, 'open'), c.relevance "
        "FROM pool_place o JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "JOIN pair p ON p.query_id = o.query_id AND p.moment_id = o.moment_id LEFT JOIN consensus c USING (pair_id) "
        "ORDER BY q.position, p.rank"
    )
    return [PoolPlace(row[0], row[1], row[2], PutInAs(row[3]), Verdict(row[4]), row[5]) for row in rows]


def whole_moments(db: Database) -> dict[str, MomentId]:
    """Map each video to its moment that starts at 0. In a project made to check pools, that is the whole video."""
    rows = db.conn.execute("SELECT name, moment_id FROM moment JOIN video USING (video_id) WHERE start_s = 0")
    return {row[0]: MomentId(row[1]) for row in rows}
