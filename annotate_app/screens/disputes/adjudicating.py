"""A lead's actions on a disputed pair, such as to set its relevance, confirm a discard, or ask for more grades."""

import time
from collections.abc import Callable
from functools import partial

import streamlit as st

from annotate_app.language import marked, tr, trn
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, look, results, wording
from backend.campaign.judging import queue
from backend.campaign.judging.model import ActKind
from backend.campaign.judging.queue import restore_clip
from backend.campaign.monitoring.progress.progress import lacking_annotators
from backend.campaign.nouns import RE_OPENED_SEATS, Person, Verdict
from backend.campaign.review import adjudicating
from backend.campaign.review.model import PairReview
from backend.campaign.review.status import pair_review
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey

CASE = "case"
"""The address parameter that holds the pair shown."""
ON_SHOW = "dis_on_show"
"""Session key of the pair shown last: its place (list, search, page start), its key, its position on the page."""
UNDONE = marked("Undone at once.")
_UNDO = "dis_undo"
_TO_UNDO = {
    ActKind.DECIDED: marked("the adjudication"),
    ActKind.DISCARD_CONFIRMED: marked("the confirmed discard"),
    ActKind.RE_OPENED: marked("the re-opening"),
}
_DONE = "disputes"
"""Name of the place below the form where results appear. Refusals have a place of their own for each pair."""
_INVITE = ("/people", marked("Invite annotators"))
Leave = Callable[[PairKey, Callable[[], bool]], None]
"""A function that runs an action on a pair and, if the action succeeded, shows the next pair."""


def form(project: Project, lead: Person, pair: PairReview, reasons: list[str], leave: Leave) -> None:
    """Draw the form to act on a pair: relevance, reason, a button for each possible action, and the last result.

    If an action was refused because it needs a reason, the form offers only that action, so that Enter performs it.

    Args:
        project: the project.
        lead: the lead who is signed in.
        pair: the pair shown.
        reasons: recent reasons, which the lead can use again.
        leave: runs an action and shows the next pair.
    """
    acts, seen, scale = _acts_for(pair), len(pair.acts), project.campaign.scale
    waiting = next((action for action in acts if action[1] == st.session_state.get(_waiting_key(pair.pair))), None)
    with st.form(f"decide-{pair.pair}" + (f"-{waiting[1]}" if waiting else ""), border=False):
        if waiting is None:
            st.segmented_control(
                tr("Relevance"),
                scale.grades,
                format_func=lambda grade: plain(wording.grade(grade, scale)),
                key=f"relevance-{pair.pair}",
            )
        st.text_input(tr("Reason"), key=_reason_key(pair.pair), placeholder=tr("Why? One sentence is enough."))
        with st.container(horizontal=True):
            if waiting is not None:
                label, key, callback = waiting
                st.form_submit_button(
                    label, shortcut=key, type="primary", on_click=callback, args=(pair.pair, seen, leave)
                )
                st.form_submit_button(tr("Cancel"), on_click=cancel, args=(pair.pair,))
            else:
                st.form_submit_button(tr("Adjudicate"), type="primary", on_click=decide, args=(pair.pair, seen, leave))
                for label, key, callback in acts:
                    st.form_submit_button(label, shortcut=key, on_click=callback, args=(pair.pair, seen, leave))
    if any(key == "o" for _, key, _ in acts) and (lacking := _lacking(project, lead, pair.pair)):
        path, invite = _INVITE
        link = f'<a href="{full_path(path)}" target="_self">{tr(invite)}</a>'
        st.html(f"<p class='rr-waiting'>{_lacks(lacking)} {link}</p>")
    look.refusal(f"problem-{pair.pair}")
    show_result()
    _recent_reasons(pair.pair, reasons)


def show_result() -> None:
    """Draw the result of the lead's last action on a pair, such as `Relevance 3 saved`."""
    look.outcome(_DONE)


def decide(pair: PairKey, seen: int, leave: Leave) -> None:
    """Store the relevance and the reason that the lead entered for a pair, or leave a message if either is missing.

    Args:
        pair: the pair.
        seen: number of leads' actions on the pair when the page was drawn. If there are more by now, this action is
            refused.
        leave: runs the action and shows the next pair.
    """
    relevance, reason = st.session_state[f"relevance-{pair}"], _reason(pair)
    if relevance is None:
        _leave_refusal(pair, tr("Choose a relevance first: {words}.", words=auth.project().campaign.scale.words))
    elif not reason:
        _leave_refusal(pair, tr("Write a reason first (key W). It is stored with the decision."))
    else:
        action = partial(
            adjudicating.adjudicate, key=pair, relevance=relevance, reason=reason, seen=seen, now=time.time()
        )
        _run_action(
            pair, action, tr("Relevance {relevance} saved", relevance=relevance), (ActKind.DECIDED, seen), leave
        )


