"""Which queries a release holds, by hand."""

import pytest

from backend.campaign.nouns import Split
from backend.campaign.release.export.model import Adjudicated, QueryCounts, ReleaseOptions
from backend.campaign.release.export.rules.documents import select
from backend.core.ids import QueryId

# Pairs, waiting, in consensus, decided by a lead.
STANDINGS = {
    "finished": (4, 0, 2, 1),
    "half done": (4, 1, 1, 0),
    "begun": (2, 2, 0, 0),
    "discarded": (2, 0, 0, 0),
    "decided": (2, 0, 0, 2),
    "not handed out": (0, 0, 0, 0),
    "decided, half done": (3, 2, 0, 1),
}
IN, OUT = Adjudicated.INCLUDE, Adjudicated.LEAVE_OUT

EXPECTED = {
    # In it, waiting, without relevance; those within that wait; moments, decided, decided and left out.
    (IN, False): (
        *(["finished", "decided"], ["half done", "begun", "not handed out", "decided, half done"], ["discarded"]),
        *([], 5, 3, 0),
    ),
    (IN, True): (
        *(["finished", "half done", "decided", "decided, half done"], ["begun", "not handed out"], ["discarded"]),
        *(["half done", "decided, half done"], 7, 4, 0),
    ),
    (OUT, False): (
        *(["finished"], ["half done", "begun", "not handed out", "decided, half done"], ["discarded", "decided"]),
        *([], 2, 0, 1),
    ),
    (OUT, True): (
        *(["finished", "half done"], ["begun", "not handed out", "decided, half done"], ["discarded", "decided"]),
        *(["half done"], 3, 0, 1),
    ),
}


@pytest.mark.parametrize(("adjudicated", "unfinished"), EXPECTED)
def test_queries_are_in_it_wait_or_have_nothing_for_it(adjudicated: Adjudicated, unfinished: bool) -> None:
    counted = [
        QueryCounts(QueryId(number), name, Split.VAL, *counts)
        for number, (name, counts) in enumerate(STANDINGS.items())
    ]
    found = select(iter(counted), ReleaseOptions(adjudicated, unfinished))
    lists = (found.queries, found.unfinished, found.without_relevance, found.unfinished_within)
    assert (
        *([query.text for query in one] for one in lists),
        *(found.moments, found.adjudicated, found.adjudicated_left_out),
    ) == EXPECTED[adjudicated, unfinished]
