"""Draw how the grades of a model compare with people's: agreement, bias, and the order of systems."""

from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import plain
from annotate_app.screens.agreement.view import interval, value
from annotate_app.session.addresses import full_path
from annotate_app.shared import look, wording
from backend.campaign.monitoring.quality.model import Figure
from backend.campaign.release.judge_report.model import (
    FIGURE_WORDS,
    LEFT_OUT,
    BiasGroup,
    JudgeReport,
    MeasureOrder,
    SplitSpread,
)

_MEANINGS = marked(
    "**Kappa** is Cohen's, weighted by the square of a difference. A relevance is made from several grades, so it is "
    "surer than one grade. To compare the model with a person, compare *model and half of the people* with *two halves "
    "of the people*: the second is the ceiling.\n\n"
    "**Alpha** is Krippendorff's. If it falls when the model is one more annotator, the model agrees less with people "
    "than they do with each other.\n\n"
    "**Bias** is the model's grade minus the unrounded grade that people agreed on; above 0 is more generous. Where "
    "people gave the lowest grade, the model can only be more generous, and at the highest only stricter.\n\n"
    "**Intervals** (95 %) are of samples of the queries, each with all its pairs."
)
_SWAP = marked("{ahead} before {behind} by {people} ({low} to {high}); the model says {model}")


def what_it_is() -> None:
    """Draw a text that says what is compared, and that a model's grades change nothing."""
    st.markdown(
        tr(
            "Compare the grades of a model with people's. **This changes nothing:** a model's grade is never a "
            "judgement, and annotators never see it."
        )
    )


def report(measured: JudgeReport) -> None:
    """Draw the report: figures of agreement, the table of both grades, biases, and the order of systems."""
    pairs, queries = wording.count_of(measured.pairs, "pair"), wording.count_of(measured.queries, "query")
    left_out = [
        tr("{n:,} left out: {why}.", n=n, why=translate_message(LEFT_OUT[why])) for why, n in measured.left_out.items()
    ]
    st.caption(plain(" ".join([tr("{pairs} of {queries} compared.", pairs=pairs, queries=queries), *left_out])))
    rows = [
        (translate_message(words), f"<b>{value(figure)}</b>", interval(figure), _over(figure))
        for key, words in FIGURE_WORDS.items()
        for figure in (measured.figures[key],)
    ]
    st.html(look.table((tr("Figure"), tr("Value"), tr("95 % interval"), tr("Over")), rows, "rr-figures"))
    with st.expander(tr("What these figures mean")):
        st.markdown(tr(_MEANINGS))
    st.header(tr("Relevance and the model's grade"), anchor=False)
    st.html(confusion_table(measured.confusion))
    link = f'<a href="{full_path("/disputes?show=model")}" target="_self">{tr("Look at these pairs")}</a>'
    apart = tr("{pairs} differ by 2 or more.", pairs=wording.count_of(measured.apart, "pair"))
    st.html(f"<p>{apart} {link}</p>")
    st.header(tr("Bias of the model"), anchor=False)
    st.html(_bias_table(tr("Relevance"), measured.by_grade))
    st.html(_bias_table(tr("Query"), measured.by_length))
    if measured.by_show:
        st.html(_bias_table(tr("Show"), measured.by_show))
    st.header(tr("Order of systems"), anchor=False)
    _orders(measured)


def confusion_table(counts: tuple[tuple[int, ...], ...]) -> str:
    """Return an HTML table of the number of pairs by relevance (rows) and the model's grade (columns)."""
    head = (tr("Relevance"), *(tr("Model {grade}", grade=look.grade_mark(grade)) for grade in range(len(counts))))
    return look.table(
        head,
        [(look.grade_mark(grade), *(f"{n:,}" for n in row)) for grade, row in enumerate(counts)],
        "rr-figures",
    )


def _bias_table(title: str, groups: tuple[BiasGroup, ...]) -> str:
    rows = [
        (escape(translate_message(group.name)), f"{group.pairs:,}", f"<b>{value(group.bias)}</b>", interval(group.bias))
        for group in groups
    ]
    return look.table((title, tr("Pairs"), tr("Bias"), tr("95 % interval")), rows, "rr-figures")


def _orders(measured: JudgeReport) -> None:
    for name, why in measured.runs_left_out.items():
        st.caption(plain(tr("{run} is not ordered: {why}.", run=name, why=translate_message(why))))
    if measured.no_orders:
        st.info(plain(tr("No orders: {why}.", why=translate_message(measured.no_orders))))
        return
    st.markdown(
        tr(
            "Kendall's tau-b between the orders of {runs} over {queries}: 1 is the same order, -1 the reverse. *Model, "
            "half* and *half, half* are means over {splits} random splits of the people, with their range. *Half, "
            "half* is the ceiling for *model, half*. The largest swap is of the two systems in opposite orders that "
            "are furthest apart by people.",
            runs=wording.count_of(len(measured.runs), "run"),
            queries=wording.count_of(measured.order_queries, "query"),
            splits=measured.splits,
        )
    )
    heads = (tr("Measure"), tr("Model"), tr("95 % interval"), tr("Model, half"), tr("Half, half"), tr("Largest swap"))
    st.html(look.table(heads, [_order_row(order) for order in measured.orders]))


def _order_row(order: MeasureOrder) -> tuple[str, ...]:
    change = order.change
    tau = "–" if change.tau is None else f"<b>{_decimal(change.tau)}</b>"
    bounds = ""
    if change.low is not None and change.high is not None:
        bounds = tr("{low} to {high}", low=_decimal(change.low), high=_decimal(change.high))
    swap = tr("none")
    if (two := change.swap) is not None:
        swap = tr(
            _SWAP,
            ahead=escape(two.ahead),
            behind=escape(two.behind),
            people=_decimal(two.by_first, 4),
            low=_decimal(two.low, 4),
            high=_decimal(two.high, 4),
            model=_decimal(two.by_second, 4),
        )
    return change.key, tau, bounds, _spread(order.half), _spread(order.people), swap


def _spread(spread: SplitSpread | None) -> str:
    if spread is None:
        return "–"
    low, high = _decimal(spread.low), _decimal(spread.high)
    return f"{_decimal(spread.mean)} <small>{tr('{low} to {high}', low=low, high=high)}</small>"


def _decimal(number: float, digits: int = 3) -> str:
    return f"{number:.{digits}f}".replace("-", "\u2212")


def _over(figure: Figure) -> str:
    if figure.value is None:
        return tr("undefined: {reason}", reason=escape(translate_message(figure.reason)))
    return tr("{n:,} {of}", n=figure.n, of=translate_message(figure.of))
