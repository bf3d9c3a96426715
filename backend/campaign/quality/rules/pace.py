"""How fast a grade was given: when that is too fast to be believed, and when the clip cannot have been seen.

Flags for the lead's eyes, never verdicts: no grade is refused or left out because of them.
"""

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
