"""What makes imprecise captions, and what looks over them: rules, a language model, a tagger of names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from backend.ground.progress import Steps


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

    Every caption gets the first attempt; each further one is for those whose rewrite the gates refused.
    """

    @property
    def attempts(self) -> int:
        """How many attempts there are, 1 or more."""
        ...

    @property
    def usage(self) -> Usage:
        """What was taken from an endpoint so far by this very object."""
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
