"""Look up first names of the world and ordinary words of English, from the package Faker (MIT).

Reading them takes a fifth of a second, so nothing is read before somebody asks.
"""

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from backend.campaign.corpus.captions.rules.spelling import Known
from backend.core import lexicon

_SAMPLE = 2000
"""Captions that are looked at to tell their language."""
_WORD = re.compile(r"[^\W\d_]+")

ENGLISH_COUNTS = 3
"""A list of an English-speaking country says as much about a name as three others."""
CLEAR = 0.75
"""From this share of the lists on, a name is a woman's or a man's; below, it is just a person's."""


def known_words(vocabulary: frozenset[str] = frozenset(), texts: Sequence[str] = ()) -> Known:
    """Return what is known of words: first names, ordinary words, a vocabulary, and a lexicon.

    Args:
        vocabulary: of an encoder.
        texts: the captions. The lexicon is of English: it is left out where they read as another language.
    """
    words = (word.lower() for text in texts[:: max(1, len(texts) // _SAMPLE)] for word in _WORD.findall(text))
    return Known(first_names(), _ordinary(), vocabulary, lexicon.english if lexicon.reads_english(words) else None)


@cache
def first_names() -> dict[str, str]:
    """What each first name becomes: `a woman`, `a man`, or `a person` where the lists disagree.

    Names of scripts without capitals are left out: there, no word is noticed as a name.
    """
    from faker.providers import person

    women, men, unsaid = Counter[str](), Counter[str](), set[str]()
    for module in pkgutil.iter_modules(person.__path__):
        if not module.ispkg:
            continue
        provider = importlib.import_module(f"{person.__name__}.{module.name}").Provider
        weight = ENGLISH_COUNTS if module.name.startswith("en") else 1
        for counts, key in ((women, "first_names_female"), (men, "first_names_male")):
            for name in _names(getattr(provider, key, ())):
                counts[name] += weight
        unsaid |= _names(getattr(provider, "first_names", ()))
    return {name: _kind(women[name], men[name]) for name in {*women, *men, *unsaid}}


@cache
def _ordinary() -> frozenset[str]:
    from faker.providers.lorem.en_US import Provider

    return frozenset(Provider.word_list)


def _names(listed: object) -> set[str]:
    """The names of one list that are one word with a capital; what is no list (some are made on demand) has none."""
    names = listed if isinstance(listed, Iterable) else ()
    return {name for name in names if isinstance(name, str) and len(name) > 2 and name.isalpha() and name[0].isupper()}


def _kind(women: int, men: int) -> str:
    said = women + men
    if said and women / said >= CLEAR:
        return "a woman"
    return "a man" if said and men / said >= CLEAR else "a person"
