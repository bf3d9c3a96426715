"""Draw the figures of the page Progress: pairs by verdict, the funnel, and the pool check."""

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.shared import look, wording
from backend.campaign.monitoring.explore.model import Funnel
from backend.campaign.selection.pools.model import CheckReport, PutInAs, Share

_BAR = {
    "consensus": marked("consensus"),
    "adjudicated": marked("adjudicated by a lead"),
    "discarded": marked("discarded"),
    "escalated": marked("escalated"),
    "open": marked("open"),
    "blocked": marked("blocked"),
    "set_aside": marked("reserved for an exam or a calibration round"),
}
"""Labels of the verdicts in the order of the bar, settled ones first."""
_SETTLED_BY = {4: marked("settled by four"), 6: marked("settled by six")}
_WRONG = {PutInAs.POSITIVE: marked("positive, does not match"), PutInAs.NEGATIVE: marked("negative, matches")}


def verdict_bar(pairs: dict[str, int]) -> str:
    """Return an HTML bar of the pairs by verdict, with all numbers in the legend."""
    total = sum(pairs.values())
    spoken = escape(", ".join(f"{pairs[name]:,} {tr(word)}" for name, word in _BAR.items()))
    parts = "".join(f"<i class='rr-v-{name}' style='flex-grow:{pairs[name]}'></i>" for name in _BAR if pairs[name])
    legend = "".join(
        f"<span><i class='rr-v-{name}'></i><b>{count:,}</b> {tr(word)} <small>{count / total:.1%}</small></span>"
        for name, word in _BAR.items()
        for count in [pairs[name]]
    )
    label = tr("{total:,} pairs: {spoken}", total=total, spoken=spoken)
    return (
        f"<div class='rr-bar' role='img' aria-label='{label}'>{parts}</div>"
        f"<div class='rr-legend rr-numbers'>{legend}</div>"
    )


class Step(NamedTuple):
    """A step of the funnel: a number of pairs. Its bar starts at `start`, in pairs, where the previous part ends."""

    words: str
    pairs: int
    start: int
    depth: int
    style: str


def steps(found: Funnel) -> Iterator[Step]:
    """Yield the main steps of the funnel, and of the others those that have pairs; a step precedes its parts."""
    yield Step(tr("handed out"), found.pairs, 0, 0, "all")
    yield Step(tr("graded by two"), found.graded_by_two, 0, 1, "all")
    yield Step(tr("settled by two"), found.settled_by_two, 0, 2, "consensus")
    at = found.settled_by_two
    if found.decided_at_once:
        yield Step(tr("adjudicated by a lead at once"), found.decided_at_once, at, 2, "adjudicated")
    at += found.decided_at_once
    yield Step(tr("sent to two more annotators"), found.escalated, at, 2, "escalated")
    ends = [
        *(
            (tr(_SETTLED_BY.get(asked, marked("settled by {people}")), people=asked), count, "consensus")
            for asked, count in found.settled_by.items()
        ),
        (tr("discarded: no consensus"), found.discarded, "discarded"),
        (tr("discard confirmed by a lead"), found.confirmed, "discarded"),
        (tr("adjudicated by a lead"), found.decided, "adjudicated"),
        (tr("wait for further grades"), found.waiting_further, "escalated"),
    ]
    for words, count, style in ends:
        if count:
            yield Step(words, count, at, 3, style)
        at += count
    if found.waiting_first:
        yield Step(tr("wait for their first two grades"), found.waiting_first, found.graded_by_two, 1, "open")


def funnel(found: Funnel) -> str:
    """Return the funnel as an HTML list, each step with a bar for its share of all pairs; "" without pairs."""
    rows = "".join(
        f"<li style='--depth:{step.depth}'><span>{step.words}</span><i aria-hidden='true'><i class='rr-v-{step.style}' "
        f"style='margin-left:{step.start / found.pairs:.3%};width:{step.pairs / found.pairs:.3%}'></i></i>"
        f"<b>{step.pairs:,}</b> <small>{wording.percent(100 * step.pairs / found.pairs)}</small></li>"
        for step in steps(found)
        if found.pairs
    )
    return f"<ol class='rr-funnel' aria-label='{tr('How the pairs were settled')}'>{rows}</ol>"


def pool_check(found: CheckReport) -> None:
    """Draw the shares of wrong videos in pools with intervals, and the list of these videos."""
    st.header(tr("Wrong videos in the pools"), anchor=False)
    st.html(share_table(found))
    st.caption(
        tr(
            "Checked: {drawn} of {queries:,} in {file}. 95 % Wilson intervals. A video is undecided if two "
            "annotators said yes and two said no.",
            file=plain(found.facts.file),
            drawn=wording.count_of(found.facts.drawn, "query"),
            queries=found.facts.queries,
        )
    )
    if found.wrong:
        with st.expander(wording.count_of(len(found.wrong), "wrong video")):
            rows = [(escape(one.query), escape(one.video), tr(_WRONG[one.put_in_as])) for one in found.wrong]
            st.html(look.table((tr("Query"), tr("Video"), tr("In the pool as")), rows))


def share_table(found: CheckReport) -> str:
    """Return an HTML table of positives that do not match, negatives that do, and both together."""
    rows = {
        tr("positives that do not match"): found.positives,
        tr("negatives that match"): found.negatives,
        tr("together"): found.together,
    }
    head = ("", tr("Wrong"), tr("Share"), tr("95 % interval"), tr("Not settled"))
    return look.table(head, [(name, *_cells(share)) for name, share in rows.items()], "rr-shares")


def _cells(share: Share) -> tuple[str, ...]:
    counts = ((share.waiting, tr("waiting")), (share.undecided, tr("undecided")))
    left = ", ".join(f"{count:,} {what}" for count, what in counts if count) or tr("none")
    if share.share is None or share.low is None or share.high is None:
        return tr("none settled yet"), "", "", left
    percent = (f"<b>{share.share:.1%}</b>", tr("{low:.1%} to {high:.1%}", low=share.low, high=share.high))
    return tr("{wrong:,} of {settled:,}", wrong=share.wrong, settled=share.settled), *percent, left
