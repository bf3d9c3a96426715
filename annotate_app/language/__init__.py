"""The language of whoever reads: English stands in the code, every other language in a catalogue beside this file.

Texts are marked where they stand, `tr("Sign in")`, and are their own names in the catalogues (gettext). Values go in
by name, `tr("Grade {grade}, saved.", grade=3)`, never by joining parts: other languages put them elsewhere. What a
campaign says (its queries, captions, grades) is data and stays as it is.
"""

import functools
import gettext
import html
import json
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import date, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from annotate_app.plain import isolated
from backend.core.messages import Said, as_text

SOURCE = "en"
"""What the texts in the code are written in."""
LANGUAGES = {SOURCE: "English", "de": "Deutsch"}
"""What people may choose, by its tag, each in its own words."""
COOKIE = "reelrank_language"
CATALOGUES = Path(__file__).parent / "catalogues"

_asked: ContextVar[str | None] = ContextVar("language", default=None)


def tr(text: str, /, *, _context: str = "", **values: object) -> str:
    """A text in the reader's language, with values in the place of their names.

    `_context` tells apart what only English says in one word, `tr("Grade", _context="noun")`.

    >>> tr("Grade {grade}, saved.", grade=3)
    'Grade 3, saved.'
    """
    catalogue_now = _catalogue(current())
    found = catalogue_now.pgettext(_context, text) if _context else catalogue_now.gettext(text) if text else text
    return found.format(**_retold(values)) if values else found


def trn(one: str, several: str, count: int, /, **values: object) -> str:
    """A text that depends on a number, which it may name as `{n}`.

    >>> trn("{n} pair", "{n} pairs", 1), trn("{n} pair", "{n} pairs", 1204)
    ('1 pair', '1,204 pairs')
    """
    found = _catalogue(current()).ngettext(one, several, count)
    return found.format(**{"n": f"{count:,}", **_retold(values)})


def retold(sentence: object) -> str:
    """What the back end said, or refused, in the reader's language; a text that it did not make stays as it is.

    A value of `tr` and `trn` that the back end said needs no `retold`.

    >>> retold(ValueError("as it is"))
    'as it is'
    """
    told = str(sentence)
    if not isinstance(told, Said) or not told:
        return told
    if current() == SOURCE and told.isascii():
        return as_text(told)
    catalogue_now = _catalogue(current())
    if told.several is None:
        found = catalogue_now.pgettext(told.context, told.text) if told.context else catalogue_now.gettext(told.text)
    else:
        found = catalogue_now.ngettext(told.text, told.several, told.number)
    return found.format(**_retold(told.values)) if told.values else found


def as_json(content: object) -> bytes:
    """JSON of what the API hands over, with its sentences in the reader's language."""
    return msgspec.json.encode(content, enc_hook=_hook)


def as_builtins(content: object) -> Any:
    """The same as lists and dictionaries."""
    return msgspec.to_builtins(content, enc_hook=_hook)


def _hook(value: object) -> str:
    if isinstance(value, Said):
        return retold(value)
    raise NotImplementedError


def _retold(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _shown(value) for name, value in values.items()}


def _shown(value: object) -> object:
    if isinstance(value, Said):
        return retold(value)
    return isolated(value) if isinstance(value, str) else value


def marked(text: str, *, _context: str = "") -> str:
    """The text as it is: for what is made before anybody reads it, and goes through `tr` when it is shown."""
    return text


def marked_n(one: str, several: str) -> tuple[str, str]:
    """The same for a text that depends on a number, and goes through `trn`."""
    return one, several


def translated(texts: Mapping[str, str]) -> dict[str, str]:
    """The same with every text in the reader's language: options by their values, say."""
    return {value: tr(text) for value, text in texts.items()}


def use(language: str | None) -> None:
    """The language of all that this request, or this thread, says from now on; None for the browser's."""
    _asked.set(language)


def current() -> str:
    """The tag of the reader's language."""
    language = _asked.get()
    if language is None:
        language = SOURCE
        if get_script_run_ctx(suppress_warning=True) is not None:
            # A script run has a thread of its own, which serves one browser: asked once.
            language = chosen(st.context.cookies, st.context.headers)
            use(language)
    return language


def chosen(cookies: Mapping[str, str], headers: Mapping[str, str]) -> str:
    """The language a browser asks for: the one chosen here, or the first of its own that there is a catalogue for.

    >>> chosen({}, {"accept-language": "fr, de-AT;q=0.8, en;q=0.5"}), chosen({"reelrank_language": "en"}, {})
    ('de', 'en')
    """
    if (kept := cookies.get(COOKIE, "")) in LANGUAGES:
        return kept
    wishes = []
    for part in headers.get("accept-language", "").split(","):
        tag, _, weight = part.strip().partition(";")
        try:
            wishes.append((-float(weight.strip().removeprefix("q=") or 1), tag.partition("-")[0].lower()))
        except ValueError:
            continue
    found = [tag for weight, tag in sorted(wishes, key=lambda wish: wish[0]) if tag in LANGUAGES and weight < 0]
    return found[0] if found else SOURCE


