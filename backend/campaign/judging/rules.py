"""The consensus rule: from the grades of one pair to its relevance, in one pure function.

Everything that settles a pair (the store's derived table, the lead's pages, `reelrank consensus`) calls
`decide`; nothing else rounds or trims grades.

Source: the annotation protocol of TVR-Ranking, section 3.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.nouns import (
    FIRST_ROUND_SEATS,
    RE_OPENED_SEATS,
    SECOND_ROUND_SEATS,
    Relevance,
    Rounding,
    Verdict,
)
from backend.core.ids import PairKey

RULE_VERSION = "tvr-ranking-1"
"""Written beside every derived relevance; a change of `decide` needs a new name."""

RE_OPENED_RULE = "tvr-ranking-1+re-opened"
"""Stands in its place beside pairs that a lead re-opened for two more people, which the paper does not know."""

MOST_GRADES = max(SECOND_ROUND_SEATS)
"""A pair never has more seats than this, unless a lead re-opened it."""

MOST_RE_OPENED = max(RE_OPENED_SEATS)
"""The seats of a pair that was re-opened."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rule says about one pair.

    `relevance` and the unrounded `mean` it comes from are given with `Verdict.CONSENSUS` only: the mean
    of grades that do not agree would look like a result.
    """

    verdict: Verdict
    relevance: Relevance | None = None
    mean: float | None = None


def version(re_opened: bool) -> str:
    """The name of the rule that settles a pair."""
    return RE_OPENED_RULE if re_opened else RULE_VERSION


def middle(grades: Sequence[int]) -> tuple[int, int]:
    """Return the two grades that decide, of an even number: the highest and the lowest of the others are dropped.

    >>> middle([2, 3]), middle([4, 0, 1, 2]), middle([0, 4, 1, 3, 3, 4])
    ((2, 3), (1, 2), (3, 3))
    """
    ordered, half = sorted(grades), len(grades) // 2
    return ordered[half - 1], ordered[half]


def decide(
    grades: Sequence[int], tolerance: int, rounding: Rounding = Rounding.HALF_UP, *, re_opened: bool = False
) -> Decision:
    """Apply the consensus rule to the standing grades of one pair.

    Two grades a, b with |a - b| <= tolerance are a consensus on their mean. Otherwise two further annotators grade
    the pair; of the four grades one highest and one lowest are dropped, and the middle two, if they differ by at
    most the tolerance, are a consensus on their mean. A mean of x.5 becomes x + 1 in TVR-Ranking (half up; Python's
    `round` would go to the even neighbour), and x where a campaign rounds half down.

    The order of the grades does not matter, except that by convention the first-round two come first. Four
    grades are always trimmed, also when the first two agree: seats 3 and 4 exist only after a disagreement, and
    files of published campaigns do not say which of their four grades came first.

    Four grades whose middle two do not agree discard a pair. A lead may re-open it then: it waits for two more
    people, and of the six grades the middle two decide as before (two highest and two lowest are dropped). This goes on
    where the protocol ends; docs/decisions/063 says why so.

    Args:
        grades: At most four grades from 0 on, one per seat, or six. Whether they are of the campaign's scale is looked
            at where they come in.
        tolerance: How far two grades may differ and still agree; 1 in TVR-Ranking.
        rounding: What becomes of a mean of x.5.
        re_opened: Whether a lead re-opened the pair for two more people.

    Raises:
        ValueError: More grades than the pair has seats, or one below 0.

    >>> decide([3], 1)
    Decision(verdict=<Verdict.OPEN: 'open'>, relevance=None, mean=None)
    >>> decide([2, 3], 1)  # 2.5, half up
    Decision(verdict=<Verdict.CONSENSUS: 'consensus'>, relevance=3, mean=2.5)
    >>> decide([2, 3], 1, Rounding.HALF_DOWN).relevance
    2
    >>> decide([0, 2], 1).verdict.value
    'escalated'
    >>> decide([0, 2, 1, 4], 1)  # 0 and 4 are dropped; 1 and 2 remain
    Decision(verdict=<Verdict.CONSENSUS: 'consensus'>, relevance=2, mean=1.5)
    >>> decide([0, 4, 1, 3], 1).verdict.value
    'discarded'
    >>> decide([0, 4, 1, 3], 1, re_opened=True).verdict.value
    'escalated'
    >>> decide([0, 4, 1, 3, 3, 4], 1, re_opened=True)  # 0, 1 and 4, 4 are dropped
    Decision(verdict=<Verdict.CONSENSUS: 'consensus'>, relevance=3, mean=3.0)
    """
    most = MOST_RE_OPENED if re_opened else MOST_GRADES
    if len(grades) > most:
        raise ValueError(f"the consensus rule takes at most {most} grades of this pair, got {len(grades)}")
    ordered = sorted(grades)
    if ordered and ordered[0] < 0:
        raise ValueError(f"grades count from 0, got {ordered[0]}")
    if len(ordered) < len(FIRST_ROUND_SEATS):
        return Decision(Verdict.OPEN)
    if len(ordered) % 2 or (re_opened and len(ordered) == MOST_GRADES):
        return Decision(Verdict.ESCALATED)
    low, high = middle(ordered)
    if high - low > tolerance:
        return Decision(Verdict.ESCALATED if len(ordered) == len(FIRST_ROUND_SEATS) else Verdict.DISCARDED)
    up = rounding is Rounding.HALF_UP
    return Decision(Verdict.CONSENSUS, relevance=(low + high + up) // 2, mean=(low + high) / 2)


SHORTEST_MS = 1500
"""Nobody reads a query and watches a clip in less."""


SHARE_OF_CLIP = 0.5
"""Of a clip shorter than `SHORTEST_MS / SHARE_OF_CLIP`, this much must at least have been seen."""


SEEN_SHARE = 0.25
"""At the player's double speed half of a clip passes in this share of its length."""


