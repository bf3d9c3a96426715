"""Turn numbers of judged pairs into the tables of the page Explore, such as pairs by stage. Pure functions."""

import math
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from backend.campaign.monitoring.explore.model import (
    AgreedQuery,
    BinnedBy,
    FoundPair,
    Funnel,
    Lasting,
    RelevanceBin,
    ShowCoverage,
    SourceStanding,
    VideoCoverage,
)
from backend.campaign.nouns import FIRST_ROUND_SEATS, Verdict

CONFIRMED = "confirmed"
"""Stands for the verdict of a discard that a lead confirmed."""


def funnel(counts: Iterable[tuple[str, int, int]]) -> Funnel:
    """Return how many pairs reached each stage of judging.

    Args:
        counts: (verdict, number of annotators asked, number of pairs). The verdict is `CONFIRMED` for discarded pairs
            that a lead confirmed. Rows with the same verdict and number of annotators are added up.

    >>> found = funnel([("open", 2, 5), ("consensus", 2, 60), ("consensus", 4, 20), ("discarded", 4, 9)])
    >>> found.pairs, found.graded_by_two, found.settled_by_two, found.escalated, found.settled_by
    (94, 89, 60, 29, {4: 20})
    """
    at_once: Counter[str] = Counter()
    further: Counter[str] = Counter()
    settled_by: Counter[int] = Counter()
    for verdict, asked, pairs in counts:
        (further if asked > len(FIRST_ROUND_SEATS) else at_once)[verdict] += pairs
        if verdict == Verdict.CONSENSUS and asked > len(FIRST_ROUND_SEATS):
            settled_by[asked] += pairs
    # Pairs get their further seats in the transaction in which their first two grades disagree.
    return Funnel(
        pairs=at_once.total() + further.total(),
        waiting_first=at_once[Verdict.OPEN],
        settled_by_two=at_once[Verdict.CONSENSUS],
        decided_at_once=at_once[Verdict.ADJUDICATED],
        escalated=further.total(),
        waiting_further=further[Verdict.ESCALATED],
        settled_by=dict(sorted(settled_by.items())),
        discarded=further[Verdict.DISCARDED],
        confirmed=further[CONFIRMED],
        decided=further[Verdict.ADJUDICATED],
    )


SIMILARITY_STEP = 0.05
SAME_WORDS = 1 - 5e-7
"""From here on a similarity is 1 to the six decimals that a release gives."""
SECONDS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 3600)
"""Where the bins of durations begin, in seconds."""
_ONE = round(1 / SIMILARITY_STEP)


def bounds(along: BinnedBy, place: int) -> tuple[float, float]:
    """Return the bounds of bin number `place`: its least value, and the first value above it.

    Similarity 1 is a bin of its own, and so is each rank. Such a bin holds a single value, which is returned as both
    bounds.

    >>> bounds(BinnedBy.SIMILARITY, 15), bounds(BinnedBy.SIMILARITY, 20)
    ((0.75, 0.8), (1.0, 1.0))
    >>> bounds(BinnedBy.RANK, 3), bounds(BinnedBy.DURATION, 4)
    ((3, 3), (5, 7))
    """
    if along is BinnedBy.RANK:
        return place, place
    if along is BinnedBy.DURATION:
        return SECONDS[place], SECONDS[place + 1] if place + 1 < len(SECONDS) else math.inf
    return (1.0, 1.0) if place == _ONE else (round(place * SIMILARITY_STEP, 2), round((place + 1) * SIMILARITY_STEP, 2))


