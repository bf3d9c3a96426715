"""Let leads manage practice pairs for newcomers: list the current ones, and make a new one from a text and a moment."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from annotate_app.language import tr, translate_message
from annotate_app.plain import plain
from annotate_app.shared import look, results, wording
from annotate_app.shared.review_clip import moment_clip
from backend.campaign.nouns import Person, Scale
from backend.campaign.qualification.guideline.practice_pairs import (
    choose_practice,
    choose_practice_pair,
    practice_figures,
    practice_offers,
    practice_texts,
    switch_tutorial,
    withdraw_practice,
)
from backend.campaign.qualification.guideline.rules import Offer, PracticeFigures
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ReelRankError
from backend.core.ids import MomentId, PairKey

EXPLANATION_LENGTH = 400


def practice(project: Project, lead: Any) -> None:
    """Draw the switch of the tutorial, the current practice pairs, and the form that adds one."""
    campaign = project.campaign
    st.toggle(
        tr("Newcomers go through the tutorial before their first clip"),
        campaign.tutorial,
        key="tutorial-on",
        on_change=switch,
        help=tr(
            "They read the guideline page by page, then practise. After each answer they see the right grade and why."
        ),
    )
    look.outcome("practice")
    figures = practice_figures(project, lead, now=time.time())
    st.header(tr("Practice pairs"), anchor=False)
    if not figures:
        st.info(tr("No practice pairs yet: newcomers only read the guideline."))
    for row in range(0, len(figures), 3):
        for column, figure in zip(st.columns(3), figures[row : row + 3], strict=False):
            with column:
                _current_pair(figure, campaign.scale)
    st.header(tr("Add a practice pair"), anchor=False)
    _choose(project, lead, campaign.scale)


@look.lead_callback("practice_problem")
def switch(project: Project, lead: Person) -> None:
    """Switch the tutorial for newcomers on or off, as the callback of the switch."""
    on = bool(st.session_state["tutorial-on"])
    switch_tutorial(project, lead, on, now=time.time())
    results.leave("practice", tr("Tutorial switched on.") if on else tr("Tutorial switched off."))


@look.lead_callback("practice_problem")
def withdraw(project: Project, lead: Person, practice_id: int) -> None:
    """Remove a practice pair, as the callback of its button."""
    withdraw_practice(project, lead, practice_id, now=time.time())
    results.leave("practice", tr("Practice pair removed."))


def choose(text: str, moment_id: int) -> None:
    """Add a text and a moment as a practice pair, with the right grade and explanation typed in the moment's form.

    This is the callback of that form.
    """
    state = st.session_state
    grade, why = int(state[f"practice-grade-{moment_id}"]), str(state[f"practice-why-{moment_id}"])
    _add_pair(
        lambda project, lead: choose_practice(project, lead, text, MomentId(moment_id), grade, why, now=time.time())
    )


def choose_pair(pair: PairKey, grade: int) -> None:
    """Add a settled pair as a practice pair, with the explanation typed in its form.

    This is the callback of that form. `grade` is the pair's relevance, which becomes the right grade.
    """
    why = str(st.session_state[f"practice-why-{pair}"])
    act = partial(choose_practice_pair, pair=pair, grade=grade, explanation=why, now=time.time())
    _add_pair(act, f"practice-{pair}")


def practice_button(pair: PairKey, grade: int, reason: str) -> None:
    """Draw the button and form that add a settled pair to the practice pairs.

    Args:
        pair: the pair.
        grade: its relevance, which becomes the right grade.
        reason: the text with which the field for the explanation starts.
    """
    with st.popover(tr("Use for practice"), icon=":material/school:"):
        st.markdown(
            tr(
                "Newcomers grade this clip in the tutorial. Then they read that grade {grade} is right, and why.",
                grade=grade,
            )
        )
        with st.form(f"practice-{pair}", border=False):
            _why(f"practice-why-{pair}", grade, reason)
            st.form_submit_button(tr("Add"), on_click=choose_pair, args=(pair, grade))
    look.outcome(f"practice-{pair}")


def _add_pair(act: Callable[[Project, Person], object], place: str = "practice_choice") -> None:
    if look.done_as_lead(act, f"{place}_problem"):
        results.leave(place, tr("Practice pair added."))


def _current_pair(pair: PracticeFigures, scale: Scale) -> None:
    with st.container(border=True, key=f"practice-{pair.practice_id}"):
        moment_clip(pair, f"practised-{pair.practice_id}", f"/practice/{pair.key}.mp4")
        st.markdown(f"**{pair.grade} {plain(scale.label(pair.grade).lower())}** · “{plain(wording.short(pair.query))}”")
        st.markdown(plain(pair.explanation))
        answered = (
            tr("{missed} of {people} missed it at first.", missed=pair.missed, people=pair.people)
            if pair.people
            else tr("No answers yet.")
        )
        st.caption(answered)
        if pair.hidden:
            st.warning(tr("Not shown now: {hidden}.", hidden=plain(translate_message(pair.hidden))))
        st.button(tr("Remove"), key=f"practice-out-{pair.practice_id}", on_click=withdraw, args=(pair.practice_id,))


def _choose(project: Project, lead: Any, scale: Scale) -> None:
    st.markdown(
        tr(
            "Choose a training query, or type any text, to see the most similar moments. To use a settled "
            "pair, open it on Disputes or Queries and choose “Use for practice”."
        )
    )
    text = st.selectbox(
        tr("Query for newcomers"),
        list(practice_texts(project, lead)),
        index=None,
        key="practice-text",
        accept_new_options=True,
        placeholder=tr("Choose a training query, or type a text and press Enter"),
    )
    look.outcome("practice_choice")
    if not text:
        return
    try:
        offers = _cached_offers(project, lead, text)
    except ReelRankError as refusal:
        st.error(plain(translate_message(refusal)))
        return
    for row in range(0, len(offers), 3):
        for column, offer in zip(st.columns(3), offers[row : row + 3], strict=False):
            with column:
                _offer(text, offer, scale)


def _cached_offers(project: Project, lead: Any, text: str) -> Sequence[Offer]:
    """Return moments similar to a text, from which the lead can choose for practice.

    The session keeps the result for the last text, because finding the moments has to load the sentence encoder.
    """
    cached: tuple[str, Sequence[Offer]] = st.session_state.get("practice-offers", ("", ()))
    if cached[0] != text:
        with st.spinner(tr("Finding similar moments")):
            cached = (text, practice_offers(project, lead, text))
        st.session_state["practice-offers"] = cached
    return cached[1]


def _offer(text: str, offer: Offer, scale: Scale) -> None:
    with st.container(border=True, key=f"offer-{offer.moment_id}"):
        moment_clip(offer, f"offered-{offer.moment_id}")
        st.caption(
            tr(
                "{caption} · similarity {similarity:.2f}",
                caption=plain(wording.caption(offer.caption)),
                similarity=offer.similarity,
            )
        )
        with st.popover(tr("Use for practice"), width="stretch"), st.form(f"practise-{offer.moment_id}", border=False):
            st.selectbox(
                tr("Right grade"),
                list(reversed(scale.grades)),
                format_func=lambda grade: wording.grade(grade, scale),
                key=f"practice-grade-{offer.moment_id}",
            )
            _why(f"practice-why-{offer.moment_id}", None, "")
            st.form_submit_button(tr("Add"), on_click=choose, args=(text, offer.moment_id))


def _why(key: str, grade: int | None, words: str) -> None:
    st.text_area(
        tr("Why is this right?") if grade is None else tr("Why is this a {grade}?", grade=grade),
        words[:EXPLANATION_LENGTH],
        key=key,
        max_chars=EXPLANATION_LENGTH,
        placeholder=tr("One or two sentences that newcomers read"),
    )
