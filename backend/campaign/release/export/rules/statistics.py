"""Compute the statistics of a release, and format them as a table. Pure functions."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.campaign.nouns import Verdict
from backend.campaign.release.statistics.rules import TOKENISER, words


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
class Spread:
    """The minimum (`least`), mean and maximum (`most`) of `n` values."""

    n: int
    least: float
    mean: float
    most: float


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


@dataclass(frozen=True, slots=True)
class PartStatistics:
    """Statistics of one split of a release, or of the whole release.

    A `Spread` (minimum, mean and maximum) is None if there is nothing to count.

    Attributes:
        part: `val`, `test` or `all`.
        queries: number of queries in the truth.
        query_words: words per query, by the tokeniser of `backend.campaign.release.statistics`.
        moment_s: duration of a moment in seconds, over distinct moments of the truth.
        video_s: duration of a video in seconds, over the distinct videos of these moments.
        ratio: a moment's share of its video's duration, over distinct moments.
        judged: moments with a relevance, per query.
        at_least: moments per query of relevance 1 or more, of 2 or more, and so on up to the highest.
        by_relevance: number of moments of each relevance, from 0 on; a moment of two queries counts twice.
        batches: maps a number of batches (groups of pairs handed out together) to how many queries have that many.
            Queries without any final grade are included.
        settled: outcomes of the pairs that annotators were given.
    """

    part: str
    queries: int
    query_words: Spread | None
    moment_s: Spread | None
    video_s: Spread | None
    ratio: Spread | None
    judged: Spread | None
    at_least: tuple[Spread | None, ...]
    by_relevance: tuple[int, ...]
    batches: Mapping[int, int]
    settled: SettledPairs


@dataclass(frozen=True, slots=True)
class ReleaseStatistics:
    """The statistics of a release.

    `parts` has those of each split and then of the whole release. `corpus_video_s` is about the durations of all videos
    of the corpus, in seconds. `tokeniser` says how texts were split into words.
    """

    parts: tuple[PartStatistics, ...]
    corpus_video_s: Spread | None
    tokeniser: str


ALL = "all"
_NUMBERS = {2: "two", 4: "four", 6: "six"}
_TITLES = {"val": "validation", "test": "test", ALL: "both"}


@dataclass(frozen=True, slots=True)
class TruthValues:
    """The values of single queries and moments from which minimum, mean and maximum are computed.

    `PartStatistics` explains the fields.
    """

    query_words: Sequence[int]
    moment_s: Sequence[float]
    video_s: Sequence[float]
    ratio: Sequence[float]
    relevances: Sequence[Counter[int]]
    """For each query, the number of moments of each relevance."""


def parts(documents: Documents) -> Iterator[tuple[str, Sequence[Mapping[str, Any]], Sequence[JudgedPair]]]:
    """Yield (name, queries, pairs) of each split of a release, then of the whole release, whose name is `all`."""
    for split, queries in documents.truth.items():
        yield split, queries, [pair for pair in documents.pairs if pair.split == split]
    yield ALL, [query for queries in documents.truth.values() for query in queries], documents.pairs


def measure(queries: Sequence[Mapping[str, Any]]) -> TruthValues:
    """Return the word counts of queries, and the durations and relevances of their moments.

    All lists but `relevances` are sorted.
    """
    durations: dict[tuple[str, float, float], float] = {}
    videos: dict[str, float] = {}
    for query in queries:
        for moment in query["relevant_moment"]:
            start_s, end_s = moment["timestamp"]
            durations[moment["video_name"], start_s, end_s] = end_s - start_s
            videos[moment["video_name"]] = moment["duration"]
    return TruthValues(
        query_words=sorted(len(words(query["query"])) for query in queries),
        moment_s=sorted(durations.values()),
        video_s=sorted(videos.values()),
        ratio=sorted(seconds / videos[video] for (video, _, _), seconds in durations.items()),
        relevances=[Counter(moment["relevance"] for moment in query["relevant_moment"]) for query in queries],
    )


def statistics(documents: Documents) -> ReleaseStatistics:
    """Return the statistics of a release.

    The number of a query's batches (groups of pairs handed out together) is computed from the ranks of its pairs. Each
    batch covers `batch_size` ranks, and the first begins at rank 1. Only batches with pairs count: candidates added
    later from the runs of systems have higher ranks, often after a gap.
    """
    return ReleaseStatistics(
        parts=tuple(
            _part(name, measure(queries), pairs, documents.highest, documents.batch_size)
            for name, queries, pairs in parts(documents)
        ),
        corpus_video_s=_spread(list(documents.corpus.values())),
        tokeniser=TOKENISER,
    )


def release_statistics_table(statistics: ReleaseStatistics) -> list[tuple[str, ...]]:
    """Return the statistics as table rows: first the titles, then one row per quantity.

    Each row has a name, a cell for each split, and a cell for the whole release.
    """
    rows: list[tuple[str, ...]] = [("", *(_TITLES.get(part.part, part.part) for part in statistics.parts))]

    def row(title: str, *cells: str) -> None:
        rows.append((title, *cells))

    def spreads(title: str, name: str, form: str) -> None:
        row(title, *(_spread_text(getattr(part, name), form) for part in statistics.parts))

    row("queries", *(f"{part.queries:,}" for part in statistics.parts))
    spreads("words of a query", "query_words", ",.0f")
    row("moments", *(f"{part.moment_s.n if part.moment_s else 0:,}" for part in statistics.parts))
    spreads("seconds of a moment", "moment_s", ",.2f")
    row("their videos", *(f"{part.video_s.n if part.video_s else 0:,}" for part in statistics.parts))
    spreads("seconds of a video", "video_s", ",.2f")
    spreads("a moment's share of its video", "ratio", ".3f")
    spreads("moments of a query", "judged", ",.0f")
    for at_least in range(1, len(statistics.parts[0].at_least) + 1):
        title = f"moments of relevance {at_least}{' or more' if at_least < len(statistics.parts[0].at_least) else ''}"
        cells = (_spread_text(part.at_least[at_least - 1], ",.0f") for part in statistics.parts)
        row(f"{title}, of a query", *cells)
    for relevance in range(len(statistics.parts[0].by_relevance)):
        cells = (_share(part.by_relevance[relevance], sum(part.by_relevance)) for part in statistics.parts)
        row(f"pairs of relevance {relevance}", *cells)
    if statistics.parts[-1].settled.pairs:
        rows += _settled_rows(statistics)
    return rows


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
        + f"{all_videos}Words: {statistics.tokeniser}.\n"
    )


def _part(name: str, values: TruthValues, pairs: Sequence[JudgedPair], highest: int, batch_size: int) -> PartStatistics:
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
        part=name,
        queries=len(values.relevances),
        query_words=_spread(values.query_words),
        moment_s=_spread(values.moment_s),
        video_s=_spread(values.video_s),
        ratio=_spread(values.ratio),
        judged=_spread([counts.total() for counts in values.relevances]),
        at_least=tuple(
            _spread([sum(counts[value] for value in range(least, highest + 1)) for counts in values.relevances])
            for least in range(1, highest + 1)
        ),
        by_relevance=tuple(sum(counts[value] for counts in values.relevances) for value in range(highest + 1)),
        batches=dict(sorted(batches.items())),
        settled=settled,
    )


def _spread(values: Collection[float]) -> Spread | None:
    """Return the minimum, mean and maximum of some values; None if there are none.

    The order of the values does not affect the result.
    """
    return Spread(len(values), min(values), math.fsum(values) / len(values), max(values)) if values else None


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