def too_fast(active_ms: int, duration_s: float) -> bool:
    """Whether a grade came after less active time than its clip can be judged in.

    The limit is 1.5 s, or half of the clip if that is less. Assumption of this project (no paper gives a figure);
    see docs/decisions.

    Args:
        active_ms: measured active time, or the time since the first frame if that is less (active time includes
            waiting for a clip); what nobody measured (imports, simulations) is not to be asked.
        duration_s: length of the clip, in seconds.

    >>> too_fast(1200, 8.0), too_fast(1600, 8.0), too_fast(1200, 2.0)
    (True, False, False)
    """
    return active_ms < min(SHORTEST_MS, SHARE_OF_CLIP * duration_s * 1000)


def unseen(elapsed_ms: int, duration_s: float) -> bool:
    """Whether a grade came before half of its clip can have been on screen.

    The limit is a quarter of the clip's length from its first painted frame on: the fastest speed of the player is 2.
    Assumption of this project; see docs/decisions. Not to be asked of a clip that is a whole video, where people go
    by its storyboard, nor where nobody measured.

    Args:
        elapsed_ms: all time from the first painted frame to the key press.
        duration_s: length of the clip, in seconds.

    >>> unseen(1900, 8.0), unseen(2100, 8.0)
    (True, False)
    """
    return elapsed_ms < SEEN_SHARE * duration_s * 1000


def renewal_interval_s(lease_s: float) -> float:
    """Return how many seconds a desk waits before it asks the server to renew its leases.

    A third of the lease, and four minutes at most. The browser looks at its clock every quarter of this, and the
    server does not renew a lease again within `renewal_slack_s`: two thirds of a lease is the longest wait.

    >>> renewal_interval_s(900.0), renewal_interval_s(180.0)
    (240.0, 60.0)
    """
    return min(240.0, lease_s / 3)


def renewal_slack_s(lease_s: float) -> float:
    """Return for how many seconds after a renewal a lease is not renewed again, so that most requests write less.

    >>> renewal_slack_s(900.0), renewal_slack_s(180.0)
    (60.0, 45.0)
    """
    return min(60.0, lease_s / 4)


ITEM_NAME = re.compile(r"([0-9a-f]{16})-(\d{1,6})(r?)")
"""An item of an exam in a browser: the attempt's random key, the place in the order, `r` when it is looked at again."""


def names_item(key: PairKey) -> bool:
    """Return whether a name in a browser could be that of an exam's item; pairs are named otherwise.

    >>> names_item(PairKey("0123456789abcdef-7r")), names_item(PairKey("0123456789abcdef"))
    (True, False)
    """
    return ITEM_NAME.fullmatch(key) is not None
