"""Compute the statistics of a release, and format them as a table. Pure functions."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from backend.campaign.nouns import Verdict
from backend.campaign.release.statistics.rules import (
    TOKENISER,
    TOKENS,
    TRAINING,
    Figures,
    Spread,
    Values,
    figures,
    spread,
    values_of,
)
from backend.core import lexicon


class JudgedPair(NamedTuple):
    """A row of `raw_query_moment_pair.csv`; `grades` is the number of the pair's grades in `raw_annotation.csv`."""

    split: str
    query_id: int | str
    rank: int
    verdict: str
    grades: int


@dataclass(frozen=True, slots=True)
class Documents:
    """The part of a release's content from which its statistics are computed.

    Attributes:
        truth: the queries of `val.json` and `test.json`, by split; `relevant_moment` of each query has `video_name`,
            `timestamp` (start and end in seconds), `duration` (of the video, in seconds) and `relevance`.
        corpus: duration in seconds of every video of `video_corpus.json`, by name.
        pairs: all pairs that annotators were given, even without a final grade.
        highest: the highest relevance of the scale.
        batch_size: number of candidates in a batch.
    """

    truth: Mapping[str, Sequence[Mapping[str, Any]]]
    corpus: Mapping[str, float]
    pairs: Sequence[JudgedPair]
    highest: int
    batch_size: int


