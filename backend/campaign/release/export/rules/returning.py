"""Turn a release's files back into what a project holds. Pure.

What no file of a release says does not come back: see docs/decisions/015-earlier-campaigns.md.
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
"""Stands as published caption where a moment has none: what describes a moment must not be empty."""
_LONGEST_IDENTITY = 1000  # characters; the pattern below takes time that grows with their square
_ENCODER = re.compile(r"(?P<name>.+) kind=(?P<kind>sup|unsup|minilm) .*?(?:dtype=(?P<dtype>\w+))?$")


@dataclass(frozen=True, slots=True)
class ReturnedMoment:
    """A moment with the captions that the release has of it.

    `caption` is empty where the release keeps it back, None where the moment has none; `published` is None where the
    release keeps that back, or there is none.
    """

    span: Span
    caption: str | None
    published: str | None
    duration_s: float | None

    def stored(self) -> CaptionedMoment | None:
        """The moment under its published caption, or what stands in its place; None where nobody described it."""
        if self.caption is None and not self.published:
            return None
        return CaptionedMoment(*self.span, self.published or self.caption or NO_CAPTION, 1, self.duration_s)


@dataclass(frozen=True, slots=True)
class Weighted:
    """A moment of a training query, with the similarity that is its weight."""

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
    """Every moment of the release once, in the order of its files.

    Args:
        truth: `val.json` and `test.json`.
        training: the largest training set.
        pairs: of `raw_query_moment_pair.csv`, in file order.
        published: the published captions there, by row.
        durations: seconds of videos, of that file.
        imprecise: whether an empty caption of that file may be one kept back; the JSON files tell, where they have
            the moment.
    """
    found: dict[Span, ReturnedMoment] = {}
    for pair in pairs:
        caption = pair.caption or ("" if imprecise else None)
        one = ReturnedMoment(pair.span, caption, published.get(pair.row), durations.get(pair.span[0]))
        found.setdefault(pair.span, one)
    files: list[Queries[GradedMoment] | Queries[Moment]] = [*truth, *([training] if training else [])]
    for file in files:
        for entry in file.entries:
            for _, m in entry.moments:
                span = (m.video_name, *m.timestamp)
                if span not in found or (m.caption is None and not found[span].caption):
                    found[span] = ReturnedMoment(span, m.caption, m.published_caption, m.duration)
    return list(found.values())


def queries(
    truth: Mapping[Split, Queries[GradedMoment]], pairs: Sequence[EarlierPair], training: Queries[Moment] | None
) -> list[QueryRow]:
    """All queries in judging order, under their numbers; one whose number is none or taken gets the next free one.

    Validation and test queries are in the order in which their pairs were handed out, if that is the order of the
    truth, too. Those that the truth leaves out would otherwise stand behind all others.
    """
    asked: dict[str, tuple[Split, str | int | None]] = {}
    for split, file in truth.items():
        asked |= {entry.query.strip(): (split, entry.query_id) for entry in file.entries}
    in_truth = list(asked)
    for pair in pairs:
        asked.setdefault(pair.query, (pair.split or Split.TEST, pair.query_id))
    order = list(dict.fromkeys(pair.query for pair in sorted(pairs, key=lambda pair: pair.pair_id)))
    known = set(in_truth)
    if not all(
        [text for text in order if text in known and asked[text][0] is split]
        == [text for text in in_truth if asked[text][0] is split]
        for split in truth
    ):
        order = list(asked)
    wanted = [(text, *asked[text]) for text in order]
    wanted += [(entry.query, Split.TRAIN, entry.query_id) for entry in (training.entries if training else ())]
    return list(_numbered(wanted))


def weighted(training: Queries[Moment]) -> Iterator[list[Weighted]]:
    """The list of each training query, in the order of the file."""
    for entry in training.entries:
        yield [Weighted((m.video_name, *m.timestamp), m.similarity or 0.0) for _, m in entry.moments]


def encoder_said(identity: str | None) -> tuple[str, str, str] | None:
    """Name, kind and dtype of the encoder of this identity, as settings of a project have them.

    >>> encoder_said("minilm kind=minilm tokens=256 weights=53aa files=09fe")
    ('minilm', 'minilm', 'fp32')
    """
    found = _ENCODER.fullmatch((identity or "")[:_LONGEST_IDENTITY])
    return (found["name"], found["kind"], found["dtype"] or "fp32") if found else None


def ranked(campaign: EarlierCampaign) -> dict[str, list[EarlierPair]]:
    """The pairs of each query by rank."""
    found: dict[str, list[EarlierPair]] = {}
    for pair in sorted(campaign.pairs, key=lambda pair: pair.rank):
        found.setdefault(pair.query, []).append(pair)
    return found


def _numbered(wanted: Iterable[tuple[str, Split, str | int | None]]) -> Iterator[QueryRow]:
    rows = [(text, split, whole(str(number))) for text, split, number in wanted]
    taken = {number for _, _, number in rows if number is not None}
    given: set[int] = set()
    following = max(taken, default=0) + 1
    for text, split, number in rows:
        if number is None or number in given:
            number, following = following, following + 1
        given.add(number)
        yield QueryRow(QueryId(number), text, split)
