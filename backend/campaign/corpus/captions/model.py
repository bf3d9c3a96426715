"""Rewriters and taggers as protocols; the name mapping, rewrites and decisions as values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from backend.campaign.corpus.captions.rules.differences import Piece
from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.messages import said
from backend.core.progress import Steps


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
        told = tokens_in is not None and tokens_out is not None
        return cls(1, tokens_in or 0, tokens_out or 0, 0 if told else 1)

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


def _rewrite_words(payload: Payload) -> str:
    published = value_text(payload.get("published"))
    if payload.get("text") is None:
        return said("rejected every rewrite of “{published}”", published=published)
    return said("decided that “{published}” reads “{text}”", published=published, text=value_text(payload["text"]))


CAPTIONS_REWRITTEN = Event(
    "captions_rewritten",
    EventGroup.MATERIAL,
    said("rewrote captions: {accepted} accepted, {waiting} wait for a person"),
    tells_reason=True,
)
"""rule_version, accepted, waiting, after_retry, by_hand, requests, tokens_in, tokens_out, encoder, tagger"""
REWRITE_DECIDED = Event("rewrite_decided", EventGroup.MATERIAL, _rewrite_words)
"""published, text: null if it was rejected, captions: how many had the published text"""
REWRITE_TAKEN_BACK = Event("rewrite_taken_back", EventGroup.MATERIAL, said("took a decision on “{published}” back"))
"""published, text, captions, as it was decided"""
