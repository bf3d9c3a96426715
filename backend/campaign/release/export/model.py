"""The values that a release holds, before it is written in any form, and what writing one reports."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from backend.campaign.corpus.captions.model import RewriteSummary
from backend.campaign.nouns import Split
from backend.campaign.selection.candidates.model import CandidateSource
from backend.campaign.setup.project.model import Grading, Terms
from backend.core.events import Event, EventGroup
from backend.core.ids import QueryId
from backend.core.messages import said

PAIR_COLUMNS = (
    *("pair_id", "query_id", "split", "query", "video_name", "start", "end", "duration", "caption"),
    *("rank", "similarity", "verdict", "relevance", "mean", "adjudicated", "released"),
)
RAW_COLUMNS = (
    *("pair_id", "worker", "relevance", "round", "graded_at", "active_ms", "elapsed_ms", "contexts", "simulated"),
    *("adjudicated", "re_opened"),
)

Document = dict[str, Any]
"""A query with its moments as `val.json`, `test.json` and the training sets hold it."""


class Adjudicated(StrEnum):
    """What becomes of pairs that a lead decided on."""

    INCLUDE = "include"
    """They are truth like others, and marked."""
    LEAVE_OUT = "leave-out"
    """They are in no truth; the files of raw annotations and pairs tell of them all the same."""


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """What somebody says about a release before it is made.

    `unfinished` takes queries that are not finished too, `with_published` the published captions, in a field of their
    own.
    """

    adjudicated: Adjudicated = Adjudicated.INCLUDE
    unfinished: bool = False
    with_published: bool = False


LICENCES = (
    *("CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC0-1.0"),
    *("ODC-By-1.0", "ODbL-1.0", "MIT", "Apache-2.0"),
)
"""Names of SPDX that are offered; any other text will do."""


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One frozen export. `sha256` is that of its manifest file, which holds those of all other files.

    `file` is its zip within the project's folder, None where only the manifest was kept; `file_sha256` that of the zip.
    """

    release_id: int
    name: str
    notes: str
    made_at: float
    made_by: str | None
    sha256: str
    file: str | None
    file_sha256: str | None
    manifest: str


@dataclass(frozen=True, slots=True)
class KeptRelease:
    """A release as a list shows it: who made it, what it holds, by which settings; `megabytes` None where it is gone.

    Its counts are None where its manifest is of a ReelRank that did not say them.
    """

    name: str
    notes: str
    made_at: float
    made_by: str | None
    sha256: str
    state_of: str
    """When something last happened that it tells of, in UTC."""
    file: str | None
    megabytes: float | None
    val_queries: int | None
    test_queries: int | None
    moments: int | None
    settings: tuple[str, ...]
    """What was said about it that is not the default, in words."""


@dataclass(frozen=True, slots=True)
class QueryCounts:
    """How a validation or test query stands, counted over the pairs of its open batches.

    `waiting` are those that are neither settled nor blocked: somebody may still have to grade them.
    """

    query_id: QueryId
    text: str
    split: Split
    pairs: int
    waiting: int
    consensus: int
    adjudicated: int

    @property
    def finished(self) -> bool:
        """Whether pairs were handed out, and nothing of them waits."""
        return self.pairs > 0 and self.waiting == 0

    @property
    def settled(self) -> int:
        """Pairs with a relevance."""
        return self.consensus + self.adjudicated


@dataclass(frozen=True, slots=True)
class ReleaseSelection:
    """Which validation and test queries are in a release, and which are not, and why; each list in judging order.

    `unfinished` ones wait for grades, `without_relevance` have no pair that could be truth. `unfinished_within` were
    taken all the same.
    """

    queries: tuple[QueryCounts, ...]
    unfinished: tuple[QueryCounts, ...]
    without_relevance: tuple[QueryCounts, ...]
    unfinished_within: tuple[QueryCounts, ...]
    moments: int
    """Graded moments of the queries that are in it."""
    adjudicated: int
    """Those of them that a lead decided on."""
    adjudicated_left_out: int
    """Pairs of these queries that are not in it because a lead decided on them."""

    def count(self, split: Split) -> int:
        """How many queries of a split are in it."""
        return sum(query.split is split for query in self.queries)


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything of a release but its training sets, of one instant."""

    name: str
    """Of the project."""
    grading: Grading
    batch_size: int
    truth: dict[Split, list[Document]]
    """The documents of the validation and of the test queries, in judging order; moments by rank."""
    videos: dict[str, tuple[float, int]]
    """Name -> (duration in seconds, index), by name."""
    raw: list[tuple[object, ...]]
    """Every grade that counts, with `RAW_COLUMNS`."""
    pair_columns: tuple[str, ...]
    """`PAIR_COLUMNS`, `published_caption` where published captions go along, `sources` where runs were pooled."""
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
    """Moments that have no caption in the release."""
    undescribed: int
    """Those of them that nobody described."""
    changed_at: float
    """When something last happened that a release tells of: two releases of one state are the same."""
    options: ReleaseOptions
    selection: ReleaseSelection
    terms: Terms
    sources: tuple[CandidateSource, ...] = ()
    """What candidates come from."""

    @property
    def pooled(self) -> bool:
        """Whether anything but captions found candidates."""
        return "sources" in self.pair_columns

    @property
    def chosen_by(self) -> str:
        """What candidates come from, for people."""
        return ", ".join(f"`{source.name}`" for source in self.sources) or f"`{self.counts['encoder']}`"

    @property
    def re_opened(self) -> int:
        """Pairs about which a lead asked two more people."""
        place = RAW_COLUMNS.index("re_opened")
        return len({row[0] for row in self.raw if row[place]})

    @property
    def moments(self) -> int:
        """Graded moments of all queries."""
        return sum(len(query["relevant_moment"]) for documents in self.truth.values() for query in documents)


class ReleaseForm(StrEnum):
    """Forms beside that of TVR-Ranking."""

    TREC = "trec"
    PARQUET = "parquet"
    QVHIGHLIGHTS = "qvhighlights"


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A file that was written: which configuration and split of the dataset it is, and how much is in it."""

    config: str
    split: str
    path: str
    rows: int
    size: int
    """Bytes."""


LONGEST_NAME = 100
"""Characters of the name of a release."""
LONGEST_NOTES = 2000

RELEASED = Event("released", EventGroup.RESULTS, said("froze a release {name}"))
"""name, sha256 of the manifest, file: where it is kept; again: whether the same was kept already"""
RELEASE_REMOVED = Event("release_removed", EventGroup.RESULTS, said("removed the release {name}"))
"""name, sha256 of the manifest, file: where it was kept; reason"""
TERMS_SET = Event("terms_set", EventGroup.RESULTS, said("set the licence {licence} and the citation"))
"""licence, citation, reason"""
