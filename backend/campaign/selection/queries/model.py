"""Data types for queries: options of a draw, captions that may be drawn, own queries, and the result."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.nouns import Split
from backend.core.events import Event, EventGroup
from backend.core.ids import QueryId
from backend.core.messages import said

LONG_QUERY = 300
"""A lead is warned of queries with more characters than this: annotators read the query beside every clip."""


class Stratum(StrEnum):
    """The kinds of groups over which a draw of queries may be spread in proportion to their numbers of texts."""

    VIDEO = "video"
    SHOW = "show"


class Repeats(StrEnum):
    """The choices for training captions with the same text: one query each, or one query together."""

    KEEP = "keep"
    """Each is a query, as in TVR-Ranking."""
    MERGE = "merge"
    """Together they are one query."""


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """Options of a draw: the numbers of validation and test queries, the seed, and how to draw.

    `stratum` is the kind of groups over which the draw is spread in proportion (None: all texts are drawn alike).
    `show_of` is the regular expression that finds the TV show in a video's name, see `rules.named_shows`. `repeats`
    says whether training captions with the same text become one query each, or one query together.
    """

    val: int = 0
    test: int = 0
    seed: int = 0
    stratum: Stratum | None = None
    show_of: str | None = None
    repeats: Repeats = Repeats.KEEP

    @property
    def draws(self) -> bool:
        """Whether any validation or test query is to be drawn."""
        return bool(self.val or self.test)


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query of the project: its id, text and split."""

    query_id: QueryId
    text: str
    split: Split


@dataclass(frozen=True, slots=True)
class ListedQuery:
    """A validation or test query, as leads see it before candidates are chosen.

    `source` tells where a person's own query comes from; it is empty if the query was drawn from a caption.
    """

    query_id: QueryId
    text: str
    split: Split
    source: str


@dataclass(frozen=True, slots=True)
class OwnFile:
    """An uploaded file with a person's own queries. `split` is the split of queries for which the file names none."""

    data: bytes
    name: str
    split: Split


@dataclass(frozen=True, slots=True)
class OwnQuery:
    """A query that a person brings. `source` says where it comes from, `row` is its row in the file."""

    text: str
    split: Split
    source: str
    row: int


@dataclass(frozen=True, slots=True)
class Drawable:
    """A caption that may become a query, with the moment that it describes. Its id does not affect the draw."""

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
    """The result of a draw: queries in judging order, and counts of the captions left out.

    `removed` counts captions that may not be training queries, because a validation or test query has their text.
    `merged` counts captions that were merged into a training query with the same text.
    """

    queries: list[DrawnQuery]
    removed: int
    merged: int


@dataclass(frozen=True, slots=True)
class QueryReport:
    """The result of drawing queries from captions and adding people's own: queries in each split, and more counts.

    `own` counts queries that were added from a file; they are also counted in their splits. `rewritten` says whether
    the drawn queries come from rewritten captions. `removed` counts captions that may not become training queries,
    because a validation or test query has their text. `repeats` counts training queries with the text of an earlier
    one. `merged` counts captions that were merged into a training query with the same text. `first` has the first
    queries to be judged, as (text, split). `long` has the lengths of very long queries: those with more than
    `LONG_QUERY` characters. With `dry_run` nothing was written.
    """

    val: int
    test: int
    train: int
    own: int
    removed: int
    repeats: int
    merged: int
    rewritten: bool
    first: tuple[tuple[str, Split], ...] = ()
    long: tuple[int, ...] = ()
    dry_run: bool = False


QUERIES_DRAWN = Event(
    "queries_drawn", EventGroup.MATERIAL, said("drew queries: {val} val, {test} test, {train} train (seed {seed})")
)
"""seed, val, test, train, removed, merged, repeats (keep, merge), spread_over (video, show), show_of, asked"""
QUERIES_ADDED = Event(
    "queries_added", EventGroup.MATERIAL, said("added queries from {file}: {val} val, {test} test, {train} train")
)
"""file, val, test, train: numbers of own queries added, asked"""
QUERY_CHANGED = Event("query_changed", EventGroup.MATERIAL, said("changed the query “{before}” to “{text}” ({split})"))
"""before, text, split: of a query without candidates"""
QUERIES_REMOVED = Event("queries_removed", EventGroup.MATERIAL, said("removed {queries} queries: {texts}"))
"""queries: how many, texts: of queries without candidates"""
QUERIES_TAKEN_BACK = Event(
    "queries_taken_back", EventGroup.MATERIAL, said("took back the queries: {val} val, {test} test, {train} train")
)
"""val, test, train, candidates, pairs: how many of each were removed"""
