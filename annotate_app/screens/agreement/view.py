"""Draw the parts of the page "Agreement": figures, grades, annotators, time, queries and other aggregation methods."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from html import escape
from typing import Any, cast

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import plain
from annotate_app.shared import address_state, look, wording
from backend.campaign.monitoring.quality.agreement_files import (
    agreement_csv,
    agreement_picture,
    agreement_picture_file,
    other_relevances_csv,
)
from backend.campaign.monitoring.quality.model import (
    AGGREGATOR_WORDS,
    FIGURE_WORDS,
    AggregatorReport,
    AgreementBoard,
    Figure,
    PersonGrades,
    Verdicts,
)
from backend.campaign.monitoring.quality.rules.board_tables import table as agreement_table
from backend.core import processes

_HEADLINE = {
    "alpha_ordinal": (marked("Alpha, ordinal"), marked("Krippendorff's, over all grades: 1 is perfect, 0 is chance.")),
    "kappa_quadratic": (
        marked("Kappa, quadratic"),
        marked("Cohen's, the mean over every two annotators who share 50 pairs or more."),
    ),
    "within_tolerance_agreement": (
        marked("Within the tolerance"),
        marked("Of two grades of one pair; weighted by pair."),
    ),
    "share_settled_by_two": (marked("Settled by two"), marked("Pairs whose first two grades were enough.")),
}
_MEANINGS = marked(
    "\n**Alpha** is Krippendorff's; ordinal takes grades as an order, interval as numbers, "
    "nominal as names. *First round* is\nover the first two grades of every pair; there is none "
    "of pairs with four grades alone, because disagreement chose them.\n*No repeats* leaves out "
    "second grades of one person for one pair.\n**Kappa** is Cohen's, of every two people who "
    "share 50 pairs or more; quadratic weighs a difference by its square.\n**Equal grades** and "
    "**within** compare every two grades of a pair; a pair counts by its grades.\n**On a half**: "
    "relevances that the rounding decides.\n**Intervals** (95 %) are of 1,000 resamples of the "
    "pairs: how much a figure owes to which pairs were judged. The people\nstay who they are.\n"
)
_NICENESS = 5
"""Niceness of the process that draws a picture. A lead waits for it, so it is not the lowest priority."""
_PAIRS = 1_000
"""The most pairs that the page lists. More would make it slow."""
_MARKS = ("by_two", "by_four", "by_six", "adjudicated", "discarded", "waiting")


def draw(board: AgreementBoard, name: str, kind: str) -> bytes:
    """Return a chart of the agreement figures as the bytes of a picture file.

    A separate process draws it, because drawing blocks all threads of its own process.

    Args:
        board: the agreement figures.
        name: the name of the chart, such as `grades` or `spread`.
        kind: the file format, `png` or `svg`.
    """
    return processes.alone(agreement_picture_file, board, name, kind, niceness=_NICENESS).result()


def figures(board: AgreementBoard) -> None:
    """Draw the main agreement figures as tiles, and a table of all agreement figures with confidence intervals.

    A second table says how many pairs were settled by two, four or six grades or by a lead.
    """
    tiles = {tr(title): (board.figures[key], tr(meaning)) for key, (title, meaning) in _HEADLINE.items()}
    look.metrics({title: (value(figure), f"{meaning} {_base(figure)}") for title, (figure, meaning) in tiles.items()})
    st.html(figure_table(board))
    with st.expander(tr("What these figures mean")):
        st.markdown(tr(_MEANINGS))
    _take_along(board, "figures")
    st.header(tr("How the pairs were settled"), anchor=False)
    st.html(settled_table(board.settled))
    _take_along(board, "pairs")


def grades(board: AgreementBoard) -> None:
    """Draw how far apart the grades of a pair lie, and how often each grade and relevance occurs."""
    _pictures(board, "lowest-highest", "grades")


def people(board: AgreementBoard) -> None:
    """Draw each annotator's bias and spread of grades, and the agreement of every two annotators.

    Bias is how much higher an annotator grades than the others do on the same pairs, on average.
    """
    st.html(people_table(board))
    _pictures(board, "people", "spread", "couples")


def over_time(board: AgreementBoard) -> None:
    """Draw agreement by day or week, and each annotator's bias by week.

    Bias is how much higher an annotator grades than the others do on the same pairs, on average.
    """
    if not board.days:
        st.info(
            tr("All grades come from earlier campaigns, so their time is not known."),
            icon=":material/schedule:",
        )
        return
    usual = "weeks" if len(board.weeks) > 2 else "days"
    by = address_state.choice(tr("By"), "by", {"days": tr("Days"), "weeks": tr("Weeks")}, default=usual)
    _pictures(board, by, "person-weeks")


def queries(board: AgreementBoard) -> None:
    """Draw a table of all queries with the agreement of their grades, the least agreement first."""
    if not board.queries:
        st.info(tr("No graded pair has a query."), icon=":material/format_list_numbered:")
        return
    frame = pd.DataFrame(agreement_table(board, "queries")).sort_values("within_tolerance", kind="stable")
    number, share = st.column_config.NumberColumn, partial(st.column_config.NumberColumn, format="percent")
    columns: dict[str, Any] = {
        "query": st.column_config.TextColumn(tr("Query"), width=240, pinned=True),
        "split": tr("Split"),
        "pairs": tr("Pairs"),
        "within_tolerance": share(tr("Within the tolerance")),
        "equal": share(tr("Equal")),
        "by_two_share": share(tr("Settled by two")),
        "alpha_ordinal": number(tr("Alpha, ordinal"), format="%.2f", help=tr("With few pairs, alpha is uncertain.")),
        "mean": number(tr("Mean grade"), format="%.2f"),
        "discarded": tr("Discarded"),
        "waiting": tr("Waiting"),
    }
    st.dataframe(frame, hide_index=True, key="agreement_queries", column_order=list(columns), column_config=columns)
    st.caption(tr("Queries with the least agreement come first. Click a column to sort by it."))
    _take_along(board, "queries")


def what_others_are() -> None:
    """Draw a text that explains the other aggregation methods (mean, median, Dawid-Skene).

    It also says that comparing them with the consensus rule changes nothing.
    """
    st.markdown(
        tr(
            "Compare the rule with other ways to aggregate the grades of settled pairs. **This changes "
            "nothing.** Mean and median use all grades of a pair, rounded as in this project. Dawid-Skene "
            "estimates how each annotator errs, weighs their grades by that, and takes the median."
        )
    )


def others(report: AggregatorReport) -> None:
    """Draw how many pairs would get another relevance under each aggregation method, and list these pairs."""
    rows = [
        (
            translate_message(AGGREGATOR_WORDS[aggregator.name]),
            tr(
                "<b>{n:,}</b> of {rule:,} <small>{share}</small>",
                n=aggregator.differs,
                rule=aggregator.by_rule,
                share=_percent(aggregator.differs, aggregator.by_rule),
            ),
            f"{aggregator.differs_by_more:,}",
            tr(
                "{differs_from_lead:,} of {by_lead:,}",
                differs_from_lead=aggregator.differs_from_lead,
                by_lead=aggregator.by_lead,
            ),
            f"{aggregator.gained:,}",
        )
        for aggregator in report.counts
    ]
    heads = (
        tr("Instead of the rule"),
        tr("Other relevance"),
        tr("By more than one"),
        tr("Other than a lead's"),
        tr("Discarded pairs"),
    )
    st.html(look.table(heads, rows, "rr-figures"))
    st.caption(
        tr(
            "The median of four grades is the mean of the middle two, as in the rule. So it differs only for "
            "pairs that leads adjudicated. Discarded pairs would all have a relevance."
        )
    )
    if not report.pairs:
        return
    st.header(tr("Pairs that would differ"), anchor=False)
    frame = pd.DataFrame([asdict(aggregator) for aggregator in report.pairs[:_PAIRS]])
    frame["grades"] = [" ".join(map(str, grades)) for grades in frame["grades"]]
    columns: dict[str, Any] = {
        "pair": st.column_config.TextColumn(tr("Pair"), pinned=True),
        "query": st.column_config.TextColumn(tr("Query"), width=320),
        **{
            "grades": tr("Grades"),
            "final": tr("Final"),
            "mean": tr("Mean"),
            "median": tr("Median"),
            "dawid_skene": "Dawid-Skene",
        },
        "by_lead": tr("By a lead"),
    }
    st.dataframe(frame, hide_index=True, key="other_pairs", column_order=list(columns), column_config=columns)
    if len(report.pairs) > _PAIRS:
        st.caption(tr("The first {pairs:,} of {pairs_2:,}. The file has all.", pairs=_PAIRS, pairs_2=len(report.pairs)))
    st.download_button(
        "CSV",
        data=lambda: other_relevances_csv(report),
        file_name="other-relevances.csv",
        mime="text/csv",
        key="take-others",
        on_click="ignore",
    )


def _percent(part: int, whole: int) -> str:
    return wording.percent(100 * part / max(whole, 1))


def value(figure: Figure) -> str:
    """Return the value of a figure as text: `0.615`, `81.9 %`, or a dash if it is undefined."""
    return "–" if figure.value is None else _number(figure.value, figure)


def interval(figure: Figure) -> str:
    """Return the confidence interval of a figure as text: `0.612 to 0.618`, or an empty text if it has none."""
    if figure.low is None or figure.high is None:
        return ""
    return tr("{number} to {number_2}", number=_number(figure.low, figure), number_2=_number(figure.high, figure))


def _base(figure: Figure) -> str:
    """Return a sentence with a figure's confidence interval and sample size, or why the figure is undefined."""
    if figure.value is None:
        return tr("Undefined: {reason}.", reason=plain(translate_message(figure.reason)))
    if sure := interval(figure):
        return tr("95 % interval {interval}; over {n:,} {of}.", interval=sure, n=figure.n, of=figure.of)
    return tr("Over {n:,} {of}.", n=figure.n, of=figure.of)


