"""Compute the verdict on a pair from its grades, detect grades given too fast, and time the renewal of reservations.

The consensus rule is one pure function, `decide`. All code that computes a verdict calls it (the table `consensus` in
the database, the pages for leads, `reelrank consensus`). Nothing else rounds or drops grades.

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
"""Name of the rule, stored with every relevance; if `decide` changes, this needs a new name."""

RE_OPENED_RULE = "tvr-ranking-1+re-opened"
"""Name of the rule for pairs that a lead re-opened for two more people, an extension of the paper's protocol."""

MOST_GRADES = max(SECOND_ROUND_SEATS)
"""The most seats of a pair that no lead has re-opened."""

MOST_RE_OPENED = max(RE_OPENED_SEATS)
"""The most seats of a re-opened pair."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of the consensus rule for one pair.

    `mean` is the mean of the two grades that decide, and `relevance` is this mean, rounded. Without a consensus both
    are None, because the mean of grades that do not agree would look like a result.
    """

    verdict: Verdict
    relevance: Relevance | None = None
    mean: float | None = None


def version(re_opened: bool) -> str:
    """Return the version name of the consensus rule, by which a pair's grades decide its relevance.

    The rule for pairs that a lead re-opened for more grades has its own name.
    """
    return RE_OPENED_RULE if re_opened else RULE_VERSION


def middle(grades: Sequence[int]) -> tuple[int, int]:
    """Return the two middle grades of an even number of grades, in ascending order; they decide the relevance.

    >>> middle([2, 3]), middle([4, 0, 1, 2]), middle([0, 4, 1, 3, 3, 4])
    ((2, 3), (1, 2), (3, 3))
    """
    ordered, half = sorted(grades), len(grades) // 2
    return ordered[half - 1], ordered[half]


def decide(
    grades: Sequence[int], tolerance: int, rounding: Rounding = Rounding.HALF_UP, *, re_opened: bool = False
) -> Decision:
    """Compute the verdict on a pair, and its relevance if there is a consensus, from its current grades.

    Two grades a, b with |a - b| <= tolerance are a consensus on their mean. Otherwise two further annotators grade
    the pair. Of the four grades one highest and one lowest are dropped. If the middle two differ by at most the
    tolerance, they are a consensus on their mean. A mean of x.5 becomes x + 1 in TVR-Ranking (half up; Python's
    `round` would go to the even neighbour), and x where a campaign rounds half down.

    The order of the grades does not matter. Of four grades the highest and lowest are always dropped, even if the first
    two agree. Third and fourth grades are only asked for after a disagreement, and files of published campaigns do not
    say which of their four grades came first.

    If the middle two of four grades do not agree, the pair is discarded. A lead may then re-open it for two more
    people. Of the six grades the two highest and the two lowest are dropped, and the middle two decide as before. This
    extends the protocol; docs/decisions/063 gives the reasons.

    Args:
        grades: At most four grades, or six of a re-opened pair, one per seat, each 0 or higher. The caller checks that
            they belong to the campaign's scale.
        tolerance: How far two grades may differ and still agree; 1 in TVR-Ranking.
        rounding: How to round a mean of x.5.
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
"""The shortest active time, in milliseconds, in which somebody can read a query and watch a clip."""


SHARE_OF_CLIP = 0.5
"""The least share that must have been watched of a clip shorter than `SHORTEST_MS / SHARE_OF_CLIP`."""


SEEN_SHARE = 0.25
"""The share of a clip's length in which half of the clip plays at the player's double speed."""


def too_fast(active_ms: int, duration_s: float) -> bool:
    """Return whether a grade was given after less active time than judging the clip takes.

    The limit is 1.5 s, or half of the clip if that is less. This is an assumption of this project (no paper gives a
    figure); see docs/decisions. Do not call it for grades without measured times (imports, simulations).

    Args:
        active_ms: measured active time, or the time since the first frame if that is less (active time includes
            waiting for a clip).
        duration_s: length of the clip, in seconds.

    >>> too_fast(1200, 8.0), too_fast(1600, 8.0), too_fast(1200, 2.0)
    (True, False, False)
    """
    return active_ms < min(SHORTEST_MS, SHARE_OF_CLIP * duration_s * 1000)


def unseen(elapsed_ms: int, duration_s: float) -> bool:
    """Return whether a grade was given before half of its clip can have been played.

    The player's fastest speed is 2, so half of a clip takes at least a quarter of its length. The limit is this time,
    counted from the first painted frame. This is an assumption of this project; see docs/decisions. Do not call it for
    clips that are whole videos, which people judge by the storyboard, nor for grades without a measured time.

    Args:
        elapsed_ms: time from the first painted frame to the key press.
        duration_s: length of the clip, in seconds.

    >>> unseen(1900, 8.0), unseen(2100, 8.0)
    (True, False)
    """
    return elapsed_ms < SEEN_SHARE * duration_s * 1000


def renewal_interval_s(lease_s: float) -> float:
    """Return after how many seconds a grading page asks the server to extend the reservation of its pairs.

    A pair is reserved for `lease_s` seconds, called the lease.

    The wait is a third of the lease, and at most four minutes. The browser checks the clock at least four times in this
    wait, so it may ask a quarter of the wait late. The server ignores a request that comes within `renewal_slack_s` of
    the last renewal. With these delays, two renewals are at most two thirds of a lease apart.

    >>> renewal_interval_s(900.0), renewal_interval_s(180.0)
    (240.0, 60.0)
    """
    return min(240.0, lease_s / 3)


def renewal_slack_s(lease_s: float) -> float:
    """Return for how many seconds after extending the reservation of a pair the server does not extend it again.

    A pair is reserved for `lease_s` seconds. With this wait, most requests to extend it need no write to the database.

    >>> renewal_slack_s(900.0), renewal_slack_s(180.0)
    (60.0, 45.0)
    """
    return min(60.0, lease_s / 4)


ITEM_NAME = re.compile(r"([0-9a-f]{16})-(\d{1,6})(r?)")
"""The name of an exam item in a browser: the attempt's random key, the item's position, and `r` for a second look."""


def names_item(key: PairKey) -> bool:
    """Return whether a key from a browser is that of a pair in an exam; keys of pairs in normal work are shorter.

    >>> names_item(PairKey("0123456789abcdef-7r")), names_item(PairKey("0123456789abcdef"))
    (True, False)
    """
    return ITEM_NAME.fullmatch(key) is not None
