"""Check the truth and the training sets of anybody's release, by themselves and together. Pure."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from backend.campaign.corpus.importing.rules import outside
from backend.core.errors import Problem
from backend.core.release_entries import Entry, GradedMoment, Moment, Queries, name_of
from backend.core.typed_text import is_visible

DURATION_SLACK_S = 0.01
"""By how much a moment and `video_corpus.json` may differ about the length of a video: published ones are rounded."""
_SIMILARITY_SLACK = 1e-5
"""A cosine computed in float32 may be this much above 1."""
Span = tuple[str, float, float]


@dataclass(slots=True)
class SpanFaults:
    """Says what is wrong with moments; each distinct one is looked at once, because training sets repeat them."""

    videos: Mapping[str, float] | None
    """Seconds of every video; None where the release does not list them."""
    _known: dict[tuple[Span, float | None], tuple[str, ...]] = field(default_factory=dict)

    def faults(self, moment: Moment) -> tuple[str, ...]:
        """What cannot be about its video and its times."""
        key = ((moment.video_name, *moment.timestamp), moment.duration)
        if key not in self._known:
            self._known[key] = tuple(self._look(moment))
        return self._known[key]

    def of(self, video: str, start_s: float, end_s: float, said_s: float | None) -> Iterator[str]:
        """What cannot be about a span of a video, which is said to last `said_s` seconds."""
        if start_s < 0:
            yield f"start {start_s} is negative"
        if end_s <= start_s:
            yield f"end {end_s} is not after start {start_s}"
        known_s = said_s
        if self.videos is not None:
            if video not in self.videos:
                yield f"video {video!r} is not in video_corpus.json"
            else:
                known_s = self.videos[video]
                if said_s is not None and abs(said_s - known_s) > DURATION_SLACK_S:
                    yield f"video {video!r} lasts {said_s} s here and {known_s} s in video_corpus.json"
        if known_s is not None and known_s > 0 and 0 <= start_s < end_s:
            fault = outside(start_s, end_s, known_s)
            if fault:
                yield fault.message

    def _look(self, moment: Moment) -> Iterator[str]:
        if not is_visible(moment.video_name):
            yield "the name of the video is empty"
        yield from self.of(moment.video_name, *moment.timestamp, moment.duration)


@dataclass(slots=True)
class FirstPlaces:
    """Where ids and texts stood first, so that a message can say it."""

    _first: dict[tuple[str, object], str] = field(default_factory=dict)

    def before(self, kind: str, value: object, place: str) -> str | None:
        """Where this value stood before; None if nowhere."""
        there = self._first.setdefault((kind, value), place)
        return None if there == place else there


def check_truth(truth: Sequence[Queries[GradedMoment]], spans: SpanFaults, grades: range) -> Iterator[Problem]:
    """What is wrong with `val.json` and `test.json`.

    Args:
        truth: both, or one.
        spans: of the release.
        grades: of its scale.
    """
    seen = FirstPlaces()
    scale = ", ".join(map(str, grades))
    for file in truth:
        for entry in file.entries:
            yield from _repeated(file.file, entry, seen, texts=True)
            moments: dict[Span, int] = {}
            for number, moment in entry.moments:
                name = name_of(entry, number, moment)
                faults = [*spans.faults(moment), *_similarity(moment)]
                if moment.relevance not in grades:
                    faults.append(f"relevance is {moment.relevance}, not one of {scale}")
                span = (moment.video_name, *moment.timestamp)
                if (first := moments.setdefault(span, number)) != number:
                    faults.append(f"the moment {_told(span)} was already given, as moment {first}")
                if moment.pair_id is not None:
                    place = f"{file.file}, row {entry.row}, moment {number}"
                    if there := seen.before("pair", str(moment.pair_id), place):
                        faults.append(f"the pair {moment.pair_id} is also in {there}")
                yield from (Problem(file.file, entry.row, f"{name}: {fault}") for fault in faults)


def check_training(
    sets: Mapping[int, Queries[Moment]], truth: Iterable[Queries[GradedMoment]], spans: SpanFaults
) -> Iterator[Problem]:
    """What is wrong with the training sets: each is a cut of the next larger one, and none asks what people judged.

    Args:
        sets: by size: `train_top20.json` is 20.
        truth: `val.json` and `test.json`.
        spans: of the release.
    """
    judged = {entry.query.strip(): file.file for file in truth for entry in file.entries}
    numbers = {str(entry.query_id): file.file for file in truth for entry in file.entries}
    larger: Queries[Moment] | None = None
    for size in sorted(sets, reverse=True):
        file, seen = sets[size], FirstPlaces()
        for entry in file.entries:
            yield from _repeated(file.file, entry, seen, texts=False)
            yield from (
                Problem(file.file, entry.row, fault) for fault in _training_faults(entry, size, judged, numbers)
            )
            if larger is None:
                yield from _weights(file.file, entry, spans)
        if larger is not None:
            yield from _nested(file, larger, size)
        larger = file


def _repeated(
    file: str, entry: Entry[GradedMoment] | Entry[Moment], seen: FirstPlaces, *, texts: bool
) -> Iterator[Problem]:
    """What an entry has that an earlier one had; training queries may share a text, as captions do."""
    place, name = f"{file}, row {entry.row}", f"query {entry.query_id}"
    if there := seen.before("number", str(entry.query_id), place):
        yield Problem(file, entry.row, f"{name}: the query's number is also in {there}")
    if texts and (there := seen.before("text", entry.query.strip(), place)):
        yield Problem(file, entry.row, f"{name}: the text {entry.query!r} is also in {there}")
    if not is_visible(entry.query):
        yield Problem(file, entry.row, f"{name}: the text is empty")
    if entry.whole and not entry.moments:
        yield Problem(file, entry.row, f"{name}: has no moment")


def _training_faults(
    entry: Entry[Moment], size: int, judged: Mapping[str, str], numbers: Mapping[str, str]
) -> Iterator[str]:
    name = f"query {entry.query_id}"
    if there := judged.get(entry.query.strip()):
        yield f"{name}: the text {entry.query!r} is judged in {there}, so it must not be in a training set"
    if there := numbers.get(str(entry.query_id)):
        yield f"{name}: {there} also has a query of this number"
    if len(entry.moments) > size:
        yield f"{name}: has {len(entry.moments)} moments, more than {size}"


def _weights(file: str, entry: Entry[Moment], spans: SpanFaults) -> Iterator[Problem]:
    """What is wrong with the moments of a training query: the largest set is looked at, the others are cuts of it."""
    moments: dict[Span, int] = {}
    last = math.inf
    for number, moment in entry.moments:
        faults = [*spans.faults(moment), *_similarity(moment)]
        span = (moment.video_name, *moment.timestamp)
        if (first := moments.setdefault(span, number)) != number:
            faults.append(f"the moment {_told(span)} was already given, as moment {first}")
        if moment.similarity is None:
            faults.append("has no `similarity`, which is its weight")
        elif moment.similarity > last:
            faults.append(f"similarity {moment.similarity} is higher than {last} of the moment before it")
        last = last if moment.similarity is None else moment.similarity
        yield from (Problem(file, entry.row, f"{name_of(entry, number)}: {fault}") for fault in faults)


def _nested(file: Queries[Moment], larger: Queries[Moment], size: int) -> Iterator[Problem]:
    """Where a training set is no cut of the next larger one."""
    there = {str(entry.query_id): entry for entry in larger.entries}
    here = {str(entry.query_id) for entry in file.entries}
    for entry in file.entries:
        name = f"query {entry.query_id}"
        longer = there.get(str(entry.query_id))
        if longer is None:
            yield Problem(file.file, entry.row, f"{name}: is not in {larger.file}")
            continue
        if entry.query != longer.query:
            yield Problem(file.file, entry.row, f"{name}: has another text in {larger.file}")
        if not (entry.whole and longer.whole):
            continue
        cut = longer.moments[:size]
        for (number, mine), (_, theirs) in zip(entry.moments, cut, strict=False):
            if mine != theirs:
                message = f"{name_of(entry, number)}: differs from {larger.file}, row {longer.row}"
                yield Problem(file.file, entry.row, message)
        if len(entry.moments) < len(cut):
            lacking = f"{name}: has {len(entry.moments)} moments, but {larger.file} has {len(cut)} for it"
            yield Problem(file.file, entry.row, lacking)
    for query, entry in there.items():
        if query not in here:
            yield Problem(file.file, None, f"query {query} is missing; {larger.file} has it in row {entry.row}")


def _similarity(moment: Moment) -> Iterator[str]:
    if moment.similarity is not None and abs(moment.similarity) > 1 + _SIMILARITY_SLACK:
        yield f"similarity {moment.similarity} is not between -1 and 1"


def _told(span: Span) -> str:
    return f"[{span[1]}, {span[2]}) of {span[0]!r}"
