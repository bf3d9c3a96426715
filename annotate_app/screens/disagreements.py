"""The lead's page "Disagreements": pairs whose annotators do not agree or would not judge, and what decides them."""

import time
from collections.abc import Mapping, Sequence

import streamlit as st

from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.widgets import look, pair_view, wording
from backend import api
from backend.campaign.nouns import Person, Scale, Verdict
from backend.campaign.project.model import Campaign
from backend.campaign.review.model import PairReview
from backend.ground.ids import PairKey

PER_PAGE = 10
_LISTS = {
    "To decide": (Verdict.ESCALATED, Verdict.DISCARDED),
    "Discarded": (Verdict.DISCARDED,),
    "Escalated": (Verdict.ESCALATED,),
    "Decided": (Verdict.ADJUDICATED,),
}
_SKIPPED, _NOTES = "Skipped", "Notes"
_NOTHING = {
    _SKIPPED: "Nothing was skipped, or all of it was offered again.",
    _NOTES: "Nobody has written a note with a grade (key N).",
}


def page() -> None:
    """Escalated, discarded, decided, skipped, noted pairs, ten a page; below them the clips that cannot be shown."""
    project, lead, _ = look.lead_page("Disagreements")
    lists, blocked, examples = _lists(project, lead), api.blocked(project, lead), api.examples_chosen(project, lead)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        show = st.segmented_control(
            "Show",
            list(lists),
            default="To decide",
            required=True,
            key="dis_show",
            label_visibility="collapsed",
            format_func=lambda name: f"{name}  {_count(name, lists[name])}",
        )
        hidden = st.checkbox("Hide names", key="dis_hide")
    show = show or "To decide"
    listed = _with_those_at_work(lists, show)
    if show == _NOTES and listed:
        _about_notes(project, lead, _count(_NOTES, listed))
    if not listed:
        st.success(_NOTHING.get(show, "Nothing to decide: no pair is in this list."), icon=":material/check_circle:")
    pages = max(-(-len(listed) // PER_PAGE), 1)
    # Deciding the last pair of the last page leaves that page; the widget must not point past the end.
    chosen = min(int(st.session_state.get("dis_page", 1)), pages)
    campaign = project.campaign
    is_blocked = {pair.pair for pair in blocked}
    for pair in listed[(chosen - 1) * PER_PAGE : chosen * PER_PAGE]:
        _card(pair, examples, campaign, hidden=hidden, skipped=show == _SKIPPED, blocked=pair.pair in is_blocked)
    if pages > 1:
        if st.session_state.get("dis_page", 1) != chosen:
            st.session_state["dis_page"] = chosen
        st.pagination(pages, key="dis_page")
    _blocked(blocked)


def decide(pair: PairKey, seen: int) -> None:
    """Callback of a card's form: records the decision, or leaves a message why not.

    Args:
        pair: the pair.
        seen: how many decisions on it the card showed.
    """
    relevance = st.session_state[f"relevance-{pair}"]
    reason = st.session_state[f"reason-{pair}"].strip()
    if relevance is None:
        problem = f"Please choose a relevance from {auth.project().campaign.scale.words}."
    elif not reason:
        problem = "Please give a reason: it is kept with the decision."
    else:
        problem = look.as_lead(
            lambda project, lead: api.adjudicate(project, lead, pair, relevance, reason, seen=seen, now=time.time())
        )
    _report(pair, problem, f"Decided: relevance {relevance}.", ":material/gavel:")


def offer_again(pair: PairKey, blocked: bool) -> None:
    """Callback of a button: everybody who skipped the pair may get it again, and its clip may be shown."""
    people = 0

    def act(project: api.Project, lead: Person) -> None:
        nonlocal people
        people = api.offer_again(project, lead, pair, now=time.time())
        if blocked:
            api.restore_clip(project, lead, pair, now=time.time())

    problem = look.as_lead(act)
    _report(pair, problem, f"Offered again to {people} who skipped it.", ":material/redo:")


def restore(pair: PairKey) -> None:
    """Callback of a button: the clip may be shown again."""
    problem = look.as_lead(lambda project, lead: api.restore_clip(project, lead, pair, now=time.time()))
    st.session_state["blocked_problem"] = problem


def _lists(project: api.Project, lead: Person) -> dict[str, list[PairReview]]:
    """What the page can show: of skipped pairs those first that wait for a verdict, of noted ones those for a reply."""
    pairs = api.disagreements(project, lead)
    lists = {name: [pair for pair in pairs if pair.verdict in verdicts] for name, verdicts in _LISTS.items()}
    lists[_SKIPPED] = sorted(api.skipped(project, lead), key=lambda pair: pair.verdict.is_settled)
    lists[_NOTES] = sorted(api.noted(project, lead), key=lambda pair: not _unanswered(pair))
    return lists


def _unanswered(pair: PairReview) -> int:
    """How many notes on a pair wait for a reply."""
    return sum(grade.note is not None and grade.note.reply is None for grade in pair.grades)


def _count(name: str, listed: Sequence[PairReview]) -> int:
    """What stands beside the name of a list: its pairs, or the notes in it that wait for a reply."""
    return sum(map(_unanswered, listed)) if name == _NOTES else len(listed)


def _about_notes(project: api.Project, lead: Person, waiting: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        to_do = f"{wording.count_of(waiting, 'note')} without a reply" if waiting else "Every note has a reply"
        st.caption(f"{to_do}; pairs with answered notes come last.", width="content")
        st.download_button(
            "Notes as CSV",
            data=lambda: api.notes_csv(project, lead),
            file_name="notes.csv",
            mime="text/csv",
            key="notes-csv",
            on_click="ignore",
        )


def _with_those_at_work(lists: Mapping[str, list[PairReview]], show: str) -> list[PairReview]:
    """The list asked for, after the pairs whose form was refused: another lead's decision takes a pair off a list."""
    at_work: frozenset[PairKey] = st.session_state.get("dis_at_work", frozenset())
    if st.session_state.get("dis_shown", show) != show:
        at_work = st.session_state["dis_at_work"] = frozenset()  # they went on to something else
    st.session_state["dis_shown"] = show
    known = {pair.pair: pair for pairs in lists.values() for pair in pairs}
    listed = {pair.pair for pair in lists[show]}
    return [*(pair for key, pair in known.items() if key in at_work - listed), *lists[show]]


def _report(pair: PairKey, problem: str, done: str, icon: str) -> None:
    """Tell the lead after the run that follows. A card with a problem stays, whatever list its pair is in by now."""
    at_work: frozenset[PairKey] = st.session_state.get("dis_at_work", frozenset())
    st.session_state["dis_at_work"] = at_work | {pair} if problem else at_work - {pair}
    if problem:
        st.session_state[f"problem-{pair}"] = problem
    else:
        st.toast(done, icon=icon)


def _card(
    pair: PairReview,
    examples: Sequence[api.Example],
    campaign: Campaign,
    *,
    hidden: bool,
    skipped: bool,
    blocked: bool,
) -> None:
    with st.container(border=True, key=f"card-{pair.pair}"):
        picture, words = st.columns([2, 3], gap="medium")
        with picture:
            pair_view.clip(pair)
        with words:
            pair_view.heading(pair)
            pair_view.judged(pair, campaign.grading, hidden=hidden)
            if skipped:
                _offer(pair, blocked)
            _form(pair, campaign.scale)
            pair_view.example(pair, examples)


def _offer(pair: PairReview, blocked: bool) -> None:
    if pair.verdict.is_settled:
        st.caption("Settled: nobody is asked about this pair any more.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Offer again", key=f"offer-{pair.pair}", on_click=offer_again, args=(pair.pair, blocked))
        who = wording.count_of(len(pair.skips), "person")
        st.caption(f"to the {who} who skipped it" + (", and show the clip again" if blocked else ""), width="content")


def _form(pair: PairReview, scale: Scale) -> None:
    with st.form(f"decide-{pair.pair}", border=False):
        st.segmented_control(
            "Relevance",
            scale.grades,
            format_func=lambda grade: plain(wording.grade(grade, scale)),
            key=f"relevance-{pair.pair}",
        )
        box, button = st.columns([4, 1], vertical_alignment="bottom")
        box.text_input("Reason", key=f"reason-{pair.pair}", placeholder="What decides it? Kept with the decision.")
        button.form_submit_button("Decide", on_click=decide, args=(pair.pair, len(pair.acts)), width="stretch")
    look.refusal(f"problem-{pair.pair}")


def _blocked(pairs: Sequence[PairReview]) -> None:
    st.subheader("Clips that cannot be shown", anchor=False)
    look.refusal("blocked_problem")
    if not pairs:
        st.caption("None: every clip handed out so far could be shown.")
        return
    st.caption("Annotators do not get these pairs. Repair the video or read the reason, then hand them out again.")
    for pair in pairs[:PER_PAGE]:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"blocked-{pair.pair}"):
            told = f"{plain(wording.moment(pair))} · {plain(pair.query)}"
            st.markdown(f"**{plain(pair.fault)}**  \n{told}")
            st.button(
                "Hand out again", key=f"restore-{pair.pair}", on_click=restore, args=(pair.pair,), width="content"
            )
    if len(pairs) > PER_PAGE:
        st.caption(f"... and {len(pairs) - PER_PAGE} more.")
