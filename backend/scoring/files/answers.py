r"""Read runs that are the answers of a language model about videos: sentences or JSON with times, one for each query.

An answer without a time leaves its query without predictions; `Run.answers` counts such answers, and a note of the run
shows the first of them.

Answers name their query by an id, or by the video and the text of the query. Their windows lie in the query's own
video, so they can be read only together with a truth.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from backend.core.captioned import query_id
from backend.core.errors import InputError, Problem
from backend.core.messages import said, said_n
from backend.core.reading import UNDECODABLE
from backend.core.text_files import read_csv, table_head
from backend.core.typed_text import nfc
from backend.scoring.files.answer_windows import (
    Rule,
    Window,
    windows_in,
    windows_of,
    windows_of_timechat,
    windows_of_vtimellm,
)
from backend.scoring.files.entries import Group
from backend.scoring.files.fast import TASK_FILE
from backend.scoring.files.forms.own_video import own_videos, run_in_own_videos
from backend.scoring.files.text import Form, problems_with
from backend.scoring.files.words import QUERY, RUN, SCORE, START, TIMES, VIDEO, pick, short
from backend.scoring.matching.columns import AnswerCounts, QueryKey, Run, Truth

ANSWER = ("generated_cap", "pred", "prediction", "response", "output", "answer")
"""The fields that hold an answer, best first: beside any other, `answer` may be the reference."""
_IDS = (*QUERY, "id", "question_id")
_VIDEOS = (*VIDEO, "vname", "image_id")
_TEXTS = ("query", "sentence", "question", "caption")
_RESULTS = "results"
_TASKS = ("grounding", "captioning")
"""The tasks of VTimeLLM's log; only the first has answers to queries."""
_PEEK = 1 << 16
_SHOWN = 3
_ENDING = re.compile(r"\.(?:mp4|mkv|webm|avi|mov)$")


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer of a file, with its row.

    `query` is the query's id; it is None if only `video` and `text` (the words of the query) tell the query. `given`
    is the answer itself, as text, times or JSON. `rule` finds the times in a text.
    """

    row: int
    query: object
    video: str | None
    text: str | None
    given: object
    rule: Rule = windows_in

    @property
    def windows(self) -> list[Window]:
        return windows_of(self.given, self.rule)

    @property
    def key(self) -> tuple[str, str] | None:
        """The video and the query's words, simplified for comparison by `_folded`; None if one of them is missing."""
        return _folded(self.video, self.text) if self.video and self.text else None


def holds_answers(decoded: object) -> bool:
    """Return whether a decoded JSON file holds answers of a language model.

    It may be a list of entries with an answer each, one such entry, or an object of entries or texts by query id. Or it
    has `results` by video, as files of dense captioning have. Texts count only if one of them names a time: otherwise
    they may be anything, such as settings.

    >>> holds_answers([{"qid": 5, "answer": "From 3 to 9 seconds."}]), holds_answers({"5": [["v", 0, 9, 0.5]]})
    (True, False)
    """
    if isinstance(decoded, Mapping):
        values = list(decoded.values())
        if _is_answer(decoded) or _is_results(decoded):
            return True
        if all(isinstance(value, str) for value in values):
            return any(map(windows_in, values))
        return bool(values) and all(isinstance(value, Mapping) and _field(value) for value in values)
    entries = decoded if isinstance(decoded, (list, tuple)) else ()
    return _is_answer(next((entry for entry in entries if entry is not None), None))


def _is_results(decoded: Mapping[Any, Any]) -> bool:
    """Return whether a JSON object has the field `results` with a list for each video, as for dense captioning."""
    results = decoded.get(_RESULTS)
    return isinstance(results, Mapping) and all(isinstance(entries, (list, tuple)) for entries in results.values())


def _is_answer(entry: object) -> bool:
    """Return whether a JSON value is an answer with a query id or video, and has no scores or lists of predictions."""
    if not isinstance(entry, Mapping) or not pick(ANSWER, entry) or not pick((*_IDS, *_VIDEOS), entry):
        return False
    return not any(field in entry for field in (*SCORE, RUN.items, RUN.windows))


def _field(entry: Mapping[Any, Any]) -> str | None:
    """Return the name of the field that holds an entry's answer or times; None if it has neither."""
    return pick((*TIMES, *ANSWER), entry)


