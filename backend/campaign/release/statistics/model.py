"""The values to count, and the row of statistics that comes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Span = tuple[str, float, float]
"""A moment: its video, and `[start_s, end_s)` in seconds."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a corpus, project or release holds.

    Attributes:
        queries: the texts of each part (a file, or a split), repeated ones repeated.
        pairs: every moment, and how often it goes with a query.
        durations: seconds of every video; None where nobody says it.
        notes: what a person should know about the reading of it.
    """

    queries: Mapping[str, Sequence[str]]
    pairs: Mapping[Span, int]
    durations: Mapping[str, float | None]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """One row: counts, hours, means in seconds, and the words by which they were counted.

    Attributes:
        parts: queries of each part (a file, or a split).
        queries: all queries, and `distinct_queries` their distinct texts.
        pairs: queries with a moment; a moment that goes with two queries counts twice.
        moments: distinct moments.
        videos: distinct videos; `videos_without_duration` of them are in no figure of hours.
        vocabulary: distinct words.
        verbs_at_least: distinct verbs in base form of which a form occurs that can be nothing but a verb.
        verbs_at_most: distinct verbs in base form of which any form occurs, though it may stand there as a noun.
        moment_hours: of the distinct moments, those that overlap counted twice.
        video_hours: of the distinct videos; None where no duration is known, like `mean_video_s`.
        mean_moment_s: over distinct moments; `mean_pair_s` over pairs, as papers give it.
        words_per_query: over all queries.
        tokeniser: how words were found.
        verb_list: where verbs were looked up.
        notes: what a person should know about the reading.
    """

    parts: Mapping[str, int]
    queries: int
    distinct_queries: int
    pairs: int
    moments: int
    videos: int
    videos_without_duration: int
    vocabulary: int
    verbs_at_least: int
    verbs_at_most: int
    moment_hours: float
    video_hours: float | None
    mean_moment_s: float
    mean_pair_s: float
    mean_video_s: float | None
    words_per_query: float
    tokeniser: str
    verb_list: str
    notes: tuple[str, ...]
