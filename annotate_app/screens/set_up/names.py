"""Step of Set up: who is in the captions, what their names become, and the captions without them."""

import os
from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotate_app.language import marked, retold, tr, trn
from annotate_app.plain import plain
from annotate_app.screens.set_up.step import SetUpStep, StepStanding, begin_step, encoder_box
from annotate_app.server import job_functions
from annotate_app.session import auth
from annotate_app.shared import look, wording
from annotate_app.shared.long_list import searched
from annotate_app.shared.ways import WayThere
from backend.campaign.corpus.captions.decisions import rewrite_queue, rewrite_summary
from backend.campaign.corpus.captions.model import CastLine
from backend.campaign.corpus.captions.name_mapping import cast_lines, correct_cast
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, ProjectError
from backend.core.messages import said

KEY = "names"
_KEY_OF_MODELS = "OPENAI_API_KEY"
_PLACE_OF_MODELS = "OPENAI_BASE_URL"
_FIELD = "cast-"


@look.lead_callback("set_up_problem")
def look_for(project: Project, lead: Person) -> None:
    """Callback of the button: names that the cast lacks."""
    begin_step(project, lead, KEY, said("Looking for names in the captions"), job_functions.look_for_names)


@look.lead_callback("set_up_problem")
def save(project: Project, lead: Person, lines: Sequence[CastLine]) -> None:
    """Callback of the list's form: what was changed of these lines."""
    said = {line.name: (st.session_state[_key(line)].strip(), line.becomes) for line in lines}
    becomes = {name: words for name, (words, before) in said.items() if words != before}
    correct_cast(project, lead, becomes)


@look.lead_callback("set_up_problem")
def add(project: Project, lead: Person) -> None:
    """Callback of the form of a name that was not found."""
    state = st.session_state
    name = state["cast_name"].strip()
    if not name:
        raise ProjectError(tr("Write the name first."))
    correct_cast(project, lead, {name: state["cast_becomes"]})
    state["cast_name"] = state["cast_becomes"] = ""


@look.lead_callback("set_up_problem")
def rewrite(project: Project, lead: Person) -> None:
    """Callback of the button: the captions anew, but for those that people decided on."""
    state = st.session_state
    asked = job_functions.RewritingAsked(
        state["rewrite_encoder"], state.get("rewrite_model", "").strip(), os.environ.get(_PLACE_OF_MODELS, "")
    )
    begin_step(project, lead, KEY, said("Rewriting the captions"), job_functions.rewrite, asked)


def _standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    found = rewrite_queue(project, lead)
    if found.counts.rewritten:
        waiting = tr(", {waiting:,} of them wait for you", waiting=found.counts.waiting) if found.counts.waiting else ""
        return StepStanding(
            True,
            tr(
                "{captions} rewritten{waiting}",
                captions=wording.count_of(found.counts.rewritten, "caption"),
                waiting=waiting,
            ),
        )
    if found.fixed:
        return StepStanding(True, tr("captions stay as they are, because queries are there"))
    waits = "" if counts["captions"] else tr("Names are those of captions, and there are none.")
    return StepStanding(False, tr("captions are as published") if counts["captions"] else tr("no captions"), waits)


def _show(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    queue = rewrite_queue(project, lead)
    if queue.fixed:
        st.markdown(
            tr("Queries are there, so the texts of captions are fixed. To rewrite them, take the queries back.")
        )
        return
    st.markdown(
        tr(
            "People search for what is to be seen, not for names. Each name of the cast becomes generic "
            "words, such as *a woman*; a name that becomes itself stays, and captions with one that "
            "becomes nothing yet wait for you. Who wants the published words goes on without this step."
        )
    )
    st.button(tr("Look for names"), key="look_for_names", on_click=look_for)
    _cast(project, lead)
    _rewriting(project, lead)
    # Counted when somebody asks: a second for 15,000 captions.
    if queue.counts.rewritten and st.button(tr("What rewriting changed"), key="rewriting_changed"):
        auth.dialog(_what_changed, tr("What rewriting changed"))(project, lead)
    if queue.counts.waiting:
        way = WayThere("Captions", "?part=rewrites", tr("Decide on the page Captions"))
        told = trn("{n} caption wait for a decision.", "{n} captions wait for a decision.", queue.counts.waiting)
        st.html(f"<p class='rr-waiting'>{told} {way.link}</p>")


def _cast(project: Project, lead: Person) -> None:
    """The names, those first of which nobody has said what they become."""
    try:
        lines = cast_lines(project, lead)
    except InputError as problem:
        st.error(
            tr(
                "cast.csv cannot be used as it is. Correct it on the server.  \n{problem}",
                problem=plain(retold(problem)),
            )
        )
        return
    if not lines:
        return
    undecided_first = sorted(lines, key=lambda line: line.becomes != "")
    shown = searched(undecided_first, lambda line: line.name, "name", name="names", page="names-page")
    with st.form("cast"):
        for line in shown.rows:
            _line(line)
        st.form_submit_button(tr("Save these"), key="save_cast", on_click=save, args=(shown.rows,))
    shown.end()
    with st.form("cast_more"), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(tr("A name that was not found"), key="cast_name")
        st.text_input(tr("becomes"), key="cast_becomes", placeholder=tr("a woman"))
        st.form_submit_button(tr("Add"), key="add_to_cast", on_click=add)


def _what_changed(project: Project, lead: Person) -> None:
    found = rewrite_summary(project, lead)
    st.markdown(
        tr(
            "{imprecise_captions}, {changed:,} of them changed; words a caption {words_before:.2f} "
            "before, {words_after:.2f} after.",
            imprecise_captions=wording.count_of(found.captions, "imprecise caption"),
            changed=found.changed,
            words_before=found.words_before,
            words_after=found.words_after,
        )
    )
    if found.replacements:
        words, counts = zip(*found.replacements, strict=True)
        shown = {tr("Replacement words"): [plain(word) for word in words], tr("Count"): [f"{n:,}" for n in counts]}
        st.table(shown, hide_index=True)


def _key(line: CastLine) -> str:
    """Of a line's input: another one where somebody else has changed the line."""
    return f"{_FIELD}{line.name}-{line.becomes}"


def _line(line: CastLine) -> None:
    name, becomes, example = st.columns([2, 3, 5], vertical_alignment="center")
    name.text(line.name)
    becomes.text_input(
        tr("What {name} becomes", name=plain(line.name)),
        line.becomes,
        key=_key(line),
        label_visibility="collapsed",
        placeholder=tr("undecided"),
    )
    count = wording.count_of(int(line.captions), "caption") if line.captions.isdecimal() else tr("captions")
    example.caption(plain(tr("{count}, such as: {example}", count=count, example=line.example)) if line.example else "")


def _rewriting(project: Project, lead: Person) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        encoder_box(project, lead, "rewrite_encoder")
        if os.environ.get(_KEY_OF_MODELS) or os.environ.get(_PLACE_OF_MODELS):
            st.text_input(
                tr("Language model"),
                key="rewrite_model",
                placeholder=tr("none: by the cast's rules"),
                help=tr(
                    "Behind {place_of_models} of the server, or OpenAI's own; its key is {key_of_models}.",
                    place_of_models=_PLACE_OF_MODELS,
                    key_of_models=_KEY_OF_MODELS,
                ),
            )
        st.button(tr("Rewrite the captions"), key="rewrite_captions", type="primary", on_click=rewrite)


STEP = SetUpStep(KEY, marked("Names"), _standing, _show, optional=True)