def opening(content: bytes, form: Form) -> object:
    """Return as much of a JSON file, decoded, as `holds_answers` needs; None if it surely holds no answers.

    For a list, or for a file with an entry on each line, the result is a list with the first entry. An object is
    returned in full, but only if its first value is text or an object. Otherwise it may be a large run of another
    format, which must not be decoded twice.
    """
    text = content[:_PEEK].decode("utf-8", "ignore").lstrip()
    try:
        if form is Form.LINES or text[:1] == "[":
            entry, _ = json.JSONDecoder().raw_decode(text.lstrip("[ \t\r\n"))
            return [entry]
        if re.match(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*["{]', text) and not TASK_FILE.match(content):
            return json.loads(content)
    except UNDECODABLE:
        pass
    return None


def answers_table(content: bytes, file: str) -> list[object] | None:
    r"""Return a CSV file with a column of answers as a list of `{column: cell}`; None for any other table.

    Item i of the list is line i + 1 of the file. It is None for a line without data, such as the header.

    >>> answers_table(b"query_id,answer\n5,From 3 to 9 seconds.\n", "answers.csv")
    [None, {'query_id': '5', 'answer': 'From 3 to 9 seconds.'}]
    """
    head = table_head(content[:_PEEK].decode("utf-8", "ignore"), (*_IDS, *ANSWER))
    query, answer, moment = (
        next((name for name in names if name in head), None) for names in (_IDS, ANSWER, (*START, *SCORE))
    )
    if query is None or answer is None or moment is not None:
        return None
    table = read_csv(content, file, (query, answer))
    if table.problems:
        raise InputError(table.problems)
    rows: list[object] = [None] * max(table.rows)
    for row, *cells in zip(table.rows, table.columns[query], table.columns[answer], strict=True):
        rows[row - 1] = dict(zip((query, answer), cells, strict=True))
    return rows


def answers_run(decoded: object, file: str, truth: Truth | None, videos: Mapping[int, str] | None = None) -> Run:
    """Return the run in a decoded file of answers; `holds_answers` must be true for it.

    The times in an answer are its predictions, in the order of the answer. Times in percent need the length of their
    video, from the truth or from the video map `videos`.

    Raises:
        InputError: there is no truth. Otherwise, lists every answer that names no query, times in percent of videos
            whose length is unknown, wrong times, and queries with several videos in the truth.
    """
    if truth is None:
        raise InputError.single(file, said("holds answers, so it can only be read together with a truth"))
    answers, problems, notes = _answers_in(decoded, file)
    durations = {**getattr(videos, "durations", {}), **truth.durations}
    own = own_videos(truth)
    groups: list[Group] = []
    joined: dict[str, Group] = {}
    unread: list[tuple[object, _Answer]] = []
    unmeasured: dict[str, int] = {}
    for query, answer, by_text in _with_queries(answers, truth, file, problems):
        windows = answer.windows
        if not windows:
            unread.append((query, answer))
        video = next(iter(own.get(nfc(str(query)), ())), None)
        if video and video not in durations and any(window.percent for window in windows):
            unmeasured.setdefault(video, answer.row)
        percent_s = durations.get(video or "", 0.0) / 100
        items: list[object] = [[time * (percent_s if percent else 1) for time in times] for *times, percent in windows]
        if by_text and str(query) in joined:
            joined[str(query)].items += items
            continue
        groups.append(Group(query, answer.row, items))
        joined.setdefault(str(query), groups[-1])
    for video, row in list(unmeasured.items())[:1]:
        message = said_n(
            "times are in percent of the video's length, which is unknown for video {video}: give a map with --videos",
            "times are in percent of the video's length, which is unknown for {n:,} videos such as {video}: give a map"
            " with --videos",
            len(unmeasured),
            video=video,
        )
        problems.append(Problem(file, row, message))
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    run = run_in_own_videos(groups, file, truth)
    counts = AnswerCounts(len(answers), len(unread))
    return replace(run, answers=counts, notes=(*notes, *_unread_note(file, counts, unread)))


def _unread_note(file: str, counts: AnswerCounts, unread: Sequence[tuple[object, _Answer]]) -> list[str]:
    if not unread:
        return []
    shown = "; ".join(f"row {answer.row}, query {query}: {short(answer.given)}" for query, answer in unread[:_SHOWN])
    return [
        said(
            "{file}: no time was found in {n:,} of {total:,} answers, so these queries have no predictions ({shown})",
            file=file,
            n=counts.unparsed,
            total=counts.total,
            shown=shown,
        )
    ]


def _answers_in(decoded: object, file: str) -> tuple[list[_Answer], list[Problem], list[str]]:
    """Return a file's answers in order, a problem for each entry without an answer, and notes on what was not read."""
    answers: list[_Answer] = []
    problems = problems_with(decoded) if isinstance(decoded, list) else []
    captions = 0
    for row, entry, key, video in _entries(decoded):
        if entry is None:
            continue
        if isinstance(entry, str) and key is not None:
            answers.append(_Answer(row, key, None, None, entry))
            continue
        field = None
        if isinstance(entry, Mapping):
            # The times of an entry of a list may be the reference.
            field = pick(ANSWER if key is None and video is None else (*TIMES, *ANSWER), entry)
        if not isinstance(entry, Mapping) or field is None:
            problems.append(Problem(file, row, said("is not an object with an answer")))
            continue
        named = pick(_VIDEOS, entry)
        video = video or (str(entry[named]) if named else None)
        words = pick(_TEXTS, entry)
        text = str(entry[words]) if words else None
        identity = key if key is not None else entry.get(pick(_IDS, entry) or "")
        rule: Rule = windows_of_timechat if field == ANSWER[0] else windows_in
        if video and (task := entry.get("task")) in _TASKS:
            # VTimeLLM's log, in which `query_id` is the number of the question's wording.
            if task != _TASKS[0]:
                captions += 1
                continue
            info = entry.get("info")
            sentence = info.get("sentence_id") if isinstance(info, Mapping) else None
            if not isinstance(sentence, int):
                problems.append(Problem(file, row, said("has no `info` with the number of the sentence")))
                continue
            identity, rule = query_id(video, sentence), windows_of_vtimellm
        answers.append(_Answer(row, identity, video, text, entry[field], rule))
    note = said_n(
        "{file}: {n} answer of another task was not read",
        "{file}: {n:,} answers of other tasks were not read",
        captions,
        file=file,
    )
    return answers, problems, [note] if captions else []


def _entries(decoded: object) -> Iterable[tuple[int, object, object, str | None]]:
    """Yield each entry of a decoded file of answers as (row, entry, query id, video).

    Query id and video are None unless the file has them as the key of the entry.
    """
    if not isinstance(decoded, Mapping):
        yield from ((row, entry, None, None) for row, entry in enumerate(cast("list[object]", decoded), start=1))
    elif _is_answer(decoded):
        yield 1, decoded, None, None
    elif _is_results(decoded):
        for row, (video, entries) in enumerate(decoded[_RESULTS].items(), start=1):
            yield from ((row, entry, None, str(video)) for entry in entries)
    else:
        yield from ((row, entry, query, None) for row, (query, entry) in enumerate(decoded.items(), start=1))


def _with_queries(
    answers: Sequence[_Answer], truth: Truth, file: str, problems: list[Problem]
) -> Iterable[tuple[object, _Answer, bool]]:
    """Yield (query id, answer, whether the query was found by its video and text) for each answer of a file.

    An answer's own query id is used if it has one. But all ids are ignored if at least half of the ids known to the
    truth stand for another text there. The file then numbers its queries differently. Without a usable id, the query is
    found by video and text. An answer for which that fails is added to `problems`.
    """
    queries_of = _queries_by_text(truth)
    key_of = {str(query): key for key, queries in queries_of.items() for query in queries}
    known = set(map(str, truth.queries))
    matched = [answer for answer in answers if nfc(str(answer.query)) in known]
    agreeing = sum(
        answer.key is None or answer.key == key_of.get(nfc(str(answer.query)), answer.key) for answer in matched
    )
    by_text = any(answer.key in queries_of for answer in answers) and 2 * agreeing <= len(matched)
    same_text: dict[tuple[str, str] | None, list[_Answer]] = defaultdict(list)
    for answer in answers:
        if not by_text and answer.query is not None:
            yield answer.query, answer, False
        else:
            same_text[answer.key].append(answer)
    if same_text and not any(key in queries_of for key in same_text):
        problems.append(_nothing_shared(next(iter(same_text.values())), truth, file))
        return
    for key, same in same_text.items():
        queries = queries_of.get(key, []) if key else []
        if len(queries) in (1, len(same)):
            yield from ((queries[n % len(queries)], answer, True) for n, answer in enumerate(same))
            continue
        message = said(
            "video {video}: {text} is not a query of the truth", video=same[0].video, text=short(same[0].text)
        )
        if queries:
            message = said(
                "video {video}: {text} is {n} queries of the truth, but has {answers} answers",
                video=same[0].video,
                text=short(same[0].text),
                n=len(queries),
                answers=len(same),
            )
        problems += [Problem(file, answer.row, message) for answer in same]


def _nothing_shared(answers: Sequence[_Answer], truth: Truth, file: str) -> Problem:
    """Return the problem that no answer of a file could be assigned to a query of the truth by its video and text."""
    first = answers[0]
    if first.key is None or not truth.texts:
        lacks = said("the answers name no query") if first.key is None else said("the truth has no texts of queries")
        return Problem(file, first.row, said("{lacks}: they need the field `query_id`", lacks=lacks))
    return Problem(
        file,
        first.row,
        said(
            "video {video}: {text} is not a query of the truth, nor is any other text of the file; captions in the"
            " model's own words cannot be scored",
            video=first.video,
            text=short(first.text),
        ),
    )


def _queries_by_text(truth: Truth) -> Mapping[tuple[str, str] | None, list[QueryKey]]:
    """Return `{(video, text): query ids}` for the truth's queries with a text and a single video.

    Videos and texts are simplified by `_folded`, for comparisons.
    """
    queries_of: dict[tuple[str, str] | None, list[QueryKey]] = defaultdict(list)
    for query, videos in own_videos(truth).items():
        if (text := truth.texts.get(query)) and len(videos) == 1:
            queries_of[_folded(next(iter(videos)), text)].append(query)
    return dict(queries_of)


def _folded(video: str, text: str) -> tuple[str, str]:
    """Return a video's name without its ending, and a text without capitals and its full stop, for comparisons.

    >>> _folded("AB12C.mp4", "A person  sits down. ")
    ('AB12C', 'a person sits down')
    """
    return nfc(_ENDING.sub("", video)), " ".join(nfc(text).casefold().split()).rstrip(" .")
