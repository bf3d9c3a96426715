"""How fast a grade was given, and when that is too fast to be believed.

A flag for the lead's eyes, never a verdict: no grade is refused or left out because of it.
"""

SHORTEST_MS = 1500
"""Nobody reads a query and watches a clip in less."""

SHARE_OF_CLIP = 0.5
"""Of a clip shorter than `SHORTEST_MS / SHARE_OF_CLIP`, this much must at least have been seen."""


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
