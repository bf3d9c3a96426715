"""Queries and their draw, as values."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.nouns import Split
from backend.core.events import Event, EventGroup
from backend.core.ids import QueryId
from backend.core.messages import said

LONG_QUERY = 300
"""Characters from which on a lead is warned: annotators read the whole query beside every clip."""


class Stratum(StrEnum):
    """What a draw may be spread over evenly."""

    VIDEO = "video"
    SHOW = "show"


class Repeats(StrEnum):
    """What becomes of training captions with one text."""

    KEEP = "keep"
    """Each is a query, as in TVR-Ranking."""
    MERGE = "merge"
    """Together they are one query."""


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """What to draw from the captions.

    `stratum` is what the draw is spread over, in proportion (None: evenly over all texts); `show_of` how the show is
    told from a video's name, see `rules.named_shows`; `repeats` what becomes of training captions with one
    text.
    """

    val: int = 0
    test: int = 0
    seed: int = 0
    stratum: Stratum | None = None
    show_of: str | None = None
    repeats: Repeats = Repeats.KEEP

    @property
    def draws(self) -> bool:
        """Whether any query to be judged is asked for."""
        return bool(self.val or self.test)


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query of the project."""

    query_id: QueryId
    text: str
    split: Split


@dataclass(frozen=True, slots=True)
class ListedQuery:
    """A query to be judged, as a lead sees it before there are candidates; `source` is empty if a caption gave it."""

    query_id: QueryId
    text: str
    split: Split
    source: str


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A person's own queries as they came; `split` is that of lines that do not say it."""

    data: bytes
    name: str
    split: Split


@dataclass(frozen=True, slots=True)
class OwnQuery:
    """A query that a person brings. `source` says where it comes from, `row` where it stands in the file."""

    text: str
    split: Split
    source: str
    row: int


@dataclass(frozen=True, slots=True)
class Drawable:
    """A caption that may become a query, with the moment it describes; ids are no order."""

    caption_id: int
    text: str
    video: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class DrawnQuery:
    """A caption that became a query."""

    text: str
    caption_id: int
    split: Split


@dataclass(frozen=True, slots=True)
class Draw:
    """Queries in judging order, and what became of the captions that are none.

    `removed` captions have the text of a validation or test query, so they may not train; `merged` ones have that of
    a training query, and were not kept beside it.
    """

    queries: list[DrawnQuery]
    removed: int
    merged: int


QUERIES_DRAWN = Event(
    "queries_drawn", EventGroup.MATERIAL, said("drew queries: {val} val, {test} test, {train} train (seed {seed})")
)
"""seed, val, test, train, removed, merged, repeats (keep, merge), spread_over (video, show), show_of"""
QUERIES_ADDED = Event(
    "queries_added", EventGroup.MATERIAL, said("added queries from {file}: {val} val, {test} test, {train} train")
)
"""file, val, test, train: a person's own"""
QUERY_CHANGED = Event("query_changed", EventGroup.MATERIAL, said("changed the query “{before}” to “{text}” ({split})"))
"""before, text, split: of a query without candidates"""
QUERIES_REMOVED = Event("queries_removed", EventGroup.MATERIAL, said("removed {queries} queries: {texts}"))
"""queries: how many, texts: of queries without candidates"""
