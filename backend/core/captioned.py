"""Parse published annotation files with sentences and their moments, for importing corpora and for reading truths.

Each file format has one parser here. The callers choose which of the moments they use.
"""

import re
from dataclasses import dataclass

import msgspec

from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.reading import fault_of, json_list, video_entries
from backend.core.text_files import decode_text, number
from backend.core.typed_text import nfc

CHARADES_LINE = re.compile(r"\s*(\S+)\s+(\S+)\s+(\S+?)\s*##(.*)", re.DOTALL)
DIDEMO_SEGMENT_S = 5.0
_DIDEMO_SEGMENTS = 6
"""Number of segments if an entry gives none: longer videos were cut to 30 s before they were described."""


@dataclass(frozen=True, slots=True)
class CaptionedMoment:
    """One entry of an annotation file: a half-open span `[start_s, end_s)` of a video and a sentence about it.

    `row` is the line of the entry in the file, or its number among the entries of a JSON document, from 1. If a
    document has a list of sentences for each video, `sentence` is the number of the sentence in that list, from 1.
    Messages then name the video and this number, because the entry's number in the whole document is hard to find. The
    name of the video is in Unicode's composed form (NFC).
    """

    video: str
    start_s: float
    end_s: float
    caption: str
    row: int
    duration_s: float | None = None
    external_id: str | None = None
    sentence: int | None = None

    def __post_init__(self) -> None:
        if not self.video.isascii():
            object.__setattr__(self, "video", nfc(self.video))

    @property
    def place(self) -> str:
        """The position in the file, such as `row 7`, or `video v_abc, sentence 2`."""
        if self.sentence is None:
            return said("row {row}", row=self.row)
        return said("video {video}, sentence {sentence}", video=self.video, sentence=self.sentence)

    def problem(self, file: str, message: str) -> Problem:
        """Return a `Problem` with this message, which names the position of this entry in the file."""
        if self.sentence is None:
            return Problem(file, self.row, message)
        return Problem(file, None, said("{place}: {message}", place=self.place, message=message))


def query_id(video: str, number: int) -> str:
    """Return the id of the query made from the `number`-th sentence of a video, counting from 0.

    >>> query_id("evening_lamp", 0)
    'evening_lamp#0'
    """
    return f"{video}#{number}"


Parsing = tuple[list[CaptionedMoment], list[Problem], list[str]]
"""The moments of a file, a problem for each bad entry, and notes for the person."""


class _Sentences(msgspec.Struct):
    """A video's sentences and their times, in two lists of the same length, whose items are not decoded yet."""

    timestamps: list[msgspec.Raw]
    sentences: list[msgspec.Raw]

    def measures(self) -> tuple[float | None, float]:
        """Return the video's duration in seconds if it is known, and how many of its time units make one second.

        The time unit is a second or a frame, so the second number is 1 or the frame rate.
        """
        return None, 1.0


class _InSeconds(_Sentences):
    duration: float

    def measures(self) -> tuple[float | None, float]:
        return self.duration, 1.0


class _InVideoSeconds(_Sentences):
    video_duration: float

    def measures(self) -> tuple[float | None, float]:
        return self.video_duration, 1.0


class _InFrames(_Sentences):
    fps: float
    num_frames: float

    def measures(self) -> tuple[float | None, float]:
        if self.fps <= 0:
            raise ValueError(f"fps {self.fps} is not positive")
        return self.num_frames / self.fps, self.fps


_SPAN = msgspec.json.Decoder(tuple[float, float])
_TEXT = msgspec.json.Decoder(str)


_KINDS: dict[str | None, type[_Sentences]] = {
    "duration": _InSeconds,
    "video_duration": _InVideoSeconds,
    "num_frames": _InFrames,
    None: _Sentences,
}


