"""Tabulate the judged pairs: stages of judging, relevance, sources, coverage, durations, agreement on queries.

*Reads* the tables of all earlier steps: corpus, queries, candidates and judgements. *Writes* nothing.
"""

from collections.abc import Sequence

from backend.campaign.judging.model import Judgement
from backend.campaign.judging.rows import judgements
from backend.campaign.monitoring.explore import rows, rules
from backend.campaign.monitoring.explore.model import (
    AgreedQuery,
    BinnedBy,
    FoundPair,
    Funnel,
    Lasting,
    PairPart,
    RelevanceBin,
    SourceStanding,
    VideoCoverage,
)
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.queries.rules import named_shows
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.text_files import csv_text
from backend.store.connection import reading


@in_charge
def funnel(project: Project, by: Lead | Operator) -> Funnel:
    """Count the pairs given to annotators by stage: waiting for grades, settled, disputed, or discarded."""
    with reading(project.store) as db:
        return rules.funnel(rows.fates(db))


@in_charge
def explored_version(project: Project, by: Lead | Operator) -> str:
    """Return a text that changes whenever anything on the page Explore changes."""
    return rows.version(project.store.db)


@in_charge
def relevances_along(project: Project, by: Lead | Operator, along: BinnedBy) -> list[RelevanceBin]:
    """Return the pairs' relevances in bins of one property: similarity, rank or duration of the moment.

    Pairs without a relevance are counted apart.
    """
    with reading(project.store) as db:
        return rules.bins(along, rows.relevances(db, along), project_rows.campaign(db).scale.highest)


@in_charge
def source_standings(project: Project, by: Lead | Operator) -> list[SourceStanding]:
    """Return for each source of candidates how many it found, how many became pairs, and their relevances.

    A source is an encoder's search or a submitted run. Sources of the original candidate lists come first, then runs
    that were submitted later.
    """
    with reading(project.store) as db:
        return rows.sources(db)


@in_charge
def coverage(project: Project, by: Lead | Operator) -> list[VideoCoverage]:
    """Return how much of each video was given to annotators, and the relevances of its pairs, sorted by video name.

    A video's TV show is found in its name, by the pattern that was given when queries were drawn. If none was given,
    the pattern for names in the data set TVR is used.
    """
    with reading(project.store) as db:
        found, pattern = rows.coverage(db), rows.show_pattern(db)
    names = [row[1] for row in found]
    try:
        shows = named_shows(names, pattern)
    except ProjectError:  # an earlier release took the pattern without a limit
        shows = named_shows(names)
    return [VideoCoverage(video_id, name, shows[name], *counted) for video_id, name, *counted in found]


@in_charge
def durations(project: Project, by: Lead | Operator) -> tuple[Lasting | None, Lasting | None]:
    """Return histograms of the durations of all moments and of all videos.

    The first is None if the corpus has no moments, and the second if it has no videos.
    """
    with reading(project.store) as db:
        return rules.lasting(*rows.moment_seconds(db)), rules.lasting(*rows.video_seconds(db))


@in_charge
def same_words(project: Project, by: Lead | Operator) -> tuple[tuple[int, ...], int]:
    """Return (pairs of each relevance, pairs without one), over pairs whose query and caption have similarity 1.

    The first part has one number for each relevance, beginning with 0.
    """
    with reading(project.store) as db:
        counts = rows.same_words(db)
        return tuple(counts.get(value, 0) for value in project_rows.campaign(db).scale.grades), counts.get(None, 0)


@in_charge
def agreed_queries(project: Project, by: Lead | Operator) -> list[AgreedQuery]:
    """Return the queries that have a pair with at least two grades, the query with the least agreement first."""
    queries = agreement_board(project, by, resamples=0).queries
    with reading(project.store) as db:
        ids = rows.judged_queries(db)
    judged = [AgreedQuery(ids[one.name], one) for one in queries if one.within is not None and one.name in ids]
    return sorted(judged, key=lambda one: (one.agreement.within, one.agreement.exact, one.query_id))


@in_charge
def found_pairs(
    project: Project, by: Lead | Operator, part: PairPart, *, first: int = 0, most: int = -1
) -> list[FoundPair]:
    """Return the pairs that fulfil the conditions in `part`, sorted by query and rank.

    The first `first` pairs are skipped, and at most `most` are returned. If `most` is below 0, all are returned.
    """
    with reading(project.store) as db:
        return rows.found_pairs(db, part, project_rows.campaign(db).scale.highest, first, most)


@in_charge
def found_pair_count(project: Project, by: Lead | Operator, part: PairPart) -> int:
    """Count the pairs that fulfil the conditions in `part`."""
    with reading(project.store) as db:
        return rows.found_count(db, part, project_rows.campaign(db).scale.highest)


@in_charge
def list_judgements(
    project: Project,
    by: Lead | Operator,
    *,
    revisions: bool = False,
    names: bool = False,
    first: int = 0,
    most: int = -1,
) -> list[Judgement]:
    """Return the judgements (stored grades) of all pairs, sorted by query and by the rank of the moment.

    Those of one pair are sorted by round: the first two annotators, then any two who were added later.

    Args:
        project: the project.
        by: the person who asks for them.
        revisions: also return grades that their annotator corrected later, each before its correction.
        names: also tell the annotators' names. A release has their numbers only.
        first: how many judgements to skip.
        most: how many judgements to return at most; below 0, all.
    """
    with reading(project.store) as db:
        return judgements.all_judgements(db, revisions=revisions, names=names, first=first, most=most)


def explored_csv(
    found: Sequence[RelevanceBin]
    | Sequence[FoundPair]
    | Sequence[VideoCoverage]
    | Sequence[AgreedQuery]
    | Sequence[SourceStanding]
    | Lasting,
) -> str:
    """Return a table of the page Explore as CSV. Unknown values are empty cells."""
    table = rules.lasting_table(found) if isinstance(found, Lasting) else rules.table(found)
    columns = list(table[0]) if table else []
    return csv_text(columns, ([row[column] for column in columns] for row in table), for_people=True)