def confirm(pair: PairKey, seen: int, leave: Leave) -> None:
    """Confirm that a pair stays discarded, because its grades give no consensus.

    Args:
        pair: the pair.
        seen: number of leads' actions on the pair when the page was drawn. If there are more by now, this action is
            refused.
        leave: runs the action and shows the next pair.
    """
    action = partial(adjudicating.confirm_discard, key=pair, reason=_reason(pair), seen=seen, now=time.time())
    _run_action(pair, action, tr("Discard confirmed"), (ActKind.DISCARD_CONFIRMED, seen), leave)


def re_open(pair: PairKey, seen: int, leave: Leave) -> None:
    """Re-open a discarded pair, so that two more annotators grade it. If the lead gave no reason, ask for one.

    Args:
        pair: the pair.
        seen: number of leads' actions on the pair when the page was drawn. If there are more by now, this action is
            refused.
        leave: runs the action and shows the next pair.
    """
    reason = _reason(pair)
    if not reason:
        _wait_for_reason(pair, "o", tr("Write a reason, then press Enter. Two more annotators will grade this pair."))
        return
    action = partial(adjudicating.re_open, key=pair, reason=reason, seen=seen, now=time.time())
    _run_action(pair, action, tr("Re-opened for two more annotators"), (ActKind.RE_OPENED, seen), leave)


def take_back(pair: PairKey, seen: int, leave: Leave) -> None:
    """Take back the last action of a lead on a pair, and keep showing the pair. If no reason was given, ask for one.

    Args:
        pair: the pair.
        seen: number of leads' actions on the pair when the page was drawn. If there are more by now, nothing is taken
            back.
        leave: not used, because the page keeps showing the pair. It is a parameter as in the form's other actions.
    """
    reason = _reason(pair)
    if not reason:
        _wait_for_reason(pair, "t", tr("Write a reason, then press Enter. It is stored with what you take back."))
        return
    _take_back(pair, reason, seen, tr("Taken back"))


def cancel(pair: PairKey) -> None:
    """Cancel the action for which the form asks a reason, such as re-opening the pair."""
    st.session_state.pop(_waiting_key(pair), None)
    results.clear(f"problem-{pair}")


def undo() -> None:
    """Undo the lead's last action on this page, and show its pair again."""
    done = st.session_state.pop(_UNDO, None)
    if done is not None:
        pair, _, seen = done
        _take_back(pair, UNDONE, seen, tr("Undone"))


def undo_button() -> None:
    """Draw the button that undoes the lead's last action, if there is one."""
    if done := st.session_state.get(_UNDO):
        help_text = tr("Undo {act} you just made, and show that pair again.", act=tr(_TO_UNDO[done[1]]))
        st.button(tr("Undo"), key="dis-undo", icon=":material/undo:", shortcut="u", help=help_text, on_click=undo)


def offer(pair: PairReview) -> None:
    """Draw the button that offers a skipped pair again, or say that a settled pair needs no more grades."""
    if pair.verdict.is_settled:
        st.caption(tr("This pair is settled. It needs no more grades."))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        blocked = bool(pair.fault)
        st.button(tr("Offer again"), key=f"offer-{pair.pair}", on_click=offer_again, args=(pair.pair, blocked))
        who = wording.count_of(len(pair.skips), "person")
        st.caption(
            tr("to the {people} who skipped it", people=who) + (tr(", and show the clip again") if blocked else ""),
            width="content",
        )


def offer_again(pair: PairKey, blocked: bool) -> None:
    """Offer a pair again to all annotators who skipped it.

    Args:
        pair: the pair.
        blocked: whether the pair's clip is blocked as broken. If so, also let annotators get this clip again.
    """
    people = 0

    def act(project: Project, lead: Person) -> None:
        nonlocal people
        people = queue.offer_again(project, lead, pair, now=time.time())
        if blocked:
            restore_clip(project, lead, pair, now=time.time())

    if problem := look.as_lead(act):
        _leave_refusal(pair, problem)
        return
    st.session_state.pop(ON_SHOW, None)
    address_state.go(case=None)
    message = trn("Offered again to {n} person who skipped it", "Offered again to {n} people who skipped it", people)
    _leave_message(pair, message)


