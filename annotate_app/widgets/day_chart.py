"""Bars of the last days: what was done on each."""

from collections.abc import Sequence
from datetime import date

import altair as alt
import pandas as pd
import streamlit as st


def day_chart(days: Sequence[tuple[str, int]], what: str, alt_text: str, color: str = "#6366f1") -> None:
    """Draws the chart.

    Args:
        days: each day (`2026-03-14`) with its count, the oldest first.
        what: what is counted, as the tooltip calls it.
        alt_text: the chart in words.
        color: of the bars.
    """
    dates = [date.fromisoformat(day) for day, _ in days]
    frame = pd.DataFrame({"Day": [f"{day.day} {day:%b}" for day in dates], what: [count for _, count in days]})
    chart = (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=2, color=color)
        .encode(
            x=alt.X("Day:O", sort=None, title=None, axis=alt.Axis(labelOverlap="greedy", labelAngle=0)),
            y=alt.Y(f"{what}:Q", title=None, axis=alt.Axis(tickMinStep=1, format=",d")),
            tooltip=["Day", what],
        )
    )
    st.altair_chart(chart, height=230, alt=alt_text)
