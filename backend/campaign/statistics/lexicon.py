"""The verb list: the word forms of the NIH's SPECIALIST lexicon, as the package LemmInflect carries them."""

from collections.abc import Mapping
from importlib.metadata import version


def parts_of_speech(word: str) -> Mapping[str, tuple[str, ...]]:
    """What a word may be, by the lexicon alone: words that it does not have are not guessed at.

    >>> sorted(parts_of_speech("lights")), parts_of_speech("threw"), parts_of_speech("xyzzy")
    (['NOUN', 'VERB'], {'VERB': ('throw',)}, {})
    """
    from lemminflect import getAllLemmas  # a third of a second

    found: Mapping[str, tuple[str, ...]] = getAllLemmas(word)
    return found


def name() -> str:
    """What to call it in a table."""
    return f"LemmInflect {version('lemminflect')}, word forms of the NIH SPECIALIST lexicon"
