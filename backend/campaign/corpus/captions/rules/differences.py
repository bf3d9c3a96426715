"""What a rewrite changed, word by word, whoever wrote it: for the eye, and counted as the paper's Table 3.

Words are letters and digits with hyphens and apostrophes between them; a possessive `'s` and every other sign stands
for itself, so that `Rachel's` which became `a woman's` tells of `a woman`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_WORD = re.compile(r"['’]s\b|\w+(?:['’-](?!s\b)\w+)*|[^\w\s]")
MOST_WORDS = 300
"""Longer texts are not compared word by word: that takes time that grows with the cube of their length."""
_ARTICLES = frozenset({"a", "an", "the", "another"})


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of a text, as it stands there; `changed` if these words are not in the other text at this place."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class RewriteSummary:
    """What rewriting did to the captions that make queries.

    `replacements` are the words that were put in the place of others, in lower case, with their counts, the most
    frequent first. `words_before` and `words_after` are means of the words of a caption, split at white space.
    """

    captions: int
    changed: int
    words_before: float
    words_after: float
    replacements: tuple[tuple[str, int], ...]


def differences(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces, which joined are the texts again. Beyond `MOST_WORDS` all words count as changed.

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


def summary(rewritten: Iterable[tuple[str, str, int]]) -> RewriteSummary:
    """Table 3 of TVR-Ranking, from the texts alone, so that it holds for rules, models and people.

    An article that stayed before new words belongs to them: `The Castle` which became `The man` tells of `the man`.

    Args:
        rewritten: (published text, imprecise text, how many captions have both).
    """
    captions = changed = before_words = after_words = 0
    found = Counter[str]()
    for before, after, count in rewritten:
        captions += count
        before_words += count * len(before.split())
        after_words += count * len(after.split())
        if before != after:
            changed += count
            for phrase in _replacements(before, after):
                found[phrase] += count
    return RewriteSummary(
        captions=captions,
        changed=changed,
        words_before=before_words / captions if captions else 0.0,
        words_after=after_words / captions if captions else 0.0,
        replacements=tuple(sorted(found.items(), key=lambda item: (-item[1], item[0]))),
    )


def _replacements(before: str, after: str) -> Iterator[str]:
    """The phrases of `after` that stand in the place of words of `before`."""
    old, new = _words(before), _words(after)
    for _, from_, to, start, end in _changes(before, after, old, new):
        there = [after[slice(*span)].casefold() for span in new[start:end]]
        gone = [before[slice(*span)].casefold() for span in old[from_:to]]
        if there == gone:  # at most a capital came or went
            continue
        if start and (article := after[slice(*new[start - 1])].casefold()) in _ARTICLES and there:
            there.insert(0, article)
        if phrase := " ".join(word for word in there if word[0].isalnum()):
            yield phrase


def _words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _WORD.finditer(text)]


def _changes(
    before: str, after: str, old: list[tuple[int, int]], new: list[tuple[int, int]]
) -> Sequence[tuple[str, int, int, int, int]]:
    if max(len(old), len(new)) > MOST_WORDS:
        return [] if before == after else [("replace", 0, len(old), 0, len(new))]
    # Most captions are short and keep most of their words, yet a word may occur often: nothing is taken for junk.
    matcher = SequenceMatcher(
        None, [before[slice(*span)] for span in old], [after[slice(*span)] for span in new], autojunk=False
    )
    return matcher.get_opcodes()


def _pieces(text: str, changed: list[tuple[int, int]]) -> tuple[Piece, ...]:
    """The text cut at the spans that changed, which are in order."""
    edges = [0, *(edge for span in changed for edge in span), len(text)]
    pieces = (Piece(text[start:end], number % 2 == 1) for number, (start, end) in enumerate(pairwise(edges)))
    return tuple(piece for piece in pieces if piece.text)
