"""Draw the figures of the page "Progress": pairs by verdict, how they were settled, and videos wrongly in pools.

A pool is the videos in which a query is searched.
"""

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
"""Each verdict's name on the screen, in the order of the bar: settled verdicts first."""
_SETTLED_BY = {4: marked("settled by four"), 6: marked("settled by six")}
_WRONG = {PutInAs.POSITIVE: marked("positive, does not match"), PutInAs.NEGATIVE: marked("negative, matches")}


def verdict_bar(pairs: dict[str, int]) -> str:
    """Return HTML of a bar for all pairs, in which each verdict has a part as long as its share, with a legend.

    `pairs` has the number of pairs with each verdict (such as `consensus`), by the verdict's name.
    """
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
    """One bar of the funnel, a chart of how many pairs reached which stage, such as `settled by two`.

    Attributes:
        words: the label.
        pairs: the number of pairs, which is the length of the bar.
        start: where the bar begins, in pairs.
        depth: the level of indentation, from 0.
        style: the end of the CSS class that colours the bar.
    """

    words: str
    pairs: int
    start: int
    depth: int
    style: str


def steps(counts: Funnel) -> Iterator[Step]:
    """Yield the bars of the funnel, a chart of how many pairs reached which stage.

    Each bar comes before the bars that divide it further. Four bars are always yielded: handed out, graded by two,
    settled by two, and sent to two more annotators. The others need at least one pair.
    """
    yield Step(tr("handed out"), counts.pairs, 0, 0, "all")
    yield Step(tr("graded by two"), counts.graded_by_two, 0, 1, "all")
    yield Step(tr("settled by two"), counts.settled_by_two, 0, 2, "consensus")
    at = counts.settled_by_two
    if counts.decided_at_once:
        yield Step(tr("adjudicated by a lead at once"), counts.decided_at_once, at, 2, "adjudicated")
    at += counts.decided_at_once
    yield Step(tr("sent to two more annotators"), counts.escalated, at, 2, "escalated")
    ends = [
        *(
            (tr(_SETTLED_BY.get(asked, marked("settled by {people}")), people=asked), count, "consensus")
            for asked, count in counts.settled_by.items()
        ),
        (tr("discarded: no consensus"), counts.discarded, "discarded"),
        (tr("discard confirmed by a lead"), counts.confirmed, "discarded"),
        (tr("adjudicated by a lead"), counts.decided, "adjudicated"),
        (tr("wait for further grades"), counts.waiting_further, "escalated"),
    ]
    for words, count, style in ends:
        if count:
            yield Step(words, count, at, 3, style)
        at += count
    if counts.waiting_first:
        yield Step(tr("wait for their first two grades"), counts.waiting_first, counts.graded_by_two, 1, "open")


def funnel(counts: Funnel) -> str:
    """Return an HTML list of how many pairs reached which stage. Each bar is as long as its share of all pairs."""
    rows = "".join(
        f"<li style='--depth:{step.depth}'><span>{step.words}</span><i aria-hidden='true'><i class='rr-v-{step.style}' "
        f"style='margin-left:{step.start / counts.pairs:.3%};width:{step.pairs / counts.pairs:.3%}'></i></i>"
        f"<b>{step.pairs:,}</b> <small>{wording.percent(100 * step.pairs / counts.pairs)}</small></li>"
        for step in steps(counts)
        if counts.pairs
    )
    return f"<ol class='rr-funnel' aria-label='{tr('How the pairs were settled')}'>{rows}</ol>"


def pool_check(report: CheckReport) -> None:
    """Draw how many videos are wrongly in pools, and list them. A pool is the videos in which a query is searched."""
    st.header(tr("Wrong videos in the pools"), anchor=False)
    st.html(share_table(report))
    st.caption(
        tr(
            "Checked: {drawn} of {queries:,} in {file}. 95 % Wilson intervals. A video is undecided if two "
            "annotators said yes and two said no.",
            file=plain(report.facts.file),
            drawn=wording.count_of(report.facts.drawn, "query"),
            queries=report.facts.queries,
        )
    )
    if report.wrong:
        with st.expander(wording.count_of(len(report.wrong), "wrong video")):
            rows = [
                (escape(wrong_video.query), escape(wrong_video.video), tr(_WRONG[wrong_video.put_in_as]))
                for wrong_video in report.wrong
            ]
            st.html(look.table((tr("Query"), tr("Video"), tr("In the pool as")), rows))


def share_table(report: CheckReport) -> str:
    """Return an HTML table of the shares of wrong videos in pools, with confidence intervals.

    A query's pool is the videos in which it is searched. The first row counts videos put in as matching that do not
    match. The second counts videos put in as not matching that do match, and the third both kinds.
    """
    rows = {
        tr("positives that do not match"): report.positives,
        tr("negatives that match"): report.negatives,
        tr("together"): report.together,
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
