"""Draw bar charts of daily counts and hours."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.language import day as day_text
from annotate_app.language import marked, tr

_COLORS = ["#6063f1", "#0d9488", "#f59e0b", "#db2777", "#0ea5e9", "#84cc16", "#a855f7", "#a1a1aa"]
_OTHERS = marked("others")


def day_chart(days: Sequence[tuple[str, int]], what: str, alt_text: str, color: str = "#6063f1") -> None:
    """Draw a bar chart with one bar for each day.

    Args:
        days: each day (`2026-03-14`) with its count, the oldest first.
        what: what is counted, such as `Judgements`, for the tooltip.
        alt_text: a description of the chart for screen readers.
        color: colour of the bars.
    """
    labels = [day_text(date.fromisoformat(day)) for day, _ in days]
    frame = pd.DataFrame({"Day": labels, what: [count for _, count in days]})
    chart = (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=2, color=color)
        .encode(
            x=alt.X("Day:O", sort=None, title=None, axis=alt.Axis(labelOverlap="greedy", labelAngle=0)),
            y=alt.Y(f"{what}:Q", title=None, axis=alt.Axis(tickMinStep=1, format=",d")),
            tooltip=[alt.Tooltip("Day:N", title=tr("Day")), what],
        )
    )
    st.altair_chart(chart, height=230, alt=alt_text)


def stacked_days(days: Sequence[str], done: Sequence[tuple[str, str, float]], alt_text: str) -> None:
    """Draw hours as one stacked bar a day, with a colour for each person.

    If there are more people than colours, those with the fewest hours are drawn together as "others".

    Args:
        days: every day (`2026-03-14`) of the chart, the oldest first, including days without work.
        done: the work as tuples of (day, name, hours).
        alt_text: a description of the chart for screen readers.
    """
    sums: defaultdict[str, float] = defaultdict(float)
    for _, name, hours in done:
        sums[name] += hours
    most = sorted(sums, key=lambda name: -sums[name])[: len(_COLORS) - 1]
    others = tr(_OTHERS)
    names = [*most, others] if len(sums) > len(most) else most
    years = days[0][:4] != days[-1][:4]
    label = {day: day_text(date.fromisoformat(day), year=years) for day in days}
    frame = pd.DataFrame(
        [(label[day], name if name in most else others, hours) for day, name, hours in done],
        columns=["Day", "Annotator", "Hours"],
    )
    grouped = frame.groupby(["Day", "Annotator"], as_index=False, sort=False).sum()
    chart = (
        alt.Chart(grouped)
        .mark_bar()
        .encode(
            x=alt.X(
                "Day:O",
                sort=None,
                title=None,
                scale=alt.Scale(domain=list(dict.fromkeys(label.values()))),
                axis=alt.Axis(labelOverlap="greedy", labelAngle=0),
            ),
            y=alt.Y("Hours:Q", title=None, axis=alt.Axis(format="~r")),
            color=alt.Color(
                "Annotator:N",
                sort=None,
                scale=alt.Scale(domain=names, range=_COLORS),
                legend=alt.Legend(orient="bottom", title=None, columns=2),
            ),
            tooltip=[
                alt.Tooltip("Day:N", title=tr("Day")),
                alt.Tooltip("Annotator:N", title=tr("Annotator")),
                alt.Tooltip("Hours:Q", title=tr("Hours"), format=".2f"),
            ],
        )
    )
    st.altair_chart(chart, height=260, alt=alt_text)
