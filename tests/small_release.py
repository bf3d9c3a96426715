"""Three queries with their moments and pairs: what tests of a release's statistics share."""

from typing import Any

from backend.campaign.release.export.rules.statistics import Documents, JudgedPair


def moment(video: str, start_s: float, end_s: float, relevance: int) -> dict[str, Any]:
    return {
        "video_name": video,
        "timestamp": [start_s, end_s],
        "duration": {"a": 10.0, "b": 40.0}[video],
        "relevance": relevance,
    }


VAL = [
    {
        "query_id": 1,
        "query": "A dog runs.",
        "relevant_moment": [moment("a", 0, 5, 2), moment("b", 0, 4, 1), moment("b", 4, 5, 0)],
    },
    {"query_id": 2, "query": "She doesn't sit down", "relevant_moment": [moment("a", 0, 5, 0)]},
]
TEST = [{"query_id": 3, "query": "Tea", "relevant_moment": [moment("b", 10, 40, 2)]}]
PAIRS = [
    *(JudgedPair("val", 1, rank, "consensus", 2) for rank in (1, 2)),
    JudgedPair("val", 1, 3, "consensus", 4),  # rank 3 of batches of 2: the second batch
    JudgedPair("val", 2, 1, "adjudicated", 4),
    JudgedPair("val", 2, 2, "discarded", 4),
    JudgedPair("test", 3, 1, "consensus", 6),
    JudgedPair("test", 4, 1, "open", 1),  # a query without any settled pair
    JudgedPair("test", 4, 2, "escalated", 2),
]
SMALL = Documents({"val": VAL, "test": TEST}, {"a": 10.0, "b": 40.0, "c": 100.0}, PAIRS, highest=2, batch_size=2)
