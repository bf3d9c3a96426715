"""The figure of all-tied queries: a bar a measure."""

import altair as alt

from backend.scoring.drawing import PALETTE
from backend.scoring.studies.figures.parts import data, distinct, title
from backend.scoring.studies.study import Study


def ties(study: Study) -> alt.TopLevelMixin:
    """The share of queries on which all systems tie."""
    base = alt.Chart(data(study)).encode(
        y=alt.Y("measure:N", sort=distinct(study, "measure"), title=None),
        x=alt.X("ratio:Q", title="queries on which all systems tie", axis=alt.Axis(format="%")),
    )
    bars = base.mark_bar(color=PALETTE[0])
    text = base.mark_text(align="left", dx=4, fontSize=11).encode(text=alt.Text("ratio:Q", format=".1%"))
    return alt.layer(bars, text).properties(
        width=460, height=alt.Step(22), title=title(study, "How often does a measure see no difference?")
    )
