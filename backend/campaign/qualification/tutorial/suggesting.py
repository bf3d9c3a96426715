"""Suggest texts and moments for practice.

*Reads* queries, captions, candidates. *Writes* nothing.
"""

from collections.abc import Sequence

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Split
from backend.campaign.qualification.tutorial.model import Offer
from backend.campaign.selection.candidates import choosing as candidates
from backend.campaign.selection.candidates.rows import lists
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QueryRow
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.encoders import sentence
from backend.store.connection import reading

MOST_TEXTS = 2000


@permissions.lead_only
def practice_offers(project: Project, lead: Lead, text: str, *, most: int = 6) -> list[Offer]:
    """Return the moments whose captions are most similar to a text, with where they lie; loads the project's encoder.

    Raises:
        ProjectError: the candidate lists came from another encoder.
    """
    settings, db = project.settings, project.store.db
    encoder = sentence.load(sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype))
    recorded = lists.encoder_of_candidates(db)
    if recorded is not None and recorded != encoder.identity:
        raise ProjectError(
            said(
                "the candidate lists were made with {recorded}, but the encoder is {identity} now",
                recorded=recorded,
                identity=encoder.identity,
            )
        )
    asked = [QueryRow(QueryId(0), " ".join(text.split()), Split.TRAIN)]
    found, _ = candidates.search(project, encoder, asked, most)
    details = corpus.moment_details(db)
    return [
        Offer(row.moment_id, there.video, there.start_s, there.end_s, there.caption, row.similarity)
        for row in found
        for there in (details[row.moment_id],)
    ]


@permissions.lead_only
def practice_texts(project: Project, lead: Lead) -> Sequence[str]:
    """Return texts of training queries, which nobody judges: the first distinct ones."""
    with reading(project.store) as db:
        return list(dict.fromkeys(query.text for query in queries.query_rows(db, (Split.TRAIN,))))[:MOST_TEXTS]
