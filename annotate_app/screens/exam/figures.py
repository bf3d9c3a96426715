"""Draw tables, charts and clips of an exam: its preview, and the results of first attempts."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import Any, cast

import altair as alt
import streamlit as st

from annotate_app.language import marked, retold, tr
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
"""Stored names of the sources that an exam may be drawn from; any other name is a file."""
_TEXT_LENGTH = 400
_PERSON, _ALL, _PAPER = "#6063f1", "#f59e0b", "#db2777"
_EVERYBODY = marked("Mean of all")
_ROW_PX = 26


def preview_summary(preview: ExamPreview) -> None:
    """Draw the preview of an exam: its pairs by right grade, and the scores that guessing would get."""
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
        st.warning(plain(retold(preview.short)), icon=":material/info:")
    if preview.guesses is None:
        st.markdown(tr("The answer key comes later. Before you close the exam, you see what guessing would score."))
    else:
        key_and_guesses(preview.grades, preview.guesses)


def source(kept: str) -> str:
    """Return the source of an exam in the reader's language: kind of pairs, or name of a file."""
    return tr(kept, _context="from") if kept in _SOURCES else kept


def key_and_guesses(grades: tuple[int, ...], guesses: ExamGuesses) -> None:
    """Draw the answer key by grade, beside the scores of guessing."""
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        st.markdown(tr("**Answer key**"))
        st.html(key_table(grades, auth.project().campaign.scale))
    with right:
        st.markdown(tr("**What guessing would score**"))
        st.html(guess_table(guesses))


def reason(guesses: ExamGuesses, key: str) -> None:
    """Draw a field for the reason to hold an exam that guessing passes or nearly passes; nothing for other exams."""
    if guesses.weak:
        text = "".join(f"\n- {retold(why)}" for why in guesses.weak)
        st.markdown(tr("**This exam is weak:**\n{weaknesses}", weaknesses=text))
        st.markdown(tr("Choose other pairs, use more pairs, or allow fewer misses. To use it as it is, give a reason."))
        st.text_input(tr("Reason for using it"), key=key, max_chars=_TEXT_LENGTH)


def key_table(grades: tuple[int, ...], scale: Scale) -> str:
    """Return an HTML table of the number of pairs by right grade, the highest grade first."""
    most = max(grades)
    rows = [
        (look.grade_mark(grade), escape(scale.label(grade).lower()), look.bar(count, most))
        for grade, count in reversed(list(enumerate(grades)))
    ]
    return look.table((tr("Right grade"), tr("Meaning"), tr("Pairs")), rows, "rr-paces")


def guess_table(guesses: ExamGuesses) -> str:
    """Return an HTML table of the items missed by giving one grade throughout, for each grade, and by chance."""
    rows = [
        (tr("always {grade}", grade=look.grade_mark(one.grade)), _missed(one.missed, guesses.items), _verdict(one))
        for one in reversed(guesses.constants)
    ]
    chance = round(guesses.chance_missed * guesses.items, 1)
    rows.append(
        (tr("by chance"), _missed(chance, guesses.items), tr("passes {odds}", odds=_odds(guesses.chance_passes)))
    )
    return look.table((tr("Grades"), tr("Missed"), tr("Result")), rows, "rr-guesses")


def clips(project: Project, lead: Person, preview: ExamPreview) -> None:
    """Draw the choice of a query, and the clips of its pairs, each under its right grade."""
    by_query: defaultdict[QueryId, list[ExamPreviewItem]] = defaultdict(list)
    for item in preview.items:
        by_query[item.query_id].append(item)

    def label(query: QueryId) -> str:
        items = by_query[query]
        key = sorted(item.right for item in items if item.right is not None)
        text = ", ".join(str(right) for right in key) or wording.count_of(len(items), "pair")
        return f"{items[0].query} · {text}"

    chosen = st.selectbox(tr("Query"), list(by_query), format_func=label, key="exam_look")
    if chosen is None:
        return
    there = {pair.pair: pair for pair in query_pairs(project, lead, chosen)}
    items = sorted(by_query[chosen], key=lambda one: -1 if one.right is None else one.right, reverse=True)
    for start in range(0, len(items), _BESIDE):
        for column, item in zip(st.columns(_BESIDE), items[start : start + _BESIDE], strict=False):
            with column:
                if item.right is not None:
                    meaning = escape(project.campaign.scale.label(item.right).lower())
                    st.html(f"<span class='rr-grades'>{look.grade_mark(item.right)}</span> {meaning}")
                if (pair := there.get(item.pair)) is not None:
                    review_clip(pair, "preview-")
                    st.caption(plain(wording.moment(pair)))


