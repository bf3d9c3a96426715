"""One pair as leads look at it: its clip, the grades and skips it got, and how the rule came to its verdict."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotate_app import wording
from annotate_app.review_clip import review_clip
from backend.core.model import GivenGrade, GivenSkip, PairReview


def clip(pair: PairReview) -> None:
    """The clip, and what it was cut from. At most once a pair on a page."""
    review_clip(pair)
    st.caption(f"{plain(wording.moment(pair))} · rank {pair.rank}  \n“{plain(pair.caption)}”")


def heading(pair: PairReview) -> None:
    """The query and the verdict."""
    badge = f":{wording.VERDICT_COLOURS[pair.verdict]}-badge[{pair.verdict.value}]"
    st.markdown(f"#### {plain(pair.query)} {badge}")


def judged(pair: PairReview, *, hidden: bool) -> None:
    """Grades, rule and result; skips where there are any. `hidden` keeps the names back."""
    st.markdown(plain(wording.why(pair)))
    if pair.grades:
        st.html(_grades(pair.grades, hidden))
    if pair.skips:
        st.html(_skips(pair.skips, hidden))


def plain(text: str) -> str:
    """Text of people inside Markdown, without its signs taking effect."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]()#+-.!|<>~$:" else sign for sign in text)


def _grades(given: Sequence[GivenGrade], hidden: bool) -> str:
    zone = st.context.timezone
    rows = "".join(
        f"<tr><td>{f'Annotator {seat}' if hidden else escape(grade.annotator)}</td>"
        f"<td><span class='rr-grade rr-r{grade.grade}'>{grade.grade}</span></td>"
        f"<td>{'first two' if grade.round == 1 else 'further two'}</td>"
        f"<td>{_active(grade)}</td><td>{wording.when(grade.at, zone)}</td></tr>"
        for seat, grade in enumerate(given, 1)
    )
    return _table(("Annotator", "Grade", "Round", "Active", "Graded"), rows, "rr-given")


def _active(grade: GivenGrade) -> str:
    if not grade.active_ms:
        return "not measured"
    too_fast = (
        " <span class='rr-fast' title='Given in less time than the clip can be judged in'>too fast</span>"
        if grade.too_fast
        else ""
    )
    return f"{grade.active_ms / 1000:.1f} s{too_fast}"


def _skips(given: Sequence[GivenSkip], hidden: bool) -> str:
    zone = st.context.timezone
    rows = "".join(
        f"<tr><td>{'hidden' if hidden else escape(skip.annotator)}</td><td>{wording.SKIP_WORDS[skip.kind]}</td>"
        f"<td>{escape(skip.reason)}</td><td>{wording.when(skip.at, zone)}</td></tr>"
        for skip in given
    )
    return _table(("Skipped by", "Why", "Reason", "When"), rows)


def _table(head: Sequence[str], rows: str, style: str = "") -> str:
    cells = "".join(f"<th scope='col'>{label}</th>" for label in head)
    return f"<table class='rr-grades {style}'><tr>{cells}</tr>{rows}</table>"
