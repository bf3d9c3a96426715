"""Data classes of releases: their content before it is written in any format, and what is stored and reported."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from backend.campaign.corpus.captions.model import RewriteSummary
from backend.campaign.monitoring.model_judge.model import ModelGrade
from backend.campaign.nouns import Split
from backend.campaign.review.model import StatusCounts
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

MODEL_GRADES = "model-grades.json"
"""The file of a release with the grades of models; a release has it only if somebody asked for it."""

Document = dict[str, Any]
"""A query with its moments, as in `val.json`, `test.json` and the training sets."""


class Adjudicated(StrEnum):
    """Whether pairs whose relevance a lead decided are in the released truth."""

    INCLUDE = "include"
    """Adjudicated pairs are in the truth like other pairs, and marked."""
    LEAVE_OUT = "leave-out"
    """Adjudicated pairs are only in the files of raw annotations and pairs, not in the truth."""


@dataclass(frozen=True, slots=True)
class ReleaseOptions:
    """A user's choices for a release.

    Attributes:
        adjudicated: whether pairs whose relevance a lead decided are in the truth.
        unfinished: whether queries are included that still have pairs to grade.
        with_published: whether the corpus's published captions are included too, in their own field, besides rewrites.
        with_model_grades: whether the grades of models are included, in a file of their own.
    """

    adjudicated: Adjudicated = Adjudicated.INCLUDE
    unfinished: bool = False
    with_published: bool = False
    with_model_grades: bool = False


LICENCES = (
    *("CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC0-1.0"),
    *("ODC-By-1.0", "ODbL-1.0", "MIT", "Apache-2.0"),
)
"""SPDX names of licences to choose from; any other text is allowed too."""


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One release, as stored in the database.

    Attributes:
        sha256: the SHA-256 of its manifest, which states the SHA-256 of every other file.
        file: the path of its zip within the project's folder; None if only the manifest was kept.
        file_sha256: the SHA-256 of the zip.
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
    """A stored release as lists of releases show it: its author, its content and its settings.

    `state_of` is the time of the project's last change that it includes, in UTC. `megabytes` is the size of its zip,
    None if that is missing. `val_queries`, `test_queries` and `moments` are None if an older version of ReelRank made
    the release. `made_at` is in seconds since 1970; `made_by` is a name, None for the command line.
    """

    name: str
    notes: str
    made_at: float
    made_by: str | None
    sha256: str
    state_of: str
    file: str | None
    megabytes: float | None
    val_queries: int | None
    test_queries: int | None
    moments: int | None
    settings: tuple[str, ...]
    """The settings that differ from the default, in words."""


@dataclass(frozen=True, slots=True)
class QueryCounts:
    """Counts of a validation or test query's pairs by their state, over the batches (groups of pairs) opened so far.

    `waiting` pairs still need grades; pairs whose clip cannot be shown are not among them. `consensus` pairs have a
    relevance from grades, and `adjudicated` pairs one that a lead decided.
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
        """Whether the query has pairs and none of them still needs grades."""
        return self.pairs > 0 and self.waiting == 0

    @property
    def settled(self) -> int:
        """Number of pairs with a relevance."""
        return self.consensus + self.adjudicated


@dataclass(frozen=True, slots=True)
class ReleaseSelection:
    """The validation and test queries that a release includes and leaves out.

    Each list has the order in which queries are given to annotators.

    Attributes:
        queries: the queries in the release.
        unfinished: queries left out because some of their pairs still need grades.
        without_relevance: queries left out because none of their pairs has a relevance that may be released.
        unfinished_within: those of `queries` that are unfinished.
        moments: number of graded moments in the release.
        adjudicated: number of these moments whose relevance a lead decided.
        adjudicated_left_out: number of pairs of `queries` that were left out because a lead adjudicated them.
    """

    queries: tuple[QueryCounts, ...]
    unfinished: tuple[QueryCounts, ...]
    without_relevance: tuple[QueryCounts, ...]
    unfinished_within: tuple[QueryCounts, ...]
    moments: int
    adjudicated: int
    adjudicated_left_out: int

    def count(self, split: Split) -> int:
        """Return the number of queries of a split in the release."""
        return sum(query.split is split for query in self.queries)


