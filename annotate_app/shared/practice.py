"""Let leads choose practice pairs for newcomers: list the current ones, and offer moments for a text."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from annotate_app.language import retold, tr
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
    """Draw the switch of the tutorial, the current practice pairs, and the choice of others."""
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
        for column, one in zip(st.columns(3), figures[row : row + 3], strict=False):
            with column:
                _standing(one, campaign.scale)
    st.header(tr("Add a practice pair"), anchor=False)
    _choose(project, lead, campaign.scale)


@look.lead_callback("practice_problem")
def switch(project: Project, lead: Person) -> None:
    """Callback of the switch."""
    on = bool(st.session_state["tutorial-on"])
    switch_tutorial(project, lead, on, now=time.time())
    results.leave("practice", tr("Tutorial switched on.") if on else tr("Tutorial switched off."))


@look.lead_callback("practice_problem")
def withdraw(project: Project, lead: Person, practice_id: int) -> None:
    """Callback: take a practice pair out."""
    withdraw_practice(project, lead, practice_id, now=time.time())
    results.leave("practice", tr("Practice pair removed."))


def choose(text: str, moment_id: int) -> None:
    """Callback: add this moment as a practice pair for this text."""
    state = st.session_state
    grade, why = int(state[f"practice-grade-{moment_id}"]), str(state[f"practice-why-{moment_id}"])
    _do(lambda project, lead: choose_practice(project, lead, text, MomentId(moment_id), grade, why, now=time.time()))


def choose_pair(pair: PairKey, grade: int) -> None:
    """Callback at a settled pair: add it as a practice pair."""
    why = str(st.session_state[f"practice-why-{pair}"])
    act = partial(choose_practice_pair, pair=pair, grade=grade, explanation=why, now=time.time())
    _do(act, f"practice-{pair}")


def of_pair(pair: PairKey, grade: int, reason: str) -> None:
    """Draw the button that adds a settled pair to the tutorial."""
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


def _do(act: Callable[[Project, Person], object], place: str = "practice_choice") -> None:
    if look.done_as_lead(act, f"{place}_problem"):
        results.leave(place, tr("Practice pair added."))


def _standing(one: PracticeFigures, scale: Scale) -> None:
    with st.container(border=True, key=f"practice-{one.practice_id}"):
        moment_clip(one, f"practised-{one.practice_id}", f"/practice/{one.key}.mp4")
        st.markdown(f"**{one.grade} {plain(scale.label(one.grade).lower())}** · “{plain(wording.short(one.query))}”")
        st.markdown(plain(one.explanation))
        answered = (
            tr("{missed} of {people} missed it at first.", missed=one.missed, people=one.people)
            if one.people
            else tr("No answers yet.")
        )
        st.caption(answered)
        if one.hidden:
            st.warning(tr("Not shown now: {hidden}.", hidden=plain(retold(one.hidden))))
        st.button(tr("Remove"), key=f"practice-out-{one.practice_id}", on_click=withdraw, args=(one.practice_id,))


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
        offers = _offers(project, lead, text)
    except ReelRankError as refusal:
        st.error(plain(retold(refusal)))
        return
    for row in range(0, len(offers), 3):
        for column, offer in zip(st.columns(3), offers[row : row + 3], strict=False):
            with column:
                _offer(text, offer, scale)


def _offers(project: Project, lead: Any, text: str) -> Sequence[Offer]:
    """Return the offers for a text, found once: the encoder takes a moment to load."""
    kept: tuple[str, Sequence[Offer]] = st.session_state.get("practice-offers", ("", ()))
    if kept[0] != text:
        with st.spinner(tr("Finding similar moments")):
            kept = (text, practice_offers(project, lead, text))
        st.session_state["practice-offers"] = kept
    return kept[1]


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
