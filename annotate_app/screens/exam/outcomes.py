"""How people did in their first attempt at an exam, with how sure that is: a chart of every figure, a table, a file."""

from collections.abc import Sequence
from html import escape
from typing import Any, cast

import altair as alt
import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.shared import tables, wording
from backend.campaign.qualification.exam.results import ExamOutcomes, exam_outcomes_csv
from backend.campaign.qualification.exam.rules.outcomes import PAPER_KAPPA, PAPER_MISSED
from backend.campaign.qualification.exam.rules.outcomes import Estimate as ExamEstimate
from backend.campaign.qualification.exam.rules.outcomes import Outcome as ExamOutcome

_PERSON, _ALL, _PAPER = "#6063f1", "#f59e0b", "#db2777"
_EVERYBODY = marked("Mean of all")
_ROW_PX = 26


def outcomes(found: ExamOutcomes) -> None:
    """The charts side by side, below each other on a narrow page; the table; the file to take along."""
    if not found.people:
        st.info(tr("Nobody has handed an exam in yet."))
        return
    whose = [(tr(_EVERYBODY), found.together), *((one.person.name, one.outcome) for one in found.people)]
    pictures = {
        tr("Missed at first"): ([(name, of.missed_first) for name, of in whose], PAPER_MISSED, True),
        tr("Kappa with the key"): ([(name, of.kappa) for name, of in whose], PAPER_KAPPA, False),
        tr("Quadratic kappa"): ([(name, of.kappa_quadratic) for name, of in whose], None, False),
    }
    for column, (title, (rows, paper, share)) in zip(st.columns(len(pictures)), pictures.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            st.altair_chart(
                cast(alt.Chart, chart(rows, paper, share)), width="stretch", alt=_in_words(title, rows, paper, share)
            )
    st.caption(
        tr(
            "Dots are people, the amber one is their mean; lines are intervals of 95 %. Dashed: the "
            "annotators of TVR-Ranking, of whose first grades {percent} missed, at a mean kappa of "
            "{paper_kappa:.2f}.",
            percent=wording.percent(100 * PAPER_MISSED),
            paper_kappa=PAPER_KAPPA,
        )
    )
    st.html(table(whose))
    st.caption(
        tr(
            "Of the first attempt that somebody handed in. After it was explained: the same clips, with "
            "what was missed graded once more. Intervals are Wilson's for shares, a bootstrap over clips "
            "for kappas, and one over people for the mean of all."
        )
    )
    st.download_button(
        "CSV", data=lambda: exam_outcomes_csv(found), file_name="exam-results.csv", mime="text/csv", key="exam-csv"
    )


def chart(rows: Sequence[tuple[str, ExamEstimate]], paper: float | None, share: bool) -> alt.TopLevelMixin:
    """Dots with their intervals, one person a row, the mean on top; `paper` is the figure to compare with."""
    shown: list[dict[str, Any]] = [
        {
            "who": name,
            "value": one.value,
            "low": one.value if one.low is None else one.low,
            "high": one.value if one.high is None else one.high,
            "n": one.n,
            "all": nth == 0,
            "told": _number(one, share),
        }
        for nth, (name, one) in enumerate(rows)
        if one.value is not None
    ]
    axis = alt.Axis(format="%" if share else ".1f", tickCount=5)
    scale = alt.Scale(domain=[0, 1]) if share else alt.Scale(domain=[min([0.0, *(row["low"] for row in shown)]), 1])
    base = _over(shown).encode(
        y=alt.Y("who:N", sort=[name for name, _ in rows], title=None, axis=alt.Axis(labelLimit=90, grid=False)),
        color=alt.condition("datum.all", alt.value(_ALL), alt.value(_PERSON)),
        tooltip=[
            alt.Tooltip("who:N", title=tr("Who")),
            alt.Tooltip("told:N", title=tr("Value")),
            alt.Tooltip("n:Q", title="n"),
        ],
    )
    x = alt.X("value:Q", title=None, scale=scale, axis=axis)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None, scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=x),
    ]
    if paper is not None:
        layers.insert(0, _over([{"value": paper}]).mark_rule(color=_PAPER, strokeDash=[4, 3]).encode(x=x))
    picture: alt.TopLevelMixin = alt.layer(*layers).properties(height=_ROW_PX * len({row["who"] for row in shown}) + 30)
    return picture


def table(whose: Sequence[tuple[str, ExamOutcome]]) -> str:
    """Every figure with its interval, or why there is none."""
    rows = [
        (
            f"<b>{escape(name)}</b>",
            tr("{missed:,} of {answers:,}", missed=of.missed, answers=of.answers),
            _cell(of.missed_first, True),
            _cell(of.missed_after, True),
            _cell(of.kappa, False),
            _cell(of.kappa_quadratic, False),
        )
        for name, of in whose
    ]
    head = ("", tr("Missed"), tr("At first"), tr("After it was explained"), tr("Kappa"), tr("Quadratic"))
    return tables.table(head, rows, "rr-outcomes")


def _cell(one: ExamEstimate, share: bool) -> str:
    """`9 %` above `4.8 to 16.2 %`, or above why something is missing."""
    value = f"<b>{_figure(one.value, share)}</b>" if one.value is not None else ""
    if one.low is None or one.high is None:
        return f"{value}<small>{escape(retold(one.reason))}</small>"
    low, high = _figure(one.low, share).removesuffix(" %"), _figure(one.high, share)
    return f"{value}<small>{tr('{low} to {high}', low=low, high=high)}</small>"


def _number(one: ExamEstimate, share: bool) -> str:
    """The same as a line."""
    if one.value is None:
        return retold(one.reason)
    if one.low is None or one.high is None:
        return f"{_figure(one.value, share)} ({retold(one.reason)})"
    return tr(
        "{figure} ({figure_2} to {figure_3})",
        figure=_figure(one.value, share),
        figure_2=_figure(one.low, share),
        figure_3=_figure(one.high, share),
    )


def _figure(value: float, share: bool) -> str:
    return wording.percent(100 * value) if share else f"{value:.2f}"


def _in_words(title: str, rows: Sequence[tuple[str, ExamEstimate]], paper: float | None, share: bool) -> str:
    told = "; ".join(f"{name}: {_number(one, share)}" for name, one in rows)
    return f"{title}: {told}." + ("" if paper is None else tr(" The paper: {figure}.", figure=_figure(paper, share)))


def _over(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]  # Altair does not type its constructor
