"""First names of the world and ordinary words of English, out of the package Faker (MIT).

Reading them takes a fifth of a second, so nothing is read before somebody asks.
"""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterable
from functools import cache

from backend.campaign.captions.rules.names import Known

ENGLISH_COUNTS = 3
"""A list of an English-speaking country says as much about a name as three others."""
CLEAR = 0.75
"""From this share of the lists on, a name is a woman's or a man's; below, it is just a person's."""


def known_words(vocabulary: frozenset[str] = frozenset()) -> Known:
    """What is known of words: first names, ordinary words, and the given vocabulary of an encoder."""
    return Known(first_names(), _ordinary(), vocabulary)


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