def figure_table(board: AgreementBoard) -> str:
    """Return an HTML table of all figures with their confidence intervals, or the reason why a figure is undefined."""
    rows = []
    for key, words in FIGURE_WORDS.items():
        figure = board.figures[key]
        over = tr("undefined: {reason}", reason=figure.reason)
        if figure.value is not None:
            over = tr("{n:,} {of}", n=figure.n, of=figure.of)
        rows.append((translate_message(words), f"<b>{value(figure)}</b>", interval(figure), escape(over)))
    return look.table((tr("Figure"), tr("Value"), tr("95 % interval"), tr("Over")), rows, "rr-figures")


def settled_table(parts: tuple[Verdicts, ...]) -> str:
    """Return an HTML table of how pairs were settled, in numbers and percent: by two, four or six grades, or by a lead.

    It also counts discarded pairs and pairs that need more grades. Each entry of `parts` becomes a row: all pairs, then
    each split (training, validation, test).
    """
    rows = [
        (
            escape(translate_message(part.part)),
            f"{part.pairs:,}",
            *(
                f"{count:,} <small>{wording.percent(100 * count / part.pairs)}</small>"
                for count in (getattr(part, mark) for mark in _MARKS)
            ),
        )
        for part in parts
    ]
    return look.table(
        (
            tr("Pairs"),
            tr("All"),
            tr("By two"),
            tr("By four"),
            tr("By six"),
            tr("By a lead"),
            tr("Discarded"),
            tr("Waiting"),
        ),
        rows,
        "rr-figures",
    )


