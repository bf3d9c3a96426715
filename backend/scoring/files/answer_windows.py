"""Find the times in an answer of a language model: windows in seconds, or in percent of the video's length.

Three rules read text. `windows_of_vtimellm` and `windows_of_timechat` read as the published evaluators of these models
do; `windows_in` reads all other answers.
"""

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import NamedTuple

from backend.scoring.files.words import END, START, TIMES, pick


class Window(NamedTuple):
    """A start and an end as an answer gives them: in seconds, or in percent of the video's length."""

    start: float
    end: float
    percent: bool = False


Rule = Callable[[str], list[Window]]
"""A function that returns the windows in the text of an answer, in its order."""

# Digits and blanks are possessive (`++`, `*+`): a text of a million of either then takes no longer than any other.
_NUMBER = r"\d++(?:\.\d++)?"
_TIME = rf"(\d{{1,2}}(?::\d\d){{1,2}}(?:\.\d++)?|{_NUMBER})\s*+(%|percent\b|s\b|secs?\b|seconds?\b)?"
_RANGE = re.compile(
    rf"(?<![\w.])((?:from|between|at)\s+(?:second\s+)?)?{_TIME}\s*(?:-|–|—|~|to|until|till)\s*(?:second\s+)?{_TIME}"
)  # models write all these dashes
_BETWEEN = re.compile(rf"((?:from|between)\s+{_TIME})\s*and\b")
_IN_BRACKETS = re.compile(rf"[\[(]\s*[\"']?{_TIME}[\"']?\s*,\s*[\"']?{_TIME}[\"']?\s*[\])]")
_START_AND_END = re.compile(
    rf"(?:start|begin)\D{{0,60}}?{_TIME}.{{0,60}}?(?:end|finish|stop)\D{{0,60}}?{_TIME}", re.DOTALL
)
_ALONE = re.compile(rf"\W*{_TIME}[\s,;]*+(?<=[\s,;]){_TIME}\W*")
_TOKENS = re.compile(rf"<\s*({_NUMBER})\s*>[^<>]{{0,20}}?<\s*({_NUMBER})\s*>")
_MINUTES = re.compile(
    rf"(?<!\d)(\d++)\s*+(?:minutes?|mins?|m)(?![a-z])\s*(?:and\s+)?(?:({_NUMBER})\s*(?:seconds?|secs?|s)\b)?"
)
_ONE_TIME = re.compile(rf"\s*+(?:\d++(?::\d\d){{1,2}}(?:\.\d++)?|{_NUMBER})\s*+")
_FRAMES = re.compile(r"\bframes?\s+\d")
_TIMECHAT = re.compile(r"(?<!\d)(\d++\.*+\d*+)\s*+-\s*+(\d++\.*+\d*+)")
_FINAL = re.compile(r"<answer>(.*?)(?:</answer>|$)", re.DOTALL)


def windows_in(text: str) -> list[Window]:
    """Return the windows in an answer, in the order of the text; empty if it names no time.

    Times are seconds, `M:SS` or `H:MM:SS`. Two numbers in angle brackets, or with a percent sign, are percent of the
    video's length. If the text has an `<answer>` part, or a part after `</think>`, only that part is read. Times in
    frames are not read, because the frame rate is unknown. A range with `from`, `between`, `at`, a unit, a colon or a
    decimal point is surely a time. If there is one, other ranges such as "3-4 people" are ignored.

    >>> windows_in("From 10.2 to 15 seconds the 3-4 people sit, and again at 0:40 - 1:05.5.")
    [Window(start=10.2, end=15.0, percent=False), Window(start=40.0, end=65.5, percent=False)]
    >>> windows_in("<10> <20>"), windows_in("[10.0, 15.0]"), windows_in("I do not see two people.")
    ([Window(start=10.0, end=20.0, percent=True)], [Window(start=10.0, end=15.0, percent=False)], [])
    """
    text = text.lower()
    final = _FINAL.search(text)
    text = final[1] if final else text.rpartition("</think>")[2]
    if tokens := _TOKENS.findall(text):
        return [Window(float(start), float(end), percent=True) for start, end in tokens]
    if _FRAMES.search(text):
        return []
    text = _MINUTES.sub(lambda time: f"{60 * float(time[1]) + float(time[2] or 0)} s", text)
    if found := _IN_BRACKETS.findall(text):
        return [_window(*parts) for parts in found]
    if found := _RANGE.findall(_BETWEEN.sub(r"\1 to", text)):
        marked = [parts for parts in found if parts[0] or parts[2] or parts[4] or set(":.") & set(parts[1] + parts[3])]
        return [_window(*parts[1:]) for parts in marked or found]
    if found := _START_AND_END.findall(text):
        return [_window(*parts) for parts in found]
    alone = _ALONE.fullmatch(text)
    return [_window(*alone.groups(""))] if alone else []


