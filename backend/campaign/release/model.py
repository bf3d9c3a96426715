"""What a release says, as values, before it is written in any form."""

from dataclasses import dataclass
from typing import Any

from backend.campaign.captions.rules.differences import RewriteSummary
from backend.campaign.nouns import Split
from backend.campaign.project.model import Grading
from backend.ground.ids import QueryId

PAIR_COLUMNS = (
    *("pair_id", "query_id", "split", "query", "video_name", "start", "end", "duration", "caption"),
    *("rank", "similarity", "verdict", "relevance", "mean"),
)
RAW_COLUMNS = (
    *("pair_id", "worker", "relevance", "round", "graded_at", "active_ms", "elapsed_ms", "contexts", "simulated"),
    "adjudicated",
)

Document = dict[str, Any]
"""A query with its moments as `val.json`, `test.json` and the training sets hold it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything of a release but its training sets, of one instant."""

    name: str
    """Of the project."""
    grading: Grading
    truth: dict[Split, list[Document]]
    """The documents of the validation and of the test queries, in judging order; moments by rank."""
    videos: dict[str, tuple[float, int]]
    """Name -> (duration in seconds, index), by name."""
    raw: list[tuple[object, ...]]
    """Every grade that counts, with `RAW_COLUMNS`."""
    pair_columns: tuple[str, ...]
    """`PAIR_COLUMNS`, and `published_caption` where published captions go along."""
    pairs: list[tuple[object, ...]]
    """Every pair that was handed out."""
    counts: dict[str, Any]
    """As `status.counts` gives them, without probes."""
    guideline: dict[int, int]
    """How many grades were given under each version of the guideline; the last one stands."""
    rewriting: RewriteSummary | None
    """What rewriting did to the captions; None if none was rewritten."""
    published_captions: bool
    """Whether published captions are in it, in whichever field."""
    without_caption: int
    """Moments that have no imprecise caption."""
    left_out: tuple[QueryId, ...]
    """Validation and test queries that are not in it."""

    @property
    def moments(self) -> int:
        """Graded moments of all queries."""
        return sum(len(query["relevant_moment"]) for documents in self.truth.values() for query in documents)
