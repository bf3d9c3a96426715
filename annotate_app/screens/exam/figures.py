"""Tables, charts and clips of an exam: its preview, and the results of first attempts."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import Any, cast

import altair as alt
import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import look, wording
from annotate_app.shared.review_clip import review_clip
from backend.campaign.nouns import Person, Scale
from backend.campaign.qualification.exam.results import ExamOutcomes, exam_outcomes_csv
from backend.campaign.qualification.exam.rules.marking import PAPER_KAPPA, PAPER_MISSED
from backend.campaign.qualification.exam.rules.marking import Constant as ExamConstant
from backend.campaign.qualification.exam.rules.marking import Estimate as ExamEstimate
from backend.campaign.qualification.exam.rules.marking import Guesses as ExamGuesses
from backend.campaign.qualification.exam.rules.marking import Outcome as ExamOutcome
from backend.campaign.qualification.exam.setting import ExamPreview
from backend.campaign.qualification.exam.setting import PreviewItem as ExamPreviewItem
from backend.campaign.review.queries import query_pairs
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId

_BESIDE = 3
_SOURCES = (marked("settled pairs", _context="from"), marked("open pairs", _context="from"))
"""The stored names of the sources of an exam. Any other stored source is the name of a file."""
_TEXT_LENGTH = 400
_PERSON, _ALL, _PAPER = "#6063f1", "#f59e0b", "#db2777"
_EVERYBODY = marked("Mean of all")
_ROW_PX = 26


def draw_preview(preview: ExamPreview) -> None:
    """Draw what an exam would contain: its pairs and queries, and the answer key if it is known.

    Beside the answer key, draw the scores that annotators would reach by guessing, or by always giving the same grade.
    """
    tolerance = auth.project().campaign.tolerance
    drawn = source(preview.source)
    if preview.seed is not None:
        drawn = tr("{pairs}, seed {seed}", pairs=drawn, seed=preview.seed)
    st.markdown(
        tr(
            "**{pairs} from {queries}** ({drawn}). At most {percent} of the grades may {differ}.",
            pairs=wording.count_of(len(preview.items), "pair"),
            queries=wording.count_of(preview.queries, "query"),
            drawn=plain(drawn),
            percent=wording.percent(preview.most_missed),
            differ=wording.differ(tolerance),
        )
    )
    if preview.short:
        st.warning(plain(translate_message(preview.short)), icon=":material/info:")
    if preview.guesses is None:
        st.markdown(tr("The answer key comes later. Before you close the exam, you see what guessing would score."))
    else:
        key_and_guesses(preview.grades, preview.guesses)


def source(stored: str) -> str:
    """Return where an exam's pairs come from, in the reader's language: settled pairs, open pairs, or a file's name.

    `stored` is the same text in English, as the exam has it.
    """
    return tr(stored, _context="from") if stored in _SOURCES else stored


def key_and_guesses(grades: tuple[int, ...], guesses: ExamGuesses) -> None:
    """Draw the number of pairs for each right grade, beside what an annotator would score by guessing.

    `grades` has the number of pairs whose right grade is 0, 1 and so on.
    """
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        st.markdown(tr("**Answer key**"))
        st.html(key_table(grades, auth.project().campaign.scale))
    with right:
        st.markdown(tr("**What guessing would score**"))
        st.html(guess_table(guesses))


def reason(guesses: ExamGuesses, key: str) -> None:
    """Draw a field in which the lead says why a weak exam is used. Draw nothing for an exam that is not weak.

    An exam is weak if annotators pass or nearly pass it by guessing. `key` is the Streamlit key of the field.
    """
    if guesses.weak:
        weaknesses = "".join(f"\n- {translate_message(why)}" for why in guesses.weak)
        st.markdown(tr("**This exam is weak:**\n{weaknesses}", weaknesses=weaknesses))
        st.markdown(tr("Choose other pairs, use more pairs, or allow fewer misses. To use it as it is, give a reason."))
        st.text_input(tr("Reason for using it"), key=key, max_chars=_TEXT_LENGTH)


def key_table(grades: tuple[int, ...], scale: Scale) -> str:
    """Return an HTML table of the number of pairs with each right grade, highest grade first.

    `grades` has the number of pairs whose right grade is 0, 1 and so on.
    """
    most = max(grades)
    rows = [
        (look.grade_mark(grade), escape(scale.label(grade).lower()), look.bar(count, most))
        for grade, count in reversed(list(enumerate(grades)))
    ]
    return look.table((tr("Right grade"), tr("Meaning"), tr("Pairs")), rows, "rr-paces")


def guess_table(guesses: ExamGuesses) -> str:
    """Return an HTML table of what guessing scores: always the same grade (highest first), then random grades."""
    rows = [
        (
            tr("always {grade}", grade=look.grade_mark(constant.grade)),
            _missed(constant.missed, guesses.items),
            _verdict(constant),
        )
        for constant in reversed(guesses.constants)
    ]
    chance = round(guesses.chance_missed * guesses.items, 1)
    rows.append(
        (tr("by chance"), _missed(chance, guesses.items), tr("passes {odds}", odds=_odds(guesses.chance_passes)))
    )
    return look.table((tr("Grades"), tr("Missed"), tr("Result")), rows, "rr-guesses")


def clips(project: Project, lead: Person, preview: ExamPreview) -> None:
    """Draw the choice of a query of the exam, and the clips of its pairs, each below its right grade."""
    by_query: defaultdict[QueryId, list[ExamPreviewItem]] = defaultdict(list)
    for item in preview.items:
        by_query[item.query_id].append(item)

    def label(query: QueryId) -> str:
        items = by_query[query]
        key = sorted(item.right for item in items if item.right is not None)
        grades = ", ".join(str(right) for right in key) or wording.count_of(len(items), "pair")
        return f"{items[0].query} · {grades}"

    chosen = st.selectbox(tr("Query"), list(by_query), format_func=label, key="exam_look")
    if chosen is None:
        return
    pairs_by_key = {pair.pair: pair for pair in query_pairs(project, lead, chosen)}
    items = sorted(by_query[chosen], key=lambda one: -1 if one.right is None else one.right, reverse=True)
    for start in range(0, len(items), _BESIDE):
        for column, item in zip(st.columns(_BESIDE), items[start : start + _BESIDE], strict=False):
            with column:
                if item.right is not None:
                    meaning = escape(project.campaign.scale.label(item.right).lower())
                    st.html(f"<span class='rr-grades'>{look.grade_mark(item.right)}</span> {meaning}")
                if (pair := pairs_by_key.get(item.pair)) is not None:
                    review_clip(pair, "preview-")
                    st.caption(plain(wording.moment(pair)))


def _missed(count: float, total: int) -> str:
    return look.bar(count, total, tr(" of {of:,}, {percent}", of=total, percent=wording.percent(100 * count / total)))


def _verdict(constant: ExamConstant) -> str:
    if constant.passed:
        return f"<b class='rr-fast'>{tr('passes')}</b>"
    return f"<span class='rr-fast'>{tr('fails narrowly')}</span>" if constant.near else tr("fails")


def _odds(share: float) -> str:
    """Return a probability as text, such as `in 7.1 % of the cases`, or `in less than 0.1 % of the cases`."""
    return (
        tr("in less than 0.1 % of the cases")
        if share < 0.001
        else tr("in {percent} of the cases", percent=wording.percent(100 * share))
    )


def outcomes(outcomes_by_person: ExamOutcomes) -> None:
    """Draw the results of annotators' first attempts at the exam: charts, a table and a CSV download.

    The charts stand side by side, or below each other on a narrow page.
    """
    if not outcomes_by_person.people:
        st.info(tr("No exam handed in yet."))
        return
    outcomes_by_name = [
        (tr(_EVERYBODY), outcomes_by_person.together),
        *((person.person.name, person.outcome) for person in outcomes_by_person.people),
    ]
    pictures = {
        tr("Missed at first"): (
            [(name, outcome.missed_first) for name, outcome in outcomes_by_name],
            PAPER_MISSED,
            True,
        ),
        tr("Kappa with the answer key"): (
            [(name, outcome.kappa) for name, outcome in outcomes_by_name],
            PAPER_KAPPA,
            False,
        ),
        tr("Quadratic kappa"): ([(name, outcome.kappa_quadratic) for name, outcome in outcomes_by_name], None, False),
    }
    for column, (title, (rows, paper, share)) in zip(st.columns(len(pictures)), pictures.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            st.altair_chart(
                cast(alt.Chart, outcome_chart(rows, paper, share)),
                width="stretch",
                alt=_chart_text(title, rows, paper, share),
            )
    st.caption(
        tr(
            "Each dot is an annotator; the amber dot is the mean. Lines are 95 % intervals. The dashed line "
            "shows the annotators of TVR-Ranking: {percent} missed at first, mean kappa "
            "{paper_kappa:.2f}.",
            percent=wording.percent(100 * PAPER_MISSED),
            paper_kappa=PAPER_KAPPA,
        )
    )
    st.html(outcome_table(outcomes_by_name))
    st.caption(
        tr(
            "Results of first attempts. “After explanation” counts the second grade of missed clips. "
            "Intervals: Wilson for shares, bootstrap over clips for kappas, bootstrap over annotators for "
            "the mean."
        )
    )
    st.download_button(
        "CSV",
        data=lambda: exam_outcomes_csv(outcomes_by_person),
        file_name="exam-results.csv",
        mime="text/csv",
        key="exam-csv",
    )


def outcome_chart(rows: Sequence[tuple[str, ExamEstimate]], paper: float | None, share: bool) -> alt.TopLevelMixin:
    """Return a chart of one exam figure, such as the share of missed items, with a row for each person.

    A dot shows the figure, and a line its confidence interval.

    Args:
        rows: each person's name and figure. The first row is the mean of all people.
        paper: the value that the TVR-Ranking paper reports, drawn as a dashed line; None for no line.
        share: whether the figure is a share (0 to 1), written in percent.
    """
    points: list[dict[str, Any]] = [
        {
            "who": name,
            "value": estimate.value,
            "low": estimate.value if estimate.low is None else estimate.low,
            "high": estimate.value if estimate.high is None else estimate.high,
            "n": estimate.n,
            "all": nth == 0,
            "told": _number(estimate, share),
        }
        for nth, (name, estimate) in enumerate(rows)
        if estimate.value is not None
    ]
    axis = alt.Axis(format="%" if share else ".1f", tickCount=5)
    scale = alt.Scale(domain=[0, 1]) if share else alt.Scale(domain=[min([0.0, *(row["low"] for row in points)]), 1])
    base = _chart_of(points).encode(
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
        layers.insert(0, _chart_of([{"value": paper}]).mark_rule(color=_PAPER, strokeDash=[4, 3]).encode(x=x))
    picture: alt.TopLevelMixin = alt.layer(*layers).properties(
        height=_ROW_PX * len({row["who"] for row in points}) + 30
    )
    return picture


def outcome_table(whose: Sequence[tuple[str, ExamOutcome]]) -> str:
    """Return an HTML table of each person's missed exam items and kappas, with confidence intervals.

    Kappa is the agreement with the answer key, corrected for agreement by chance. Where an interval or
    value is missing, the table gives the reason.
    """
    rows = [
        (
            f"<b>{escape(name)}</b>",
            tr("{missed:,} of {answers:,}", missed=outcome.missed, answers=outcome.answers),
            _cell(outcome.missed_first, True),
            _cell(outcome.missed_after, True),
            _cell(outcome.kappa, False),
            _cell(outcome.kappa_quadratic, False),
        )
        for name, outcome in whose
    ]
    head = ("", tr("Missed"), tr("At first"), tr("After explanation"), tr("Kappa"), tr("Quadratic"))
    return look.table(head, rows, "rr-outcomes")


def _cell(estimate: ExamEstimate, share: bool) -> str:
    """Return a table cell for an exam figure as HTML: its value in bold, then its confidence interval.

    If the value or the interval is missing, the cell gives the reason. `share` says whether the figure is a
    share, to be written in percent.
    """
    value = f"<b>{_figure(estimate.value, share)}</b>" if estimate.value is not None else ""
    if estimate.low is None or estimate.high is None:
        return f"{value}<small>{escape(translate_message(estimate.reason))}</small>"
    low, high = _figure(estimate.low, share).removesuffix(" %"), _figure(estimate.high, share)
    return f"{value}<small>{tr('{low} to {high}', low=low, high=high)}</small>"


def _number(estimate: ExamEstimate, share: bool) -> str:
    """Return an exam figure with its confidence interval as one line of text.

    If the value or the interval is missing, the text gives the reason. `share` says whether the figure is a
    share, to be written in percent.
    """
    if estimate.value is None:
        return translate_message(estimate.reason)
    if estimate.low is None or estimate.high is None:
        return f"{_figure(estimate.value, share)} ({translate_message(estimate.reason)})"
    return tr(
        "{figure} ({figure_2} to {figure_3})",
        figure=_figure(estimate.value, share),
        figure_2=_figure(estimate.low, share),
        figure_3=_figure(estimate.high, share),
    )


def _figure(value: float, share: bool) -> str:
    return wording.percent(100 * value) if share else f"{value:.2f}"


def _chart_text(title: str, rows: Sequence[tuple[str, ExamEstimate]], paper: float | None, share: bool) -> str:
    values = "; ".join(f"{name}: {_number(estimate, share)}" for name, estimate in rows)
    return f"{title}: {values}." + ("" if paper is None else tr(" The paper: {figure}.", figure=_figure(paper, share)))


def _chart_of(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]  # Altair does not type its constructor
