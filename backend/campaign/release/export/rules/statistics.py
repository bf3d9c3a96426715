"""Count a release's documents, and make the table that people read. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.campaign.nouns import Verdict
from backend.campaign.release.statistics.rules import TOKENISER, words


class JudgedPair(NamedTuple):
    """One row of `raw_query_moment_pair.csv`, and how many rows of `raw_annotation.csv` are about it."""

    split: str
    query_id: int | str
    rank: int
    verdict: str
    grades: int


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of a release.

    Attributes:
        truth: those of `val.json` and `test.json`, by split; `relevant_moment` of each query has `video_name`,
            `timestamp` (start and end in seconds), `duration` (of the video, in seconds) and `relevance`.
        corpus: seconds of every video of `video_corpus.json`.
        pairs: all that were handed out, settled or not.
        highest: the best relevance of the scale.
        batch_size: candidates that a batch has.
    """

    truth: Mapping[str, Sequence[Mapping[str, Any]]]
    corpus: Mapping[str, float]
    pairs: Sequence[JudgedPair]
    highest: int
    batch_size: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the mean and the most of `n` values."""

    n: int
    least: float
    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class SettledPairs:
    """How many pairs came to what; all but `pairs` add up to it.

    `by_grades` are those in consensus, by how many grades they have: two, or four; more where a campaign asks more.
    """

    pairs: int
    by_grades: Mapping[int, int]
    adjudicated: int
    discarded: int
    waiting: int
    """Not settled when the release was made."""


@dataclass(frozen=True, slots=True)
class PartStatistics:
    """Figures of one split of a release, or of the whole release.

    A spread is None where there is nothing to count.

    Attributes:
        part: `val`, `test` or `all`.
        queries: those in the truth.
        query_words: words of a query, by the tokeniser of `backend.campaign.release.statistics`.
        moment_s: seconds of a moment, over distinct moments of the truth.
        video_s: seconds of a video, over distinct videos that these moments are of.
        ratio: a moment's share of its video, over distinct moments.
        judged: moments with a relevance, per query.
        at_least: moments of relevance 1 or more per query, of 2 or more, and so on up to the best.
        by_relevance: moments of each relevance, 0 first; a moment that goes with two queries counts twice.
        batches: how many queries were handed out in one batch, in two, ...; also those without any settled pair.
        settled: what came of the pairs that were handed out.
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
    """A release in numbers: each split, then all of it; and the videos of its corpus, with or without truth."""

    parts: tuple[PartStatistics, ...]
    corpus_video_s: Spread | None
    tokeniser: str


ALL = "all"
_NUMBERS = {2: "two", 4: "four", 6: "six"}
_TITLES = {"val": "validation", "test": "test", ALL: "both"}


@dataclass(frozen=True, slots=True)
class TruthValues:
    """The values behind the spreads of a part; see `PartStatistics` for what each is."""

    query_words: Sequence[int]
    moment_s: Sequence[float]
    video_s: Sequence[float]
    ratio: Sequence[float]
    relevances: Sequence[Counter[int]]
    """How many moments of each relevance every query has."""


def parts(documents: Documents) -> Iterator[tuple[str, Sequence[Mapping[str, Any]], Sequence[JudgedPair]]]:
    """(name, its queries, its pairs) of each split, and of all."""
    for split, queries in documents.truth.items():
        yield split, queries, [pair for pair in documents.pairs if pair.split == split]
    yield ALL, [query for queries in documents.truth.values() for query in queries], documents.pairs


def measure(queries: Sequence[Mapping[str, Any]]) -> TruthValues:
    """Everything of some queries that is counted or drawn, in an order of its own."""
    lasting: dict[tuple[str, float, float], float] = {}
    videos: dict[str, float] = {}
    for query in queries:
        for moment in query["relevant_moment"]:
            start_s, end_s = moment["timestamp"]
            lasting[moment["video_name"], start_s, end_s] = end_s - start_s
            videos[moment["video_name"]] = moment["duration"]
    return TruthValues(
        query_words=sorted(len(words(query["query"])) for query in queries),
        moment_s=sorted(lasting.values()),
        video_s=sorted(videos.values()),
        ratio=sorted(seconds / videos[video] for (video, _, _), seconds in lasting.items()),
        relevances=[Counter(moment["relevance"] for moment in query["relevant_moment"]) for query in queries],
    )


def statistics(documents: Documents) -> ReleaseStatistics:
    """Count a release.

    Batches are told from ranks: a batch holds `batch_size` of them, the first one begins at rank 1. What a later
    pooling handed out alone has ranks further down, and leaves out those between.
    """
    return ReleaseStatistics(
        parts=tuple(
            _part(name, measure(queries), pairs, documents.highest, documents.batch_size)
            for name, queries, pairs in parts(documents)
        ),
        corpus_video_s=_spread(list(documents.corpus.values())),
        tokeniser=TOKENISER,
    )


