"""What leads explore: the funnel of a campaign, and the page Explore."""

from collections.abc import Sequence

from backend.campaign.monitoring.explore import exploring, rows, rules
from backend.campaign.monitoring.explore.model import (
    AgreedQuery,
    Along,
    FoundPair,
    Funnel,
    Lasting,
    PairPart,
    RelevanceBin,
    ShowCoverage,
    SourceStanding,
    VideoCoverage,
)
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.text_files import csv_text
from backend.store.connection import reading


def funnel(project: Project, by: Person | Operator) -> Funnel:
    """How far the pairs came that were handed out, and where they ended."""
    permissions.require_in_charge(project.store, by)
    with reading(project.store) as db:
        return rules.funnel(rows.fates(db))


def explored_version(project: Project, by: Person | Operator) -> str:
    """Changes whenever anything below would."""
    permissions.require_in_charge(project.store, by)
    return rows.version(project.store.db)


def relevances_along(project: Project, by: Person | Operator, along: Along) -> list[RelevanceBin]:
    """Relevance against similarity, rank or the moment's duration, in bins. Pairs without a relevance stand apart."""
    permissions.require_in_charge(project.store, by)
    return exploring.relevances(project.store, along)


def same_words(project: Project, by: Person | Operator) -> tuple[tuple[int, ...], int]:
    """(pairs of each relevance, pairs without any) of those whose similarity is 1."""
    permissions.require_in_charge(project.store, by)
    return exploring.same_words(project.store)


def source_standings(project: Project, by: Person | Operator) -> list[SourceStanding]:
    """What became of the candidates that each source found."""
    permissions.require_in_charge(project.store, by)
    return exploring.sources(project.store)


def coverage(project: Project, by: Person | Operator) -> list[VideoCoverage]:
    """What was handed out of every video, and what came of it."""
    permissions.require_in_charge(project.store, by)
    return exploring.coverage(project.store)


def coverage_by_show(videos: Sequence[VideoCoverage]) -> list[ShowCoverage]:
    """The same by show, those with most pairs first."""
    return rules.by_show(videos)


def durations(project: Project, by: Person | Operator) -> tuple[Lasting | None, Lasting | None]:
    """How long moments last, and how long videos."""
    permissions.require_in_charge(project.store, by)
    return exploring.durations(project.store)


def agreed_queries(project: Project, by: Person | Operator) -> list[AgreedQuery]:
    """How people agree on every query, those on which they agree least first."""
    permissions.require_in_charge(project.store, by)
    return exploring.agreement(project.store)


def found_pairs(
    project: Project, by: Person | Operator, part: PairPart, *, first: int = 0, most: int = -1
) -> list[FoundPair]:
    """Pairs of a part by query and rank, from the given one on (counted from 0), at most so many (below 0: all)."""
    permissions.require_in_charge(project.store, by)
    return exploring.pairs(project.store, part, first=first, most=most)


def found_pair_count(project: Project, by: Person | Operator, part: PairPart) -> int:
    """How many that are in all."""
    permissions.require_in_charge(project.store, by)
    return exploring.pair_count(project.store, part)


def explored_csv(
    found: Sequence[RelevanceBin]
    | Sequence[FoundPair]
    | Sequence[VideoCoverage]
    | Sequence[AgreedQuery]
    | Sequence[SourceStanding]
    | Lasting,
) -> str:
    """What is shown, as CSV; what is unknown is an empty cell."""
    table = rules.lasting_table(found) if isinstance(found, Lasting) else rules.table(found)
    columns = list(table[0]) if table else []
    return csv_text(columns, ([row[column] for column in columns] for row in table), for_people=True)
