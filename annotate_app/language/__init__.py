"""Translate the app's texts: English is in the code, every other language in a catalogue beside this file.

Texts are marked where they are used, `tr("Sign in")`, and the English text is the key in the catalogues (gettext).
Values are filled in by name, `tr("Grade {grade}, saved.", grade=3)`, never by joining parts, because other languages
order them differently. The content of a campaign (its queries, captions, grades) is data and is not translated.
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
"""Language of the texts in the code."""
LANGUAGES = {SOURCE: "English", "de": "Deutsch"}
"""Languages to choose from: maps each tag to the language's own name."""
COOKIE = "reelrank_language"
CATALOGUES = Path(__file__).parent / "catalogues"

_reader_language: ContextVar[str | None] = ContextVar("language", default=None)


def tr(text: str, /, *, _context: str = "", **values: object) -> str:
    """Translate a text into the reader's language, and fill in the values by name.

    `_context` tells apart meanings of an English word that other languages translate differently, such as
    `tr("Grade", _context="noun")`.

    >>> tr("Grade {grade}, saved.", grade=3)
    'Grade 3, saved.'
    """
    translations = _catalogue(current())
    translation = translations.pgettext(_context, text) if _context else translations.gettext(text) if text else text
    return translation.format(**_translated_values(values)) if values else translation


def trn(one: str, several: str, count: int, /, **values: object) -> str:
    """Translate a text that depends on a number; `{n}` in the text stands for the number.

    >>> trn("{n} pair", "{n} pairs", 1), trn("{n} pair", "{n} pairs", 1204)
    ('1 pair', '1,204 pairs')
    """
    translation = _catalogue(current()).ngettext(one, several, count)
    return translation.format(**{"n": f"{count:,}", **_translated_values(values)})


def translate_message(sentence: object) -> str:
    """Translate a message of the back end, or the message of an exception, into the reader's language.

    Messages that hold an English template and its values are translated. A plain string is returned unchanged. `tr` and
    `trn` use this function for messages among their values.

    >>> translate_message(ValueError("as it is"))
    'as it is'
    """
    message = str(sentence)
    if not isinstance(message, Said) or not message:
        return message
    if current() == SOURCE and message.isascii():
        return as_text(message)
    translations = _catalogue(current())
    if message.several is None:
        translation = (
            translations.pgettext(message.context, message.text)
            if message.context
            else translations.gettext(message.text)
        )
    else:
        translation = translations.ngettext(message.text, message.several, message.number)
    return translation.format(**_translated_values(message.values)) if message.values else translation


def as_json(content: object) -> bytes:
    """Encode a value from the back end as JSON, and translate all messages in it into the reader's language.

    A message is an English template with the values to fill in.
    """
    return msgspec.json.encode(content, enc_hook=_hook)


def as_builtins(content: object) -> Any:
    """Convert a value from the back end to lists and dictionaries, with all messages in the reader's language.

    A message is an English template with the values to fill in.
    """
    return msgspec.to_builtins(content, enc_hook=_hook)


def _hook(value: object) -> str:
    if isinstance(value, Said):
        return translate_message(value)
    raise NotImplementedError


def _translated_values(values: Mapping[str, object]) -> dict[str, object]:
    return {name: _translated_value(value) for name, value in values.items()}


def _translated_value(value: object) -> object:
    if isinstance(value, Said):
        return translate_message(value)
    return isolated(value) if isinstance(value, str) else value


def marked(text: str, *, _context: str = "") -> str:
    """Return a text unchanged, and mark it as one to translate. `tr` translates the text when it is shown.

    The tool that collects the app's English texts finds the call in the source code.
    """
    return text


def marked_n(one: str, several: str) -> tuple[str, str]:
    """Return a singular and a plural text unchanged, and mark them as texts to translate.

    `trn` translates them when they are shown.
    """
    return one, several


