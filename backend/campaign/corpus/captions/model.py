"""Define the data types of caption rewriting, and compare captions with their rewrites word by word.

The comparison is used for display, and for the counts of Table 3 in the TVR-Ranking paper. A word consists of letters
and digits, with hyphens and apostrophes between them. A possessive `'s` and every other character count on their own,
so that `Rachel's` changed to `a woman's` counts as `a woman`. Nothing here reads files or the database.
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
"""Longer texts are not compared word by word, because the time needed grows with the cube of their length."""
_ARTICLES = frozenset({"a", "an", "the", "another"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a caption or of its rewrite; `changed` says whether the words differ from the other text."""

    text: str
    changed: bool


@dataclass(frozen=True, slots=True)
class RewriteSummary:
    """How rewriting changed the captions that queries are drawn from.

    `captions` is their number, and `changed` how many of them have a text other than the published one. `words_before`
    and `words_after` are mean numbers of words a caption, split at white space. `replacements` are (new words in lower
    case, how often they replaced others), the most frequent first.
    """

    captions: int
    changed: int
    words_before: float
    words_after: float
    replacements: tuple[tuple[str, int], ...]


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


def summary(rewritten: Iterable[tuple[str, str, int]]) -> RewriteSummary:
    """Summarise how rewriting changed captions: words before and after, and how often each replacement was used.

    This is Table 3 of the TVR-Ranking paper. An article that is kept before new words counts as part of them: `The
    Castle` changed to `The man` counts as `the man`.

    Args:
        rewritten: (published text, rewrite, number of captions with these two texts).
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


@dataclass(frozen=True, slots=True)
class Usage:
    """How many requests and tokens a rewriter used at a language model's endpoint; all 0 for rewriting by rules.

    `tokens_in` were sent and `tokens_out` received. `untold` counts the `requests` for which the endpoint reported no
    token counts.
    """

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    untold: int = 0

    @classmethod
    def of_request(cls, tokens_in: int | None, tokens_out: int | None) -> "Usage":
        """Return the usage of one request. The token counts are None if the endpoint does not report them."""
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
        """Return the cost, given prices for a million tokens sent and received; unreported tokens cost nothing.

        >>> Usage(3, 2_000_000, 500_000).cost(0.15, 0.60)
        0.6
        """
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """The result of rewriting captions: how many passed the check of rewrites, and which probable names remain.

    `captions` is the number of all captions, the sum of `at_once`, `after_retry`, `waiting` and `decided`. `at_once`
    and `after_retry` count captions whose rewrite passed the check, at the first attempt or later. `waiting` counts
    those that need a lead's decision, and `decided` those that already had one. `texts` is the number of distinct texts
    that were rewritten. `changed` is how many captions got a text other than the published one. `unknown` are (probable
    name that the name mapping lacks, its count), the most frequent first. `usage` has the requests and tokens that this
    rewriting used at a language model. `usage_ever` has those of all rewritings with the same model, prompt and
    temperatures.
    """

    captions: int
    texts: int
    changed: int
    at_once: int
    after_retry: int
    waiting: int
    decided: int
    unknown: tuple[tuple[str, int], ...]
    usage: Usage
    usage_ever: Usage

    @property
    def accepted(self) -> int:
        """The number of captions whose rewrite passed the rewrite check, at the first attempt or a later one."""
        return self.at_once + self.after_retry


class Rewriter(Protocol):
    """Rewrites captions without specifics such as names, in one attempt or several.

    The first attempt rewrites every caption. Each further attempt rewrites the captions whose last rewrite failed the
    rewrite check (similar enough, and no name left).
    """

    @property
    def attempts(self) -> int:
        """The largest number of attempts for a caption, 1 or more."""
        ...

    @property
    def usage(self) -> Usage:
        """The requests and tokens that this object has used at a language model's endpoint."""
        ...

    @property
    def usage_ever(self) -> Usage:
        """The requests and tokens used in this project by all runs with the same rules, or the same model."""
        ...

    def version(self, attempt: int) -> str:
        """Return the name of the rules, or of the model and prompt, that this attempt uses; attempts count from 1.

        Equal names mean that the same rules or the same model made the rewrites.
        """
        ...

    def rewrite(self, texts: Sequence[str], attempt: int, *, progress: Steps | None = None) -> list[str]:
        """Return a rewrite of each text, in the order of the texts, which are distinct; "" where none is usable."""
        ...


class Tagger(Protocol):
    """Finds names of people in sentences with a trained model."""

    @property
    def identity(self) -> str:
        """The name of the model."""
        ...

    def names(self, texts: Sequence[str], *, progress: Steps | None = None) -> list[tuple[str, ...]]:
        """Return the names of people in each text, in order of appearance."""
        ...


@dataclass(frozen=True, slots=True)
class CastLine:
    """A line of `cast.csv`, the table of character names and the phrases that replace them.

    `becomes` is the phrase. It is empty while nobody has decided, and equal to `name` if the name stays. `captions` is
    how many captions contain the name; it is text, because users may have edited the line.
    """

    name: str
    becomes: str
    captions: str
    example: str


@dataclass(frozen=True, slots=True)
class RewriteCounts:
    """How many rewritten captions have each status; `accepted`, `waiting` and `rejected` add up to all of them.

    `waiting` counts rewrites that need a lead's decision. `by_hand` counts accepted rewrites whose text a lead wrote.
    `retried` counts all rewrites that took more than one attempt.
    """

    accepted: int
    retried: int
    waiting: int
    by_hand: int
    rejected: int

    @property
    def rewritten(self) -> int:
        """The number of all rewritten captions, whatever their status."""
        return self.accepted + self.waiting + self.rejected


@dataclass(frozen=True, slots=True)
class WaitingRewrite:
    """A rewrite that failed the automatic check and needs a lead's decision.

    `published` is the text that was rewritten, and `proposal` the rewrite. `captions` is how many captions have the
    same published text; one decision covers them all. `caption_id` is the id of the rewrite of the first of them.
    `before` and `after` are the published text and the rewrite in pieces, with the differences marked.
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
    """A lead's decision on all captions with the same published text; `text` is None if it rejected their rewrites."""

    caption_id: int
    published: str
    text: str | None


@dataclass(frozen=True, slots=True)
class RewriteQueue:
    """What the page Captions shows: the first rewrites that need a lead's decision, and counts of all rewrites.

    `last` is this lead's last decision, which can be undone. `fixed` means that queries were drawn, so decisions are no
    longer possible. `then` is the command to run next.
    """

    counts: RewriteCounts
    items: tuple[WaitingRewrite, ...]
    last: TakenDecision | None
    fixed: bool
    then: str


@dataclass(frozen=True, slots=True)
class AcceptedCaption:
    """A caption in use (an accepted rewrite, or a published caption without one), with its moment of a video.

    `published` is the text that it was rewritten from; empty if the caption is as published. `fixed` means that its
    text can no longer be corrected, because annotators already have its moment or its query to grade.
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
    """A correction of a caption: when (seconds since 1970), by whom, the text before and after, and the reason."""

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
"""published, text, captions: those of the decision"""
CAPTION_CORRECTED = Event("caption_corrected", EventGroup.MATERIAL, said("corrected “{before}” to “{text}”"))
"""before, text, reason"""
