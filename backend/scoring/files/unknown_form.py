"""Explain why a file is read neither as a truth nor as a run: what it is, and which known form is nearest.

Readers find out that they cannot read a file; this module looks at the file again, and says what a person should know
first. A file in a known form with faults in some rows keeps the reader's own messages.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.core.captioned import CHARADES_LINE
from backend.core.errors import InputError
from backend.core.messages import joined, said, said_n
from backend.core.reading import UNDECODABLE
from backend.core.text_files import table_head
from backend.scoring.files.answers import ANSWER, holds_answers
from backend.scoring.files.forms import run_form, truth_form
from backend.scoring.files.forms.form import TruthForm, opening_of
from backend.scoring.files.text import Form, form_of
from backend.scoring.files.words import (
    END,
    QUERY,
    RELEVANCE,
    RUN,
    RUN_SALIENCY,
    SCORE,
    START,
    TASK_OF_VIDEOS,
    TASK_VIDEOS,
    TASKS,
    TIMES,
    TRUTH,
    VIDEO,
    Kind,
    pick,
    short,
)

_POOLS, _MAP = "pools", "videos"
_ENTRIES = 100
"""How many entries of a file are looked at."""
_KEYS = 6
"""How many keys a message shows."""
_HTML = re.compile(rb"\s*<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_JSON = re.compile(
    r'\{|\[\s*(?:$|[\[{"\]]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*(?:[,\]]|$)|(?:null|true|false|NaN)\b)', re.MULTILINE
)
"""The beginning of a text that is meant to be JSON, unlike `[2026-09-21] epoch 1`."""


@dataclass(frozen=True, slots=True)
class _KnownForm:
    """A form (format) of truth or run files whose entries have named fields.

    `needs` and `marks` are groups of synonymous keys. A correct entry has one key of each group in `needs`. One key of
    each group in `marks` is enough to recognise the form.
    """

    name: str
    role: str
    needs: tuple[Sequence[str], ...]
    marks: tuple[Sequence[str], ...]
    table: bool = False

    def lacking(self, keys: Collection[str]) -> list[str]:
        """Return the fields that an entry with these `keys` lacks: the first name of each lacking group in `needs`.

        A group, whose names are synonyms, is lacking only if `keys` has none of its names.
        """
        return [names[0] for names in self.needs if not pick(names, keys)]

    def recognises(self, keys: Collection[str]) -> bool:
        """Return whether `keys` has a key of each group in `marks`."""
        return all(pick(names, keys) for names in self.marks)


def _forms() -> tuple[_KnownForm, ...]:
    """Return the known forms whose entries have named fields."""
    truth, run, times = TRUTH.name, RUN.name, (*TIMES, *START)
    activitynet = (("duration",), ("timestamps",), ("sentences",))
    tacos = (("fps",), ("num_frames",), ("timestamps",), ("sentences",))
    return (
        _KnownForm("QVHighlights", truth, (QUERY, VIDEO, (TRUTH.windows,)), ((TRUTH.windows,),)),
        _KnownForm("TVR", truth, (("desc_id",), ("vid_name",), ("ts",)), (("desc_id",), ("ts",))),
        _KnownForm(said("a release"), truth, (QUERY, (TRUTH.items,)), ((TRUTH.items,),)),
        _KnownForm(said("one moment an entry"), truth, (QUERY, VIDEO, times, RELEVANCE), (QUERY, times)),
        _KnownForm("ActivityNet Captions", truth, activitynet, activitynet),
        _KnownForm("TACoS", truth, tacos, tacos),
        _KnownForm("DiDeMo", truth, (("annotation_id",), ("video",), ("description",), ("times",)), (("times",),)),
        _KnownForm("TimeChat", truth, (("id",), ("image_id",), ("caption",), ("timestamp",)), (("image_id",), TIMES)),
        _KnownForm("CSV", truth, (QUERY, VIDEO, START, END, RELEVANCE), (QUERY, START), table=True),
        _KnownForm("QVHighlights", run, (QUERY, VIDEO, (RUN.windows,)), ((RUN.windows,),)),
        _KnownForm(said("QVHighlights, highlights"), run, (QUERY, (RUN_SALIENCY,)), ((RUN_SALIENCY,),)),
        _KnownForm(said("a list of queries"), run, (QUERY, (RUN.items,)), ((RUN.items,),)),
        _KnownForm(said("one prediction an entry"), run, (QUERY, VIDEO, times, SCORE), (QUERY, times)),
        _KnownForm("CSV", run, (QUERY, VIDEO, START, END, SCORE), (QUERY, START), table=True),
        _KnownForm(said("answers of a language model"), run, (QUERY, ANSWER[::-1]), (QUERY, ANSWER), table=True),
        _KnownForm(said("answers of a language model"), run, (QUERY, ANSWER[::-1]), (QUERY, ANSWER)),
    )


_KNOWN = _forms()
_OPTIONS = {TRUTH.name: "--truth", RUN.name: "--run", _POOLS: "--pool", _MAP: "--videos"}


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a file contains: its layout in words for a message (`words`), and the keys of its entries.

    `table` is true for CSV. `inside` is true if the entries are in a list inside an object. `scores` is true for an
    object of numbers only. `role` (such as `truth` or `run`) and `form` are set if something other than the keys shows
    them.
    """

    words: str
    keys: tuple[str, ...] = ()
    table: bool = False
    inside: bool = False
    scores: bool = False
    role: str = ""
    form: str = ""