def people_table(board: AgreementBoard) -> str:
    """Return an HTML table of annotators: number of grades, most used grade, and bias with its confidence interval."""
    rows = [
        (
            escape(person.name),
            f"{person.grades:,}",
            f"{look.grade_mark(person.most_used)} {_often(person)}",
            _signed(person.bias.value)
            if person.bias.value is not None
            else tr("undefined: {reason}", reason=escape(translate_message(person.bias.reason))),
            ""
            if person.bias.low is None
            else tr("{signed} to {signed_2}", signed=_signed(person.bias.low), signed_2=_signed(person.bias.high)),
            f"{person.bias.n:,}",
        )
        for person in board.people
    ]
    heads = (tr("Annotator"), tr("Grades"), tr("Most used"), tr("Bias"), tr("95 % interval"), tr("Compared"))
    return look.table(heads, rows, "rr-figures rr-people")


def _often(person: PersonGrades) -> str:
    share = wording.percent(100 * person.most_used_share)
    return f"<span class='rr-fast'>{tr('{share}, often', share=share)}</span>" if person.often else share


def _number(number: float, figure: Figure) -> str:
    if figure.of.startswith("pairs"):
        return wording.percent(100 * number)
    return f"{number:.3f}".replace("-", "\u2212")


def _signed(number: float | None) -> str:
    return "" if number is None else f"{number:+.2f}".replace("-", "\u2212")


def _pictures(board: AgreementBoard, *names: str) -> None:
    with st.container(key="agreement-charts"):
        for name in names:
            picture = agreement_picture(board, name)
            st.header(translate_message(picture.title), anchor=False)
            # A chart keeps the width it was drawn with; on a narrow page it scrolls by itself, see look.css.
            st.altair_chart(cast(alt.Chart, picture.chart), width="content", alt=translate_message(picture.told))
            st.caption(plain(translate_message(picture.caption)))
            _take_along(board, name, picture=True)


def _take_along(board: AgreementBoard, name: str, *, picture: bool = False) -> None:
    """Draw buttons that download a table as CSV. If `picture` is true, others download its chart as PNG and SVG.

    `name` is the name of the table, such as `queries`. A file is made only when somebody clicks its button.
    """
    files: dict[str, tuple[str, Callable[[], str | bytes]]] = {
        "CSV": ("text/csv", lambda: agreement_csv(board, name)),
    }
    if picture:
        files["PNG"] = ("image/png", lambda: draw(board, name, "png"))
        files["SVG"] = ("image/svg+xml", lambda: draw(board, name, "svg"))
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, (kind, make) in files.items():
            file = f"agreement-{name}.{label.lower()}"
            st.download_button(label, data=make, file_name=file, mime=kind, key=f"take-{file}", on_click="ignore")
