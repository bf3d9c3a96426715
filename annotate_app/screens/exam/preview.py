"""An exam before it is held: its pairs as clips with the key, and what it comes to for who does not look at them."""

from collections import defaultdict
from html import escape

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import tables, wording
from annotate_app.shared.review_clip import review_clip
from backend.campaign.nouns import Person, Scale
from backend.campaign.qualification.exam.rules.marking import Constant as ExamConstant
from backend.campaign.qualification.exam.rules.marking import Guesses as ExamGuesses
from backend.campaign.qualification.exam.setting import ExamPreview
from backend.campaign.qualification.exam.setting import PreviewItem as ExamPreviewItem
from backend.campaign.review.queries import query_pairs
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId

_BESIDE = 3
_SOURCES = (marked("settled pairs", _context="from"), marked("open pairs", _context="from"))
"""What an exam may be drawn from, as it is kept; else it is a file."""
_TEXT_LENGTH = 400


def told(preview: ExamPreview) -> None:
    """How many pairs, of which grades, and what one grade throughout or grades by chance would score."""
    tolerance = auth.project().campaign.tolerance
    drawn = source(preview.source)
    if preview.seed is not None:
        drawn = tr("{source}, seed {seed}", source=drawn, seed=preview.seed)
    st.markdown(
        tr(
            "**{pairs} of {querys}**, from {drawn}; at most {percent} of the grades may {differ}.",
            pairs=wording.count_of(len(preview.items), "pair"),
            querys=wording.count_of(preview.queries, "query"),
            drawn=plain(drawn),
            percent=wording.percent(preview.most_missed),
            differ=wording.differ(tolerance),
        )
    )
    if preview.short:
        st.warning(plain(retold(preview.short)), icon=":material/info:")
    if preview.guesses is None:
        st.markdown(tr("The key comes later; what guessing scores with it is told before the round is closed."))
    else:
        figures(preview.grades, preview.guesses)


def source(kept: str) -> str:
    """What an exam was drawn from: pairs, in the reader's words, or the name of a file."""
    return tr(kept, _context="from") if kept in _SOURCES else kept


def figures(grades: tuple[int, ...], guesses: ExamGuesses) -> None:
    """A key by grade, beside what guessing scores with it."""
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        st.markdown(tr("**The key**"))
        st.html(key_table(grades, auth.project().campaign.scale))
    with right:
        st.markdown(tr("**What it comes to without looking at the clips**"))
        st.html(guess_table(guesses))


def reason(guesses: ExamGuesses, key: str) -> None:
    """Asks why an exam is held that guessing passes, or nearly; nothing of one that tells enough."""
    if guesses.weak:
        told = "".join(f"\n- {retold(why)}" for why in guesses.weak)
        st.markdown(tr("**This exam tells little about who takes it:**\n{told}", told=told))
        st.markdown(tr("Other pairs, more of them, or fewer misses would make a better one. Or say why you hold it."))
        st.text_input(tr("Why hold it all the same?"), key=key, max_chars=_TEXT_LENGTH)


def key_table(grades: tuple[int, ...], scale: Scale) -> str:
    """How many pairs have each right grade, the highest grade first."""
    most = max(grades)
    rows = [
        (tables.grade(grade), escape(scale.label(grade).lower()), tables.bar(count, most))
        for grade, count in reversed(list(enumerate(grades)))
    ]
    return tables.table((tr("Right grade"), tr("Meaning"), tr("Pairs")), rows, "rr-paces")


def guess_table(guesses: ExamGuesses) -> str:
    """What every grade throughout misses, the highest first, and what chance does."""
    rows = [
        (tr("always {grade}", grade=tables.grade(one.grade)), _missed(one.missed, guesses.items), _verdict(one))
        for one in reversed(guesses.constants)
    ]
    chance = round(guesses.chance_missed * guesses.items, 1)
    rows.append(
        (tr("by chance"), _missed(chance, guesses.items), tr("passes {odds}", odds=_odds(guesses.chance_passes)))
    )
    return tables.table((tr("Grades"), tr("Missed"), tr("Result")), rows, "rr-guesses")


def clips(project: Project, lead: Person, preview: ExamPreview) -> None:
    """The pairs of one query, which the lead chooses, as clips, each under its right grade."""
    by_query: defaultdict[QueryId, list[ExamPreviewItem]] = defaultdict(list)
    for item in preview.items:
        by_query[item.query_id].append(item)

    def label(query: QueryId) -> str:
        items = by_query[query]
        key = sorted(item.right for item in items if item.right is not None)
        told = ", ".join(str(right) for right in key) or wording.count_of(len(items), "pair")
        return f"{items[0].query} · {told}"

    chosen = st.selectbox(tr("Query, and its pairs"), list(by_query), format_func=label, key="exam_look")
    if chosen is None:
        return
    there = {pair.pair: pair for pair in query_pairs(project, lead, chosen)}
    items = sorted(by_query[chosen], key=lambda one: -1 if one.right is None else one.right, reverse=True)
    for start in range(0, len(items), _BESIDE):
        for column, item in zip(st.columns(_BESIDE), items[start : start + _BESIDE], strict=False):
            with column:
                if item.right is not None:
                    meaning = escape(project.campaign.scale.label(item.right).lower())
                    st.html(f"<span class='rr-grades'>{tables.grade(item.right)}</span> {meaning}")
                if (pair := there.get(item.pair)) is not None:
                    review_clip(pair, "preview-")
                    st.caption(plain(wording.moment(pair)))


def _missed(count: float, of: int) -> str:
    return tables.bar(count, of, tr(" of {of:,}, {percent}", of=of, percent=wording.percent(100 * count / of)))


def _verdict(one: ExamConstant) -> str:
    if one.passed:
        return f"<b class='rr-fast'>{tr('passes')}</b>"
    return f"<span class='rr-fast'>{tr('fails narrowly')}</span>" if one.near else tr("fails")


def _odds(share: float) -> str:
    """`in 7.1 % of the cases`, `hardly ever` below one in a thousand."""
    return (
        tr("in less than 0.1 % of the cases")
        if share < 0.001
        else tr("in {percent} of the cases", percent=wording.percent(100 * share))
    )