def explained(error: InputError, content: bytes, file: str, kind: Kind) -> InputError:
    """Return the error that tells a person why a file could not be read as a truth or as a run, as `kind` says.

    This is `error` itself if the file has a known form of this kind, or is meant to be JSON and has a wrong syntax.

    Args:
        error: the error with which the file was refused.
        content: the bytes of the file, in UTF-8.
        file: the file's name, for messages.
        kind: whether the file was read as a truth or as a run.
    """
    if _HTML.match(content):
        message = said("is a web page, saved in place of the file: download the file itself, on GitHub with `Raw`")
        return InputError.single(file, message)
    start, seen = opening_of(content), _look(content, file)
    if seen is None or (truth_form if kind is TRUTH else run_form)(start):
        return error
    forms = [form for form in _KNOWN if form.table == seen.table]
    own = [form for form in forms if form.role == kind.name]
    whole = [form for form in forms if seen.keys and not form.lacking(seen.keys)]
    role, name = seen.role, seen.form
    if not role and whole and not any(form in own for form in whole):
        role, name = whole[0].role, whole[0].name
    if not role and not whole and (published := truth_form(start) or run_form(start)):
        role, name = (TRUTH if isinstance(published, TruthForm) else RUN).name, published.title
    if role == _POOLS and kind is TRUTH:
        return error
    if role and role != kind.name:
        return InputError.single(
            file,
            said(
                "is {what}, not {wanted}: give it to {option}",
                what=_a(role, name),
                wanted=_a(kind.name),
                option=_OPTIONS[role],
            ),
        )
    if role or (not seen.inside and any(form.recognises(seen.keys) for form in own)):
        return error
    words = {"seen": seen.words, "advice": _advice(seen, own, kind)}
    if kind is TRUTH:
        return InputError.single(file, said("{seen}, which is no known form of a truth; {advice}", **words))
    return InputError.single(file, said("{seen}, which is no known form of a run; {advice}", **words))


def _a(role: str, form: str = "") -> str:
    """Return the kind of a file in words for a message, such as `a truth (QVHighlights)`."""
    words = {
        TRUTH.name: said("a truth"),
        RUN.name: said("a run"),
        _POOLS: said("a file of pools"),
        _MAP: said("a video map"),
    }[role]
    return said("{words} ({form})", words=words, form=form) if form else words


def _advice(seen: _Seen, own: Sequence[_KnownForm], kind: Kind) -> str:
    """Return advice about an unreadable file, for a message: the nearest known forms, and the fields that it lacks.

    If no form is near, the advice is the simplest form. `seen` says what the file contains, and `own` has the known
    forms of the expected kind.
    """
    if seen.scores:
        return said("it looks like printed scores: give the file with the predictions")
    lacking = {form: form.lacking(seen.keys) for form in own}
    near = [form for form in own if len(lacking[form]) <= len(form.needs) / 2]
    near.sort(key=lambda form: (len(lacking[form]) - len(form.needs), len(lacking[form])))
    if near and not lacking[near[0]]:
        return said("its list has the form {form}: give the list without the object around it", form=near[0].name)
    if not near:
        columns = ",".join((QUERY[0], VIDEO[0], START[0], END[0], kind.value[0]))
        return said("docs/benchmarks.md lists the forms, of which CSV with {columns} is the simplest", columns=columns)
    options = [said("{form} with {fields} added", form=form.name, fields=_quoted(lacking[form])) for form in near[:2]]
    return said("the nearest would be {forms}", forms=joined(said(", or "), options))


