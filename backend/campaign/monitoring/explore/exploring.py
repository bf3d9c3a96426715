"""What the judged pairs show, of one instant: relevance along something, coverage, durations, agreement of queries.

*Reads* everything before. *Writes* nothing.
"""

from backend.campaign.monitoring.explore import rows, rules
from backend.campaign.monitoring.explore.model import (
    AgreedQuery,
    Along,
    FoundPair,
    Lasting,
    PairPart,
    RelevanceBin,
    SourceStanding,
    VideoCoverage,
)
from backend.campaign.monitoring.quality import agreement_board
from backend.campaign.monitoring.quality.model import WHOLE
from backend.campaign.selection.queries.rules import named_shows
from backend.campaign.setup.project import rows as facts
from backend.core.errors import ProjectError
from backend.store.connection import Store, reading


def relevances(store: Store, along: Along) -> list[RelevanceBin]:
    """How relevance goes with similarity, rank or duration."""
    with reading(store) as db:
        return rules.bins(along, rows.relevances(db, along), facts.campaign(db).scale.highest)


def sources(store: Store) -> list[SourceStanding]:
    """What became of the candidates of each source, those that made the lists first."""
    with reading(store) as db:
        return rows.sources(db)


def coverage(store: Store) -> list[VideoCoverage]:
    """What was handed out of every video, by name. A show is told as the queries were drawn by, or as TVR names it."""
    with reading(store) as db:
        found, pattern = rows.coverage(db), rows.show_pattern(db)
    names = [row[1] for row in found]
    try:
        shows = named_shows(names, pattern)
    except ProjectError:  # an earlier release took the pattern without a limit
        shows = named_shows(names)
    return [VideoCoverage(video_id, name, shows[name], *counted) for video_id, name, *counted in found]


def durations(store: Store) -> tuple[Lasting | None, Lasting | None]:
    """How long moments last, and how long videos; None where there are none."""
    with reading(store) as db:
        return rules.lasting(*rows.moment_seconds(db)), rules.lasting(*rows.video_seconds(db))


def same_words(store: Store) -> tuple[tuple[int, ...], int]:
    """(pairs of each relevance, pairs without any) of those whose similarity is 1."""
    with reading(store) as db:
        counts = rows.same_words(db)
        return tuple(counts.get(value, 0) for value in facts.campaign(db).scale.grades), counts.get(None, 0)


def agreement(store: Store) -> list[AgreedQuery]:
    """Queries with two grades or more of some pair, those on which people agree least first."""
    found = agreement_board.report(store, WHOLE, resamples=0).queries
    with reading(store) as db:
        ids = rows.judged_queries(db)
    judged = [AgreedQuery(ids[one.name], one) for one in found if one.within is not None and one.name in ids]
    return sorted(judged, key=lambda one: (one.agreement.within, one.agreement.exact, one.query_id))


def pairs(store: Store, part: PairPart, *, first: int = 0, most: int = -1) -> list[FoundPair]:
    """Pairs of a part from the given one on (counted from 0), at most so many (below 0: all of them)."""
    with reading(store) as db:
        return rows.found_pairs(db, part, facts.campaign(db).scale.highest, first, most)


def pair_count(store: Store, part: PairPart) -> int:
    """How many that are in all."""
    with reading(store) as db:
        return rows.found_count(db, part, facts.campaign(db).scale.highest)
