"""Compute the statistics of a project: its queries (or captions, before queries are drawn), moments and videos.

*Reads* queries, captions, moments and videos. *Writes* nothing.
"""

from collections import Counter

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.release.statistics import rules
from backend.campaign.release.statistics.rules import Holdings, Span, Statistics
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import steps as project_steps
from backend.campaign.setup.project.folder import Project
from backend.core import lexicon
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.progress import Progress, steps_of
from backend.store.connection import reading

NO_QUERIES = "no queries are drawn yet, so the captions that `queries` would draw from are counted instead"

NO_CAPTIONS = "no moment has a caption, so each moment is counted as one pair"


@in_charge
def project_statistics(project: Project, by: Lead | Operator, *, progress: Progress | None = None) -> Statistics:
    """Return the statistics of a project's queries (captions, before queries are drawn), moments and videos.

    Raises:
        ProjectError: the project has no moments, or neither captions nor queries.
    """
    steps = steps_of(progress, said("counting the words of queries"))
    return rules.count(_holdings(project), lexicon.parts_of_speech, lexicon.name(), progress=steps)


def _holdings(project: Project) -> Holdings:
    with reading(project.store) as db:
        published = corpus.published_captions(db)
        details = corpus.moment_details(db)
        query_rows = queries.query_rows(db)
        durations: dict[str, float | None] = dict(corpus.video_durations(db))
        drawn_from = rows.rewritten_captions(db) or published
    if not details or not (published or query_rows):
        raise ProjectError(f"there is nothing to count yet: run `{project_steps.importing(project.folder)}` first")
    pairs: Counter[Span] = Counter()
    for caption in published:
        captioned = details[caption.moment_id]
        pairs[captioned.video, captioned.start_s, captioned.end_s] += 1
    notes = () if published else (NO_CAPTIONS,)
    for moment in details.values():
        pairs[moment.video, moment.start_s, moment.end_s] += 0 if published else 1
    if not query_rows:
        return Holdings({"captions": [caption.text for caption in drawn_from]}, pairs, durations, (NO_QUERIES,))
    by_split = {split.value: [query.text for query in query_rows if query.split is split] for split in Split}
    return Holdings({split: texts for split, texts in by_split.items() if texts}, pairs, durations, notes)
