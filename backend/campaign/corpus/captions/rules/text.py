"""Words, sentences, and several people as one phrase."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import groupby

from backend.core.typed_text import nfc

_TITLE_WORDS = """
    Mr Mrs Ms Mx Miss Dr Doctor Prof Professor Detective Det Agent Captain Capt Officer Lieutenant Lt Sergeant Sgt
    Colonel Nurse Sir Madam Uncle Aunt Sr Jr"""
TITLES = frozenset(_TITLE_WORDS.split())
_VOWEL_SOUND = re.compile(
    r"hour|hono|hones|heir|(?!uni(?:que|form|corn|cyc|ver|on|ted)|use|usu|euro|ewe|one\b|once)[aeiou]", re.IGNORECASE
)
_SENTENCE_START = re.compile(r"""(?:\A\W*|[.!?…]["'”’)\]]*\s+["'“‘«„(\[]*|\n\W*|["“«„])\Z""")
_ABBREVIATION = re.compile(rf"(?:\A|\W)(?:[A-Z]|St|vs|{'|'.join(sorted(TITLES))})\.\s+\Z")


def opens_sentence(text: str, position: int) -> bool:
    """Whether a sentence, or what somebody says in quotation marks, begins at `position`."""
    before = text[:position]
    return bool(_SENTENCE_START.search(before)) and not _ABBREVIATION.search(before)


def article_of(noun: str) -> str:
    """`a` or `an` by the sound of the next word, as far as spelling tells.

    >>> [article_of(word) for word in ("woman", "old man", "unicyclist", "hour", "one-eyed man")]
    ['a', 'an', 'a', 'an', 'a']
    """
    return "an" if _VOWEL_SOUND.match(noun) else "a"


def split(phrase: str) -> tuple[str, str]:
    """`an old man` -> (`an`, `old man`); without an article the first part is empty."""
    match = re.fullmatch(r"(a|an|the)\s+(\S.*)", phrase, re.IGNORECASE)
    return (match[1].lower(), match[2]) if match else ("", phrase)


@cache
def word_pattern() -> re.Pattern[str]:
    """A word, hyphens and apostrophes inside it included."""
    letter = rf"[^\W\d_][\w{marks()}]*"
    return re.compile(rf"{letter}(?:['’-]{letter})*")


@cache
def marks() -> str:
    """The combining marks, which a regular expression takes for gaps between words, as ranges for a class."""
    codes = [code for code in range(0x300, 0x1E950) if unicodedata.category(chr(code)).startswith("M")]
    runs = groupby(enumerate(codes), key=lambda numbered: numbered[1] - numbered[0])
    ranges = [[code for _, code in run] for _, run in runs]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in ranges)


def tidy(words: str) -> str:
    """A name or a phrase as it counts: composed letters, single spaces."""
    return " ".join(nfc(words).split())


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