def _missed(count: float, of: int) -> str:
    return look.bar(count, of, tr(" of {of:,}, {percent}", of=of, percent=wording.percent(100 * count / of)))


def _verdict(one: ExamConstant) -> str:
    if one.passed:
        return f"<b class='rr-fast'>{tr('passes')}</b>"
    return f"<span class='rr-fast'>{tr('fails narrowly')}</span>" if one.near else tr("fails")


def _odds(share: float) -> str:
    """Write a probability: `in 7.1 % of the cases`, or `hardly ever` below one in a thousand."""
    return (
        tr("in less than 0.1 % of the cases")
        if share < 0.001
        else tr("in {percent} of the cases", percent=wording.percent(100 * share))
    )


def outcomes(found: ExamOutcomes) -> None:
    """Draw the charts, the table and the download of exam results."""
    if not found.people:
        st.info(tr("No exam handed in yet."))
        return
    whose = [(tr(_EVERYBODY), found.together), *((one.person.name, one.outcome) for one in found.people)]
    pictures = {
        tr("Missed at first"): ([(name, of.missed_first) for name, of in whose], PAPER_MISSED, True),
        tr("Kappa with the answer key"): ([(name, of.kappa) for name, of in whose], PAPER_KAPPA, False),
        tr("Quadratic kappa"): ([(name, of.kappa_quadratic) for name, of in whose], None, False),
    }
    for column, (title, (rows, paper, share)) in zip(st.columns(len(pictures)), pictures.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            st.altair_chart(
                cast(alt.Chart, outcome_chart(rows, paper, share)),
                width="stretch",
                alt=_in_words(title, rows, paper, share),
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
    st.html(outcome_table(whose))
    st.caption(
        tr(
            "Results of first attempts. “After explanation” counts the second grade of missed clips. "
            "Intervals: Wilson for shares, bootstrap over clips for kappas, bootstrap over annotators for "
            "the mean."
        )
    )
    st.download_button(
        "CSV", data=lambda: exam_outcomes_csv(found), file_name="exam-results.csv", mime="text/csv", key="exam-csv"
    )


def outcome_chart(rows: Sequence[tuple[str, ExamEstimate]], paper: float | None, share: bool) -> alt.TopLevelMixin:
    """Return a chart of estimates with intervals, one person a row, the mean on top; `paper` is a published figure."""
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


def outcome_table(whose: Sequence[tuple[str, ExamOutcome]]) -> str:
    """Return an HTML table of all figures with intervals, or the reasons why they are undefined."""
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
    head = ("", tr("Missed"), tr("At first"), tr("After explanation"), tr("Kappa"), tr("Quadratic"))
    return look.table(head, rows, "rr-outcomes")


def _cell(one: ExamEstimate, share: bool) -> str:
    """Format an estimate as HTML: `9 %` above `4.8 to 16.2 %`, or above the reason why a part is undefined."""
    value = f"<b>{_figure(one.value, share)}</b>" if one.value is not None else ""
    if one.low is None or one.high is None:
        return f"{value}<small>{escape(retold(one.reason))}</small>"
    low, high = _figure(one.low, share).removesuffix(" %"), _figure(one.high, share)
    return f"{value}<small>{tr('{low} to {high}', low=low, high=high)}</small>"


def _number(one: ExamEstimate, share: bool) -> str:
    """Format an estimate with its interval in one line."""
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
    text = "; ".join(f"{name}: {_number(one, share)}" for name, one in rows)
    return f"{title}: {text}." + ("" if paper is None else tr(" The paper: {figure}.", figure=_figure(paper, share)))


def _over(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]  # Altair does not type its constructor
