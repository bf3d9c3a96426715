"""Look up English word forms in the NIH's SPECIALIST lexicon, from the package LemmInflect."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import version
from itertools import islice

_SMALL_WORDS = """
    a an the and but nor if than because whilst although unless until amid amongst at for from into of onto per toward
    towards upon with within against among beneath beside despite during unlike via hello hey hi bye goodbye oh ok okay
    yeah huh gonna wanna gotta every whereas albeit thru ain aren arent cannot cant couldn couldnt didn didnt doesn
    doesnt don dont hadn hasn haven isn isnt ll mustn re shouldn til ve wasn wasnt weren won wont wouldn three four five
    six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty
    forty fifty sixty seventy eighty ninety sixth eighth ninth tenth dvd cd tv etc pc mr mrs ms mx dr prof jr sr"""
_SMALL = frozenset(_SMALL_WORDS.split())
"""Small words that the lexicon leaves out; it has no articles and few prepositions."""

ENGLISH_SHARE = 0.5
"""Least share of known words in English texts: TVR's have 0.89, texts in other languages less than 0.4."""
_FEWEST_WORDS, _ENOUGH_WORDS = 20, 20_000


@lru_cache(maxsize=1 << 16)
def parts_of_speech(word: str) -> Mapping[str, tuple[str, ...]]:
    """Return the parts of speech of a word with its base forms; nothing for words that the lexicon lacks.

    >>> sorted(parts_of_speech("lights")), parts_of_speech("threw"), parts_of_speech("xyzzy")
    (['NOUN', 'VERB'], {'VERB': ('throw',)}, {})
    """
    from lemminflect import getAllLemmas  # takes a third of a second

    lemmas: Mapping[str, tuple[str, ...]] = getAllLemmas(word)
    return lemmas


def english(word: str) -> Mapping[str, tuple[str, ...]]:
    """Return the parts of speech of a word in lower case with its base forms; nothing if it is no English word.

    Small words that the lexicon lacks, and single letters, have the part of speech `X`.

    >>> [sorted(english(word)) for word in ("pulls", "towards", "rachel", "castel")]
    [['NOUN', 'VERB'], ['X'], [], []]
    """
    return parts_of_speech(word) or ({"X": (word,)} if word in _SMALL or len(word) == 1 else {})


def reads_english(words: Iterable[str]) -> bool:
    """Return whether most of the first words of a text are English; True if there are too few words to tell.

    The words are in lower case and in the order of the text. Several texts may be given one after another.

    >>> reads_english("rachel gives ross a cup".split()), reads_english("das kind gibt ihm eine tasse".split() * 9)
    (True, False)
    """
    known = [bool(english(word)) for word in islice(words, _ENOUGH_WORDS)]
    return len(known) < _FEWEST_WORDS or sum(known) >= ENGLISH_SHARE * len(known)


def name() -> str:
    """Return the name and version of the lexicon, to show in tables."""
    return f"LemmInflect {version('lemminflect')}, word forms of the NIH SPECIALIST lexicon"
