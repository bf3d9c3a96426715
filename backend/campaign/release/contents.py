"""What a release made now says, read at one instant of the project.

*Reads* everything. *Writes* nothing: every form of a release is written from what stands here.
"""

from backend.campaign.candidates import pseudo_train
from backend.campaign.captions.rows import rewrites
from backend.campaign.captions.rules.differences import summary
from backend.campaign.corpus import rows as corpus
from backend.campaign.judging.rows import judgements
from backend.campaign.nouns import Split
from backend.campaign.project import rows as facts
from backend.campaign.project.folder import Project
from backend.campaign.queries import rows as queries
from backend.campaign.release import rows as releases
from backend.campaign.release.model import Contents
from backend.campaign.release.rules import documents
from backend.campaign.review import status
from backend.campaign.review.rows import reviews
from backend.store.connection import reading


def read(project: Project, *, with_published: bool = False) -> Contents:
    """Everything of a release but its training sets, which `pseudo_train.write` writes.

    Args:
        project: the project.
        with_published: whether the published captions go with it, in a field of their own.
    """
    with reading(project.store) as db:
        settled = reviews.settled_pairs(db)
        all_pairs = reviews.all_pairs(db)
        decided = judgements.all_adjudicated(db)
        raw: list[tuple[object, ...]] = [(*row, decided.get(row[0], "")) for row in judgements.released_standing(db)]
        asked = queries.query_rows(db, (Split.VAL, Split.TEST))
        moments = pseudo_train.moment_documents(project, with_published=with_published)
        rewritten = rewrites.released_captions(db) is not None
        changes = summary(rewrites.accepted_texts(db)) if rewritten else None
        durations = corpus.video_durations(db)
        counts = status.counts(project, probes=False)
        grading = facts.grading(db)
        guideline = releases.grades_by_guideline(db)
    spans = documents.by_span(moments)
    truth = documents.truth(asked, settled, spans)
    held = {query["query_id"] for found in truth.values() for query in found}
    return Contents(
        name=project.name,
        grading=grading,
        truth=truth,
        videos=documents.videos(durations),
        raw=raw,
        pair_columns=documents.pair_columns(with_published),
        pairs=documents.pair_rows(all_pairs, asked, spans, with_published=with_published),
        counts=counts,
        guideline=guideline,
        rewriting=changes,
        published_captions=with_published or not rewritten,
        without_caption=sum(not moment["caption"] for moment in moments.values()),
        left_out=tuple(query.query_id for query in asked if query.query_id not in held),
    )
