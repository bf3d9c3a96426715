"""What a lead does about the pair before them: decide, confirm the discard, re-open, take back, undo, offer again."""

import time
from collections.abc import Callable
from functools import partial

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import address_state, look, wording
from backend.campaign.judging import queue
from backend.campaign.judging.model import ActKind
from backend.campaign.judging.queue import restore_clip
from backend.campaign.nouns import Person, Scale, Verdict
from backend.campaign.review import adjudicating
from backend.campaign.review.model import PairReview
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey

CASE = "case"
"""The name in the address of the pair on show."""
ON_SHOW = "dis_on_show"
"""In the session: the list, the search and the start of its page; the pair shown there last; its place on the page."""
UNDONE = marked("Undone at once.")
_UNDO = "dis_undo"
_TO_UNDO = {
    ActKind.DECIDED: marked("the decision"),
    ActKind.DISCARD_CONFIRMED: marked("the confirmed discard"),
    ActKind.RE_OPENED: marked("the re-opening"),
}
Leave = Callable[[PairKey, Callable[[], bool]], None]
"""Does what it is given and, if that was done, shows the case that follows the pair."""


def form(pair: PairReview, scale: Scale, reasons: list[str], leave: Leave) -> None:
    """Relevance and reason, and a button for each act that is possible; what was refused is said below.

    Args:
        pair: the pair on show.
        scale: of the campaign.
        reasons: given lately, to be given again.
        leave: what goes on to the following case after an act.
    """
    acts = _acts_for(pair)
    with st.form(f"decide-{pair.pair}", border=False):
        st.segmented_control(
            tr("Relevance"),
            scale.grades,
            format_func=lambda grade: plain(wording.grade(grade, scale)),
            key=f"relevance-{pair.pair}",
        )
        st.text_input(
            tr("Reason"), key=_reason_key(pair.pair), placeholder=tr("What decides it? Kept with what you do.")
        )
        with st.container(horizontal=True):
            st.form_submit_button(
                tr("Decide"), type="primary", on_click=decide, args=(pair.pair, len(pair.acts), leave)
            )
            for label, key, act in acts:
                st.form_submit_button(label, shortcut=key, on_click=act, args=(pair.pair, len(pair.acts), leave))
    look.refusal(f"problem-{pair.pair}")
    _again(pair.pair, reasons)


def decide(pair: PairKey, seen: int, leave: Leave) -> None:
    """Callback: records the decision, or leaves a message why not.

    Args:
        pair: the pair.
        seen: how many acts of leads about it the page showed.
        leave: goes on.
    """
    relevance, reason = st.session_state[f"relevance-{pair}"], _reason(pair)
    if relevance is None:
        _refused(pair, tr("Please choose a relevance from {words}.", words=auth.project().campaign.scale.words))
    elif not reason:
        _refused(pair, tr("Please give a reason: it is kept with the decision."))
    else:
        act = partial(adjudicating.adjudicate, key=pair, relevance=relevance, reason=reason, seen=seen, now=time.time())
        _do(pair, act, tr("Decided: relevance {relevance}.", relevance=relevance), (ActKind.DECIDED, seen), leave)


def confirm(pair: PairKey, seen: int, leave: Leave) -> None:
    """Callback: the discard is right."""
    act = partial(adjudicating.confirm_discard, key=pair, reason=_reason(pair), seen=seen, now=time.time())
    _do(pair, act, tr("Confirmed: the pair stays discarded."), (ActKind.DISCARD_CONFIRMED, seen), leave)


def re_open(pair: PairKey, seen: int, leave: Leave) -> None:
    """Callback: two more people shall grade the pair."""
    reason = _reason(pair)
    if not reason:
        _refused(pair, tr("Please give a reason (key W): two more people will work on this pair."))
        return
    act = partial(adjudicating.re_open, key=pair, reason=reason, seen=seen, now=time.time())
    _do(pair, act, tr("Re-opened: two more people are asked."), (ActKind.RE_OPENED, seen), leave)


def take_back(pair: PairKey, seen: int, leave: Leave) -> None:
    """Callback: what a lead did last about the pair counts no more. The pair stays on show."""
    reason = _reason(pair)
    if not reason:
        _refused(pair, tr("Please give a reason (key W): it is kept with what is taken back."))
        return
    _take_back(pair, reason, seen, tr("Taken back."))


