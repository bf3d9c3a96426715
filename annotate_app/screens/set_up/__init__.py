"""The lead's page "Set up": from an empty project to the first grade, as a list of steps.

What is done and what is not is read from the project every time, so that it does not matter who did it and whether on
this page or by commands. What takes long runs in a worker and goes on when the page is closed.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.set_up import annotations, candidates, names, queries, videos
from annotate_app.screens.set_up.step import SetUpStep, StepStanding
from annotate_app.shared import inviting, look, wording
from annotate_app.shared.job_view import job_view
from annotate_app.shared.upload import not_taken
from annotate_app.shared.ways import WayThere
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.exam.setting import exam_held
from backend.campaign.qualification.guideline.versions import guideline_versions
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import Job, JobKind, JobState

_DONE, _TO_DO, _LATER = ":material/check_circle:", ":material/radio_button_unchecked:", ":material/more_horiz:"


def page() -> None:
    """What is being done, what came of it, and the steps."""
    project, lead, counts = look.lead_page("Set up")
    inviting.outcome()  # here, because the step of who was invited may be folded by then
    jobs(project, lead)
    standings = [step.standing(project, lead, counts) for step in STEPS]
    following = next(
        (n for n, one in enumerate(standings) if not (one.done or one.waits or STEPS[n].optional)), len(STEPS)
    )
    for number, (step, standing) in enumerate(zip(STEPS, standings, strict=True)):
        icon = _DONE if standing.done else _LATER if standing.waits else _TO_DO
        title = f"**{number + 1}. {plain(tr(step.title))}** — {plain(standing.told)}"
        # Another key once it is done: Streamlit then forgets that it was open.
        with st.expander(title, expanded=number == following, icon=icon, key=f"step-{step.key}-{standing.done}"):
            if standing.waits:
                st.markdown(plain(standing.waits))
            else:
                step.show(project, lead, counts)


def jobs(project: Project, lead: Person) -> None:
    """Show why a button did nothing, and the job of a step that runs or ran last."""
    look.refusal("set_up_problem")
    not_taken()
    job_view(project, lead, {JobKind.SET_UP}, "set_up_problem", _then)


def _then(job: Job) -> None:
    step = next((step for step in STEPS if step.key == job.subject), None)  # another release may have others
    if job.state is JobState.DONE and step is not None and step.then is not None:
        step.then(job)


def is_first(project: Project, lead: Person) -> bool:
    """Whether a lead is better led here than to the queries: as long as no pair was handed out."""
    return not any(status_counts(project, lead)["pairs"].values())


def _ways(*ways: tuple[str, WayThere]) -> None:
    st.html(look.table(("", ""), [(told, way.link) for told, way in ways]))


def _training_standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    version, held = guideline_versions(project, lead)[-1].version, exam_held(project, lead) is not None
    return StepStanding(
        version > 1 or held,
        tr(
            "guideline version {version}, {held}",
            version=version,
            held=tr("an exam is held") if held else tr("no exam"),
        ),
    )


def _show_training(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    _ways(
        (tr("What annotators read before they grade"), WayThere("Guideline", "", tr("Look at the guideline"))),
        (
            tr("Pairs to practise on, with the right grade"),
            WayThere("Guideline", "?tab=Tutorial", tr("Choose practice pairs")),
        ),
        (tr("Pairs with a key that annotators pass first"), WayThere("Exam", "", tr("Set an exam"))),
    )


def _inviting_standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    there, seats = counts["annotators"], project.campaign.seats
    told = wording.count_of(there, "annotator") if there else tr("nobody yet")
    return StepStanding(there >= seats, told)


def _show_inviting(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    seats, further = project.campaign.seats, project.campaign.further_seats
    st.markdown(
        tr(
            "{number} people grade every pair, and {number_2} more where these disagree: {number_3} "
            "annotators or more can bring everything to an end. Leads do not grade.",
            number=wording.number(seats),
            number_2=wording.number(further).lower(),
            number_3=wording.number(seats + further).lower(),
        )
    )
    people = [row.person for row in list_people(project, lead) if not row.person.suspended]
    for role, noun in ((Role.LEAD, tr("Leads")), (Role.ANNOTATOR, tr("Annotators"))):
        names = [person.name for person in people if person.role is role]
        if names:
            st.text(f"{noun}: {', '.join(names)}")
    inviting.form()
    _ways((tr("Links, pauses, who grades which queries"), WayThere("People", "", tr("The page People"))))


def _lacks(project: Project, counts: dict[str, Any]) -> list[str]:
    lacking = project.campaign.seats - counts["annotators"]
    lacks = [] if any(counts["pairs"].values()) else [tr("no pair is handed out yet")]
    if lacking > 0:
        annotators, needed = wording.count_of(lacking, "annotator"), wording.are(lacking)
        lacks.append(tr("{annotators} more {lacking} needed", annotators=annotators, lacking=needed))
    return lacks


def _open_standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    lacks = _lacks(project, counts)
    return StepStanding(
        not lacks,
        "; ".join(lacks) if lacks else tr("people can grade"),
        tr("Not yet: {join}.", join="; ".join(lacks)) if lacks else "",
    )


def _show_open(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    address = inviting.app_address(st.context.url or "")
    st.markdown(tr("Everybody who signs in as an annotator is handed pairs now. The address to sign in at:"))
    st.code(address or tr("the address of this page"), language=None)
    _ways(
        (tr("How far the work is, what is stuck, what waits for you"), WayThere("Progress", "", tr("Progress"))),
        (tr("Every query with its pairs"), WayThere("Queries", "", tr("Queries"))),
    )


STEPS: Sequence[SetUpStep] = (
    *(videos.VIDEOS_STEP, annotations.STEP, videos.MOMENTS_STEP, names.STEP, queries.STEP, candidates.STEP),
    SetUpStep("training", marked("Guideline and exam"), _training_standing, _show_training, optional=True),
    SetUpStep("people", marked("People"), _inviting_standing, _show_inviting),
    SetUpStep("open", marked("Open"), _open_standing, _show_open),
)
