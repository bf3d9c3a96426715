"""Select the queries that a release holds. Pure."""

from collections.abc import Iterable

from backend.campaign.release.export.model import Adjudicated, QueryCounts, ReleaseOptions, ReleaseSelection


def select(counted: Iterable[QueryCounts], options: ReleaseOptions) -> ReleaseSelection:
    """Which queries are in a release.

    A query with 1 of 20 pairs settled would count 0 for every run that finds one of the other 19, so it waits, unless
    somebody asks for it.

    Args:
        counted: all validation and test queries, in judging order.
        options: what somebody said.
    """
    included = options.adjudicated is Adjudicated.INCLUDE
    within: list[QueryCounts] = []
    unfinished: list[QueryCounts] = []
    empty: list[QueryCounts] = []
    for query in counted:
        usable = query.settled if included else query.consensus
        if not query.finished and not (options.unfinished and usable):
            unfinished.append(query)
        elif not usable:
            empty.append(query)
        else:
            within.append(query)
    decided = sum(query.adjudicated for query in within)
    return ReleaseSelection(
        queries=tuple(within),
        unfinished=tuple(unfinished),
        without_relevance=tuple(empty),
        unfinished_within=tuple(query for query in within if not query.finished),
        moments=sum(query.settled if included else query.consensus for query in within),
        adjudicated=decided if included else 0,
        adjudicated_left_out=0 if included else decided,
    )