def browser_texts(folder: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """What a component adds to its data, so that it speaks the reader's language; nothing in English.

    Args:
        folder: of the component.
        names: of its scripts and markup, as seen from there.

    Returns:
        `{"language": tag, "texts": {English text: its translation, or all forms of one that depends on a number}}`.
    """
    language = current()
    if language == SOURCE:
        return {}
    files = tuple((folder / name).resolve() for name in names)
    return {"language": language, "texts": _texts_of(language, files)}


@functools.cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """The texts of a language, compiled when somebody first reads it."""
    if language == SOURCE:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo

    compiled = BytesIO()
    write_mo(compiled, catalogue(language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


@functools.cache
def catalogue(language: str) -> Any:
    """Return the catalogue as Babel reads it."""
    from babel.messages.pofile import read_po

    with (CATALOGUES / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


_IN_MARKUP = re.compile(r'>\s*([^<>]+?)\s*<|="([^"]*)"')


@functools.cache
def _texts_of(language: str, files: tuple[Path, ...]) -> dict[str, Any]:
    """Return what these scripts (`"text"`) and this markup name, with its translation."""
    written = "\n".join(file.read_text(encoding="utf-8") for file in files if file.suffix == ".js")
    written = re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), written)
    markup = "\n".join(file.read_text(encoding="utf-8") for file in files if file.suffix == ".html")
    shown = {html.unescape(text) for pair in _IN_MARKUP.findall(markup) for text in pair}
    return {
        text: message.string
        for message in catalogue(language)
        if message.id and message.string
        for text in [message.id if isinstance(message.id, str) else message.id[0]]
        if json.dumps(text, ensure_ascii=False) in written or text in shown
    }


_SHORT = (
    *(marked("Jan", _context="month"), marked("Feb", _context="month"), marked("Mar", _context="month")),
    *(marked("Apr", _context="month"), marked("May", _context="month"), marked("Jun", _context="month")),
    *(marked("Jul", _context="month"), marked("Aug", _context="month"), marked("Sep", _context="month")),
    *(marked("Oct", _context="month"), marked("Nov", _context="month"), marked("Dec", _context="month")),
)
_LONG = (
    *(marked("January"), marked("February"), marked("March"), marked("April"), marked("May"), marked("June")),
    *(marked("July"), marked("August"), marked("September"), marked("October"), marked("November")),
    marked("December"),
)
COUNTED = {
    one.removeprefix("{n} "): (one, several)
    for one, several in (
        marked_n("{n} annotator", "{n} annotators"),
        marked_n("{n} answer", "{n} answers"),
        marked_n("{n} assignment", "{n} assignments"),
        marked_n("{n} batch", "{n} batches"),
        marked_n("{n} candidate", "{n} candidates"),
        marked_n("{n} caption", "{n} captions"),
        marked_n("{n} clip", "{n} clips"),
        marked_n("{n} day", "{n} days"),
        marked_n("{n} description", "{n} descriptions"),
        marked_n("{n} entry", "{n} entries"),
        marked_n("{n} frame", "{n} frames"),
        marked_n("{n} further pair", "{n} further pairs"),
        marked_n("{n} grade", "{n} grades"),
        marked_n("{n} graded moment", "{n} graded moments"),
        marked_n("{n} imprecise caption", "{n} imprecise captions"),
        marked_n("{n} imported judgement", "{n} imported judgements"),
        marked_n("{n} simulated judgement", "{n} simulated judgements"),
        marked_n("{n} item", "{n} items"),
        marked_n("{n} moment", "{n} moments"),
        marked_n("{n} name", "{n} names"),
        marked_n("{n} note", "{n} notes"),
        marked_n("{n} older one", "{n} older ones"),
        marked_n("{n} other", "{n} others"),
        marked_n("{n} other pair", "{n} other pairs"),
        marked_n("{n} pair", "{n} pairs"),
        marked_n("{n} person", "{n} people"),
        marked_n("{n} prediction", "{n} predictions"),
        marked_n("{n} query", "{n} queries"),
        marked_n("{n} rate", "{n} rates"),
        marked_n("{n} reply", "{n} replies"),
        marked_n("{n} run", "{n} runs"),
        marked_n("{n} shot", "{n} shots"),
        marked_n("{n} simulated one", "{n} simulated ones"),
        marked_n("{n} skip", "{n} skips"),
        marked_n("{n} test query", "{n} test queries"),
        marked_n("{n} text", "{n} texts"),
        marked_n("{n} video", "{n} videos"),
        marked_n("{n} wrong video", "{n} wrong videos"),
    )
}
"""The texts for a number of something, by what it is called in English."""


def day(on: date, *, year: bool = False) -> str:
    """A day, with its year where days of several stand together.

    >>> day(date(2025, 10, 9)), day(date(2025, 10, 9), year=True)
    ('9 Oct', '9 Oct 2025')
    """
    if year:
        return tr("{day} {month} {year}", day=on.day, month=_short(on), year=on.year)
    return tr("{day} {month}", day=on.day, month=_short(on))


def month(on: date) -> str:
    """The month that a day is of.

    >>> month(date(2026, 3, 1))
    'March 2026'
    """
    return tr("{month} {year}", month=tr(_LONG[on.month - 1]), year=on.year)


def instant(at: datetime) -> str:
    """A day with its year, and the time of day.

    >>> instant(datetime(2025, 10, 9, 10, 53))
    '9 Oct 2025, 10:53'
    """
    return tr("{day}, {time}", day=day(at, year=True), time=f"{at:%H:%M}")


def _short(on: date) -> str:
    return tr(_SHORT[on.month - 1], _context="month")
