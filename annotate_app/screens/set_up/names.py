"""The step of the page "Set up" that finds names in captions, lets a lead replace them, and rewrites the captions."""

import os
from collections.abc import Sequence

import streamlit as st

from annotate_app.language import marked, tr, translate_message, trn
from annotate_app.plain import plain
from annotate_app.screens.set_up.step import SetUpStep, StepStanding, begin_step, encoder_box
from annotate_app.server import job_functions
from annotate_app.session import auth
from annotate_app.shared import look, results, wording
from annotate_app.shared.long_list import searched
from annotate_app.shared.unsaved import warn_unsaved
from annotate_app.shared.ways import WayThere
from backend.campaign.corpus.captions.decisions import rewrite_queue, rewrite_summary
from backend.campaign.corpus.captions.model import CastLine
from backend.campaign.corpus.captions.name_mapping import cast_lines, correct_cast
from backend.campaign.nouns import Person
from backend.campaign.review.model import StatusCounts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, ProjectError
from backend.core.messages import said

KEY = "names"
_KEY_OF_MODELS = "OPENAI_API_KEY"
_PLACE_OF_MODELS = "OPENAI_BASE_URL"
_FIELD = "cast-"


@look.lead_callback("set_up_names_problem")
def look_for(project: Project, lead: Person) -> None:
    """Begin the job that finds names in captions for which no replacement is stored yet."""
    begin_step(project, lead, KEY, said("Looking for names in the captions"), job_functions.look_for_names)


@look.lead_callback("set_up_names_problem")
def save(project: Project, lead: Person, lines: Sequence[CastLine]) -> None:
    """Store the replacements of names as edited in the form. `lines` are those that the page shows."""
    changed = _save(project, lead, lines)
    results.leave("set_up_names", trn("{n} name saved.", "{n} names saved.", changed) if changed else tr("No changes."))


@look.lead_callback("set_up_add_problem")
def add(project: Project, lead: Person) -> None:
    """Add a name that the search did not find, with its replacement."""
    state = st.session_state
    name = state["cast_name"].strip()
    if not name:
        raise ProjectError(tr("Enter a name first."))
    correct_cast(project, lead, {name: state["cast_becomes"]})
    state["cast_name"] = state["cast_becomes"] = ""
    results.leave("set_up_add", tr("{name} added.", name=name))


@look.lead_callback("set_up_names_problem")
def rewrite(project: Project, lead: Person, lines: Sequence[CastLine]) -> None:
    """Save the replacements of names, then begin the job that rewrites the captions that nobody has decided on."""
    state = st.session_state
    _save(project, lead, lines)
    asked = job_functions.RewriteOptions(
        state["rewrite_encoder"], state.get("rewrite_model", "").strip(), os.environ.get(_PLACE_OF_MODELS, "")
    )
    begin_step(project, lead, KEY, said("Rewriting the captions"), job_functions.rewrite, asked)


def _save(project: Project, lead: Person, lines: Sequence[CastLine]) -> int:
    typed = {line.name: (str(st.session_state.get(_key(line), line.becomes)).strip(), line.becomes) for line in lines}
    changed = {name: words for name, (words, before) in typed.items() if words != before}
    if changed:
        correct_cast(project, lead, changed)
    return len(changed)


def _standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    queue = rewrite_queue(project, lead)
    if queue.counts.rewritten:
        waiting = tr(", {waiting:,} to decide", waiting=queue.counts.waiting) if queue.counts.waiting else ""
        return StepStanding(
            True,
            tr(
                "{captions} rewritten{waiting}",
                captions=wording.count_of(queue.counts.rewritten, "caption"),
                waiting=waiting,
            ),
        )
    if queue.fixed:
        return StepStanding(True, tr("fixed, because queries were drawn"))
    waits = "" if counts["captions"] else tr("Import captions first: names are found in them.")
    return StepStanding(False, tr("original captions") if counts["captions"] else tr("no captions"), waits)


