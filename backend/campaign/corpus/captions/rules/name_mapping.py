"""Prepare a name mapping as one pattern, and find what keeps it from meaning one thing."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from backend.campaign.corpus.captions.rules.counting import NUMBERS, plural
from backend.campaign.corpus.captions.rules.spelling import Spellings, spellings_of
from backend.campaign.corpus.captions.rules.text import TITLES, marks, split, tidy
from backend.core.errors import InputError, Problem
from backend.core.messages import said

ADJECTIVE = r"(?:[a-z]+(?:ed|ing|less|ful|ous)|upset|drunk|young|old|little|sad|happy|angry|sleepy|naked|pregnant)"
ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
JOINING = frozenset({"a", "an", "the", "another", "A", "An", "The", "Another", "other", *ORDINALS})
_COUNTED = frozenset({"a", "A", "group", "of", "people", *NUMBERS, *(word.capitalize() for word in NUMBERS)})
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")


class Prepared(NamedTuple):
    """A name mapping as the rules use it.

    Attributes:
        pattern: all names, longest first. Groups: `adjective` (with its article), `name` (spaced scripts) or `anywhere`
            (others), `own` (possessive).
        phrases: what each name becomes.
        spellings: what else the names may look like.
    """

    pattern: re.Pattern[str]
    phrases: dict[str, str]
    spellings: Spellings


class NameMapping(dict[str, str]):
    """A name mapping that is prepared once, for many texts. Do not change it afterwards."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        super().__init__(mapping)
        self.prepared = _prepared(tuple(sorted(mapping.items())))


def prepared(mapping: Mapping[str, str]) -> Prepared:
    """Prepare a mapping for the rules; a `NameMapping` is prepared already."""
    return mapping.prepared if isinstance(mapping, NameMapping) else _prepared(tuple(sorted(mapping.items())))


@lru_cache(maxsize=32)
def _prepared(mapping: tuple[tuple[str, str], ...]) -> Prepared:
    phrases = {tidy(name): tidy(phrase) for name, phrase in mapping}
    if problems := contradictions(phrases):
        raise InputError([Problem("cast", None, message) for _, message in problems])
    longest_first = sorted(phrases, key=lambda name: (-len(name), name))
    spaced, unspaced = (
        "|".join(
            r"\s+".join(re.escape(word) for word in name.split())
            for name in longest_first
            if unicodedata.name(name[-1], "").startswith(_UNSPACED) == anywhere
        )
        or r"(?!)"
        for anywhere in (False, True)
    )
    letter = rf"[\w{marks()}]"
    titles = rf"(?:(?:{'|'.join(sorted(TITLES))})\.?\s+)*"
    before = rf"(?P<adjective>[Aa]n?\s+{ADJECTIVE}\s+)|(?:[Tt]he|[Aa]n?)\s+"
    # Not inside `Mary-Ann` or `O'Brien`, yet before `'s` and before `-like`.
    # Most words are passed over by their first letter.
    first = "".join(re.escape(one) for one in sorted({word[0] for word in [*phrases, *TITLES, *"AaTt"]}))
    left, right = rf"(?=[{first}])(?<!{letter})(?<!\w[-'’])", rf"(?!{letter})(?!-[A-ZÀ-ÖØ-ÞΑ-ΩА-Я])"
    pattern = re.compile(
        rf"(?:{left}(?:{before})?{titles}(?P<name>{spaced}){right}|(?P<anywhere>{unspaced}))"
        rf"(?P<own>['’]s(?!{letter})|(?<=[sxz])['’](?=\s))?"
    )
    return Prepared(pattern, phrases, spellings_of(phrases, is_said))


def contradictions(phrases: Mapping[str, str]) -> list[tuple[str, str]]:
    """Find what keeps a mapping from meaning one thing: names with what is wrong about them."""
    found = [
        (name, said("the name {name!r} has no letter", name=name))
        for name in phrases
        if not any(c.isalpha() for c in name)
    ]
    found += [
        (name, said("the name {name!r} has nothing to become", name=name))
        for name, phrase in phrases.items()
        if not phrase
    ]
    names_of: dict[str, list[str]] = defaultdict(list)
    for name, phrase in phrases.items():
        if phrase and phrase != name:
            names_of[phrase].append(name)
    for phrase, names in names_of.items():
        changed = [other for other in phrases if other.strip() and is_said(other, phrase)]
        found += [
            (
                name,
                said(
                    "{name!r} becomes {phrase!r}, which the name {other!r} would change again",
                    name=name,
                    phrase=phrase,
                    other=other,
                ),
            )
            for name in names
            for other in changed
        ]
    return found


def is_said(name: str, phrase: str) -> bool:
    """Whether words that the rules may put for `phrase` would be read as this name."""
    article, noun = split(phrase)
    words, nouns, more = name.split(), noun.split(), plural(noun).split()
    said = {*nouns, *(JOINING if article else {nouns[0][0].upper() + nouns[0][1:]})}
    if said.issuperset(words) or words[0] == nouns[-1]:
        return True
    return bool(article) and (words[0] in (more[-1], "people") or ({*more} | _COUNTED).issuperset(words))


def name_of(match: re.Match[str]) -> str:
    """The matched name as the mapping has it: in the text, a line may break inside it."""
    return " ".join((match["name"] or match["anywhere"]).split())
