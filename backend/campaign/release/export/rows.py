"""Store the releases made so far with their manifests, and count what a release made now would hold."""

from backend.campaign.nouns import Split
from backend.campaign.release.export.model import QueryCounts, ReleaseRow
from backend.campaign.selection.candidates.rows import PROBE_PAIRS
from backend.core.ids import AnnotatorId, PairId, QueryId
from backend.store.engine import Database
from backend.store.events import EventKind

CHANGES = (
    *(EventKind.VIDEOS_REGISTERED, EventKind.MOMENTS_PROPOSED, EventKind.MOMENTS_CHANGED, EventKind.MOMENTS_TAKEN),
    *(EventKind.CORPUS_IMPORTED, EventKind.CAPTIONS_REWRITTEN, EventKind.REWRITE_DECIDED, EventKind.REWRITE_TAKEN_BACK),
    *(EventKind.QUERIES_DRAWN, EventKind.QUERIES_ADDED, EventKind.QUERIES_TAKEN_BACK, EventKind.CANDIDATES_CHOSEN),
    *(EventKind.CANDIDATES_ADDED,),
    *(EventKind.QUERY_CHANGED, EventKind.QUERIES_REMOVED),
    *(EventKind.POOL_CHECK_MADE, EventKind.BATCH_OPENED, EventKind.ESCALATED, EventKind.DE_ESCALATED),
    *(EventKind.JUDGEMENTS_IMPORTED, EventKind.CLIP_REPORTED, EventKind.CLIP_RESTORED, EventKind.SKIPS_LIFTED),
    EventKind.ADJUDICATED,
    *(EventKind.RE_OPENED, EventKind.TAKEN_BACK),
    *(EventKind.GUIDELINE_CHANGED, EventKind.EXAM_SET, EventKind.EXAM_ENDED, EventKind.EXAM_USED),
    *(EventKind.BATCH_UNDONE, EventKind.TERMS_SET, EventKind.RE_OPENED, EventKind.TAKEN_BACK),
)
"""Events after which a release says something else. That one was made, and who signs in or is invited, is none."""
_ACTS = {
    "decided": "{who} decided on {relevance}: {reason}",
    "re_opened": "{who} re-opened it: {reason}",
    "discard_confirmed": "{who} confirmed the discard",
    "taken_back": "{who} took back what was decided: {reason}",
}


def add(
    db: Database,
    manifest: str,
    sha256: str,
    *,
    name: str,
    notes: str,
    file: str | None,
    file_sha256: str | None,
    at: float,
    by: AnnotatorId | None,
) -> None:
    """Record a release, under a name that none has."""
    db.conn.execute(
        'INSERT INTO "release" (created_at, created_by, manifest, sha256, name, notes, file, file_sha256) '
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [at, by, manifest, sha256, name, notes, file, file_sha256],
    )


def all_releases(db: Database) -> list[ReleaseRow]:
    """All releases, the newest first."""
    rows = db.conn.execute(
        "SELECT r.release_id, r.name, r.notes, r.created_at, a.name, r.sha256, r.file, r.file_sha256, r.manifest "
        'FROM "release" r LEFT JOIN annotator a ON a.annotator_id = r.created_by ORDER BY r.release_id DESC'
    )
    return [ReleaseRow(*row) for row in rows]


def lead_acts(db: Database, since: float, until: float) -> list[tuple[PairId, str]]:
    """(pair, what a lead did about it in words, with the reason) at or after `since` and before `until`."""
    rows = db.conn.execute(
        "SELECT d.pair_id, d.kind, d.relevance, d.reason, a.name FROM lead_act d "
        "LEFT JOIN annotator a ON a.annotator_id = d.lead_id WHERE d.at >= ? AND d.at < ? ORDER BY d.at, d.revision",
        [since, until],
    )
    return [
        (PairId(pair_id), _ACTS[kind].format(who=who or "an earlier campaign", relevance=relevance, reason=reason))
        for pair_id, kind, relevance, reason, who in rows
    ]


def grades_by_guideline(db: Database) -> dict[int, int]:
    """How many grades that count were given here under each version of the guideline; the newest one always."""
    rows = db.conn.execute(
        "SELECT (SELECT max(version) FROM guideline_version WHERE since IS NULL OR since <= s.graded_at), count(*) "
        f"FROM standing s WHERE NOT imported AND pair_id NOT IN {PROBE_PAIRS} GROUP BY 1"
    )
    found = dict(rows.fetchall())
    newest: int = db.conn.execute("SELECT max(version) FROM guideline_version").fetchone()[0]
    return {**dict(sorted(found.items())), newest: found.get(newest, 0)}


def last_change(db: Database) -> float:
    """When something last happened that a release tells of: an event of `CHANGES`, a grade, a lead's decision."""
    marks = ", ".join("?" * len(CHANGES))
    at: float = db.conn.execute(
        f"SELECT max(coalesce((SELECT max(at) FROM event WHERE kind IN ({marks})), 0), "
        "coalesce((SELECT max(graded_at) FROM judgement), 0), coalesce((SELECT max(decided_at) FROM adjudication), 0))",
        [kind.value for kind in CHANGES],
    ).fetchone()[0]
    return at


def query_counts(db: Database) -> list[QueryCounts]:
    """How every validation and test query stands, in judging order; a probe's own pairs do not count."""
    rows = db.conn.execute(
        """
        SELECT q.query_id, q.text, q.split, coalesce(s.pairs, 0), coalesce(s.waiting, 0), coalesce(s.consensus, 0),
          coalesce(s.adjudicated, 0)
        FROM query q LEFT JOIN (
          SELECT p.query_id, count(*) AS pairs, sum(c.verdict IS 'consensus') AS consensus,
            sum(c.verdict IS 'adjudicated') AS adjudicated,
            sum(coalesce(c.verdict, 'open') IN ('open', 'escalated') AND f.moment_id IS NULL) AS waiting
          FROM pair p JOIN batch b USING (batch_id) LEFT JOIN consensus c USING (pair_id)
            LEFT JOIN clip_fault f USING (moment_id)
          WHERE b.number IS NOT NULL GROUP BY p.query_id
        ) AS s USING (query_id) WHERE q.split IN ('val', 'test') ORDER BY q.position, q.query_id
        """
    )
    return [QueryCounts(QueryId(r[0]), r[1], Split(r[2]), *r[3:]) for r in rows]