def _acts_for(pair: PairReview) -> list[tuple[str, str, Callable[..., None]]]:
    """Return the actions on a pair that are possible besides setting its relevance: label, shortcut key, callback."""
    acts: list[tuple[str, str, Callable[..., None]]] = []
    if pair.verdict is Verdict.DISCARDED and not pair.confirmed:
        acts.append((tr("Confirm discard"), "d", confirm))
    if pair.verdict is Verdict.DISCARDED and not pair.re_opened:
        acts.append((tr("Re-open for two more"), "o", re_open))
    if pair.counts is not None:
        acts.append((tr("Take back"), "t", take_back))
    return acts


def _recent_reasons(pair: PairKey, reasons: list[str]) -> None:
    if not reasons:
        return

    def fill() -> None:
        if chosen := st.session_state[f"again-{pair}"]:
            st.session_state[_reason_key(pair)] = chosen
            st.session_state[f"again-{pair}"] = None

    st.pills(tr("Recent reasons"), reasons, format_func=plain, key=f"again-{pair}", on_change=fill)


def _run_action(
    pair: PairKey, action: Callable[[Project, Person], None], done: str, undone_by: tuple[ActKind, int], leave: Leave
) -> None:
    """Run a lead's action on a pair and show the next pair. If the action is refused, keep showing this pair.

    Args:
        pair: the pair.
        action: the action.
        done: the message to show after it.
        undone_by: the kind of the action, and the number of leads' actions on the pair before it, for the undo button.
        leave: runs the action and shows the next pair.
    """
    problem = ""

    def acted() -> bool:
        nonlocal problem
        problem = look.as_lead(action)
        return not problem

    leave(pair, acted)
    if problem:
        _leave_refusal(pair, problem)
        return
    kind, seen = undone_by
    st.session_state[_UNDO] = (pair, kind, seen + 1)
    _leave_message(pair, done, re_opened=kind is ActKind.RE_OPENED)


def _take_back(pair: PairKey, reason: str, seen: int, done: str) -> None:
    action = partial(adjudicating.take_back, key=pair, reason=reason, seen=seen, now=time.time())
    if problem := look.as_lead(action):
        _leave_refusal(pair, problem)
        return
    if (last := st.session_state.get(_UNDO)) and last[0] == pair:
        del st.session_state[_UNDO]
    address_state.go(case=pair)
    _leave_message(pair, done)


def _leave_message(pair: PairKey, done: str, *, re_opened: bool = False) -> None:
    """Leave a message that says what was done and quotes the pair's query, as the page already shows the next pair.

    If the pair was re-opened and too few annotators can grade it, the message says so and links to the form that
    invites people.
    """
    cancel(pair)

    def tell(project: Project, lead: Person) -> None:
        pair_now = pair_review(project, lead, pair)
        text = tr("{done}: “{query}”", done=done, query=wording.short(pair_now.query) if pair_now else "")
        lacking = _lacking(project, lead, pair) if re_opened else 0
        if lacking:
            path, invite = _INVITE
            text = f"{text} {_lacks(lacking)}"
            results.leave(_DONE, text, kind="warning", link=(path, tr(invite)))
        else:
            results.leave(_DONE, text)

    look.as_lead(tell)


def _lacking(project: Project, lead: Person, pair: PairKey) -> int:
    return lacking_annotators(project, lead, pair, len(RE_OPENED_SEATS))


def _lacks(lacking: int) -> str:
    return trn(
        "Re-opening needs {n} more annotator who has not seen this pair.",
        "Re-opening needs {n} more annotators who have not seen this pair.",
        lacking,
    )


def _wait_for_reason(pair: PairKey, key: str, problem: str) -> None:
    st.session_state[_waiting_key(pair)] = key
    _leave_refusal(pair, problem)


def _leave_refusal(pair: PairKey, problem: str) -> None:
    """Store why an action was refused, and keep showing the pair with what the lead typed."""
    results.clear(f"{_DONE}_problem")
    st.session_state[f"problem-{pair}"] = problem
    address_state.go(case=pair)


def _waiting_key(pair: PairKey) -> str:
    """Return the session key that holds which action on the pair needs a reason before it can run."""
    return f"waiting-{pair}"


def _reason_key(pair: PairKey) -> str:
    return f"reason-{pair}"


def _reason(pair: PairKey) -> str:
    return str(st.session_state[_reason_key(pair)]).strip()
