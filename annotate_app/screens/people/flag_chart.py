"""How a figure of somebody's work went over time."""

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.shared import wording
from backend.campaign.monitoring.quality.model import FLAG_NAMES, Flag, FlagKind, Stretch

_WHAT = {
    FlagKind.BIAS: marked("Mean difference from the others"),
    FlagKind.DRIFT: marked("Mean difference from the others"),
    FlagKind.AGREEMENT: marked("Share that agrees"),
}
_IN_GRADES = (FlagKind.BIAS, FlagKind.DRIFT)


def flag_chart(stretches: Sequence[Stretch], flag: Flag) -> None:
    """Draws the means of runs of grades, in the order of giving, and the limit of the figure where it has one."""
    what = tr(_WHAT.get(flag.kind, marked("Share of grades")))
    zone = st.context.timezone
    frame = pd.DataFrame(
        {
            "Grades so far": [sum(one.n for one in stretches[: n + 1]) for n in range(len(stretches))],
            what: [one.mean for one in stretches],
            "Given": [
                tr("{start} to {end}", start=wording.when(one.since, zone), end=wording.when(one.until, zone))
                for one in stretches
            ],
            "Grades": [one.n for one in stretches],
        }
    )
    form = "+.2f" if flag.kind in _IN_GRADES else ".0%"
    base = alt.Chart(frame).encode(
        x=alt.X("Grades so far:Q", title=tr("Grades so far"), axis=alt.Axis(format=",d", grid=False)),
        y=alt.Y(f"{what}:Q", title=None, axis=alt.Axis(format=form, tickCount=5)),
        tooltip=[
            alt.Tooltip("Given:N", title=tr("Given")),
            alt.Tooltip("Grades:Q", title=tr("Grades")),
            alt.Tooltip(f"{what}:Q", format=form),
        ],
    )
    line = base.mark_line(color="#6063f1") + base.mark_point(color="#6063f1", filled=True, size=45)
    lines = pd.DataFrame({what: _limits(flag)})
    rule = alt.Chart(lines).mark_rule(strokeDash=[5, 4], color="#f59e0b", strokeWidth=2).encode(y=f"{what}:Q")
    first, last = stretches[0].mean, stretches[-1].mean
    shown = [format(value, form if flag.kind in _IN_GRADES else ".1%") for value in (first, last)]
    told = tr(
        "{flag_names} over time, in {stretches} runs of grades: from {first} to {last}",
        flag_names=FLAG_NAMES[flag.kind],
        stretches=len(stretches),
        first=shown[0],
        last=shown[1],
    )
    title = alt.TitleParams(what, anchor="start", fontSize=12, fontWeight="normal")
    chart = (rule + line if len(lines) else line).properties(title=title)
    st.altair_chart(chart, height=230, alt=told)


def _limits(flag: Flag) -> list[float]:
    """Where a course begins to be a flag; a drift and a fall are held against what was before, so they have none."""
    if flag.kind is FlagKind.BIAS:
        return [-flag.limit, 0.0, flag.limit]
    return [0.0] if flag.kind is FlagKind.DRIFT else [] if flag.kind is FlagKind.AGREEMENT else [flag.limit]
