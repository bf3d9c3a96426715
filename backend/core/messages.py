"""Translatable messages: a template plus its values.

The back end writes English. A `Said` is an English text that also carries its template and its values, so it can be
used wherever a text can. The front end looks up the template in its catalogue and puts in the values, which may be
messages themselves.

Joining or cutting a `Said` (`+`, an f-string with more in it, `.join`) gives a plain text, which cannot be translated.
"""

import json
import re
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from string import Formatter
from typing import Any, Self

Value = str | int | float | None


class Said(str):
    """An English sentence with the template `text` and the `values` that it was made from; see `said`.

    If the text depends on `number`, `text` is the template for the number 1, and `several` for any other number.
    `context` tells apart equal templates with different translations.
    """

    __slots__ = ("context", "number", "several", "text", "values")

    text: str
    values: Mapping[str, Value]
    several: str | None
    number: int
    context: str

    def __new__(
        cls, text: str, values: Mapping[str, object], several: str | None = None, number: int = 1, context: str = ""
    ) -> Self:
        """Fill the template that fits `number`: `text` for one, `several` (if given) for any other."""
        known = {name: _plain_value(value) for name, value in values.items()}
        chosen = text if several is None or number == 1 else several
        self = super().__new__(cls, chosen.format(**known) if known else chosen)
        self.text, self.values, self.several, self.number, self.context = text, known, several, number, context
        return self

    def __str__(self) -> str:
        """Return the message itself, so that `str(error)` keeps the template and the values."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how pickle rebuilds the message in another process."""
        return type(self), (self.text, self.values, self.several, self.number, self.context)


def said(text: str, /, *, _context: str = "", **values: object) -> str:
    """Return a translatable message: the text with values in the place of their names in braces.

    Write the text as a literal, because `tools/texts.py` collects it from the source. `_context` tells apart equal
    English texts with different translations, as in `said("You", _context="by")`.

    >>> sentence = said("Nobody is called {name}.", name="Ana")
    >>> sentence
    'Nobody is called Ana.'
    >>> isinstance(sentence, Said) and (sentence.text, sentence.values)
    ('Nobody is called {name}.', {'name': 'Ana'})
    """
    return Said(text, values, context=_context)


def said_n(singular: str, several: str, count: int, /, **values: object) -> str:
    """Return a translatable message that depends on a number, which the text may contain as `{n}`.

    >>> said_n("{n} pair", "{n:,} pairs", 1), said_n("{n} pair", "{n:,} pairs", 1204)
    ('1 pair', '1,204 pairs')
    """
    return Said(singular, {"n": count, **values}, several, count)


def joined(separator: str, parts: Iterable[str]) -> str:
    """Return the parts joined by a separator; each part stays translatable.

    >>> joined("; ", ["a.csv", said("{n} is no row", n=7)])
    'a.csv; 7 is no row'
    """
    values = {f"part_{number}": part for number, part in enumerate(parts)}
    between = separator.replace("{", "{{").replace("}", "}}")
    return Said(between.join(f"{{{name}}}" for name in values), values)


def as_text(sentence: object) -> str:
    """Return a message as a plain `str`, for libraries that accept no subclass, such as msgspec (its `enc_hook`).

    Raises:
        NotImplementedError: the value is no text.
    """
    if isinstance(sentence, str):
        return str.__str__(sentence)
    raise NotImplementedError


_MARK = '{"said": '
"""The beginning of a message that `to_stored` wrote."""
_NAME, _FORMAT = re.compile(r"[a-z_]\w*"), re.compile(r"[,.\d]{0,4}[a-z%]?")
"""The names and formats that templates of this project use in braces. A stored text may come from anybody, and could
otherwise read attributes of a value, or ask for a line that fills the memory."""


def to_stored(sentence: str) -> str:
    """Return a message as a text to store, from which `from_stored` restores it; a plain text stays as it is."""
    if not isinstance(sentence, Said):
        if not sentence.startswith(_MARK):
            return sentence
        sentence = Said("{text}", {"text": sentence})  # a plain text that looks like a stored message
    return json.dumps(_to_json(sentence), ensure_ascii=False)


def from_stored(text: str) -> str:
    """Return the message that a stored text stands for, undoing `to_stored`; a plain text stays as it is.

    >>> from_stored(to_stored(said("Nobody is called {name}.", name="Ana"))), from_stored("Nobody is called Ana.")
    ('Nobody is called Ana.', 'Nobody is called Ana.')
    """
    if not text.startswith(_MARK):
        return text
    try:
        return str(_from_json(json.loads(text)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return text


def _to_json(value: Value) -> Any:
    if not isinstance(value, Said):
        return value
    values = {name: _to_json(item) for name, item in value.values.items()}
    return {"said": [value.text, values, value.several, value.number, value.context]}


def _from_json(stored: Any) -> Any:
    if not isinstance(stored, dict):
        return stored
    text, values, several, number, context = stored["said"]
    if not all(_is_template(item) for item in (text, several or "")):
        raise ValueError(text)
    return Said(text, {name: _from_json(item) for name, item in values.items()}, several, number, context)


def _is_template(text: str) -> bool:
    return all(
        name is None or (_NAME.fullmatch(name) and _FORMAT.fullmatch(spec or "") and conversion in (None, "r"))
        for _, name, spec, conversion in Formatter().parse(text)
    )


def _plain_value(value: object) -> Value:
    """Return a value as a number or a text that templates can format.

    Numbers of other libraries become Python numbers. None and texts stay; all other values become texts.
    """
    if value is None or isinstance(value, Said) or type(value) in (str, bool, int, float):
        return value  # type: ignore[return-value]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return str(value)