@dataclass(frozen=True, slots=True)
class SettledPairs:
    """Numbers of pairs by outcome; the counts other than `pairs` add up to `pairs`.

    `by_grades` maps a number of grades to the number of pairs on which that many grades reached a consensus.
    `adjudicated` pairs were decided by a lead, and `discarded` pairs have no consensus.
    """

    pairs: int
    by_grades: Mapping[int, int]
    adjudicated: int
    discarded: int
    waiting: int
    """Pairs that were not settled when the release was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartStatistics(Figures):
    """Statistics of one split of a release, or of the whole release; `part` is `val`, `test` or `all`.

    Moments are those with a relevance, even 0. A `Spread` (minimum, mean and maximum) is None if there is nothing to
    count.

    Attributes:
        judged: moments with a relevance, per query.
        at_least: moments per query of relevance 1 or more, of 2 or more, and so on up to the highest.
        by_relevance: number of moments of each relevance, from 0 on; a moment of two queries counts twice.
        batches: maps a number of batches (groups of pairs handed out together) to how many queries have that many.
            Queries without any final grade are included.
        settled: outcomes of the pairs that annotators were given.
    """

    judged: Spread | None
    at_least: tuple[Spread | None, ...]
    by_relevance: tuple[int, ...]
    batches: Mapping[int, int]
    settled: SettledPairs


@dataclass(frozen=True, slots=True)
class ReleaseStatistics:
    """The statistics of a release.

    `parts` has those of each split and then of the whole release. `corpus_video_s` is about the durations of all videos
    of the corpus, in seconds. `tokeniser` says how texts were split into words, and `verb_list` where verbs were looked
    up. `training` is about the largest pseudo training set; None if there is none, or it was not read.
    """

    parts: tuple[PartStatistics, ...]
    corpus_video_s: Spread | None
    tokeniser: str
    verb_list: str
    training: Figures | None = None


ALL = "all"
_NUMBERS = {2: "two", 4: "four", 6: "six"}
_TITLES = {"val": "validation", "test": "test", ALL: "both"}


class TruthValues(NamedTuple):
    """The single values of some queries of the truth; `relevances` has the moments of each relevance of each query."""

    values: Values
    relevances: Sequence[Counter[int]]


def parts(documents: Documents) -> Iterator[tuple[str, Sequence[Mapping[str, Any]], Sequence[JudgedPair]]]:
    """Yield (name, queries, pairs) of each split of a release, then of the whole release, whose name is `all`."""
    for split, queries in documents.truth.items():
        yield split, queries, [pair for pair in documents.pairs if pair.split == split]
    yield ALL, [query for queries in documents.truth.values() for query in queries], documents.pairs


def measure(queries: Sequence[Mapping[str, Any]]) -> TruthValues:
    """Return the word counts of queries, and the durations and relevances of their moments."""
    spans = {(moment["video_name"], *moment["timestamp"]) for query in queries for moment in query["relevant_moment"]}
    durations = {moment["video_name"]: moment["duration"] for query in queries for moment in query["relevant_moment"]}
    return TruthValues(
        values_of((query["query"] for query in queries), spans, durations),
        [Counter(moment["relevance"] for moment in query["relevant_moment"]) for query in queries],
    )


def statistics(documents: Documents, training: Figures | None = None) -> ReleaseStatistics:
    """Return the statistics of a release; `training` are the figures of its largest pseudo training set.

    The number of a query's batches (groups of pairs handed out together) is computed from the ranks of its pairs. Each
    batch covers `batch_size` ranks, and the first begins at rank 1. Only batches with pairs count: candidates added
    later from the runs of systems have higher ranks, often after a gap.
    """
    return ReleaseStatistics(
        parts=tuple(
            _part(name, measure(queries), pairs, documents.highest, documents.batch_size)
            for name, queries, pairs in parts(documents)
        ),
        corpus_video_s=spread(list(documents.corpus.values())),
        tokeniser=TOKENISER,
        verb_list=lexicon.name(),
        training=training,
    )


def release_statistics_table(statistics: ReleaseStatistics) -> list[tuple[str, ...]]:
    """Return the statistics as table rows: first the titles, then one row per quantity.

    Each row has a name, a cell for the pseudo training set if there is one, a cell for each split, and a cell for the
    whole release. The cells of the training set are `-` where grades are counted.
    """
    columns: list[Figures] = [*([statistics.training] if statistics.training else []), *statistics.parts]
    rows: list[tuple[str, ...]] = [("", *(_title(part.part) for part in columns))]

    def row(title: str, cells: Iterable[str]) -> None:
        rows.append((title, *cells))

    def spreads(title: str, name: str, form: str) -> None:
        row(title, (_spread_text(getattr(part, name, None), form) for part in columns))

    row("queries", (f"{part.queries:,}" for part in columns))
    row("moments", (f"{part.moments:,}" for part in columns))
    row("their videos", (f"{part.videos:,}" for part in columns))
    row("vocabulary (words)", (f"{part.vocabulary:,}" for part in columns))
    row("vocabulary (tokens)", (f"{part.token_vocabulary:,}" for part in columns))
    row("verbs, at least", (f"{part.verbs_at_least:,}" for part in columns))
    row("verbs, at most", (f"{part.verbs_at_most:,}" for part in columns))
    row("hours of moments", (f"{part.moment_hours:,.2f}" for part in columns))
    row("hours of videos", ("-" if part.video_hours is None else f"{part.video_hours:,.2f}" for part in columns))
    spreads("words of a query", "query_words", ",.0f")
    spreads("tokens of a query", "query_tokens", ",.0f")
    spreads("seconds of a moment", "moment_s", ",.2f")
    spreads("seconds of a video", "video_s", ",.2f")
    spreads("a moment's share of its video", "ratio", ".3f")
    spreads("moments of a query", "judged", ",.0f")
    no_grades = ["-"] if statistics.training else []
    for at_least in range(1, len(statistics.parts[0].at_least) + 1):
        title = f"moments of relevance {at_least}{' or more' if at_least < len(statistics.parts[0].at_least) else ''}"
        cells = (_spread_text(part.at_least[at_least - 1], ",.0f") for part in statistics.parts)
        row(f"{title}, of a query", [*no_grades, *cells])
    for relevance in range(len(statistics.parts[0].by_relevance)):
        cells = (_share(part.by_relevance[relevance], sum(part.by_relevance)) for part in statistics.parts)
        row(f"pairs of relevance {relevance}", [*no_grades, *cells])
    if statistics.parts[-1].settled.pairs:
        rows += ((title, *no_grades, *cells) for title, *cells in _settled_rows(statistics))
    return rows


def _title(part: str) -> str:
    training = TRAINING.fullmatch(part)
    return f"pseudo training, top {int(training[1])}" if training else _TITLES.get(part, part)


def _settled_rows(statistics: ReleaseStatistics) -> Iterator[tuple[str, ...]]:
    """Yield the table rows about batches and verdicts, which are computed from all pairs that annotators were given."""
    for batches in sorted({number for part in statistics.parts for number in part.batches}):
        title = f"queries handed out in {batches} {'batch' if batches == 1 else 'batches'}"
        yield (title, *(_share(part.batches.get(batches, 0), sum(part.batches.values())) for part in statistics.parts))
    yield ("pairs handed out", *(f"{part.settled.pairs:,}" for part in statistics.parts))
    for size in sorted({2, 4} | {size for part in statistics.parts for size in part.settled.by_grades}):
        cells = (_share(part.settled.by_grades.get(size, 0), part.settled.pairs) for part in statistics.parts)
        yield (f"settled by {_NUMBERS.get(size, size)} grades", *cells)
    for name, title in (
        ("adjudicated", "decided by a lead"),
        ("discarded", "discarded, no consensus"),
        ("waiting", "not settled"),
    ):
        yield (title, *(_share(getattr(part.settled, name), part.settled.pairs) for part in statistics.parts))


def markdown(statistics: ReleaseStatistics) -> str:
    """Return the dataset card's section "Statistics" as Markdown: the table, and how to read it."""
    head, *rows = release_statistics_table(statistics)
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    corpus = statistics.corpus_video_s
    all_videos = (
        f"All {corpus.n:,} videos of the corpus, with truth or without, last {_spread_text(corpus, ',.2f')} seconds. "
        if corpus
        else ""
    )
    return (
        "\n## Statistics\n\n"
        + "\n".join(lines)
        + "\n\nThree figures are the least, the mean and the most. A moment or video counts once. "
        + f"{all_videos}Words: {statistics.tokeniser}. Tokens: {TOKENS}. "
        + f"Verbs: in base form, by {statistics.verb_list}; at least those of which a form can only be a verb, at most "
        "those of which a form can be one.\n"
    )


