"""Count what is in a project, and name the next command: one place for every screen and `reelrank status`.

*Reads* everything, *writes* nothing.
"""

from pathlib import Path
from typing import Any

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.describing.rows import reviewed as described
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import skips
from backend.campaign.nouns import Lead, Operator
from backend.campaign.review.rows import status
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.selection.candidates.rows import lists
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.store.connection import Store, reading


@in_charge
def status_counts(project: Project, by: Lead | Operator) -> dict[str, Any]:
    """Return the counts of `reelrank status --json`, equal to what the screens show; see `counts`."""
    return counts(project.store)


def counts(store: Store, *, probes: bool = True) -> dict[str, Any]:
    """Return counts per stage and status, all of one instant; `pairs` adds up to all pairs.

    Without `probes`, pairs and judgements are those of a release. How many pairs are judged for a probe alone says
    `probes` in either case. `descriptions`, by how they stand, are no part of a release: accepted ones are captions.

    `moments_from` are the moments by where they come from, `batches` are queries with a first, a second batch open;
    `queries_by_batches` those with exactly one, two, by split.
    `judgements` are the grades that count (a corrected grade counts once), `simulated` those of them that the
    demo made up, `skipped` the pairs at which somebody's skip stands.
    """
    with reading(store) as db:
        videos, moments, captions = corpus.counts(db)
        judgements, simulated = status.judgement_counts(db, probes=probes)
        return {
            "videos": videos,
            "moments": moments,
            "moments_from": corpus.origin_counts(db),
            "captions": captions,
            **({} if not probes else {"descriptions": described.standing_counts(db)}),
            "queries": queries.split_counts(db),
            "batches": lists.batch_counts(db),
            "queries_by_batches": batches_rows.shares(db),
            "pairs": status.pair_counts(db, probes=probes),
            "probes": lists.probe_counts(db),
            "judgements": judgements,
            "simulated": simulated,
            "skipped": skips.pair_count(db),
            "annotators": status.annotator_count(db),
            "encoder": lists.encoder_of_candidates(db),
            "sources": list(dict.fromkeys(source.name for source in lists.all_sources(db))),
            "schema": store.schema_level,
        }


@in_charge
def next_step(project: Project, by: Lead | Operator) -> str:
    """Return the command that brings a project nearer to its first grade; an empty text once none is needed."""
    return next_command(project.folder, project.store)


def next_command(folder: Path, store: Store) -> str:
    """Return the command that comes next on the way to the first grade; an empty text once somebody can give it.

    Captions are rewritten before queries are drawn: once they are drawn, it is too late. Who wants the published words
    draws without. Where moments have no captions, queries are people's own.
    """
    found = counts(store)
    if not any(found["pairs"].values()):
        if any(found["queries"].values()):
            return (steps.choosing if found["captions"] else steps.pooling)(folder)
        if not found["captions"]:
            return (steps.bringing if found["moments"] else steps.importing)(folder)
        with reading(store) as db:
            rewritten = rows.counts(db).rewritten
        return steps.drawing(folder) if rewritten else steps.rewriting(folder)
    return "" if found["annotators"] else steps.adding(folder)