def _look(content: bytes, file: str) -> _Seen | None:
    """Return what a file contains; None if it is meant to be JSON but is not valid."""
    text = content.decode("utf-8", "replace").strip()
    layout = form_of(content, file)
    if layout is Form.CSV:
        cells = table_head(text, QUERY).cells
        columns = tuple("_".join(cell.casefold().split()) for cell in cells)
        return _Seen(said("is a table with the columns {columns}", columns=_quoted(cells)), columns, table=True)
    if layout is Form.LINES:
        try:
            entries = [json.loads(line) for line in text.split("\n", _ENTRIES)[:_ENTRIES] if line.strip()]
        except UNDECODABLE:
            return None
        return _of_entries(entries, said("has lines of JSON with the keys {keys}", keys=_quoted(_keys(entries))))
    if not _JSON.match(text):
        lines = text.split("\n", _ENTRIES)[:_ENTRIES]
        words = said("is text, with lines such as {line}", line=short(lines[0].strip()))
        charades = any(map(CHARADES_LINE.fullmatch, lines))
        return _Seen(words, role=TRUTH.name, form="Charades-STA") if charades else _Seen(words)
    try:
        decoded = json.loads(text)
    except UNDECODABLE:
        return None
    return _look_at_list(decoded) if isinstance(decoded, list) else _look_at_object(decoded)


def _of_entries(entries: Sequence[object], words: str) -> _Seen:
    answers = said("answers of a language model")
    return _Seen(words, role=RUN.name, form=answers) if holds_answers(entries) else _Seen(words, _keys(entries))


def _look_at_list(decoded: Sequence[object]) -> _Seen:
    entries = decoded[:_ENTRIES]
    if any(isinstance(entry, list) for entry in entries):
        return _Seen(said("is a JSON list of lists"), role=RUN.name, form=said("a list a query"))
    keys = _keys(entries)
    words = said("is a JSON list of objects with the keys {keys}", keys=_quoted(keys))
    return _of_entries(entries, words if keys else said("is a JSON list without objects"))


def _look_at_object(decoded: Mapping[str, Any]) -> _Seen:
    top = said("is a JSON object with the keys {keys}", keys=_quoted(tuple(decoded)))
    if pick((*TASKS, TASK_OF_VIDEOS, TASK_VIDEOS), decoded):
        return _Seen(top, role=RUN.name, form="TVR")
    if holds_answers(decoded):
        return _Seen(top, role=RUN.name, form=said("answers of a language model"))
    if (word := pick(QUERY, decoded)) and not isinstance(decoded[word], (list, dict)):
        return _Seen(top, tuple(decoded))
    if _only_numbers(decoded):
        return _Seen(top, scores=True)
    values = [decoded["annotations"]] if "annotations" in decoded else list(decoded.values())[:_ENTRIES]
    if values and all(isinstance(value, dict) for value in values):
        keys = _keys(values)
        if not set(values[0]).intersection(values[-1]):
            return _Seen(top)
        role = _POOLS if "retrieval_pool" in keys else ""
        return _Seen(said("is a JSON object of objects with the keys {keys}", keys=_quoted(keys)), keys, role=role)
    if not (values and all(isinstance(value, list) for value in values)):
        return _Seen(top)
    if all(len(value) == 2 and isinstance(value[0], (int, float)) and isinstance(value[1], int) for value in values):
        return _Seen(top, role=_MAP)
    rows = [row for value in values for row in value[:1]]
    keys = _keys(rows)
    if keys and (not pick((*SCORE, *VIDEO), keys) or pick((RUN.items, RUN.windows, TRUTH.items, TRUTH.windows), keys)):
        words = said("is a JSON object of lists of objects with the keys {keys}", keys=_quoted(keys))
        return _Seen(words, keys, inside=True)
    if all(isinstance(row, (list, dict)) for row in rows):
        return _Seen(top, role=RUN.name, form=said("an object of queries"))
    return _Seen(top)


def _only_numbers(decoded: object, deepest: int = 8) -> bool:
    """Return whether decoded JSON is an object of numbers, or of such objects, and not empty.

    Objects more than `deepest` levels deep do not count.
    """
    if isinstance(decoded, dict):
        return bool(decoded) and deepest > 0 and all(_only_numbers(part, deepest - 1) for part in decoded.values())
    return decoded is None or isinstance(decoded, (int, float))


def _keys(entries: Iterable[object]) -> tuple[str, ...]:
    """Return the keys of all entries that are objects, in the order of their first use."""
    return tuple(dict.fromkeys(key for entry in entries if isinstance(entry, dict) for key in entry))


def _quoted(names: Sequence[str]) -> str:
    """Return names in backquotes, cut to 40 characters; of many, only the first and the number of the others."""
    shown = ", ".join(f"`{short(name)[1:-1]}`" for name in names[:_KEYS])
    if len(names) <= _KEYS:
        return shown
    return said_n("{shown} and {n} more", "{shown} and {n:,} more", len(names) - _KEYS, shown=shown)
