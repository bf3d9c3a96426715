"""Pseudo training sets: for every training query its top N moments by similarity, kept as weight.

*Reads* queries of the split `train`, captions, cached embeddings. *Writes* nothing; the files are the record.
The lists come from the same encoder as the candidate lists, or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.campaign.candidates import choosing as candidates
from backend.campaign.candidates.rows import lists
from backend.campaign.candidates.rows.lists import CandidateRow
from backend.campaign.captions.rows import rewrites
from backend.campaign.corpus import rows as corpus
from backend.campaign.nouns import Split
from backend.campaign.project.folder import Project
from backend.campaign.queries import rows as queries
from backend.campaign.queries.rows import QueryRow
from backend.encoders.sentence import Encoder
from backend.ground.errors import ProjectError
from backend.ground.ids import MomentId
from backend.ground.progress import Progress

TOPS = (1, 20, 40)
"""Sizes of the published pseudo training sets (TVR-Ranking)."""


@dataclass(frozen=True, slots=True)
class TrainingList:
    """One training query and its most similar moments, by rank."""

    query: QueryRow
    candidates: tuple[CandidateRow, ...]


def training_lists(
    project: Project,
    encoder: Encoder,
    *,
    top: int,
    progress: Progress | None = None,
) -> list[TrainingList]:
    """The top moments of every training query, in query order.

    Raises:
        ProjectError: the encoder is not the one of the candidate lists.
    """
    db = project.store.db
    recorded = lists.encoder_of_candidates(db)
    if recorded is not None and recorded != encoder.identity:
        raise ProjectError(
            f"the candidate lists were made with {recorded}, but the encoder now is {encoder.identity}: "
            "set `encoder` in reelrank.toml back"
        )
    asked = queries.query_rows(db, (Split.TRAIN,))
    if not asked:
        return []
    rows, _ = candidates.search(project, encoder, asked, top, progress=progress)
    by_query: dict[int, list[CandidateRow]] = {}
    for row in rows:
        by_query.setdefault(row.query_id, []).append(row)
    return [TrainingList(query, tuple(by_query.get(query.query_id, ()))) for query in asked]


def documents(
    lists: Sequence[TrainingList], top: int, moments: Mapping[MomentId, dict[str, Any]]
) -> list[dict[str, Any]]:
    """The training set of size `top` in the form of the release, cut from longer lists; `moments` by their ids."""
    return [
        {
            "query_id": training.query.query_id,
            "query": training.query.text,
            "relevant_moment": [
                {**moments[c.moment_id], "similarity": round(c.similarity, 6)} for c in training.candidates[:top]
            ],
        }
        for training in lists
    ]


def moment_documents(project: Project, *, with_published: bool = False) -> dict[MomentId, dict[str, Any]]:
    """Every moment in the form of the release.

    Its caption is an imprecise one, empty where there is none: published words may hold names. Where no caption of the
    project was rewritten, it is the published one. `with_published` adds that in any case, in a field of its own.
    """
    db = project.store.db
    imprecise = rewrites.released_captions(db)
    return {
        moment_id: {
            "video_name": moment.video,
            "timestamp": [moment.start_s, moment.end_s],
            "duration": moment.duration_s,
            "caption": moment.caption if imprecise is None else imprecise.get(moment_id, ""),
            **({"published_caption": moment.caption} if with_published else {}),
        }
        for moment_id, moment in corpus.moment_details(db).items()
    }
