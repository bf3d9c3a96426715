"""A query's figure (TVR-Ranking's Figure 6): the relevances of its candidates by rank, their similarity over them."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.widgets import wording
from backend.campaign.nouns import Scale, Verdict
from backend.campaign.review.model import PairReview

EARLIER, LAST, NONE = "#6366f1", "#f59e0b", "#71717a"
_STUB = -0.12
"""A bar of relevance 0 has a height too: nobody shall take it for nothing."""


def query_figure(pairs: Sequence[PairReview], last: int, batch_size: int, scale: Scale) -> None:
    """Bars and line with what they mean, and how often each relevance occurs.

    Args:
        pairs: the open candidates in rank order.
        last: how many of them, at the end, speak for or against a further batch.
        batch_size: after how many a further batch begins.
        scale: the campaign's.
    """
    told = f"Bars: relevance {scale.words} by rank; line: similarity"
    # A line of numbers below says the same; the picture alone is what Streamlit's theme colours.
    st.altair_chart(_chart(pairs, last, batch_size, scale), height=280, alt=told)
    st.html(_legend(pairs, last, scale))


def columns(pairs: Sequence[PairReview], last: int, scale: Scale) -> list[dict[str, Any]]:
    """What is drawn of each candidate; `relevance` is None where there is none, and `sign` says why."""
    before = len(pairs) - last
    return [
        {
            "Rank": pair.rank,
            "relevance": pair.relevance,
            "Relevance": wording.grade(pair.relevance, scale) if pair.relevance is not None else _why_none(pair),
            "sign": str(pair.relevance) if pair.relevance is not None else _sign(pair),
            "Similarity": pair.similarity,
            "Caption": pair.caption,
            "colour": LAST if place >= before else EARLIER,
            "from": pair.rank - 0.42,
            "to": pair.rank + 0.42,
        }
        for place, pair in enumerate(pairs)
    ]


def _chart(pairs: Sequence[PairReview], last: int, batch_size: int, scale: Scale) -> alt.LayerChart:
    frame = pd.DataFrame(columns(pairs, last, scale))
    frame["relevance"] = frame["relevance"].astype("Int64")
    frame["foot"], frame["top"] = _STUB, float(scale.highest)
    tooltip = ["Rank", "Relevance", alt.Tooltip("Similarity", format=".3f"), "Caption"]
    ranks = alt.Axis(values=list(frame["Rank"]), grid=False, format="d", labelOverlap=True)
    across = alt.Scale(domain=[0.4, len(pairs) + 0.6], nice=False, zero=False)
    heights = alt.Scale(domain=[_STUB, scale.highest + 0.35], nice=False, zero=False)

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title="rank", scale=across, axis=ranks)

    def y(field: str) -> alt.Y:
        grades = alt.Axis(values=list(scale.grades), format="d")
        return alt.Y(f"{field}:Q", title="relevance", scale=heights, axis=grades)

    bars = (
        alt.Chart(frame[frame["relevance"].notna()])
        .mark_bar(cornerRadiusEnd=3)
        .encode(x=x("from"), x2="to", y=y("relevance"), y2="foot", color=alt.Color("colour", scale=None))
    )
    boxes = (
        alt.Chart(frame[frame["relevance"].isna()])
        .mark_bar(fill=NONE, fillOpacity=0.05, strokeDash=[3, 3], strokeWidth=1)
        .encode(x=x("from"), x2="to", y=y("top"), y2="foot", stroke=alt.Stroke("colour", scale=None))
    )
    signs = (
        alt.Chart(frame)
        .transform_calculate(at="isValid(datum.relevance) ? datum.relevance : 0")
        .mark_text(dy=-7, fontSize=11, color=NONE)
        .encode(x=x("Rank"), y=y("at"), text="sign:N")
    )
    ends = range(batch_size, len(pairs), batch_size)
    borders = [
        alt.Chart(pd.DataFrame({"end": [end + 0.5], "told": [f"batch {number}"]})) for number, end in enumerate(ends, 2)
    ]
    rules = [one.mark_rule(strokeDash=[2, 3], color=NONE).encode(x=x("end")) for one in borders]
    names = [
        one.mark_text(align="left", dx=4, fontSize=11, color=NONE).encode(x=x("end"), y=alt.value(5), text="told:N")
        for one in borders
    ]
    ink = "#f4f4f5" if st.context.theme.type == "dark" else "#18181b"  # to be seen on bars and between them
    line = (
        alt.Chart(frame)
        .mark_line(color=ink, strokeWidth=1.5, point=alt.OverlayMarkDef(color=ink, size=22))
        .encode(
            x=x("Rank"),
            y=alt.Y(
                "Similarity:Q",
                title="similarity",
                scale=alt.Scale(zero=False, padding=8),
                axis=alt.Axis(orient="right", format=".2f", grid=False),
            ),
        )
    )
    # What has nothing to draw is left out: an empty layer is a picture without a word to screen readers.
    drawn = [one for one in (boxes, bars, signs) if len(one.data)]
    left = alt.layer(*(one.encode(tooltip=tooltip) for one in drawn), *rules, *names)
    chart: alt.LayerChart = alt.layer(left, line.encode(tooltip=tooltip)).resolve_scale(y="independent")
    return chart


def _legend(pairs: Sequence[PairReview], last: int, scale: Scale) -> str:
    counts = Counter(pair.relevance for pair in pairs)
    numbers = "".join(
        f"<span><i class='rr-r{grade}'></i>{escape(wording.grade(grade, scale))}: <b>{counts[grade]}</b></span>"
        for grade in reversed(scale.grades)
    )
    none = f"<span><i class='rr-none'></i>no relevance (yet): <b>{counts[None]}</b></span>"
    first = pairs[-last].rank
    ranks = f"rank {first}" if last == 1 else f"ranks {first}–{pairs[-1].rank}"
    signs = (
        f"<span><i style='background:{EARLIER}'></i>relevance</span>"
        f"<span><i style='background:{LAST}'></i>{wording.the_last(last)}, {ranks}</span>"
        "<span><i class='rr-none'></i>no relevance: – not settled, × discarded</span>"
        "<span><i class='rr-line' style='background:currentColor'></i>similarity</span>"
    )
    return f"<div class='rr-legend'>{signs}</div><div class='rr-legend rr-numbers'>{numbers}{none}</div>"


def _sign(pair: PairReview) -> str:
    return "×" if pair.verdict is Verdict.DISCARDED else "–"


def _why_none(pair: PairReview) -> str:
    return "none: discarded" if pair.verdict is Verdict.DISCARDED else "none yet: not settled"
