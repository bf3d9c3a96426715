"""Sentences that know how they were made, so that whoever shows them can say them in another language.

The back end speaks English, to the byte: a `Said` is that English, and everything that takes a text takes it. It also
carries the text it was made from and the values in it. The front end looks the text up in its catalogue, and puts the
values, which may be such sentences themselves, where that language wants them.

What joins or cuts a `Said` (`+`, an f-string with more in it, `.join`) has a plain text left, which stays English.
"""

import json
import re
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from string import Formatter
from typing import Any, Self

Value = str | int | float | None


class Said(str):
    """An English sentence with the `text` and the `values` that it was made from; see `said`.

    `several` and `count` are there where the text depends on a number: `text` is for one.
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
        """`text` is for a number of one, and `several`, where given, for any other."""
        known = {name: _value(value) for name, value in values.items()}
        chosen = text if several is None or number == 1 else several
        self = super().__new__(cls, chosen.format(**known) if known else chosen)
        self.text, self.values, self.several, self.number, self.context = text, known, several, number, context
        return self

    def __str__(self) -> str:
        """Itself: a `str(error)` says how its sentence was made, too."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """As it travels from one process to another."""
        return type(self), (self.text, self.values, self.several, self.number, self.context)


def said(text: str, /, *, _context: str = "", **values: object) -> str:
    """A sentence with values in the place of their names. The text stands there as it is: `tools/texts.py` reads it.

    `_context` tells apart what only English says in one way, `said("You", _context="by")`.

    >>> sentence = said("Nobody is called {name}.", name="Ana")
    >>> sentence
    'Nobody is called Ana.'
    >>> isinstance(sentence, Said) and (sentence.text, sentence.values)
    ('Nobody is called {name}.', {'name': 'Ana'})
    """
    return Said(text, values, context=_context)


def said_n(one: str, several: str, count: int, /, **values: object) -> str:
    """A sentence that depends on a number, which it may name as `{n}`.

    >>> said_n("{n} pair", "{n:,} pairs", 1), said_n("{n} pair", "{n:,} pairs", 1204)
    ('1 pair', '1,204 pairs')
    """
    return Said(one, {"n": count, **values}, several, count)


def joined(by: str, parts: Iterable[str]) -> str:
    """The parts one after the other, as `by.join` has them; each still knows how it was made.

    >>> joined("; ", ["a.csv", said("{n} is no row", n=7)])
    'a.csv; 7 is no row'
    """
    values = {f"part_{number}": part for number, part in enumerate(parts)}
    between = by.replace("{", "{{").replace("}", "}}")
    return Said(between.join(f"{{{name}}}" for name in values), values)


def as_text(sentence: object) -> str:
    """A sentence as a plain text, for what knows texts alone, such as msgspec (its `enc_hook`)."""
    if isinstance(sentence, str):
        return str.__str__(sentence)
    raise NotImplementedError


_MARK = '{"said": '
"""How a kept sentence begins."""
_NAME, _FORMAT = re.compile(r"[a-z_]\w*"), re.compile(r"[,.\d]{0,4}[a-z%]?")
"""What a text of ours has in braces. A kept one may be anybody's, who would ask for what lies behind a value, or for a
line as long as the memory."""


def kept(sentence: str) -> str:
    """A sentence as a text that `recalled` makes it of again. A plain text is kept as it is."""
    if not isinstance(sentence, Said):
        if not sentence.startswith(_MARK):
            return sentence
        sentence = Said("{text}", {"text": sentence})  # somebody wrote what looks like one
    return json.dumps(_parts(sentence), ensure_ascii=False)


def recalled(text: str) -> str:
    """The sentence that was kept; a text that holds none, such as an old one, is one itself.

    >>> recalled(kept(said("Nobody is called {name}.", name="Ana"))), recalled("Nobody is called Ana.")
    ('Nobody is called Ana.', 'Nobody is called Ana.')
    """
    if not text.startswith(_MARK):
        return text
    try:
        return str(_sentence(json.loads(text)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return text


def _parts(value: Value) -> Any:
    if not isinstance(value, Said):
        return value
    values = {name: _parts(one) for name, one in value.values.items()}
    return {"said": [value.text, values, value.several, value.number, value.context]}


def _sentence(read: Any) -> Any:
    if not isinstance(read, dict):
        return read
    text, values, several, number, context = read["said"]
    if not all(_is_ours(one) for one in (text, several or "")):
        raise ValueError(text)
    return Said(text, {name: _sentence(one) for name, one in values.items()}, several, number, context)


def _is_ours(text: str) -> bool:
    return all(
        name is None or (_NAME.fullmatch(name) and _FORMAT.fullmatch(how or "") and conversion in (None, "r"))
        for _, name, how, conversion in Formatter().parse(text)
    )


def _value(value: object) -> Value:
    """What is a number stays one, for its format; anything else is what it reads as."""
    if value is None or isinstance(value, Said) or type(value) in (str, bool, int, float):
        return value  # type: ignore[return-value]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return str(value)
