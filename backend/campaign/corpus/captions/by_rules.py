"""The rules as a rewriter: one attempt, nothing to wait for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from backend.campaign.corpus.captions.model import Usage
from backend.campaign.corpus.captions.rules import NOTHING_KNOWN, RULES_VERSION, Known, rewrite
from backend.campaign.corpus.captions.rules.cast import Cast
from backend.campaign.setup.project.model import People
from backend.core.progress import Steps


@dataclass(frozen=True, slots=True)
class ByRules:
    """Rewrites with a cast list; satisfies `Rewriter`.

    `people` is how several people are put.

    `known` tells which names in lower case are no words.
    """

    cast: Mapping[str, str]
    people: People = "counted"
    known: Known = field(default=NOTHING_KNOWN, repr=False)

    @property
    def attempts(self) -> int:
        """The same rules would say the same again."""
        return 1

    @property
    def usage(self) -> Usage:
        """Nothing."""
        return Usage()

    @property
    def usage_ever(self) -> Usage:
        """Nothing either."""
        return Usage()

    def version(self, attempt: int = 1) -> str:
        """Name of the rules together with how people are put and the cast list they are used with."""
        digest = blake2b(repr(sorted(self.cast.items())).encode(), digest_size=4).hexdigest()
        return f"{RULES_VERSION}+{self.people}+cast-{digest}"

    def rewrite(self, texts: Sequence[str], attempt: int = 1, *, progress: Steps | None = None) -> list[str]:
        """Each text by the rules."""
        cast = Cast(self.cast)
        return [rewrite(text, cast, self.people, self.known) for text in texts]