def translated(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of a mapping whose values are translated. The keys stay as they are."""
    return {value: tr(text) for value, text in texts.items()}


def use(language: str | None) -> None:
    """Set the language for the rest of this request or thread; None for the language that the browser prefers."""
    _reader_language.set(language)


def current() -> str:
    """Return the reader's language as a tag, such as `de`."""
    language = _reader_language.get()
    if language is None:
        language = SOURCE
        if get_script_run_ctx(suppress_warning=True) is not None:
            # A script run has its own thread, which serves one browser, so the language is looked up once.
            language = chosen(st.context.cookies, st.context.headers)
            use(language)
    return language


def chosen(cookies: Mapping[str, str], headers: Mapping[str, str]) -> str:
    """Return the tag of the language for a browser: the language chosen in the app, else the one the browser prefers.

    The app keeps its choice in a cookie. Of the languages that the browser prefers, the first into which the app is
    translated is used, and English if there is none.

    >>> chosen({}, {"accept-language": "fr, de-AT;q=0.8, en;q=0.5"}), chosen({"reelrank_language": "en"}, {})
    ('de', 'en')
    """
    if (language := cookies.get(COOKIE, "")) in LANGUAGES:
        return language
    return _preferred(headers.get("accept-language", ""))


@functools.lru_cache(maxsize=256)
def _preferred(accepted: str) -> str:
    """Return the tag of the language that a browser with this Accept-Language prefers."""
    wishes = []
    for part in accepted.split(","):
        tag, _, weight = part.strip().partition(";")
        try:
            wishes.append((-float(weight.strip().removeprefix("q=") or 1), tag.partition("-")[0].lower()))
        except ValueError:
            continue
    supported = [tag for weight, tag in sorted(wishes, key=lambda wish: wish[0]) if tag in LANGUAGES and weight < 0]
    return supported[0] if supported else SOURCE


def browser_texts(folder: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the translations of all texts in the scripts and HTML of one interactive element, such as the player.

    Args:
        folder: folder of the element's files.
        names: paths of its scripts and HTML files, relative to the folder.

    Returns:
        `{"language": tag, "texts": {English text: translation}}`, or an empty dictionary if the language is English. A
        text that depends on a number is listed by its singular, and its translation is a tuple of all plural forms.
    """
    language = current()
    if language == SOURCE:
        return {}
    files = tuple((folder / name).resolve() for name in names)
    return {"language": language, "texts": _texts_of(language, files)}


@functools.cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """Return the translations into a language as a `gettext` object. It is made at its first use and then cached."""
    if language == SOURCE:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo

    compiled = BytesIO()
    write_mo(compiled, catalogue(language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


@functools.cache
def catalogue(language: str) -> Any:
    """Return a language's catalogue as a Babel `Catalog`, read from its `.po` file."""
    from babel.messages.pofile import read_po

    with (CATALOGUES / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


_IN_MARKUP = re.compile(r'>\s*([^<>]+?)\s*<|="([^"]*)"')


@functools.cache
def _texts_of(language: str, files: tuple[Path, ...]) -> dict[str, Any]:
    """Return the English texts in `.js` and `.html` files that have a translation, as `{text: translation}`.

    In scripts, a text counts if it is a whole string in double quotes; in HTML, if it is an element's text or an
    attribute's value. The translation is a tuple of plural forms if the text depends on a number.
    """
    scripts = "\n".join(file.read_text(encoding="utf-8") for file in files if file.suffix == ".js")
    scripts = re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), scripts)
    markup = "\n".join(file.read_text(encoding="utf-8") for file in files if file.suffix == ".html")
    shown = {html.unescape(text) for pair in _IN_MARKUP.findall(markup) for text in pair}
    return {
        text: message.string
        for message in catalogue(language)
        if message.id and message.string
        for text in [message.id if isinstance(message.id, str) else message.id[0]]
        if json.dumps(text, ensure_ascii=False) in scripts or text in shown
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
"""Texts for a number of things, by the English noun: `COUNTED["pair"]`."""


def day(on: date, *, year: bool = False) -> str:
    """Format a date as day and month, and add the year if `year` is true.

    >>> day(date(2025, 10, 9)), day(date(2025, 10, 9), year=True)
    ('9 Oct', '9 Oct 2025')
    """
    if year:
        return tr("{day} {month} {year}", day=on.day, month=_short(on), year=on.year)
    return tr("{day} {month}", day=on.day, month=_short(on))


def month(on: date) -> str:
    """Format a date as month and year.

    >>> month(date(2026, 3, 1))
    'March 2026'
    """
    return tr("{month} {year}", month=tr(_LONG[on.month - 1]), year=on.year)


def instant(at: datetime) -> str:
    """Format a date and time as day, month, year, hour and minute.

    >>> instant(datetime(2025, 10, 9, 10, 53))
    '9 Oct 2025, 10:53'
    """
    return tr("{day}, {time}", day=day(at, year=True), time=f"{at:%H:%M}")


def _short(on: date) -> str:
    return tr(_SHORT[on.month - 1], _context="month")
