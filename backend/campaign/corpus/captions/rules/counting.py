"""Several people as one phrase."""

import re
from collections.abc import Sequence

_PEOPLE_WORDS = """
    man woman person boy girl child kid baby teenager guy lady gentleman actor actress doctor nurse patient detective
    officer policeman policewoman agent lawyer teacher student waiter waitress soldier friend neighbour neighbor adult
    stranger host guest"""
PEOPLE = frozenset(_PEOPLE_WORDS.split())
"""Nouns of human beings: only these become `people` together."""
WOMEN = frozenset({"woman", "girl", "lady", "actress", "policewoman", "waitress"})
MEN = frozenset({"man", "boy", "guy", "gentleman", "actor", "policeman", "waiter"})
NUMBERS = ("two", "three", "four")
"""From two on; more than these are `a group of`."""

_IRREGULAR = {"man": "men", "woman": "women", "person": "people", "child": "children"}


def plural(noun: str) -> str:
    """More than one of them.

    >>> [plural(noun) for noun in ("old man", "actress", "lady", "boy", "person")]
    ['old men', 'actresses', 'ladies', 'boys', 'people']
    """
    *before, last = noun.split()
    if last in _IRREGULAR:
        more = _IRREGULAR[last]
    elif last.endswith(("men", "people")):
        more = last
    elif last.endswith("man"):
        more = f"{last[:-3]}men"
    elif re.search(r"[^aeiou]y\Z", last):
        more = f"{last[:-1]}ies"
    else:
        more = f"{last}es" if last.endswith(("s", "x", "z", "ch", "sh")) else f"{last}s"
    return " ".join([*before, more])


def together(nouns: Sequence[str], *, alike: bool) -> str:
    """Several people as one phrase; `alike` makes people of all who are people, of one kind or not.

    >>> together(["woman", "woman"], alike=False), together(["woman", "man", "old man"], alike=False)
    ('two women', 'three people')
    >>> together(["man"] * 5, alike=False), together(["man"] * 2, alike=True)
    ('a group of men', 'two people')
    """
    kind = plural(nouns[0]) if len(set(nouns)) == 1 and not (alike and all_people(nouns)) else "people"
    count = len(nouns) - 2
    return f"{NUMBERS[count]} {kind}" if count < len(NUMBERS) else f"a group of {kind}"


def all_people(nouns: Sequence[str]) -> bool:
    """Whether each noun is of a human being."""
    return all(noun.split()[-1] in PEOPLE for noun in nouns)
