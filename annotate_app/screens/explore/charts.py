"""Draw the charts of the page "Explore", each with a text for screen readers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.shared import wording
from backend.campaign.monitoring.explore.model import BinnedBy, Lasting, RelevanceBin
from backend.campaign.nouns import GRADE_COLOURS, Scale

_CORPUS, _OUT = "#a1a1aa", "#6063f1"
_PICKED = "bin"
_AXIS_PX = 46
"""Width of the vertical axis labels in pixels. It is the same in all charts, so that their plots line up."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words that charts use for one quantity, such as the similarity or the rank of a pair.

    Charts group pairs into bins of this quantity.

    Attributes:
        axis: the title of the axis.
        of: the quantity's name, as used within a sentence.
        bin: returns a bin's name, as used within a sentence.
        label: returns a bin's label on the axis.
    """

    axis: str
    of: str
    bin: Callable[[RelevanceBin], str]
    label: Callable[[RelevanceBin], str]


WORDS = {
    BinnedBy.SIMILARITY: Words(
        marked("similarity, from"),
        marked("similarity"),
        lambda one: (
            tr("similarity 1")
            if one.low == one.high
            else tr("similarity {low:.2f} to {high:.2f}", low=one.low, high=one.high)
        ),
        lambda one: "1" if one.low == one.high else f"{one.low:.2f}",
    ),
    BinnedBy.RANK: Words(
        marked("rank"), marked("rank"), lambda one: tr("rank {low:.0f}", low=one.low), lambda one: f"{one.low:.0f}"
    ),
    BinnedBy.DURATION: Words(
        marked("seconds of the moment"),
        marked("duration"),
        lambda one: tr("moments of {seconds} s", seconds=_seconds(one.low, one.high)),
        lambda one: _seconds(one.low, one.high),
    ),
}


def shares(bins: Sequence[RelevanceBin], along: BinnedBy, scale: Scale, picked: Callable[[int], None]) -> None:
    """Draw a stacked bar for each bin: the share of each relevance among the bin's pairs that have one.

    Args:
        bins: the pairs counted by bin.
        along: the quantity by which pairs are grouped into bins.
        scale: the relevance scale.
        picked: called when somebody clicks a bin's bar, with the bin's number (its `place`).
    """
    words = WORDS[along]
    rows = [
        {
            "bin": words.label(relevance_bin),
            "grade": value,
            "relevance": f"{value} {scale.label(value)}",
            "pairs": pairs,
            "share": pairs / relevance_bin.decided,
        }
        for relevance_bin in bins
        if relevance_bin.decided
        for value, pairs in enumerate(relevance_bin.counts)
    ]
    grade_names = [f"{value} {scale.label(value)}" for value in scale.grades]
    chart = (
        alt.Chart(pd.DataFrame(rows, columns=["bin", "grade", "relevance", "pairs", "share"]))
        .mark_bar()
        .encode(
            x=_across(bins, words),
            y=alt.Y("sum(share):Q", title=tr("share of its pairs"), axis=alt.Axis(format="%", minExtent=_AXIS_PX)),
            color=alt.Color(
                "relevance:N",
                sort=grade_names,
                scale=alt.Scale(domain=grade_names, range=[back for back, _ in GRADE_COLOURS[: len(grade_names)]]),
                legend=alt.Legend(orient="top", title=None, columns=2),
            ),
            order=alt.Order("grade:Q"),
            tooltip=[
                alt.Tooltip("bin:N", title=tr(words.of)),
                alt.Tooltip("relevance:N", title=tr("relevance")),
                alt.Tooltip("pairs:Q", title=tr("pairs"), format=","),
                alt.Tooltip("share:Q", title=tr("share"), format=".1%"),
            ],
        )
        .add_params(alt.selection_point(name=_PICKED, fields=["bin"]))
    )
    key = f"explore-{along.value}"

    def chosen() -> None:
        points = st.session_state[key]["selection"][_PICKED]
        if points:
            picked(
                next(relevance_bin.place for relevance_bin in bins if words.label(relevance_bin) == points[0]["bin"])
            )

    st.altair_chart(
        chart, height=360, alt=_told_shares(bins, words, scale), key=key, on_select=chosen, selection_mode=_PICKED
    )


def means(bins: Sequence[RelevanceBin], along: BinnedBy, scale: Scale) -> None:
    """Draw a line of the mean relevance of each bin. Bins whose pairs have no relevance yet are gaps in the line."""
    words = WORDS[along]
    rows = [
        {"bin": words.label(relevance_bin), "mean": relevance_bin.mean, "pairs": relevance_bin.decided}
        for relevance_bin in bins
    ]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_line(strokeWidth=2, color=_OUT, point=alt.OverlayMarkDef(size=45, color=_OUT))
        .encode(
            x=_across(bins, words),
            y=alt.Y(
                "mean:Q",
                title=tr("mean relevance"),
                scale=alt.Scale(domain=[0, scale.highest]),
                axis=alt.Axis(minExtent=_AXIS_PX, tickCount=scale.highest),
            ),
            tooltip=[
                alt.Tooltip("bin:N", title=tr(words.of)),
                alt.Tooltip("mean:Q", title=tr("mean"), format=".2f"),
                alt.Tooltip("pairs:Q", format=",", title=tr("pairs with a relevance")),
            ],
        )
    )
    st.altair_chart(chart, height=230, alt=_told_means(bins, words))


def counts(bins: Sequence[RelevanceBin], along: BinnedBy) -> None:
    """Draw a stacked bar for each bin: its number of pairs with a relevance and without one."""
    words, kinds = WORDS[along], [tr("with a relevance"), tr("without")]
    rows = [
        {"bin": words.label(relevance_bin), "kind": kind, "place": place, "pairs": pairs}
        for relevance_bin in bins
        for place, (kind, pairs) in enumerate(zip(kinds, (relevance_bin.decided, relevance_bin.without), strict=True))
    ]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar()
        .encode(
            x=_across(bins, words),
            y=alt.Y("sum(pairs):Q", title=tr("pairs"), axis=alt.Axis(minExtent=_AXIS_PX, format="~s")),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=[_OUT, _CORPUS]),
                legend=alt.Legend(orient="top", title=None),
            ),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("bin:N", title=tr(words.of)),
                alt.Tooltip("kind:N", title=tr("kind")),
                alt.Tooltip("pairs:Q", title=tr("pairs"), format=","),
            ],
        )
    )
    told = tr(
        "Bars: pairs by {of}, {pairs:,} with a relevance",
        of=tr(words.of),
        pairs=sum(relevance_bin.decided for relevance_bin in bins),
    )
    st.altair_chart(
        chart,
        height=230,
        alt=tr(
            "{chart} and {pairs:,} without.", chart=told, pairs=sum(relevance_bin.without for relevance_bin in bins)
        ),
    )


def lasting(durations: Lasting, noun: str) -> None:
    """Draw how many moments or videos have which duration, in the whole corpus and among those handed to annotators.

    `noun` is `moment` or `video`.
    """
    kinds = [tr("in the corpus"), tr("handed out")]
    rows = [
        {"bin": _seconds(low, math.inf if high is None else high), "kind": kind, "count": count}
        for low, high, *both in durations.bars
        for kind, count in zip(kinds, both, strict=True)
    ]
    order = list(dict.fromkeys(str(row["bin"]) for row in rows))
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "bin:N",
                sort=order,
                title=tr("seconds of a moment") if noun == "moment" else tr("seconds of a video"),
                axis=alt.Axis(labelAngle=0, labelOverlap=True),
            ),
            xOffset=alt.XOffset("kind:N", sort=kinds),
            y=alt.Y("count:Q", title=wording.several(noun), axis=alt.Axis(format="~s", minExtent=_AXIS_PX)),
            color=alt.Color(
                "kind:N",
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=[_CORPUS, _OUT]),
                legend=alt.Legend(orient="top", title=None),
            ),
            tooltip=[
                alt.Tooltip("bin:N", title=tr("seconds")),
                alt.Tooltip("kind:N", title=tr("kind")),
                alt.Tooltip("count:Q", title=tr("count"), format=","),
            ],
        )
    )
    told = tr(
        "Bars: {number} by duration, from {least:.2f} to {most:.2f} s",
        number=wording.count_of(durations.count, noun),
        least=durations.least,
        most=durations.most,
    )
    st.altair_chart(chart, height=250, alt=tr("{chart}, mean {mean:.2f} s.", chart=told, mean=durations.mean))


def _across(bins: Sequence[RelevanceBin], words: Words) -> alt.X:
    order = [words.label(relevance_bin) for relevance_bin in bins]
    return alt.X(
        "bin:N",
        sort=order,
        title=tr(words.axis),
        scale=alt.Scale(domain=order),
        axis=alt.Axis(labelAngle=0, labelOverlap=True, grid=False),
    )


def _told_shares(bins: Sequence[RelevanceBin], words: Words, scale: Scale) -> str:
    known = [relevance_bin for relevance_bin in bins if relevance_bin.decided]
    if not known:
        return tr("No pair has a relevance yet.")
    ends = tr(" and ").join(
        tr(
            "{counts:.0%} at {bin}",
            counts=relevance_bin.counts[scale.highest] / relevance_bin.decided,
            bin=words.bin(relevance_bin),
        )
        for relevance_bin in (known[0], known[-1])
    )
    return tr(
        "Stacked bars: the shares of each relevance by {of}. Relevance {highest} has {ends}.",
        of=tr(words.of),
        highest=scale.highest,
        ends=ends,
    )


def _told_means(bins: Sequence[RelevanceBin], words: Words) -> str:
    known = [(relevance_bin, relevance_bin.mean) for relevance_bin in bins if relevance_bin.mean is not None]
    if not known:
        return tr("No pair has a relevance yet.")
    ends = tr(" to ").join(
        tr("{mean:.2f} at {bin}", mean=mean, bin=words.bin(relevance_bin))
        for relevance_bin, mean in (known[0], known[-1])
    )
    return tr("A line: the mean relevance by {of}, from {ends}.", of=tr(words.of), ends=ends)


def _seconds(low: float, high: float) -> str:
    return tr("{low:.0f} and more", low=low) if high == math.inf else tr("{low:.0f} to {high:.0f}", low=low, high=high)
