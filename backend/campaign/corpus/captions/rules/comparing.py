"""Compare captions with their rewrites word by word, for display and for Table 3 of the TVR-Ranking paper.

A word consists of letters and digits, with hyphens and apostrophes between them. A possessive `'s` and every other
character count on their own, so that `Rachel's` changed to `a woman's` counts as `a woman`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from backend.campaign.corpus.captions.model import Gender, Piece, ReplacementWord, RewriteSummary
from backend.campaign.corpus.captions.rules.spelling import MEN, WOMEN, plural

_WORD = re.compile(r"['’]s\b|\w+(?:['’-](?!s\b)\w+)*|[^\w\s]")
MOST_WORDS = 300
"""Longer texts are not compared word by word, because the time needed grows with the cube of their length."""
_ARTICLES = frozenset({"a", "an", "the", "another"})
_MALE_KIN = "male father dad husband boyfriend brother son uncle nephew grandfather dude"
_FEMALE_KIN = "female mother mom mum wife girlfriend sister daughter aunt niece grandmother"
_MALE_NOUNS, _FEMALE_NOUNS = {*MEN, *_MALE_KIN.split()}, {*WOMEN, *_FEMALE_KIN.split()}
_MALE = _MALE_NOUNS | {plural(noun) for noun in _MALE_NOUNS} | {"he", "him", "his", "himself"}
_FEMALE = _FEMALE_NOUNS | {plural(noun) for noun in _FEMALE_NOUNS} | {"she", "her", "hers", "herself"}


def differences(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Cut a text and its changed version into pieces, and mark the pieces whose words differ.

    Return (pieces of `before`, pieces of `after`). The pieces of a text, joined, give the text again. If a text has
    more than `MOST_WORDS` words, all words count as changed.

    >>> before, after = differences("Amy's cat naps.", "A woman's cat naps.")
    >>> [piece.text for piece in (*before, *after) if piece.changed]
    ['Amy', 'A woman']
    """
    old, new = _words(before), _words(after)
    changes = [change for change in _changes(before, after, old, new) if change[0] != "equal"]
    return (
        _pieces(before, [(old[start][0], old[end - 1][1]) for _, start, end, _, _ in changes if start < end]),
        _pieces(after, [(new[start][0], new[end - 1][1]) for _, _, _, start, end in changes if start < end]),
    )


def summary(rewritten: Iterable[tuple[str, str, int]], versions: Sequence[tuple[str, int]] = ()) -> RewriteSummary:
    """Summarise how rewriting changed captions: words before and after, and how often each replacement was used.

    `words` in the result is Table 3 of the TVR-Ranking paper; see `replacement_words`. In `replacements`, which are
    whole phrases, an article that is kept before new words counts as part of them: `The Castle` changed to `The man`
    counts as `the man`.

    Args:
        rewritten: (published text, rewrite, number of captions with these two texts).
        versions: (rule version, number of captions), for the result.
    """
    captions = changed = before_words = after_words = 0
    phrases, words = Counter[str](), Counter[str]()
    for before, after, count in rewritten:
        captions += count
        before_words += count * len(before.split())
        after_words += count * len(after.split())
        if before != after:
            changed += count
            for phrase in _replacements(before, after):
                phrases[phrase] += count
            for word in replacement_words(before, after):
                words[word] += count
    return RewriteSummary(
        captions=captions,
        changed=changed,
        words_before=before_words / captions if captions else 0.0,
        words_after=after_words / captions if captions else 0.0,
        replacements=tuple(_by_frequency(phrases)),
        words=tuple(ReplacementWord(word, gender_of(word), count) for word, count in _by_frequency(words)),
        versions=tuple(versions),
    )


def _by_frequency(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def replacement_words(before: str, after: str) -> list[str]:
    """Return the words, in lower case, that rewriting put into a caption, in order; a word may occur several times.

    Both texts are cut into words (see the module's docstring) in lower case, and aligned by `difflib.SequenceMatcher`.
    Words of `after` in parts that it calls `replace` or `insert` count, except `a`, `an` and `the`. The paper does not
    say how it counted; its Table 3 has no article, although `man` replaced 37,533 words.

    >>> replacement_words("Amy hands Ross's dog to the Castle.", "A woman hands a man's dog to the man.")
    ['woman', 'man', 'man']
    >>> replacement_words("Eric and Dr. Gregory were talking.", "Two people were talking.")
    ['two', 'people']
    """
    small_before, small_after = before.casefold(), after.casefold()
    old, new = _words(small_before), _words(small_after)
    added = [
        small_after[slice(*span)]
        for kind, _, _, start, end in _changes(small_before, small_after, old, new)
        if kind != "equal"
        for span in new[start:end]
    ]
    return [word for word in added if word[0].isalnum() and word not in ("a", "an", "the")]


def gender_of(word: str) -> Gender:
    """Return whether an English word in lower case is about men (`M`), about women (`F`), or neither (`N`).

    >>> [gender_of(word) for word in ("guy", "women", "her", "doctor", "two")]
    ['M', 'F', 'F', 'N', 'N']
    """
    if word in _MALE:
        return "M"
    return "F" if word in _FEMALE else "N"


def _replacements(before: str, after: str) -> Iterator[str]:
    """Yield each phrase of `after`, in lower case, that replaced words of `before`."""
    old, new = _words(before), _words(after)
    for _, from_, to, start, end in _changes(before, after, old, new):
        new_words = [after[slice(*span)].casefold() for span in new[start:end]]
        old_words = [before[slice(*span)].casefold() for span in old[from_:to]]
        if new_words == old_words:  # only capitals changed
            continue
        if start and (article := after[slice(*new[start - 1])].casefold()) in _ARTICLES and new_words:
            new_words.insert(0, article)
        if phrase := " ".join(word for word in new_words if word[0].isalnum()):
            yield phrase


def _words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _WORD.finditer(text)]


def _changes(
    before: str, after: str, old: list[tuple[int, int]], new: list[tuple[int, int]]
) -> Sequence[tuple[str, int, int, int, int]]:
    if max(len(old), len(new)) > MOST_WORDS:
        return [] if before == after else [("replace", 0, len(old), 0, len(new))]
    # Without autojunk, because frequent words of a caption matter too.
    matcher = SequenceMatcher(
        None, [before[slice(*span)] for span in old], [after[slice(*span)] for span in new], autojunk=False
    )
    return matcher.get_opcodes()


def _pieces(text: str, changed: list[tuple[int, int]]) -> tuple[Piece, ...]:
    """Cut a text into pieces, alternately unchanged and changed.

    `changed` are the changed spans as (start, end) character positions, in ascending order.
    """
    edges = [0, *(edge for span in changed for edge in span), len(text)]
    pieces = (Piece(text[start:end], number % 2 == 1) for number, (start, end) in enumerate(pairwise(edges)))
    return tuple(piece for piece in pieces if piece.text)