def _window(start: str, start_unit: str, end: str, end_unit: str) -> Window:
    percent = any(unit in ("%", "percent") for unit in (start_unit, end_unit))
    return Window(_seconds(start), _seconds(end), percent)


def _seconds(time: str) -> float:
    """Return a number of seconds, `M:SS` or `H:MM:SS` in seconds.

    >>> _seconds("1:02:03.5"), _seconds("0:10"), _seconds("7.25")
    (3723.5, 10.0, 7.25)
    """
    seconds = 0.0
    for part in time.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def windows_of_vtimellm(text: str) -> list[Window]:
    """Return the window that VTimeLLM's evaluator finds, such as "10 to 25" or "10 and 25"; empty if there is none.

    It is the first such pair of two-digit numbers, in percent of the video's length. Source: `iou` in
    vtimellm/eval/eval.py (huangb23/VTimeLLM).
    """
    match = re.search(r"(\d{2}) (?:to|and) (\d{2})", text)
    return [Window(float(match[1]), float(match[2]), percent=True)] if match else []


def windows_of_timechat(text: str) -> list[Window]:
    """Return the window that TimeChat's evaluator finds in a generated text, in seconds; empty if there is none.

    It is the first range such as "3 - 9". Without a range, the text is split at line ends, `!` and `?`. The first two
    pieces that have a number and one of "start", "end" or "happen" give a time each: their first number. The earlier
    time is the start. Source: `extract_time` in utils/format_tvg.py (RenShuhuai-Andy/TimeChat).
    """
    text = text.lower()
    between = _TIMECHAT.search(text)
    times: tuple[str, ...] = between.groups() if between else ()
    if not times:
        parts = (part for part in re.split(r"[!?\n]", text) if re.search("start|end|happen", part))
        times = tuple(match[0] for part in parts if (match := re.search(r"\b\d+\.\d+\b|\b\d+\b", part)))[:2]
    try:
        start, end = sorted(map(float, times))
    except ValueError:  # fewer than two times, or a text such as `1..5`, at which the evaluator stops
        return []
    return [Window(start, end)]


def windows_of(given: object, rule: Rule, deepest: int = 8) -> list[Window]:
    """Return the windows in an answer: a text (read by `rule`), `[start, end]`, an object with these two, or a list.

    A list may hold any of these, and lists. Times with so many digits that they are infinite, and lists more than
    `deepest` deep, are no windows.
    """
    if isinstance(given, str):
        return [window for window in rule(given) if isfinite(window.start) and isfinite(window.end)]
    if isinstance(given, Mapping):
        times = pick(TIMES, given)
        given = given[times] if times else [given.get(pick(names, given) or "") for names in (START, END)]
    if not isinstance(given, (list, tuple)) or not deepest:
        return []
    if len(given) == 2 and None not in (pair := [_time(part) for part in given]):
        return [Window(*map(float, pair))]  # type: ignore[arg-type]  # None is excluded above
    parts = (part for part in given if not isinstance(part, (int, float)))
    return [window for part in parts for window in windows_of(part, rule, deepest - 1)]


def _time(part: object) -> float | None:
    """Return a number or a text such as `7.25` or `1:02` as seconds; None for anything else and for infinite times."""
    if isinstance(part, bool) or not isinstance(part, (str, int, float)):
        return None
    if isinstance(part, str) and not _ONE_TIME.fullmatch(part):
        return None
    try:
        time = _seconds(part) if isinstance(part, str) else float(part)
    except OverflowError:
        return None
    return time if isfinite(time) else None
