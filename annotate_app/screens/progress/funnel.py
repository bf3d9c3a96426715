"""The funnel of a campaign: how pairs came to what they are, each step a bar below the one that it is a part of."""

from collections.abc import Iterator
from typing import NamedTuple

from annotate_app.language import marked, tr
from annotate_app.shared import wording
from backend.campaign.monitoring.explore.model import Funnel

_SETTLED_BY = {4: marked("settled by four"), 6: marked("settled by six")}


class Step(NamedTuple):
    """A part of the pairs; its bar begins at `start`, in pairs, where those of the part before it end."""

    words: str
    pairs: int
    start: int
    depth: int
    style: str


def steps(found: Funnel) -> Iterator[Step]:
    """Every step that has a pair, those that it falls into after it; the main ones always."""
    yield Step(tr("handed out"), found.pairs, 0, 0, "all")
    yield Step(tr("graded by two"), found.graded_by_two, 0, 1, "all")
    yield Step(tr("settled by two"), found.settled_by_two, 0, 2, "consensus")
    at = found.settled_by_two
    if found.decided_at_once:
        yield Step(tr("decided by a lead at once"), found.decided_at_once, at, 2, "adjudicated")
    at += found.decided_at_once
    yield Step(tr("went on to two more people"), found.escalated, at, 2, "escalated")
    ends = [
        *(
            (tr(_SETTLED_BY.get(asked, marked("settled by {people}")), people=asked), count, "consensus")
            for asked, count in found.settled_by.items()
        ),
        (tr("discarded: no consensus"), found.discarded, "discarded"),
        (tr("discard confirmed by a lead"), found.confirmed, "discarded"),
        (tr("decided by a lead"), found.decided, "adjudicated"),
        (tr("wait for further grades"), found.waiting_further, "escalated"),
    ]
    for words, count, style in ends:
        if count:
            yield Step(words, count, at, 3, style)
        at += count
    if found.waiting_first:
        yield Step(tr("wait for their first two grades"), found.waiting_first, found.graded_by_two, 1, "open")


def funnel(found: Funnel) -> str:
    """The steps as a list; a bar is as long as its share of all pairs. Nothing where no pair was handed out."""
    rows = "".join(
        f"<li style='--depth:{step.depth}'><span>{step.words}</span><i aria-hidden='true'><i class='rr-v-{step.style}' "
        f"style='margin-left:{step.start / found.pairs:.3%};width:{step.pairs / found.pairs:.3%}'></i></i>"
        f"<b>{step.pairs:,}</b> <small>{wording.percent(100 * step.pairs / found.pairs)}</small></li>"
        for step in steps(found)
        if found.pairs
    )
    return f"<ol class='rr-funnel' aria-label='{tr('How the pairs came to what they are')}'>{rows}</ol>"