@dataclass(frozen=True, slots=True)
class Contents:
    """The content of a release without its training sets, read from the database in one snapshot."""

    name: str
    """Name of the project."""
    grading: Grading
    batch_size: int
    truth: dict[Split, list[Document]]
    """The documents of validation and test queries, in the order of judging; the moments of each are sorted by rank."""
    videos: dict[str, tuple[float, int]]
    """(duration in seconds, index) of each video by name; sorted by name, with indices from 0."""
    raw: list[tuple[object, ...]]
    """The rows of `raw_annotation.csv`, with the columns `RAW_COLUMNS`: one for each current judgement."""
    pair_columns: tuple[str, ...]
    """`PAIR_COLUMNS`, then `published_caption` if these are included, and `sources` if runs were pooled."""
    pairs: list[tuple[object, ...]]
    """The rows of `raw_query_moment_pair.csv`, with `pair_columns`: one for each pair that annotators were given."""
    counts: StatusCounts
    """The counts of the whole project, from `status.counts` without probes."""
    guideline: dict[int, int]
    """Number of grades given under each version of the guideline; the last version is in force."""
    rewriting: RewriteSummary | None
    """How rewriting changed the captions; None if none was rewritten."""
    published_captions: bool
    """Whether it includes published captions, in any field."""
    without_caption: int
    """Number of moments that have no caption in the release."""
    undescribed: int
    """Number of these moments that nobody described."""
    changed_at: float
    """Time of the last change that it includes, in seconds since 1970; the same state gives the same release."""
    options: ReleaseOptions
    selection: ReleaseSelection
    terms: Terms
    sources: tuple[CandidateSource, ...] = ()
    """The sources of its candidates."""
    model_grades: tuple[ModelGrade, ...] = ()
    """The grades of models, which are never part of the truth; empty unless they were asked for."""

    @property
    def pooled(self) -> bool:
        """Whether some candidates come from other sources than captions, such as the runs of systems."""
        return "sources" in self.pair_columns

    @property
    def chosen_by(self) -> str:
        """The names of the sources of the candidates, as Markdown; the encoder's name if there are no sources."""
        return ", ".join(f"`{source.name}`" for source in self.sources) or f"`{self.counts['encoder']}`"

    @property
    def re_opened(self) -> int:
        """Number of pairs that a lead re-opened for two more people."""
        place = RAW_COLUMNS.index("re_opened")
        return len({row[0] for row in self.raw if row[place]})

    @property
    def moments(self) -> int:
        """Number of graded moments of all queries."""
        return sum(len(query["relevant_moment"]) for documents in self.truth.values() for query in documents)


class ReleaseForm(StrEnum):
    """A format in which a release can be exported, besides that of TVR-Ranking."""

    TREC = "trec"
    PARQUET = "parquet"
    QVHIGHLIGHTS = "qvhighlights"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a table.

    `kind` is the type of its values: `int64`, `float64`, `string`, `bool` or `timestamp`. If there are `fields`, its
    values are lists of objects with these fields. With `length`, they are lists of that many numbers.
    """

    name: str
    kind: str = "string"
    fields: tuple["Field", ...] = ()
    length: int | None = None


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """A table in a file of a release, with the Hugging Face configuration and split that it belongs to.

    `fields` is empty if the file itself states the types of its fields. `rows` is the number of rows, and `size` the
    size of the file in bytes. If these are not known, `rows` is None and `size` is 0.
    """

    config: str
    split: str
    path: str
    fields: tuple[Field, ...] = ()
    rows: int | None = None
    size: int = 0


LONGEST_NAME = 100
"""The largest number of characters in the name of a release."""
LONGEST_NOTES = 2000

RELEASED = Event("released", EventGroup.RESULTS, said("froze a release {name}"))
"""Fields: name; sha256 of the manifest; file: path of the zip; again: whether the project had the same already;
asked."""
RELEASE_REMOVED = Event("release_removed", EventGroup.RESULTS, said("removed the release {name}"))
"""Fields: name; sha256 of the manifest; file: path of the zip; reason."""
TERMS_SET = Event("terms_set", EventGroup.RESULTS, said("set the licence {licence} and the citation"))
"""Fields: licence, citation, reason."""
