"""Read what a release made now says, at one instant of the project.

*Reads* everything. *Writes* nothing: every form of a release is written from what stands here.
"""

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.captions.rules.differences import summary
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import judgements, pair_status
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.model import Contents, ReleaseOptions, ReleaseSelection
from backend.campaign.release.export.rules import documents
from backend.campaign.release.export.rules.documents import select
from backend.campaign.review import status
from backend.campaign.review.rows import reviews
from backend.campaign.selection.candidates import pseudo_train
from backend.campaign.selection.candidates.model import SourceKind
from backend.campaign.selection.candidates.rows import lists
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.store.connection import reading


def read(project: Project, options: ReleaseOptions) -> Contents:
    """Everything of a release but its training sets, which `pseudo_train.write` writes."""
    with reading(project.store) as db:
        selection = select(releases.query_counts(db), options)
        all_pairs = reviews.all_pairs(db)
        decided, re_opened = pair_status.all_adjudicated(db), pair_status.all_re_opened(db)
        raw: list[tuple[object, ...]] = [
            (*row, decided.get(row[0], ""), "1" if row[0] in re_opened else "")
            for row in judgements.released_standing(db)
        ]
        splits = {query.query_id: query.split for query in queries.query_rows(db, (Split.VAL, Split.TEST))}
        moments = pseudo_train.moment_documents(project, with_published=options.with_published)
        rewritten = rows.released_captions(db) is not None
        changes = summary(rows.accepted_texts(db)) if rewritten else None
        durations = corpus.video_durations(db)
        counts = status.counts(project.store, probes=False)
        campaign = facts.campaign(db)
        guideline = releases.grades_by_guideline(db)
        changed_at = releases.last_change(db)
        terms = facts.terms(db)
        found_by = tuple(lists.all_sources(db))
        pooled = any(source.kind is not SourceKind.CAPTIONS for source in found_by)
    spans = documents.by_span(moments)
    return Contents(
        name=project.name,
        grading=campaign.grading,
        batch_size=campaign.batch_size,
        truth=documents.truth(selection, all_pairs, spans, options),
        videos=documents.videos(durations),
        raw=raw,
        pair_columns=documents.pair_columns(options.with_published, pooled),
        pairs=documents.pair_rows(all_pairs, splits, selection, spans, options, pooled=pooled),
        counts=counts,
        guideline=guideline,
        rewriting=changes,
        published_captions=options.with_published or not rewritten,
        without_caption=sum(not moment["caption"] for moment in moments.values()),
        undescribed=sum(moment["caption"] is None for moment in moments.values()),
        changed_at=changed_at,
        options=options,
        selection=selection,
        terms=terms,
        sources=found_by,
    )


@in_charge
def release_preview(project: Project, by: Lead | Operator, options: ReleaseOptions | None = None) -> ReleaseSelection:
    """Return which queries a release made now would hold, and which not; counted, so a page may ask at every look."""
    with reading(project.store) as db:
        return select(releases.query_counts(db), options or ReleaseOptions())
