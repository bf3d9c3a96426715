"""Values of rewriting: protocols of rewriters and taggers, rewrites, decisions, and word-by-word differences. Pure.

Differences are told word by word, whoever wrote the rewrite: for the eye, and counted as the paper's Table 3. Words are
letters and digits with hyphens and apostrophes between them; a possessive `'s` and every other sign stands for itself,
so that `Rachel's` which became `a woman's` tells of `a woman`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Protocol

from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.messages import said
from backend.core.progress import Steps

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
    phrases = Counter[str]()
    for before, after, count in rewritten:
        captions += count
        before_words += count * len(before.split())
        after_words += count * len(after.split())
        if before != after:
            changed += count
            for phrase in _replacements(before, after):
                phrases[phrase] += count
    return RewriteSummary(
        captions=captions,
        changed=changed,
        words_before=before_words / captions if captions else 0.0,
        words_after=after_words / captions if captions else 0.0,
        replacements=tuple(sorted(phrases.items(), key=lambda item: (-item[1], item[0]))),
    )


def _replacements(before: str, after: str) -> Iterator[str]:
    """The phrases of `after` that stand in the place of words of `before`."""
    old, new = _words(before), _words(after)
    for _, from_, to, start, end in _changes(before, after, old, new):
        new_words = [after[slice(*span)].casefold() for span in new[start:end]]
        old_words = [before[slice(*span)].casefold() for span in old[from_:to]]
        if new_words == old_words:  # at most a capital came or went
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


@dataclass(frozen=True, slots=True)
class Usage:
    """What a rewriter took from an endpoint; all 0 for rules.

    `untold` is how many of the `requests` were answered without saying how many tokens they took.
    """

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    untold: int = 0

    @classmethod
    def of_request(cls, tokens_in: int | None, tokens_out: int | None) -> "Usage":
        """Of one request, whose tokens are None where the endpoint does not tell."""
        has_counts = tokens_in is not None and tokens_out is not None
        return cls(1, tokens_in or 0, tokens_out or 0, 0 if has_counts else 1)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.requests + other.requests,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.untold + other.untold,
        )

    def cost(self, price_in: float, price_out: float) -> float:
        """By prices a million tokens; of the requests that told theirs.

        >>> Usage(3, 2_000_000, 500_000).cost(0.15, 0.60)
        0.6
        """
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1_000_000


class Rewriter(Protocol):
    """Turns captions into imprecise ones, in one attempt or in several.

    Every caption gets the first attempt; each further one is for those whose rewrite the check refused.
    """

    @property
    def attempts(self) -> int:
        """How many attempts there are, 1 or more."""
        ...

    @property
    def usage(self) -> Usage:
        """What was taken from an endpoint so far by this very object."""
        ...

    @property
    def usage_ever(self) -> Usage:
        """The same with all earlier runs of these versions in this project."""
        ...

    def version(self, attempt: int) -> str:
        """The rule version that rewrites of this attempt (from 1) carry: equal for equal rules or model, only then."""
        ...

    def rewrite(self, texts: Sequence[str], attempt: int, *, progress: Steps | None = None) -> list[str]:
        """The rewrite of each of these distinct texts, in their order; empty where there is none of any use."""
        ...


class Tagger(Protocol):
    """Finds names of people in sentences by a model."""

    @property
    def identity(self) -> str:
        """Which model it is."""
        ...

    def names(self, texts: Sequence[str], *, progress: Steps | None = None) -> list[tuple[str, ...]]:
        """For each text the names of people in it, in order of appearance."""
        ...


@dataclass(frozen=True, slots=True)
class CastLine:
    """A line of `cast.csv`: a name and what it becomes; empty while nobody has said, the name itself where it stays.

    `captions` is how many hold it, as text: people may have written the line.
    """

    name: str
    becomes: str
    captions: str
    example: str


@dataclass(frozen=True, slots=True)
class RewriteCounts:
    """Imprecise captions by what became of them; `accepted`, `waiting` and `rejected` add up to all of them.

    `by_hand` are those of the accepted that a person wrote, `retried` those of all that took more than one attempt.
    """

    accepted: int
    retried: int
    waiting: int
    by_hand: int
    rejected: int

    @property
    def rewritten(self) -> int:
        """How many there are at all."""
        return self.accepted + self.waiting + self.rejected


@dataclass(frozen=True, slots=True)
class WaitingRewrite:
    """A rewrite that the rules or a model could not do well enough: a lead decides about it.

    `captions` is how many captions have these very words: one decision is for all of them. `caption_id` is the first.
    `before` and `after` are the two texts in pieces, with those marked that differ.
    """

    caption_id: int
    captions: int
    published: str
    proposal: str
    reason: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class TakenDecision:
    """What a lead decided about the captions with one published text; `text` is None if they rejected the rewrite."""

    caption_id: int
    published: str
    text: str | None


@dataclass(frozen=True, slots=True)
class RewriteQueue:
    """The queue as a lead sees it: the first that wait, and the lead's own last decision, which they may take back.

    `fixed` once queries were drawn: then nothing of it can be decided any more. `then` is the command that comes next.
    """

    counts: RewriteCounts
    items: tuple[WaitingRewrite, ...]
    last: TakenDecision | None
    fixed: bool
    then: str


@dataclass(frozen=True, slots=True)
class AcceptedCaption:
    """A caption in use, of a moment of a video.

    `published` is the text that it was rewritten from; empty if it is as published. `fixed` once a pair of its moment
    or of its query was handed out: then its text cannot be corrected any more.
    """

    caption_id: int
    video: str
    start_s: float
    end_s: float
    text: str
    published: str
    fixed: bool


@dataclass(frozen=True, slots=True)
class Correction:
    """One correction of a caption: when (seconds since 1970), by whom, and both texts."""

    at: float
    by: str
    before: str
    text: str
    reason: str


def _rewrite_words(payload: Payload) -> str:
    published = value_text(payload.get("published"))
    if payload.get("text") is None:
        return said("rejected every rewrite of “{published}”", published=published)
    return said("decided that “{published}” becomes “{text}”", published=published, text=value_text(payload["text"]))


CAPTIONS_REWRITTEN = Event(
    "captions_rewritten",
    EventGroup.MATERIAL,
    said("rewrote captions: {accepted} accepted, {waiting} waiting for a decision"),
    tells_reason=True,
)
"""rule_version, accepted, waiting, after_retry, by_hand, requests, tokens_in, tokens_out, encoder, tagger"""
REWRITE_DECIDED = Event("rewrite_decided", EventGroup.MATERIAL, _rewrite_words)
"""published, text: null if it was rejected, captions: how many had the published text"""
REWRITE_TAKEN_BACK = Event("rewrite_taken_back", EventGroup.MATERIAL, said("took back the decision on “{published}”"))
"""published, text, captions, as it was decided"""
CAPTION_CORRECTED = Event("caption_corrected", EventGroup.MATERIAL, said("corrected “{before}” to “{text}”"))
"""before, text, reason"""
