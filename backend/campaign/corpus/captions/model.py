"""Define the data types of caption rewriting. Nothing here reads files or the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.messages import said
from backend.core.progress import Steps


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a caption or of its rewrite; `changed` says whether the words differ from the other text."""

    text: str
    changed: bool


Gender = Literal["M", "F", "N"]
"""Male, female, or neither, as in Table 3 of the TVR-Ranking paper."""


@dataclass(frozen=True, slots=True)
class ReplacementWord:
    """A word in lower case, its gender, and how often rewriting put it into captions."""

    word: str
    gender: Gender
    count: int


@dataclass(frozen=True, slots=True)
class RewriteSummary:
    """How rewriting changed the captions that queries are drawn from.

    `captions` is their number, and `changed` how many of them have a text other than the published one. `words_before`
    and `words_after` are mean numbers of words a caption, split at white space. `replacements` are (new words in lower
    case, how often they replaced others), the most frequent first. `words` are single replacement words, without
    articles, also by frequency. `versions` are (rules, or model with prompt and temperature; number of captions).
    """

    captions: int
    changed: int
    words_before: float
    words_after: float
    replacements: tuple[tuple[str, int], ...]
    words: tuple[ReplacementWord, ...] = ()
    versions: tuple[tuple[str, int], ...] = ()

    @property
    def replaced(self) -> int:
        """The number of all replacement words in these captions."""
        return sum(word.count for word in self.words)

    @property
    def replaced_per_caption(self) -> float:
        """The mean number of replacement words a caption; 0 without captions. TVR-Ranking has 2.21."""
        return self.replaced / self.captions if self.captions else 0.0


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
class CheckCounts:
    """How many distinct texts one attempt rewrote, and how many of their rewrites failed each part of the check.

    `version` names the rules, or the model with its prompt and temperature. `texts` is the sum of `passed` and those
    that failed. `dissimilar` counts a similarity below 0.4, `named` a name, or a word that may be one; a rewrite may
    fail both. `tagged` counts those of `named` in which the tagger, a model, found a name; None without a tagger.
    `unanswered` counts texts without a usable rewrite. The texts that failed the last attempt wait for a lead.
    """

    version: str
    texts: int
    passed: int
    dissimilar: int
    named: int
    tagged: int | None
    unanswered: int


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """The result of rewriting captions: how many passed the check of rewrites, and which probable names remain.

    `captions` is the number of all captions, the sum of `at_once`, `after_retry`, `waiting` and `decided`. `at_once`
    and `after_retry` count captions whose rewrite passed the check, at the first attempt or later. `waiting` counts
    those that need a lead's decision, and `decided` those that already had one. `texts` is the number of distinct texts
    that were rewritten, and `checks` says for each attempt how many of them failed what. `changed` is how many captions
    got a text other than the published one. `unknown` are (probable name that the name mapping lacks, its count), the
    most frequent first. `usage` has the requests and tokens that this rewriting used at a language model. `usage_ever`
    has those of all rewritings with the same model, prompt and temperatures. If the same was asked for before and no
    rewrite changed, `done` says when and by whom.
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
    checks: tuple[CheckCounts, ...]
    done: str = ""

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
"""rule_version, accepted, waiting, after_retry, decided, checks, requests, tokens_in, tokens_out, encoder, tagger,
asked"""
REWRITE_DECIDED = Event("rewrite_decided", EventGroup.MATERIAL, _rewrite_words)
"""published, text: null if it was rejected, captions: how many had the published text"""
REWRITE_TAKEN_BACK = Event("rewrite_taken_back", EventGroup.MATERIAL, said("took back the decision on “{published}”"))
"""published, text, captions: those of the decision"""
CAPTION_CORRECTED = Event("caption_corrected", EventGroup.MATERIAL, said("corrected “{before}” to “{text}”"))
"""before, text, reason"""
