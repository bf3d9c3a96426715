"""Convert the files of a release to the moments, queries and candidate lists of a project. Pure functions.

What a release does not state cannot be restored: see docs/decisions/015-earlier-campaigns.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backend.campaign.corpus.importing.model import CaptionedMoment
from backend.campaign.nouns import Split
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierPair
from backend.campaign.release.export.rules.checks import Span
from backend.campaign.selection.queries.model import QueryRow
from backend.core.ids import QueryId
from backend.core.release_entries import GradedMoment, Moment, Queries
from backend.core.text_files import whole

NO_CAPTION = "(the release has no caption of this moment)"
"""Placeholder for the published caption of a described moment without one, because captions must not be empty."""
_LONGEST_IDENTITY = 1000  # characters; the pattern below takes time that grows with their square
_ENCODER = re.compile(r"(?P<name>.+) kind=(?P<kind>sup|unsup|minilm) .*?(?:dtype=(?P<dtype>\w+))?$")


@dataclass(frozen=True, slots=True)
class ReturnedMoment:
    """A moment of a release, with its captions.

    Attributes:
        span: (video, start, end), in seconds.
        caption: the caption; empty if the release leaves it out, None if the moment never had a caption.
        published: the published caption; None if the release lacks it.
        duration_s: duration of the video in seconds; None if the release does not state it.
    """

    span: Span
    caption: str | None
    published: str | None
    duration_s: float | None

    def stored(self) -> CaptionedMoment | None:
        """Return the moment with the caption that a project stores: the published one, otherwise `caption`.

        If both are empty, it is the placeholder `NO_CAPTION`. The result is None if the moment never had a caption.
        """
        if self.caption is None and not self.published:
            return None
        return CaptionedMoment(*self.span, self.published or self.caption or NO_CAPTION, 1, self.duration_s)


@dataclass(frozen=True, slots=True)
class Weighted:
    """A moment of a training query, with its similarity to the query, which is its weight in training.

    `span` is (video, start, end), in seconds.
    """

    span: Span
    similarity: float


def moments(
    truth: Iterable[Queries[GradedMoment]],
    training: Queries[Moment] | None,
    pairs: Sequence[EarlierPair],
    published: Mapping[int, str],
    durations: Mapping[str, float],
    *,
    imprecise: bool,
) -> list[ReturnedMoment]:
    """Return every moment of a release once, in the order of its files.

    Args:
        truth: the content of `val.json` and `test.json`.
        training: the largest training set; None if there is none.
        pairs: the pairs of `raw_query_moment_pair.csv`, in file order.
        published: the published captions of that file, by row.
        durations: durations of the videos in that file, in seconds.
        imprecise: whether the release has imprecise captions (without names). If so, a pair's empty caption means that
            the release leaves the caption out. If a JSON file has null for the caption, the moment never had one.
    """
    returned: dict[Span, ReturnedMoment] = {}
    for pair in pairs:
        caption = pair.caption or ("" if imprecise else None)
        returned_moment = ReturnedMoment(pair.span, caption, published.get(pair.row), durations.get(pair.span[0]))
        returned.setdefault(pair.span, returned_moment)
    files: list[Queries[GradedMoment] | Queries[Moment]] = [*truth, *([training] if training else [])]
    for file in files:
        for entry in file.entries:
            for _, moment in entry.moments:
                span = (moment.video_name, *moment.timestamp)
                if span not in returned or (moment.caption is None and not returned[span].caption):
                    returned[span] = ReturnedMoment(span, moment.caption, moment.published_caption, moment.duration)
    return list(returned.values())


def queries(
    truth: Mapping[Split, Queries[GradedMoment]], pairs: Sequence[EarlierPair], training: Queries[Moment] | None
) -> list[QueryRow]:
    """Return all queries of a release with their numbers, in the order in which they are handed out.

    A query without a number, or with a number that an earlier query has, gets the next free one. Validation and test
    queries are ordered by their lowest pair id, unless this contradicts their order in `truth`. In that case the
    queries of `truth` come first in their order there, then queries that are only in `pairs`. Training queries come
    last.
    """
    numbers: dict[str, tuple[Split, str | int | None]] = {}
    for split, file in truth.items():
        numbers |= {entry.query.strip(): (split, entry.query_id) for entry in file.entries}
    in_truth = list(numbers)
    for pair in pairs:
        numbers.setdefault(pair.query, (pair.split or Split.TEST, pair.query_id))
    order = list(dict.fromkeys(pair.query for pair in sorted(pairs, key=lambda pair: pair.pair_id)))
    truth_texts = set(in_truth)
    if not all(
        [text for text in order if text in truth_texts and numbers[text][0] is split]
        == [text for text in in_truth if numbers[text][0] is split]
        for split in truth
    ):
        order = list(numbers)
    rows = [(text, *numbers[text]) for text in order]
    rows += [(entry.query, Split.TRAIN, entry.query_id) for entry in (training.entries if training else ())]
    return list(_with_numbers(rows))


def weighted(training: Queries[Moment]) -> Iterator[list[Weighted]]:
    """Yield, for each training query in the order of the file, the list of its moments with their weights."""
    for entry in training.entries:
        yield [Weighted((m.video_name, *m.timestamp), m.similarity or 0.0) for _, m in entry.moments]


def parse_encoder(identity: str | None) -> tuple[str, str, str] | None:
    """Return (name, kind, number type) from the text that identifies an encoder; None for any other text.

    An encoder is a model that turns sentences into vectors. The number type is that of the vectors' computation.

    >>> parse_encoder("minilm kind=minilm tokens=256 weights=53aa files=09fe")
    ('minilm', 'minilm', 'fp32')
    """
    match = _ENCODER.fullmatch((identity or "")[:_LONGEST_IDENTITY])
    return (match["name"], match["kind"], match["dtype"] or "fp32") if match else None


def ranked(campaign: EarlierCampaign) -> dict[str, list[EarlierPair]]:
    """Return, by query text, the list of the query's pairs ordered by rank."""
    pairs_by_query: dict[str, list[EarlierPair]] = {}
    for pair in sorted(campaign.pairs, key=lambda pair: pair.rank):
        pairs_by_query.setdefault(pair.query, []).append(pair)
    return pairs_by_query


def _with_numbers(queries: Iterable[tuple[str, Split, str | int | None]]) -> Iterator[QueryRow]:
    rows = [(text, split, whole(str(number))) for text, split, number in queries]
    taken = {number for _, _, number in rows if number is not None}
    used: set[int] = set()
    next_free = max(taken, default=0) + 1
    for text, split, number in rows:
        if number is None or number in used:
            number, next_free = next_free, next_free + 1
        used.add(number)
        yield QueryRow(QueryId(number), text, split)
