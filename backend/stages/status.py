"""Where the project stands: the counts of every screen and of `reelrank status`, from one place.

*Reads* everything, *writes* nothing.
"""

from typing import Any

from backend.store import connection, corpus, queries, reviews, skips
from backend.store.connection import reading
from backend.store.project import Project


def counts(project: Project) -> dict[str, Any]:
    """Counts per stage and status, all of one instant; `pairs` adds up to all pairs.

    `judgements` are the grades that count (a corrected grade counts once), `simulated` those of them that the
    demo made up, `skipped` the pairs at which somebody's skip stands.
    """
    with reading(project.store) as db:
        videos, moments, captions = corpus.counts(db)
        judgements, simulated = reviews.judgement_counts(db)
        return {
            "videos": videos,
            "moments": moments,
            "captions": captions,
            "queries": queries.split_counts(db),
            "batches": queries.batch_counts(db),
            "pairs": reviews.pair_counts(db),
            "judgements": judgements,
            "simulated": simulated,
            "skipped": skips.pair_count(db),
            "annotators": reviews.annotator_count(db),
            "encoder": queries.encoder_of_candidates(db),
            "schema": connection.schema_level(project.store),
        }
