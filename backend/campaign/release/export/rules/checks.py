"""Check the truth and the training sets of a release for faults and contradictions. Pure functions."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from backend.campaign.corpus.importing.rules import outside_fault
from backend.core.errors import Problem
from backend.core.release_entries import Entry, GradedMoment, Moment, Queries, name_of
from backend.core.typed_text import is_visible

DURATION_SLACK_S = 0.01
"""Allowed difference in a video's duration between a moment and `video_corpus.json`; published ones are rounded."""
_SIMILARITY_SLACK = 1e-5
"""How far a cosine computed in float32 may exceed 1."""
Span = tuple[str, float, float]


@dataclass(slots=True)
class SpanFaults:
    """A checker of a release's moments: whether their videos exist, and their times are possible.

    It checks each distinct moment once, because training sets repeat moments.

    `_known` has the faults of the moments checked so far.
    """

    videos: Mapping[str, float] | None
    """Duration of every video in seconds; None if the release does not list its videos."""
    _known: dict[tuple[Span, float | None], tuple[str, ...]] = field(default_factory=dict)

    def faults(self, moment: Moment) -> tuple[str, ...]:
        """Return the faults of a moment's video and times; empty if there are none."""
        key = ((moment.video_name, *moment.timestamp), moment.duration)
        if key not in self._known:
            self._known[key] = tuple(self._moment_faults(moment))
        return self._known[key]

    def span_faults(self, video: str, start_s: float, end_s: float, stated_s: float | None) -> Iterator[str]:
        """Yield the faults of a span of a video: wrong times, an unknown video, or an end after the video's end.

        `stated_s` is the video's duration in seconds as the moment states it; None if it does not.
        """
        if start_s < 0:
            yield f"start {start_s} is negative"
        if end_s <= start_s:
            yield f"end {end_s} is not after start {start_s}"
        known_s = stated_s
        if self.videos is not None:
            if video not in self.videos:
                yield f"video {video!r} is not in video_corpus.json"
            else:
                known_s = self.videos[video]
                if stated_s is not None and abs(stated_s - known_s) > DURATION_SLACK_S:
                    yield f"video {video!r} lasts {stated_s} s here and {known_s} s in video_corpus.json"
        if known_s is not None and known_s > 0 and 0 <= start_s < end_s:
            fault = outside_fault(start_s, end_s, known_s)
            if fault:
                yield fault.message

    def _moment_faults(self, moment: Moment) -> Iterator[str]:
        if not is_visible(moment.video_name):
            yield "the name of the video is empty"
        yield from self.span_faults(moment.video_name, *moment.timestamp, moment.duration)


@dataclass(slots=True)
class FirstPlaces:
    """A record of the file and row in which each id and text first occurred, to report repeated ids and texts."""

    _first: dict[tuple[str, object], str] = field(default_factory=dict)

    def before(self, kind: str, value: object, place: str) -> str | None:
        """Return the place where a value occurred before; None if it did not, and then remember `place`.

        `kind` says what the value is, such as an id or a text: equal values of different kinds are not repetitions.
        """
        first = self._first.setdefault((kind, value), place)
        return None if first == place else first


def check_truth(truth: Sequence[Queries[GradedMoment]], spans: SpanFaults, grades: range) -> Iterator[Problem]:
    """Yield the problems of `val.json` and `test.json`.

    Args:
        truth: the content of both files, or of one.
        spans: checks the moments of the release.
        grades: the grades of the release's scale.
    """
    first_places = FirstPlaces()
    scale = ", ".join(map(str, grades))
    for file in truth:
        for entry in file.entries:
            yield from _repetitions(file.file, entry, first_places, texts=True)
            moments: dict[Span, int] = {}
            for number, moment in entry.moments:
                name = name_of(entry, number, moment)
                faults = [*spans.faults(moment), *_similarity(moment)]
                if moment.relevance not in grades:
                    faults.append(f"relevance is {moment.relevance}, not one of {scale}")
                span = (moment.video_name, *moment.timestamp)
                if (first := moments.setdefault(span, number)) != number:
                    faults.append(f"the moment {_span_text(span)} was already given, as moment {first}")
                if moment.pair_id is not None:
                    place = f"{file.file}, row {entry.row}, moment {number}"
                    if earlier := first_places.before("pair", str(moment.pair_id), place):
                        faults.append(f"the pair {moment.pair_id} is also in {earlier}")
                yield from (Problem(file.file, entry.row, f"{name}: {fault}") for fault in faults)