def bins(along: BinnedBy, counts: Iterable[tuple[int, int | None, int]], highest: int) -> list[RelevanceBin]:
    """Return a bin for each range of values, with its bounds and its number of pairs of each relevance.

    The list runs from the first to the last bin that has a pair, with the empty bins in between.

    Args:
        along: the property of a pair that is binned.
        counts: rows of (bin number, relevance or None, number of pairs).
        highest: the highest relevance of the scale.
    """
    counts_by_place: defaultdict[int, Counter[int | None]] = defaultdict(Counter)
    for place, relevance, pairs in counts:
        counts_by_place[place][relevance] += pairs
    if not counts_by_place:
        return []
    return [
        RelevanceBin(
            place,
            *bounds(along, place),
            tuple(counts_by_place[place][value] for value in range(highest + 1)),
            counts_by_place[place][None],
        )
        for place in range(min(counts_by_place), max(counts_by_place) + 1)
    ]


def lasting(all_of_them: Sequence[float], handed_out: Sequence[float]) -> Lasting | None:
    """Return a histogram of the durations in the corpus and of those given to annotators; None for an empty corpus."""
    if not all_of_them:
        return None
    here, out = (Counter(bisect(SECONDS, value) - 1 for value in values) for values in (all_of_them, handed_out))
    bars = [
        (float(low), float(SECONDS[place + 1]) if place + 1 < len(SECONDS) else None, here[place], out[place])
        for place, low in enumerate(SECONDS)
        if min(here) <= place <= max(here)
    ]
    mean = math.fsum(all_of_them) / len(all_of_them)
    return Lasting(bars, min(all_of_them), mean, max(all_of_them), len(all_of_them))


def by_show(videos: Iterable[VideoCoverage]) -> list[ShowCoverage]:
    """Return for each TV show how much of its videos was given to annotators, the show with most pairs first."""
    members: defaultdict[str | None, list[VideoCoverage]] = defaultdict(list)
    for video in videos:
        members[video.show].append(video)

    def total(members_of_show: list[VideoCoverage], field: str) -> int:
        return sum(getattr(video, field) for video in members_of_show)

    shows = [
        ShowCoverage(
            show=show,
            videos=len(members_of_show),
            covered=sum(video.pairs > 0 for video in members_of_show),
            moments=total(members_of_show, "moments"),
            judged_moments=total(members_of_show, "judged_moments"),
            pairs=total(members_of_show, "pairs"),
            decided=(decided := total(members_of_show, "decided")),
            relevant=total(members_of_show, "relevant"),
            mean=total(members_of_show, "relevance_sum") / decided if decided else None,
        )
        for show, members_of_show in members.items()
    ]
    return sorted(shows, key=lambda show: (-show.pairs, show.show or ""))


def table(
    found: Sequence[RelevanceBin]
    | Sequence[FoundPair]
    | Sequence[VideoCoverage]
    | Sequence[AgreedQuery]
    | Sequence[SourceStanding],
) -> list[dict[str, Any]]:
    """Convert one table of the page Explore to the rows of a CSV file. Each row maps column names to values."""
    return [_row(item) for item in found]


def lasting_table(found: Lasting) -> list[dict[str, Any]]:
    """Convert a histogram of durations to the rows of a CSV file. Each row is a bar and maps column names to values."""
    return [dict(zip(("from_s", "below_s", "in_corpus", "handed_out"), bar, strict=True)) for bar in found.bars]


def _row(item: RelevanceBin | FoundPair | VideoCoverage | AgreedQuery | SourceStanding) -> dict[str, Any]:
    if isinstance(item, RelevanceBin):
        counts = {f"relevance_{value}": pairs for value, pairs in enumerate(item.counts)}
        beyond = None if item.high == math.inf else item.high
        ends = {"from": item.low, "below": beyond}
        return {**ends, "mean": item.mean, "with_relevance": item.decided, "without": item.without, **counts}
    if isinstance(item, AgreedQuery):
        columns = asdict(item.agreement)
        settled = columns.pop("settled")
        return {"query_id": item.query_id, "query": columns.pop("name"), **columns, "settled_by_two": settled["by_two"]}
    if isinstance(item, SourceStanding):
        standing = asdict(item)
        return {**standing.pop("source"), **standing, "mean": item.mean}
    if isinstance(item, VideoCoverage):
        return {**asdict(item), "mean": item.mean}
    return asdict(item)