def _part(name: str, truth: TruthValues, pairs: Sequence[JudgedPair], highest: int, batch_size: int) -> PartStatistics:
    handed_out: defaultdict[int | str, set[int]] = defaultdict(set)
    by_grades: Counter[int] = Counter()
    verdicts: Counter[str] = Counter()
    for pair in pairs:
        handed_out[pair.query_id].add(math.ceil(pair.rank / batch_size))
        verdicts[pair.verdict] += 1
        if pair.verdict == Verdict.CONSENSUS:
            by_grades[pair.grades] += 1
    batches = Counter(map(len, handed_out.values()))
    settled = SettledPairs(
        pairs=len(pairs),
        by_grades=dict(sorted(by_grades.items())),
        adjudicated=verdicts[Verdict.ADJUDICATED],
        discarded=verdicts[Verdict.DISCARDED],
        waiting=verdicts[Verdict.OPEN] + verdicts[Verdict.ESCALATED],
    )
    return PartStatistics(
        **_fields(figures(name, truth.values, lexicon.parts_of_speech)),
        judged=spread([counts.total() for counts in truth.relevances]),
        at_least=tuple(
            spread([sum(counts[value] for value in range(least, highest + 1)) for counts in truth.relevances])
            for least in range(1, highest + 1)
        ),
        by_relevance=tuple(sum(counts[value] for counts in truth.relevances) for value in range(highest + 1)),
        batches=dict(sorted(batches.items())),
        settled=settled,
    )


def _fields(figures: Figures) -> dict[str, Any]:
    return {field.name: getattr(figures, field.name) for field in fields(figures)}


def _spread_text(spread: Spread | None, form: str) -> str:
    """Return minimum, mean and maximum as a text like `1 / 7.52 / 20`; the mean of whole numbers has two decimals.

    `form` is the format of the numbers, such as `,.2f`.
    """
    if spread is None:
        return "-"
    mean = form.replace(".0f", ".2f")
    return f"{spread.least:{form}} / {spread.mean:{mean}} / {spread.most:{form}}"


def _share(count: int, total: int) -> str:
    """Return a count with its share, like `264 (52.8 %)`."""
    return f"{count:,} ({count / total:.1%})".replace("%", " %") if total else f"{count:,}"