def undo() -> None:
    """Callback: takes back what this lead did last on the page, and shows that pair again."""
    done = st.session_state.pop(_UNDO, None)
    if done is not None:
        pair, _, seen = done
        _take_back(pair, UNDONE, seen, tr("Undone."))


def undo_button() -> None:
    """The way back from what this lead did last, as long as there is one."""
    if done := st.session_state.get(_UNDO):
        what = tr("Takes back {to_undo} of just now, and shows that pair again.", to_undo=tr(_TO_UNDO[done[1]]))
        st.button(tr("Undo"), key="dis-undo", icon=":material/undo:", shortcut="u", help=what, on_click=undo)


def offer(pair: PairReview) -> None:
    """The button that offers a skipped pair again, or why there is none."""
    if pair.verdict.is_settled:
        st.caption(tr("Settled: nobody is asked about this pair any more."))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        blocked = bool(pair.fault)
        st.button(tr("Offer again"), key=f"offer-{pair.pair}", on_click=offer_again, args=(pair.pair, blocked))
        who = wording.count_of(len(pair.skips), "person")
        st.caption(
            tr("to the {who} who skipped it", who=who) + (tr(", and show the clip again") if blocked else ""),
            width="content",
        )


def offer_again(pair: PairKey, blocked: bool) -> None:
    """Callback of a button: everybody who skipped the pair may get it again, and its clip may be shown."""
    people = 0

    def act(project: Project, lead: Person) -> None:
        nonlocal people
        people = queue.offer_again(project, lead, pair, now=time.time())
        if blocked:
            restore_clip(project, lead, pair, now=time.time())

    if problem := look.as_lead(act):
        _refused(pair, problem)
        return
    st.session_state.pop(ON_SHOW, None)
    address_state.go(case=None)
    st.toast(tr("Offered again to {people} who skipped it.", people=people), icon=":material/redo:")


def _acts_for(pair: PairReview) -> list[tuple[str, str, Callable[..., None]]]:
    """What can be done beside a decision: label, key, callback."""
    acts: list[tuple[str, str, Callable[..., None]]] = []
    if pair.verdict is Verdict.DISCARDED and not pair.confirmed:
        acts.append((tr("Confirm discard"), "d", confirm))
    if pair.verdict is Verdict.DISCARDED and not pair.re_opened:
        acts.append((tr("Re-open for two more"), "o", re_open))
    if pair.counts is not None:
        acts.append((tr("Take back"), "t", take_back))
    return acts


def _again(pair: PairKey, reasons: list[str]) -> None:
    if not reasons:
        return

    def fill() -> None:
        if chosen := st.session_state[f"again-{pair}"]:
            st.session_state[_reason_key(pair)] = chosen
            st.session_state[f"again-{pair}"] = None

    st.pills(tr("Given lately"), reasons, format_func=plain, key=f"again-{pair}", on_change=fill)


def _do(
    pair: PairKey, act: Callable[[Project, Person], None], done: str, undone_by: tuple[ActKind, int], leave: Leave
) -> None:
    """Does it and goes on to the next case, or stays with this one, whatever list it is in by now."""
    problem = ""

    def acted() -> bool:
        nonlocal problem
        problem = look.as_lead(act)
        return not problem

    leave(pair, acted)
    if problem:
        _refused(pair, problem)
        return
    kind, seen = undone_by
    st.session_state[_UNDO] = (pair, kind, seen + 1)
    icon = {ActKind.DECIDED: "gavel", ActKind.DISCARD_CONFIRMED: "delete_sweep"}.get(kind, "group_add")
    st.toast(done, icon=f":material/{icon}:")


def _take_back(pair: PairKey, reason: str, seen: int, done: str) -> None:
    act = partial(adjudicating.take_back, key=pair, reason=reason, seen=seen, now=time.time())
    if problem := look.as_lead(act):
        _refused(pair, problem)
        return
    if (last := st.session_state.get(_UNDO)) and last[0] == pair:
        del st.session_state[_UNDO]
    address_state.go(case=pair)
    st.toast(done, icon=":material/undo:")


def _refused(pair: PairKey, problem: str) -> None:
    """The pair stays on show with what was typed, and with why it was not done."""
    st.session_state[f"problem-{pair}"] = problem
    address_state.go(case=pair)


def _reason_key(pair: PairKey) -> str:
    return f"reason-{pair}"


def _reason(pair: PairKey) -> str:
    return str(st.session_state[_reason_key(pair)]).strip()
