"""The bars of the funnel."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from annotate_app.screens.progress.figures import funnel as drawn
from annotate_app.screens.progress.figures import steps
from backend.campaign.monitoring.explore.rules import CONFIRMED, funnel
from backend.campaign.nouns import Verdict


def test_nothing_handed_out_is_drawn_as_nothing() -> None:
    assert "<li" not in drawn(funnel([]))


KINDS = st.tuples(st.sampled_from([*Verdict, CONFIRMED]), st.sampled_from([2, 4, 6]), st.integers(1, 9)).filter(
    lambda kind: {
        "open": kind[1] == 2,
        "escalated": kind[1] > 2,
        "discarded": kind[1] > 2,
        "confirmed": kind[1] > 2,
    }.get(kind[0], True)
)


@given(st.lists(KINDS, min_size=1))
def test_bars_lie_within_the_step_that_they_are_a_part_of(counts: list[tuple[str, int, int]]) -> None:
    """At each depth bars follow each other, and the parts of a step add up to it."""
    found = list(steps(funnel(counts)))
    for place, step in enumerate(found):
        parts = []
        for later in found[place + 1 :]:
            if later.depth <= step.depth:
                break
            if later.depth == step.depth + 1:
                parts.append(later)
        if parts:
            assert parts[0].start == step.start
            assert sum(part.pairs for part in parts) == step.pairs
            assert all(two.start == one.start + one.pairs for one, two in pairwise(parts) if two.pairs)