def sentences_of_videos(data: bytes, file: str, duration: str | None = "duration") -> Parsing:
    """Return (moments, problems, notes) of a JSON object of videos with timed sentences.

    This is the format of ActivityNet Captions, Charades-STA and TACoS. There is a problem for each bad entry. White
    space around sentences is stripped, because these files were made by cutting paragraphs; a note says how often.

    Args:
        data: the bytes of the file.
        file: its name, for messages.
        duration: the field with a video's duration: `duration` or `video_duration`, in seconds; or `num_frames`, with
            all times in frames and the frame rate in `fps`. None means that there is none, and times are in seconds.

    Raises:
        InputError: the file is no JSON object, or a name occurs twice.
    """
    entries, problems = video_entries(_KINDS[duration], data, file)
    moments: list[CaptionedMoment] = []
    row = stripped = 0
    for video, entry in entries:
        try:
            duration_s, per_second = entry.measures()
            spans = list(zip(entry.timestamps, entry.sentences, strict=True))
        except ValueError as error:
            counts = said(
                "{n} timestamps for {sentences} sentences", n=len(entry.timestamps), sentences=len(entry.sentences)
            )
            fault = str(error) if len(entry.timestamps) == len(entry.sentences) else counts
            problems.append(Problem(file, None, said("video {video}: {fault}", video=video, fault=fault)))
            continue
        for place, (span, text) in enumerate(spans, start=1):
            row += 1
            try:
                (start, end), caption = _SPAN.decode(span), _TEXT.decode(text)
            except msgspec.ValidationError as error:
                fault = fault_of(error)
                message = said("video {video}, sentence {place}: {fault}", video=video, place=place, fault=fault)
                problems.append(Problem(file, None, message))
                continue
            bare = caption.strip()
            stripped += bare != caption
            times_s = start / per_second, end / per_second
            moments.append(CaptionedMoment(video, *times_s, bare, row, duration_s, sentence=place))
    notes = [said("sentences stripped of surrounding white space: {stripped:,}", stripped=stripped)] if stripped else []
    return moments, problems, notes


def charades_lines(data: bytes, file: str) -> Parsing:
    """Return (moments, problems, notes) of lines `VIDEO start end##sentence`, as Charades-STA was published.

    Times are in seconds. There is a problem for each bad line, and no note.

    Raises:
        InputError: the file is not UTF-8, or empty.
    """
    moments: list[CaptionedMoment] = []
    problems: list[Problem] = []
    for row, line in enumerate(decode_text(data, file).split("\n"), start=1):
        if not line.strip():
            continue
        if not (match := CHARADES_LINE.fullmatch(line)):
            problems.append(Problem(file, row, said("it does not have the form VIDEO start end##sentence")))
            continue
        video, start, end, caption = match.groups()
        start_s, end_s = number(start), number(end)
        if start_s is None or end_s is None:
            name, text = ("start", start) if start_s is None else ("end", end)
            message = said("{name} is {given!r}, not a number of seconds", name=name, given=text)
            problems.append(Problem(file, row, message))
            continue
        moments.append(CaptionedMoment(video, start_s, end_s, caption.strip(), row))
    return moments, problems, []


class Didemo(msgspec.Struct):
    """An entry of a DiDeMo file: a description, and the part of the video that each of several people chose for it.

    A video has `num_segments` segments of 5 s, numbered from 0. `times` holds the first and the last segment of each
    person's choice.
    """

    annotation_id: int | str
    description: str
    video: str
    times: list[tuple[int, int]]
    num_segments: int = _DIDEMO_SEGMENTS

    def moment(self, row: int, first: int, last: int) -> CaptionedMoment:
        """Return the description as a moment from segment `first` to `last`, both included."""
        return CaptionedMoment(
            self.video,
            first * DIDEMO_SEGMENT_S,
            (last + 1) * DIDEMO_SEGMENT_S,
            self.description.strip(),
            row,
            self.num_segments * DIDEMO_SEGMENT_S,
            str(self.annotation_id),
        )


def didemo_entries(data: bytes, file: str) -> tuple[list[tuple[int, Didemo]], list[Problem]]:
    """Parse a DiDeMo file; return the entries with their numbers from 1, and a problem for each bad entry.

    Raises:
        InputError: the file is no JSON list.
    """
    entries, problems = json_list(Didemo, data, file)
    untimed = said("has no annotated time: `times` is empty")
    problems += [Problem(file, row, untimed) for row, entry in entries if not entry.times]
    return [(row, entry) for row, entry in entries if entry.times], problems