def check_training(
    sets: Mapping[int, Queries[Moment]], truth: Iterable[Queries[GradedMoment]], spans: SpanFaults
) -> Iterator[Problem]:
    """Yield the problems of the training sets of a release.

    Each set must consist of the first moments of the next larger set. No training query may have the text of a
    validation or test query.

    Args:
        sets: the training sets by size; `train_top20.json` has size 20.
        truth: the content of `val.json` and `test.json`.
        spans: checks the moments of the release.
    """
    judged = {entry.query.strip(): file.file for file in truth for entry in file.entries}
    numbers = {str(entry.query_id): file.file for file in truth for entry in file.entries}
    larger: Queries[Moment] | None = None
    for size in sorted(sets, reverse=True):
        file, first_places = sets[size], FirstPlaces()
        for entry in file.entries:
            yield from _repetitions(file.file, entry, first_places, texts=False)
            yield from (
                Problem(file.file, entry.row, fault) for fault in _training_faults(entry, size, judged, numbers)
            )
            if larger is None:
                yield from _weights(file.file, entry, spans)
        if larger is not None:
            yield from _nested(file, larger, size)
        larger = file


def _repetitions(
    file: str, entry: Entry[GradedMoment] | Entry[Moment], first_places: FirstPlaces, *, texts: bool
) -> Iterator[Problem]:
    """Yield the problems of a query: its number or text is repeated, its text is empty, or it has no moments.

    Repeated texts are a problem only with `texts`: training queries may share a text, as captions do.
    """
    place, name = f"{file}, row {entry.row}", f"query {entry.query_id}"
    if earlier := first_places.before("number", str(entry.query_id), place):
        yield Problem(file, entry.row, f"{name}: the query's number is also in {earlier}")
    if texts and (earlier := first_places.before("text", entry.query.strip(), place)):
        yield Problem(file, entry.row, f"{name}: the text {entry.query!r} is also in {earlier}")
    if not is_visible(entry.query):
        yield Problem(file, entry.row, f"{name}: the text is empty")
    if entry.whole and not entry.moments:
        yield Problem(file, entry.row, f"{name}: has no moment")


def _training_faults(
    entry: Entry[Moment], size: int, judged: Mapping[str, str], numbers: Mapping[str, str]
) -> Iterator[str]:
    name = f"query {entry.query_id}"
    if file := judged.get(entry.query.strip()):
        yield f"{name}: the text {entry.query!r} is judged in {file}, so it must not be in a training set"
    if file := numbers.get(str(entry.query_id)):
        yield f"{name}: {file} also has a query of this number"
    if len(entry.moments) > size:
        yield f"{name}: has {len(entry.moments)} moments, more than {size}"


def _weights(file: str, entry: Entry[Moment], spans: SpanFaults) -> Iterator[Problem]:
    """Yield the problems of a training query's moments and of their weights, the similarities to the query.

    Only the largest training set is checked like this, because the others repeat its moments.
    """
    moments: dict[Span, int] = {}
    last = math.inf
    for number, moment in entry.moments:
        faults = [*spans.faults(moment), *_similarity(moment)]
        span = (moment.video_name, *moment.timestamp)
        if (first := moments.setdefault(span, number)) != number:
            faults.append(f"the moment {_span_text(span)} was already given, as moment {first}")
        if moment.similarity is None:
            faults.append("has no `similarity`, which is its weight")
        elif moment.similarity > last:
            faults.append(f"similarity {moment.similarity} is higher than {last} of the moment before it")
        last = last if moment.similarity is None else moment.similarity
        yield from (Problem(file, entry.row, f"{name_of(entry, number)}: {fault}") for fault in faults)


def _nested(file: Queries[Moment], larger: Queries[Moment], size: int) -> Iterator[Problem]:
    """Yield the differences between a training set and the first `size` moments per query of the next larger set."""
    larger_entries = {str(entry.query_id): entry for entry in larger.entries}
    query_ids = {str(entry.query_id) for entry in file.entries}
    for entry in file.entries:
        name = f"query {entry.query_id}"
        larger_entry = larger_entries.get(str(entry.query_id))
        if larger_entry is None:
            yield Problem(file.file, entry.row, f"{name}: is not in {larger.file}")
            continue
        if entry.query != larger_entry.query:
            yield Problem(file.file, entry.row, f"{name}: has another text in {larger.file}")
        if not (entry.whole and larger_entry.whole):
            continue
        cut = larger_entry.moments[:size]
        for (number, mine), (_, theirs) in zip(entry.moments, cut, strict=False):
            if mine != theirs:
                message = f"{name_of(entry, number)}: differs from {larger.file}, row {larger_entry.row}"
                yield Problem(file.file, entry.row, message)
        if len(entry.moments) < len(cut):
            lacking = f"{name}: has {len(entry.moments)} moments, but {larger.file} has {len(cut)} for it"
            yield Problem(file.file, entry.row, lacking)
    for query, entry in larger_entries.items():
        if query not in query_ids:
            yield Problem(file.file, None, f"query {query} is missing; {larger.file} has it in row {entry.row}")


def _similarity(moment: Moment) -> Iterator[str]:
    if moment.similarity is not None and abs(moment.similarity) > 1 + _SIMILARITY_SLACK:
        yield f"similarity {moment.similarity} is not between -1 and 1"


def _span_text(span: Span) -> str:
    return f"[{span[1]}, {span[2]}) of {span[0]!r}"
