"""The step of the page "Set up" that previews annotation files (captions with their time spans), then imports them."""

import os
from pathlib import Path

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.set_up.step import (
    SetUpStep,
    StepStanding,
    begin_step,
    last_job,
    measuring,
    measuring_asked,
    measuring_options,
)
from annotate_app.server import job_functions, lead_routes
from annotate_app.shared import look, wording
from annotate_app.shared.upload import upload
from backend.campaign.corpus.importing.formats import FORMATS as CORPUS_FORMATS
from backend.campaign.monitoring.videos.allowed_folders import allowed_path
from backend.campaign.nouns import Person
from backend.campaign.review.model import StatusCounts
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import Job
from backend.core.errors import ProjectError
from backend.core.messages import said

KEY = "annotations"
_MEASURING = "set_up_file"
_TOLD = marked("detect")
_LOOKED = "looked at"


@look.lead_callback("set_up_annotations_problem")
def look_at(project: Project, lead: Person) -> None:
    """Begin the job that previews the annotation file named in the form. It checks everything and writes nothing."""
    asked = _form_options(project, lead)
    title = said("Previewing {name}", name=Path(asked["file"]).name)
    _begin(project, lead, title, asked, dry_run=True, kept={**asked, _LOOKED: "yes"})


def choose_sent(names: list[str]) -> None:
    """Put the name of the last uploaded file into the form."""
    st.session_state["set_up_file"] = names[-1]


@look.lead_callback("set_up_annotations_problem")
def take(project: Project, lead: Person) -> None:
    """Begin the job that imports the previewed file, with the options of the preview."""
    job = last_job(project, lead)
    if job is None or job.subject != KEY or _LOOKED not in job.asked:
        raise ProjectError(tr("somebody dismissed the preview. Preview the file again"))
    title = said("Importing {name}", name=Path(job.asked["file"]).name)
    _begin(project, lead, title, job.asked, dry_run=False, kept={})


def _standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    captions = counts["captions"]
    return StepStanding(captions > 0, wording.count_of(captions, "caption") if captions else tr("none (optional)"))


def _show(project: Project, lead: Person, counts: StatusCounts) -> None:
    st.markdown(
        tr(
            "Import captions with their time spans: files of ActivityNet, Charades-STA, DiDeMo, QVHighlights, "
            "TACoS or TVR, or a table with the columns `video`, `start`, `end`, `caption`. Import several "
            "files one after another. Without files, moments come from shots, windows, or descriptions."
        )
    )
    upload(
        "files", tr("Annotation files from your computer"), lead_routes.KINDS["files"].extensions, on_sent=choose_sent
    )
    st.text_input(tr("Annotation file"), key="set_up_file", placeholder=tr("An uploaded file, or a path on the server"))
    if sent := [file.name for file in lead_routes.sent_files(project, "files")]:
        st.caption(tr("Uploaded: {files}", files=plain(", ".join(sent))))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(tr("Format"), [_TOLD, *CORPUS_FORMATS], key="set_up_format", format_func=tr)
        st.text_input(
            tr("Folder of its videos"),
            key="set_up_file_videos",
            placeholder=tr("as added above"),
            help=tr("Only if the videos are not in the project yet, or the file uses other names."),
        )
        with st.popover(tr("More options")):
            st.text_input(
                tr("Types"),
                key="set_up_types",
                placeholder="v",
                help=tr("For TVR: v (visual only), t, vt, or all."),
            )
            st.text_input(
                tr("Columns"),
                key="set_up_columns",
                placeholder="start=begin,end=finish",
                help=tr("Names of the columns video, start, end, caption, duration and id in a csv or jsonl file."),
            )
            measuring_options(_MEASURING)
    st.button(tr("Preview"), key="look_at_file", on_click=look_at, type="primary")
    st.caption(tr("The preview writes nothing."))


def _after_job(job: Job) -> None:
    if _LOOKED in job.asked:
        st.button(tr("Import"), key="import_file", on_click=take, type="primary")


def _form_options(project: Project, lead: Person) -> dict[str, str]:
    """Return the values of the form that imports an annotation file.

    The file is given by its full path, even if the lead typed only its name.
    """
    state = st.session_state
    name = state["set_up_file"].strip()
    if not name:
        raise ProjectError(tr("choose an annotation file first"))
    file = Path(os.path.expanduser(name))
    if file.suffix.lower() not in lead_routes.KINDS["files"].extensions:
        known = ", ".join(lead_routes.KINDS["files"].extensions)
        raise ProjectError(
            tr("{name} is not an annotation file: its name must end in one of {known}", name=name, known=known)
        )
    fps, decode = measuring_asked(_MEASURING)
    file = file if file.is_absolute() else project.folder / lead_routes.KINDS["files"].folder / file.name
    return {
        "file": str(allowed_path(project, lead, str(file))),
        "format": "" if state["set_up_format"] == _TOLD else state["set_up_format"],
        "types": state["set_up_types"].strip(),
        "columns": state["set_up_columns"].strip(),
        "videos": state["set_up_file_videos"].strip() and str(allowed_path(project, lead, state["set_up_file_videos"])),
        "fps": fps,
        "decode": decode,
    }


def _begin(
    project: Project, lead: Person, title: str, asked: dict[str, str], *, dry_run: bool, kept: dict[str, str]
) -> None:
    columns = [part.partition("=") for part in asked["columns"].split(",") if part.strip()]
    if wrong := [name for name, _, column in columns if not (name.strip() and column.strip())]:
        raise ProjectError(tr("the columns at {wrong!r} are not of the form start=begin,end=finish", wrong=wrong[0]))
    reading = job_functions.AnnotationImport(
        Path(asked["file"]),
        asked["format"] or None,
        frozenset(asked["types"].split(",")) if asked["types"] else None,
        {name.strip(): column.strip() for name, _, column in columns},
        Path(asked["videos"]) if asked["videos"] else None,
        measuring((asked["fps"], asked["decode"])),
    )
    begin_step(project, lead, KEY, title, job_functions.import_file, reading, dry_run, asked=kept)


STEP = SetUpStep(KEY, marked("Annotation files"), _standing, _show, optional=True, then=_after_job)