def _show(project: Project, lead: Person, counts: StatusCounts) -> None:
    queue = rewrite_queue(project, lead)
    if queue.fixed:
        st.markdown(tr("Captions are fixed, because queries were drawn. To rewrite them, remove all queries first."))
        return
    st.markdown(
        tr(
            "People search for what they can see, not for names. Choose generic words for each name, such as "
            "*a woman*. To keep a name, write the name itself. Captions with an undecided name wait for you. "
            "Skip this step to keep the original wording."
        )
    )
    st.button(tr("Find names"), key="look_for_names", on_click=look_for)
    _cast(project, lead)
    look.outcome("set_up_add")
    # Count only on request: it takes a second for 15,000 captions.
    if queue.counts.rewritten and st.button(tr("Show changes"), key="rewriting_changed"):
        auth.dialog(_what_changed, tr("Changes by rewriting"))(project, lead)
    if queue.counts.waiting:
        way = WayThere("Captions", "?part=rewrites", tr("Review rewrites"))
        told = trn("{n} caption waits for a decision.", "{n} captions wait for a decision.", queue.counts.waiting)
        st.html(f"<p class='rr-waiting'>{told} {way.link}</p>")


def _cast(project: Project, lead: Person) -> None:
    """Draw the names with their replacements, undecided ones first, and buttons that save them and rewrite captions."""
    try:
        lines = cast_lines(project, lead)
    except InputError as problem:
        st.error(tr("Correct the file cast.csv on the server.  \n{problem}", problem=plain(translate_message(problem))))
        return
    undecided_first = sorted(lines, key=lambda line: line.becomes != "")
    if lines:
        shown = searched(undecided_first, lambda line: line.name, "name", name="names", page="names-page")
    rows = shown.rows if lines else ()
    with st.container(key="name-mapping"), st.form("cast"):
        for line in rows:
            _line(line)
        if lines:
            st.form_submit_button(tr("Save names"), key="save_cast", on_click=save, args=(rows,))
        _rewriting(project, lead, rows)
    warn_unsaved("name-mapping", leaving=".st-key-address-names-page button")
    if lines:
        shown.end()
        with st.form("cast_more"), st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(tr("A name that was not found"), key="cast_name")
            st.text_input(tr("becomes"), key="cast_becomes", placeholder=tr("a woman"))
            st.form_submit_button(tr("Add name"), key="add_to_cast", on_click=add)


def _what_changed(project: Project, lead: Person) -> None:
    changes = rewrite_summary(project, lead)
    st.markdown(
        tr(
            "{imprecise_captions}, {changed:,} of them changed. Words per caption: {words_before:.2f} "
            "before, {words_after:.2f} after.",
            imprecise_captions=wording.count_of(changes.captions, "imprecise caption"),
            changed=changes.changed,
            words_before=changes.words_before,
            words_after=changes.words_after,
        )
    )
    if changes.replacements:
        versions = ", ".join(f"{version} ({count:,})" for version, count in changes.versions)
        st.markdown(tr("Rewritten by: {versions}", versions=plain(versions)))
        words, counts = zip(*changes.replacements, strict=True)
        shown = {tr("Replacement words"): [plain(word) for word in words], tr("Count"): [f"{n:,}" for n in counts]}
        st.table(shown, hide_index=True)


def _key(line: CastLine) -> str:
    """Return the Streamlit key of the input for a name's replacement. It changes when the replacement is saved."""
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


def _rewriting(project: Project, lead: Person, lines: Sequence[CastLine]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        encoder_box(project, lead, "rewrite_encoder")
        if os.environ.get(_KEY_OF_MODELS) or os.environ.get(_PLACE_OF_MODELS):
            st.text_input(
                tr("Language model"),
                key="rewrite_model",
                placeholder=tr("none: replace names only"),
                help=tr(
                    "A model at the server's {place_of_models}, or at OpenAI. Its key is {key_of_models}.",
                    place_of_models=_PLACE_OF_MODELS,
                    key_of_models=_KEY_OF_MODELS,
                ),
            )
        st.form_submit_button(
            tr("Save names and rewrite the captions") if lines else tr("Rewrite the captions"),
            key="rewrite_captions",
            type="primary",
            on_click=rewrite,
            args=(lines,),
        )


STEP = SetUpStep(KEY, marked("Names"), _standing, _show, optional=True)
