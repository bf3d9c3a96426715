"""SQL for releases: store them with their manifests, and count what a new release would hold."""

from backend.campaign.corpus.captions.model import (
    CAPTION_CORRECTED,
    CAPTIONS_REWRITTEN,
    REWRITE_DECIDED,
    REWRITE_TAKEN_BACK,
)
from backend.campaign.corpus.importing.model import CORPUS_IMPORTED, VIDEOS_REGISTERED
from backend.campaign.corpus.moments.model import MOMENTS_CHANGED, MOMENTS_PROPOSED, MOMENTS_TAKEN
from backend.campaign.judging.model import (
    CLIP_REPORTED,
    CLIP_RESTORED,
    DE_ESCALATED,
    ESCALATED,
    JUDGEMENTS_IMPORTED,
    SKIPS_LIFTED,
)
from backend.campaign.monitoring.videos.model import VIDEOS_REMOVED
from backend.campaign.nouns import Split
from backend.campaign.qualification.exam.model import EXAM_ENDED, EXAM_SET, EXAM_USED
from backend.campaign.qualification.guideline.versions import GUIDELINE_CHANGED
from backend.campaign.release.export.model import TERMS_SET, QueryCounts, ReleaseRow
from backend.campaign.review.model import ADJUDICATED, RE_OPENED, TAKEN_BACK
from backend.campaign.selection.batches.model import BATCH_OPENED, BATCH_UNDONE
from backend.campaign.selection.candidates.model import CANDIDATES_ADDED, CANDIDATES_CHOSEN
from backend.campaign.selection.candidates.rows import PROBE_PAIRS
from backend.campaign.selection.pools.model import POOL_CHECK_MADE
from backend.campaign.selection.queries.model import (
    QUERIES_ADDED,
    QUERIES_DRAWN,
    QUERIES_REMOVED,
    QUERIES_TAKEN_BACK,
    QUERY_CHANGED,
)
from backend.core.ids import AnnotatorId, PairId, QueryId
from backend.store.engine import Database

CHANGES = (
    *(VIDEOS_REGISTERED, VIDEOS_REMOVED, MOMENTS_PROPOSED, MOMENTS_CHANGED, MOMENTS_TAKEN),
    *(CORPUS_IMPORTED, CAPTIONS_REWRITTEN, REWRITE_DECIDED, REWRITE_TAKEN_BACK, CAPTION_CORRECTED),
    *(QUERIES_DRAWN, QUERIES_ADDED, QUERIES_TAKEN_BACK, QUERY_CHANGED, QUERIES_REMOVED),
    *(CANDIDATES_CHOSEN, CANDIDATES_ADDED, POOL_CHECK_MADE, BATCH_OPENED, BATCH_UNDONE, ESCALATED, DE_ESCALATED),
    *(JUDGEMENTS_IMPORTED, CLIP_REPORTED, CLIP_RESTORED, SKIPS_LIFTED),
    *(ADJUDICATED, RE_OPENED, TAKEN_BACK, GUIDELINE_CHANGED, EXAM_SET, EXAM_ENDED, EXAM_USED, TERMS_SET),
)
"""Kinds of events that change the content of a release. Making a release, signing in and invitations do not."""
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
    """Store the record of a new release; no other release may have its name."""
    db.conn.execute(
        'INSERT INTO "release" (created_at, created_by, manifest, sha256, name, notes, file, file_sha256) '
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [at, by, manifest, sha256, name, notes, file, file_sha256],
    )


def all_releases(db: Database) -> list[ReleaseRow]:
    """Return all releases except removed ones, the newest first."""
    rows = db.conn.execute(
        "SELECT r.release_id, r.name, r.notes, r.created_at, a.name, r.sha256, r.file, r.file_sha256, r.manifest "
        'FROM "release" r LEFT JOIN annotator a ON a.annotator_id = r.created_by '
        "WHERE r.release_id NOT IN (SELECT release_id FROM release_removal) ORDER BY r.release_id DESC"
    )
    return [ReleaseRow(*row) for row in rows]


def used_names(db: Database) -> list[str]:
    """Return the names of all releases, also of removed ones, because no name is used twice."""
    return [row[0] for row in db.conn.execute('SELECT name FROM "release" ORDER BY release_id')]


def remove(db: Database, release_id: int, reason: str, *, at: float, by: AnnotatorId | None) -> None:
    """Record that a release was removed."""
    db.conn.execute(
        "INSERT INTO release_removal (release_id, removed_at, removed_by, reason) VALUES (?, ?, ?, ?)",
        [release_id, at, by, reason],
    )


def lead_acts(db: Database, since: float, until: float) -> list[tuple[PairId, str]]:
    """Return (pair, sentence about what a lead did to it) for each act in a time span, in the order of each pair's.

    The span begins at `since` and ends before `until`, in seconds since 1970.
    """
    rows = db.conn.execute(
        "SELECT d.pair_id, d.kind, d.relevance, d.reason, a.name FROM lead_act d "
        "LEFT JOIN annotator a ON a.annotator_id = d.lead_id WHERE d.at >= ? AND d.at < ? "
        "ORDER BY d.pair_id, d.revision",
        [since, until],
    )
    return [
        (PairId(pair_id), _ACTS[kind].format(who=who or "an earlier campaign", relevance=relevance, reason=reason))
        for pair_id, kind, relevance, reason, who in rows
    ]


def grades_by_guideline(db: Database) -> dict[int, int]:
    """Return, for each guideline version, the number of current grades that were given under it.

    Imported grades and grades of probe pairs (graded only to learn how deep judging must go) are left out. The newest
    version always has an entry.
    """
    rows = db.conn.execute(
        # By the order of grades and versions. Versions of before ReelRank noted it have only a time.
        "WITH began AS (SELECT g.version, g.since, "
        "(SELECT max(CAST(e.payload ->> 'judgement' AS INTEGER)) FROM event e "
        "WHERE e.kind = ? AND e.subject = 'guideline:' || g.version) AS last FROM guideline_version g) "
        "SELECT (SELECT max(b.version) FROM began b WHERE b.since IS NULL "
        "OR (b.last IS NOT NULL AND b.last < s.judgement_id) OR (b.last IS NULL AND b.since <= s.graded_at)), count(*) "
        f"FROM standing s WHERE NOT imported AND pair_id NOT IN {PROBE_PAIRS} GROUP BY 1",
        [GUIDELINE_CHANGED.kind],
    )
    counts = dict(rows.fetchall())
    newest: int = db.conn.execute("SELECT max(version) FROM guideline_version").fetchone()[0]
    return {**dict(sorted(counts.items())), newest: counts.get(newest, 0)}


def last_change(db: Database) -> float:
    """Return the time of the latest change that affects a release, in seconds since 1970.

    A change is a grade, a lead's decision, or an event of a kind in `CHANGES`.
    """
    marks = ", ".join("?" * len(CHANGES))
    at: float = db.conn.execute(
        f"SELECT max(coalesce((SELECT max(at) FROM event WHERE kind IN ({marks})), 0), "
        "coalesce((SELECT max(graded_at) FROM judgement), 0), coalesce((SELECT max(decided_at) FROM adjudication), 0))",
        [event.kind for event in CHANGES],
    ).fetchone()[0]
    return at


def query_counts(db: Database) -> list[QueryCounts]:
    """Return the pair counts of all validation and test queries, in the order in which they are handed out.

    Pairs of probes (graded only to learn how deep judging must go) do not count.
    """
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