def release_statistics_table(found: ReleaseStatistics) -> list[tuple[str, ...]]:
    """Return the statistics for people: a row of titles, then what is counted and its figure in each part."""
    rows: list[tuple[str, ...]] = [("", *(_TITLES.get(part.part, part.part) for part in found.parts))]

    def row(what: str, *cells: str) -> None:
        rows.append((what, *cells))

    def spreads(what: str, name: str, form: str) -> None:
        row(what, *(_said(getattr(part, name), form) for part in found.parts))

    row("queries", *(f"{part.queries:,}" for part in found.parts))
    spreads("words of a query", "query_words", ",.0f")
    row("moments", *(f"{part.moment_s.n if part.moment_s else 0:,}" for part in found.parts))
    spreads("seconds of a moment", "moment_s", ",.2f")
    row("their videos", *(f"{part.video_s.n if part.video_s else 0:,}" for part in found.parts))
    spreads("seconds of a video", "video_s", ",.2f")
    spreads("a moment's share of its video", "ratio", ".3f")
    spreads("moments of a query", "judged", ",.0f")
    for at_least in range(1, len(found.parts[0].at_least) + 1):
        what = f"moments of relevance {at_least}{' or more' if at_least < len(found.parts[0].at_least) else ''}"
        cells = (_said(part.at_least[at_least - 1], ",.0f") for part in found.parts)
        row(f"{what}, of a query", *cells)
    for relevance in range(len(found.parts[0].by_relevance)):
        cells = (_share(part.by_relevance[relevance], sum(part.by_relevance)) for part in found.parts)
        row(f"pairs of relevance {relevance}", *cells)
    if found.parts[-1].settled.pairs:
        rows += _settled_rows(found)
    return rows


def _settled_rows(found: ReleaseStatistics) -> Iterator[tuple[str, ...]]:
    """Batches and verdicts, which a release without its file of pairs does not tell."""
    for batches in sorted({number for part in found.parts for number in part.batches}):
        what = f"queries handed out in {batches} {'batch' if batches == 1 else 'batches'}"
        yield (what, *(_share(part.batches.get(batches, 0), sum(part.batches.values())) for part in found.parts))
    yield ("pairs handed out", *(f"{part.settled.pairs:,}" for part in found.parts))
    for size in sorted({2, 4} | {size for part in found.parts for size in part.settled.by_grades}):
        cells = (_share(part.settled.by_grades.get(size, 0), part.settled.pairs) for part in found.parts)
        yield (f"settled by {_NUMBERS.get(size, size)} grades", *cells)
    for name, what in (
        ("adjudicated", "decided by a lead"),
        ("discarded", "discarded, no consensus"),
        ("waiting", "not settled"),
    ):
        yield (what, *(_share(getattr(part.settled, name), part.settled.pairs) for part in found.parts))


def markdown(found: ReleaseStatistics) -> str:
    """The section of the dataset card, with the figures of `figures.FIGURES` below its table."""
    head, *rows = release_statistics_table(found)
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    corpus = found.corpus_video_s
    all_videos = (
        f"All {corpus.n:,} videos of the corpus, with truth or without, last {_said(corpus, ',.2f')} seconds. "
        if corpus
        else ""
    )
    return (
        "\n## Statistics\n\n"
        + "\n".join(lines)
        + "\n\nThree figures are the least, the mean and the most. A moment or video counts once. "
        + f"{all_videos}Words: {found.tokeniser}.\n"
    )


def _part(name: str, found: TruthValues, pairs: Sequence[JudgedPair], highest: int, batch_size: int) -> PartStatistics:
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
        queries=len(found.relevances),
        query_words=_spread(found.query_words),
        moment_s=_spread(found.moment_s),
        video_s=_spread(found.video_s),
        ratio=_spread(found.ratio),
        judged=_spread([counts.total() for counts in found.relevances]),
        at_least=tuple(
            _spread([sum(counts[value] for value in range(least, highest + 1)) for counts in found.relevances])
            for least in range(1, highest + 1)
        ),
        by_relevance=tuple(sum(counts[value] for counts in found.relevances) for value in range(highest + 1)),
        batches=dict(sorted(batches.items())),
        settled=settled,
    )


def _spread(values: Collection[float]) -> Spread | None:
    """The same for the same values in any order."""
    return Spread(len(values), min(values), math.fsum(values) / len(values), max(values)) if values else None


def _said(spread: Spread | None, form: str) -> str:
    """`1 / 7.52 / 20`; the mean of whole numbers has decimals."""
    if spread is None:
        return "-"
    mean = form.replace(".0f", ".2f")
    return f"{spread.least:{form}} / {spread.mean:{mean}} / {spread.most:{form}}"


def _share(count: int, of: int) -> str:
    """`264 (52.8 %)`."""
    return f"{count:,} ({count / of:.1%})".replace("%", " %") if of else f"{count:,}"
