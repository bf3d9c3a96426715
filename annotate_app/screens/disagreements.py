"""The lead's page "Disagreements": pairs whose annotators do not agree, with everything needed to decide."""

import time
from collections.abc import Sequence
from html import escape

import streamlit as st

from annotate_app import auth, look, wording
from annotate_app.review_clip import review_clip
from backend import api
from backend.core.errors import ReelRankError
from backend.core.model import GivenGrade, PairKey, PairReview, Role, Verdict

PER_PAGE = 10
_LISTS = {
    "To decide": (Verdict.ESCALATED, Verdict.DISCARDED),
    "Discarded": (Verdict.DISCARDED,),
    "Escalated": (Verdict.ESCALATED,),
    "Decided": (Verdict.ADJUDICATED,),
}


def page() -> None:
    """Escalated, discarded and decided pairs, ten a page; below them the clips that cannot be shown."""
    project, _, _ = look.lead_page("Disagreements")
    pairs = api.disagreements(project)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        show = st.segmented_control(
            "Show",
            list(_LISTS),
            default="To decide",
            required=True,
            key="dis_show",
            label_visibility="collapsed",
            format_func=lambda name: f"{name}  {sum(pair.verdict in _LISTS[name] for pair in pairs)}",
        )
        hidden = st.checkbox("Hide names", key="dis_hide")
    listed = [pair for pair in pairs if pair.verdict in _LISTS[show or "To decide"]]
    if not listed:
        st.success("Nothing to decide: no pair is in this list.", icon=":material/check_circle:")
    pages = max(-(-len(listed) // PER_PAGE), 1)
    # Deciding the last pair of the last page leaves that page; the widget must not point past the end.
    chosen = min(int(st.session_state.get("dis_page", 1)), pages)
    for pair in listed[(chosen - 1) * PER_PAGE : chosen * PER_PAGE]:
        _card(pair, hidden)
    if pages > 1:
        if st.session_state.get("dis_page", 1) != chosen:
            st.session_state["dis_page"] = chosen
        st.pagination(pages, key="dis_page")
    _blocked(api.blocked(project))


def decide(pair: PairKey) -> None:
    """Callback of a card's form: records the decision, or leaves a message why not."""
    person = auth.current()
    if person is None or person.role is not Role.LEAD:
        return
    relevance = st.session_state[f"relevance-{pair}"]
    reason = st.session_state[f"reason-{pair}"].strip()
    problem = ""
    if relevance is None:
        problem = "Please choose a relevance from 0 to 4."
    elif not reason:
        problem = "Please give a reason: it is kept with the decision."
    else:
        try:
            api.adjudicate(auth.project(), person, pair, relevance, reason, now=time.time())
        except ReelRankError as error:
            problem = str(error)
    if problem:
        st.session_state[f"problem-{pair}"] = problem
    else:
        st.toast(f"Decided: relevance {relevance}.", icon=":material/gavel:")


def restore(pair: PairKey) -> None:
    """Callback of a button: the clip may be shown again."""
    person = auth.current()
    if person is not None and person.role is Role.LEAD:
        api.restore_clip(auth.project(), person, pair, now=time.time())


def _card(pair: PairReview, hidden: bool) -> None:
    with st.container(border=True, key=f"card-{pair.pair}"):
        picture, words = st.columns([2, 3], gap="medium")
        with picture:
            review_clip(pair)
            st.caption(f"{wording.moment(pair)} · rank {pair.rank}  \n“{pair.caption}”")
        with words:
            badge = f":{wording.VERDICT_COLOURS[pair.verdict]}-badge[{pair.verdict.value}]"
            st.markdown(f"#### {_plain(pair.query)} {badge}")
            st.markdown(_plain(wording.why(pair)))
            st.html(_grades(pair.grades, hidden))
            _form(pair)


def _form(pair: PairReview) -> None:
    with st.form(f"decide-{pair.pair}", border=False):
        st.segmented_control(
            "Relevance",
            list(wording.GRADE_WORDS),
            format_func=lambda grade: f"{grade} {wording.GRADE_WORDS[grade]}",
            key=f"relevance-{pair.pair}",
        )
        box, button = st.columns([4, 1], vertical_alignment="bottom")
        box.text_input("Reason", key=f"reason-{pair.pair}", placeholder="What decides it? Kept with the decision.")
        button.form_submit_button("Decide", on_click=decide, args=(pair.pair,), width="stretch")
    problem = st.session_state.pop(f"problem-{pair.pair}", "")
    if problem:
        st.error(problem)


def _grades(given: Sequence[GivenGrade], hidden: bool) -> str:
    zone = st.context.timezone
    rows = "".join(
        f"<tr><td>{f'Annotator {seat}' if hidden else escape(grade.annotator)}</td>"
        f"<td><span class='rr-grade rr-r{grade.grade}'>{grade.grade}</span></td>"
        f"<td>{'first two' if grade.round == 1 else 'further two'}</td>"
        f"<td>{grade.active_ms / 1000:.1f} s</td><td>{wording.when(grade.at, zone)}</td></tr>"
        for seat, grade in enumerate(given, 1)
    )
    head = "<tr><th>Annotator</th><th>Grade</th><th>Round</th><th>Active</th><th>Graded</th></tr>"
    return f"<table class='rr-grades'>{head}{rows}</table>"


def _blocked(pairs: Sequence[PairReview]) -> None:
    st.subheader("Clips that cannot be shown", anchor=False)
    if not pairs:
        st.caption("None: every clip handed out so far could be shown.")
        return
    st.caption("Annotators do not get these pairs. Repair the video or read the reason, then hand them out again.")
    for pair in pairs[:PER_PAGE]:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"blocked-{pair.pair}"):
            st.markdown(f"**{_plain(pair.reason)}**  \n{_plain(wording.moment(pair))} · {_plain(pair.query)}")
            st.button(
                "Hand out again", key=f"restore-{pair.pair}", on_click=restore, args=(pair.pair,), width="content"
            )
    if len(pairs) > PER_PAGE:
        st.caption(f"... and {len(pairs) - PER_PAGE} more.")


def _plain(text: str) -> str:
    """Text of people inside Markdown, without its signs taking effect."""
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]()#+-.!|<>~$:" else sign for sign in text)
