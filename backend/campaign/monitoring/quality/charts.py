"""Draw the charts of the agreement board (how far annotators agree), each with a description in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt

from backend.campaign.monitoring.quality.model import AgreementBoard
from backend.campaign.monitoring.quality.rules.board_tables import Rows, table
from backend.campaign.nouns import GRADE_COLOURS
from backend.core.messages import said
from backend.scoring import drawing

_INDIGO = ["#e0e7ff", "#a5b4fc", "#6063f1", "#4338ca", "#312e81"]
"""From pale to dark. A larger value is darker."""
_WIDTH = 560
_ROW_PX = 24
_AXES_PX, _LEGEND_PX, _NAMES_PX = 110, 50, 40
"""Height of the axes, of a legend, and of names below the chart. A chart on a page includes them in its height."""
_NO_LEGEND = None
_FITS_TEXT = 16
"""With more people than this, the cells of a matrix are too small for text."""


@dataclass(frozen=True, slots=True)
class BoardPicture:
    """A chart with its title, a caption, and a description (`told`) for people who cannot see it."""

    title: str
    caption: str
    told: str
    chart: alt.TopLevelMixin


def picture(board: AgreementBoard, name: str) -> BoardPicture:
    """Return the chart `name`, one of `PICTURES`, of the agreement board, which shows how far annotators agree."""
    return _MAKERS[name](board, table(board, name))


def file_of(board: AgreementBoard, name: str, kind: str) -> bytes:
    """Return the chart `name` of the agreement board (how far annotators agree) as the content of a PNG or SVG file.

    `kind` is `png` or `svg`. The chart is drawn in the style of figures for papers.
    """
    drawn = picture(board, name)
    chart = drawn.chart.properties(title=drawn.title).to_dict()
    return drawing.svg(chart).encode() if kind == "svg" else drawing.png(chart)


def _lowest_highest(board: AgreementBoard, rows: Rows) -> BoardPicture:
    base = _chart(rows).encode(
        x=alt.X("highest:O", title="highest grade of the pair", axis=alt.Axis(grid=False, labelAngle=0, ticks=False)),
        y=alt.Y(
            "lowest:O", title="lowest grade of the pair", sort="descending", axis=alt.Axis(grid=False, ticks=False)
        ),
    )
    dark = max(row["share"] for row in rows) * 0.45
    cells = base.mark_rect(cornerRadius=3).encode(
        color=alt.Color("share:Q", scale=alt.Scale(range=_INDIGO), legend=_NO_LEGEND),
        tooltip=["lowest:O", "highest:O", _tip("pairs"), _tip("share", ".1%")],
    )
    words = base.mark_text(fontSize=12).encode(
        text=alt.Text("share:Q", format=".1%"),
        color=alt.condition(f"datum.share > {dark}", alt.value("#ffffff"), alt.value("#1e1b4b")),
    )
    size = 88 * (len(board.histogram))
    near = sum(row["share"] for row in rows if row["highest"] - row["lowest"] <= board.tolerance)
    told = said(
        "Heat map: {near:.0%} of the pairs have their lowest and highest grade within {tolerance}.",
        near=near,
        tolerance=board.tolerance,
    )
    caption = said(
        "Share of the pairs with two grades or more, by their lowest and highest raw grade (the paper's Figure 5a)."
    )
    return BoardPicture(said("Lowest and highest grade"), caption, told, _sized(cells + words, size, size * 0.7))


def _grades(board: AgreementBoard, rows: Rows) -> BoardPicture:
    kinds = ["raw grades", "relevances"]
    base = _chart(rows).encode(
        x=alt.X("grade:O", title="grade, or relevance", axis=alt.Axis(grid=False, labelAngle=0)),
        xOffset=alt.XOffset("kind:N", sort=kinds),
        y=alt.Y("share:Q", title="share of its kind", axis=alt.Axis(format="%", tickCount=5)),
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        color=alt.Color(
            "kind:N",
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=["#a1a1aa", "#6063f1"]),
            title=None,
            legend=alt.Legend(orient="top"),
        ),
        tooltip=["kind:N", "grade:O", _tip("count"), _tip("share", ".1%")],
    )
    raw, final = (
        ", ".join(f"{row['grade']} {row['share']:.0%}" for row in rows if row["kind"] == kind) for kind in kinds
    )
    told = said("Bars. raw grades: {raw}; relevances: {final}.", raw=raw, final=final)
    caption = said("Raw grades of all annotators, and the final relevances of settled pairs (the paper's Figure 5b).")
    return BoardPicture(said("Grades and relevances"), caption, told, _sized(bars, _WIDTH, 330))


def _people(board: AgreementBoard, rows: Rows) -> BoardPicture:
    rows = sorted((row for row in rows if row["bias"] is not None), key=lambda row: row["bias"])
    order = [row["annotator"] for row in rows]
    base = _chart(rows).encode(
        y=alt.Y("annotator:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=140))
    )
    x = alt.X("bias:Q", title="bias, in grades (above 0: more generous)", axis=alt.Axis(format="+.1f"))
    spans = base.mark_rule(strokeWidth=2, color="#6063f1").encode(x=alt.X("bias_low:Q"), x2="bias_high:Q")
    tips = ["annotator:N", *(_tip(key, "+.3f") for key in ("bias", "bias_low", "bias_high"))]
    dots = base.mark_point(filled=True, size=60, opacity=1, color="#6063f1").encode(x=x, tooltip=[*tips, "bias_n:Q"])
    zero = _chart([{"zero": 0}]).mark_rule(color="#888888", strokeDash=[4, 3]).encode(x="zero:Q")
    caption = said(
        "Mean of a grade minus the unrounded mean of the other grades of its pair, with a 95 % "
        "interval. Above 0 is more generous, below 0 stricter."
    )
    ends = [f"{row['bias']:+.2f} ({row['annotator']})" for row in (rows[:1] + rows[-1:])]
    told = said(
        "Dots with intervals, one for each of {people} annotators, from {ends}.",
        people=len(rows),
        ends=said("{low} to {high}", low=ends[0], high=ends[-1]) if ends else said("nobody"),
    )
    return BoardPicture(
        said("Bias of every annotator"), caption, told, _sized(zero + spans + dots, _WIDTH, _height(rows))
    )


def _spread(board: AgreementBoard, rows: Rows) -> BoardPicture:
    grades = list(range(len(board.histogram)))
    colours = [GRADE_COLOURS[grade][0] for grade in grades]
    chart = (
        _chart(rows)
        .mark_bar()
        .encode(
            y=alt.Y("annotator:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=140)),
            x=alt.X("count:Q", stack="normalize", title="share of their grades", axis=alt.Axis(format="%")),
            color=alt.Color(
                "grade:O",
                scale=alt.Scale(domain=grades, range=colours),
                legend=alt.Legend(orient="top", title="grade"),
            ),
            order=alt.Order("grade:O"),
            tooltip=[
                "annotator:N",
                "grade:O",
                _tip("count"),
                _tip("share", ".1%"),
            ],
        )
    )
    over = [person.name for person in board.people if person.often]
    told = said(
        "Stacked bars. One grade more than {limit:.0%} of the time: {people}.",
        limit=board.most_used_limit,
        people=", ".join(over) or said("nobody"),
    )
    caption = said("How often each annotator gave each grade.")
    return BoardPicture(
        said("Grades of every annotator"), caption, told, _sized(chart, _WIDTH, _height(board.people, _LEGEND_PX))
    )


def _couples(board: AgreementBoard, rows: Rows) -> BoardPicture:
    both: Rows = []
    for row in rows:
        if row["kappa_quadratic"] is not None:
            both += [row, {**row, "first": row["second"], "second": row["first"]}]
    names = [person.name for person in board.people]
    base = _chart(both).encode(
        x=alt.X(
            "second:N",
            scale=alt.Scale(domain=names),
            title=None,
            axis=alt.Axis(grid=False, labelAngle=-45, labelLimit=100),
        ),
        y=alt.Y("first:N", scale=alt.Scale(domain=names), title=None, axis=alt.Axis(grid=False, labelLimit=140)),
    )
    chart: Any = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color(
            "kappa_quadratic:Q",
            scale=alt.Scale(range=_INDIGO, domain=[0, 1], clamp=True),
            legend=alt.Legend(orient="top", title="kappa", gradientLength=160),
        ),
        tooltip=["first:N", "second:N", _tip("kappa_quadratic", ".2f"), _tip("n")],
    )
    if len(names) <= _FITS_TEXT:
        chart += base.mark_text(fontSize=10).encode(
            text=alt.Text("kappa_quadratic:Q", format=".2f"),
            color=alt.condition("datum.kappa_quadratic > 0.45", alt.value("#ffffff"), alt.value("#1e1b4b")),
        )
    values = sorted(row["kappa_quadratic"] for row in both)
    told = said("Matrix of {couples} couples of annotators.", couples=len(both) // 2)
    if values:
        told = said(
            "Matrix of {couples} couples of annotators, from {low:.2f} to {high:.2f}.",
            couples=len(both) // 2,
            low=values[0],
            high=values[-1],
        )
    caption = said("Cohen's quadratic kappa of every two annotators. Empty cells: fewer than 50 shared pairs.")
    height = _height(names, _LEGEND_PX + _NAMES_PX)
    return BoardPicture(said("Who agrees with whom"), caption, told, _sized(chart, _WIDTH, height))


def _over_time(what: str) -> Callable[[AgreementBoard, Rows], BoardPicture]:
    measures = {
        "within_tolerance": "within the tolerance",
        "by_two_share": "settled by two",
        "alpha_ordinal": "alpha, ordinal",
        "equal": "equal grades",
    }

    def drawn(board: AgreementBoard, rows: Rows) -> BoardPicture:
        long = [
            {what: row[what], "measure": word, "value": row[key], "pairs": row["pairs"]}
            for row in rows
            for key, word in measures.items()
            if row[key] is not None
        ]
        chart = (
            _chart(long)
            .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=40))
            .encode(
                x=alt.X(f"{what}:O", title=None, axis=alt.Axis(grid=False, labelAngle=0, labelOverlap="greedy")),
                y=alt.Y("value:Q", title=None, axis=alt.Axis(format=".1f", tickCount=5)),
                color=alt.Color(
                    "measure:N",
                    sort=[*measures.values()],
                    scale=alt.Scale(domain=[*measures.values()], range=drawing.PALETTE[:4]),
                    title=None,
                    legend=alt.Legend(orient="top", columns=2),
                ),
                tooltip=[f"{what}:O", "measure:N", _tip("value", ".3f"), _tip("pairs")],
            )
        )
        title, told, caption = (
            (
                said("Agreement by day"),
                said("Lines over {n} days.", n=len(rows)),
                said("Of the pairs that were first graded on each day."),
            )
            if what == "day"
            else (
                said("Agreement by week"),
                said("Lines over {n} weeks.", n=len(rows)),
                said("Of the pairs that were first graded in each week, which is named by its Monday."),
            )
        )
        return BoardPicture(title, caption, told, _sized(chart, _WIDTH, 360))

    return drawn


def _person_weeks(board: AgreementBoard, rows: Rows) -> BoardPicture:
    known = [row for row in rows if row["bias"] is not None]
    chart = (
        _chart(known)
        .mark_rect(cornerRadius=2)
        .encode(
            x=alt.X("week:O", title="week", axis=alt.Axis(grid=False, labelAngle=0, labelOverlap="greedy")),
            y=alt.Y("annotator:N", title=None, axis=alt.Axis(grid=False, labelLimit=140)),
            color=alt.Color(
                "bias:Q",
                scale=alt.Scale(scheme="blueorange", domain=[-1, 1], domainMid=0, clamp=True),
                legend=alt.Legend(orient="top", title="bias", gradientLength=160),
            ),
            tooltip=[
                "week:O",
                "annotator:N",
                _tip("bias", "+.2f"),
                _tip("bias_n"),
            ],
        )
    )
    people = {row["annotator"] for row in known}
    told = said("Matrix of the bias of {people} annotators by week.", people=len(people))
    caption = said("Bias of each annotator by week (blue: stricter than the others, orange: more generous).")
    return BoardPicture(said("Bias by week"), caption, told, _sized(chart, _WIDTH, _height(people, _LEGEND_PX)))


_MAKERS: dict[str, Callable[[AgreementBoard, Rows], BoardPicture]] = {
    "lowest-highest": _lowest_highest,
    "grades": _grades,
    "people": _people,
    "spread": _spread,
    "couples": _couples,
    "days": _over_time("day"),
    "weeks": _over_time("week"),
    "person-weeks": _person_weeks,
}
PICTURES = tuple(_MAKERS)


def _chart(rows: Rows | list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]  # Altair does not type its constructor


def _tip(key: str, form: str = ",") -> alt.Tooltip:
    return alt.Tooltip(f"{key}:Q", title=key.replace("_", " "), format=form)


def _sized(chart: Any, width: float, height: float) -> alt.TopLevelMixin:
    sized: alt.TopLevelMixin = chart.properties(width=width, height=height)
    return sized


def _height(rows: Any, more_px: int = 0) -> int:
    return max(len(rows), 1) * _ROW_PX + _AXES_PX + more_px
