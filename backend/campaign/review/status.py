"""Count what is in a project, name the next command to run, and list the pairs that leads review.

Every screen and `reelrank status` take their counts from here. *Reads* everything, *writes* nothing.
"""

from pathlib import Path

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.describing.rows import reviewed as described
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import pair_status
from backend.campaign.nouns import Lead, Operator
from backend.campaign.review.model import InUse, PairReview, ReviewList, ReviewPage, StatusCounts
from backend.campaign.review.rows import pair_lists, reviews
from backend.campaign.review.rows import queries as query_rows
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey
from backend.store.connection import Store, reading


@in_charge
def status_counts(project: Project, by: Lead | Operator) -> StatusCounts:
    """Return the counts that `reelrank status --json` prints and the screens show; `StatusCounts` explains the keys."""
    return counts(project.store)


def counts(store: Store, *, probes: bool = True) -> StatusCounts:
    """Return the numbers of videos, moments, captions, queries, pairs, judgements and so on, all read at one instant.

    If the argument `probes` is False, the counts are those of a release. `pairs` and `judgements` then leave out probe
    pairs, which are graded only to learn down to which rank grading is worthwhile. The result then has no key
    `descriptions`, because accepted descriptions are counted as captions.
    """
    with reading(store) as db:
        videos, moments, captions = corpus.counts(db)
        judgements, simulated = query_rows.judgement_counts(db, probes=probes)
        found: StatusCounts = {
            "videos": videos,
            "moments": moments,
            "moments_from": corpus.origin_counts(db),
            "captions": captions,
            "descriptions": described.current_counts(db),
            "queries": queries.split_counts(db),
            "batches": candidates_rows.batch_counts(db),
            "queries_by_batches": batches_rows.shares(db),
            "pairs": query_rows.pair_counts(db, probes=probes),
            "probes": candidates_rows.probe_counts(db),
            "judgements": judgements,
            "simulated": simulated,
            "skipped": pair_status.skipped_pair_count(db),
            "annotators": query_rows.annotator_count(db),
            "encoder": candidates_rows.encoder_of_candidates(db),
            "sources": list(dict.fromkeys(source.name for source in candidates_rows.all_sources(db))),
            "schema": store.schema_level,
        }
    if not probes:
        del found["descriptions"]
    return found


@in_charge
def in_use(project: Project, by: Lead | Operator) -> InUse:
    """Return which optional parts of the campaign are in use: captions, rewrites of them, descriptions, gold questions.

    Gold questions are pairs with known grades, hidden in annotators' work to check their care.
    """
    return query_rows.in_use(project.store.db)


@in_charge
def next_step(project: Project, by: Lead | Operator) -> str:
    """Return the command to run next in a project that is not ready for grading; an empty text once it is ready."""
    return next_command(project.folder, project.store)


def next_command(folder: Path, store: Store) -> str:
    """Return the command to run next in a project that is not ready for grading; an empty text once it is ready.

    If the corpus has captions, they are rewritten before queries are chosen from them. If it has moments without
    captions, the command imports queries from a file.
    """
    totals = counts(store)
    if not any(totals["pairs"].values()):
        if any(totals["queries"].values()):
            return (steps.choosing if totals["captions"] else steps.pooling)(folder)
        if not totals["captions"]:
            return (steps.bringing if totals["moments"] else steps.importing)(folder)
        with reading(store) as db:
            rewritten = rows.counts(db).rewritten
        return steps.drawing(folder) if rewritten else steps.rewriting(folder)
    return "" if totals["annotators"] else steps.adding(folder)


@in_charge
def review_counts(project: Project, by: Lead | Operator) -> dict[ReviewList, int]:
    """Return how many pairs are in each list for leads; for the list of notes, how many notes have no reply."""
    with reading(project.store) as db:
        return pair_lists.counts(db)


@in_charge
def review_page(
    project: Project, by: Lead | Operator, which: ReviewList, search: str = "", *, start: int = 0, size: int = 10
) -> ReviewPage:
    """Return up to `size` pairs of a list for leads, whose query or video name contains the text `search`.

    The page starts at position `start` of the matching pairs, counted from 0.
    """
    with reading(project.store) as db:
        return pair_lists.page(db, which, " ".join(search.split()), start=start, size=size)


@in_charge
def pair_review(project: Project, by: Lead | Operator, pair: PairKey) -> PairReview | None:
    """Return a pair with its grades, refusals to grade, lead decisions and verdict; None if there is no such pair."""
    with reading(project.store) as db:
        return reviews.by_key(db, pair)


@in_charge
def recent_reasons(project: Project, by: Lead | Operator, *, limit: int = 5) -> list[str]:
    """Return the reasons that leads gave most recently for decisions, newest first, without repetitions."""
    return pair_lists.reasons(project.store.db, limit)
