"""The lead's page "Set up": from an empty project to the first grade, as a list of steps.

Each time the page is drawn, it reads from the project which steps are done. So it does not matter who did them, here or
by commands. Long jobs run in another process and continue when the page is closed.
"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from annotate_app.language import marked, tr, trn
from annotate_app.plain import plain
from annotate_app.screens.set_up import annotations, candidates, names, queries, videos
from annotate_app.screens.set_up.step import SetUpStep, StepStanding
from annotate_app.shared import inviting, look, wording
from annotate_app.shared.job_view import find_job, show_job
from annotate_app.shared.upload import not_taken
from annotate_app.shared.ways import WayThere
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.exam.setting import exam_held
from backend.campaign.qualification.guideline.versions import guideline_versions
from backend.campaign.review.model import StatusCounts
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import Job, JobKind, JobState

_DONE, _TO_DO, _LATER = ":material/check_circle:", ":material/radio_button_unchecked:", ":material/more_horiz:"


_OPEN = "set_up_open"
"""Session key of the steps that were done when the page was last drawn, and the step that was done last."""


def page() -> None:
    """Draw the steps of the setup. A step shows its running background job or the job's outcome."""
    project, lead, counts = look.lead_page("Set up")
    not_taken()
    inviting.links()  # at the top, because the step that invites people may be folded by then
    job = find_job(project, lead, {JobKind.SET_UP})
    if job is not None and job.subject not in {step.key for step in STEPS}:
        show_job(project, lead, job, "set_up_problem")
    standings = [step.standing(project, lead, counts) for step in STEPS]
    following = next(
        (
            n
            for n, standing_of_step in enumerate(standings)
            if not (standing_of_step.done or standing_of_step.waits or STEPS[n].optional)
        ),
        len(STEPS),
    )
    stays_open = _just_done(
        {step.key: standing_of_step.done for step, standing_of_step in zip(STEPS, standings, strict=True)}
    )
    for number, (step, standing) in enumerate(zip(STEPS, standings, strict=True)):
        icon = _DONE if standing.done else _LATER if standing.waits else _TO_DO
        title = f"**{number + 1}. {plain(tr(step.title))}** — {plain(standing.told)}"
        own_job = job if job is not None and job.subject == step.key else None
        is_open = number == following or own_job is not None or step.key == stays_open
        # Another key once it is done: Streamlit then forgets that it was open.
        with st.expander(title, expanded=is_open, icon=icon, key=f"step-{step.key}-{standing.done}"):
            if standing.waits:
                st.markdown(plain(standing.waits))
            else:
                step.show(project, lead, counts)
            results_of(project, lead, step, own_job)


def results_of(project: Project, lead: Person, step: SetUpStep, job: Job | None) -> None:
    """Draw the result of a step's last action, and the step's job if there is one."""
    look.outcome(f"set_up_{step.key}")
    if job is not None:
        show_job(project, lead, job, f"set_up_{step.key}_problem", partial(_after_job, step))


def _just_done(done: dict[str, bool]) -> str:
    """Return the key of the step that was completed last in this session, or "" for none.

    This step stays open, so that the lead sees its result. `done` says for each step whether it is complete.
    """
    kept: tuple[dict[str, bool], str] = st.session_state.get(_OPEN, (done, ""))
    before, last = kept
    last = next((key for key, is_done in done.items() if is_done and not before.get(key, True)), last)
    st.session_state[_OPEN] = (done, last)
    return last


def _after_job(step: SetUpStep, job: Job) -> None:
    if job.state is JobState.DONE and step.then is not None:
        step.then(job)


def is_first(project: Project, lead: Person) -> bool:
    """Return whether the lead should start on the page "Set up", because no pair was given to annotators yet."""
    return not any(status_counts(project, lead)["pairs"].values())


def _ways(*ways: tuple[str, WayThere]) -> None:
    st.html(look.table(("", ""), [(told, way.link) for told, way in ways]))


def _training_standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    version, held = guideline_versions(project, lead)[-1].version, exam_held(project, lead) is not None
    return StepStanding(
        version > 1 or held,
        tr(
            "guideline version {version}, {held}",
            version=version,
            held=tr("exam started") if held else tr("no exam"),
        ),
    )


def _show_training(project: Project, lead: Person, counts: StatusCounts) -> None:
    _ways(
        (tr("Guideline that annotators read first"), WayThere("Guideline", "", tr("Edit the guideline"))),
        (
            tr("Practice pairs with the right grade"),
            WayThere("Guideline", "?tab=Tutorial", tr("Choose practice pairs")),
        ),
        (tr("Exam that annotators pass first"), WayThere("Exam", "", tr("Start an exam"))),
    )


def _inviting_standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    there, seats = counts["annotators"], project.campaign.seats
    told = wording.count_of(there, "annotator") if there else tr("none yet")
    return StepStanding(there >= seats, told)


def _show_inviting(project: Project, lead: Person, counts: StatusCounts) -> None:
    seats, further = project.campaign.seats, project.campaign.further_seats
    st.markdown(
        tr(
            "{number} annotators grade every pair, and {further} more if they disagree. Invite at least "
            "{total} to finish every pair. Leads do not grade.",
            number=wording.number(seats),
            further=wording.number(further).lower(),
            total=wording.number(seats + further).lower(),
        )
    )
    people = [row.person for row in list_people(project, lead) if not row.person.suspended]
    for role, noun in ((Role.LEAD, tr("Leads")), (Role.ANNOTATOR, tr("Annotators"))):
        names = [person.name for person in people if person.role is role]
        if names:
            st.text(f"{noun}: {', '.join(names)}")
    inviting.form()
    _ways((tr("New links, pauses, assignments"), WayThere("People", "", tr("Manage people"))))


def _lacks(project: Project, counts: StatusCounts) -> list[str]:
    lacking = project.campaign.seats - counts["annotators"]
    lacks = [] if any(counts["pairs"].values()) else [tr("no pairs handed out yet")]
    if lacking > 0:
        lacks.append(trn("{n} more annotator is needed", "{n} more annotators are needed", lacking))
    return lacks


def _open_standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    lacks = _lacks(project, counts)
    return StepStanding(
        not lacks,
        "; ".join(lacks) if lacks else tr("annotators can grade"),
        tr("Not yet: {reasons}.", reasons="; ".join(lacks)) if lacks else "",
    )


def _show_open(project: Project, lead: Person, counts: StatusCounts) -> None:
    address = inviting.app_address(st.context.url or "")
    st.markdown(tr("Annotators who sign in get pairs to grade. Send them this address:"))
    st.code(address or tr("the address of this page"), language=None)
    _ways(
        (tr("Progress, stuck pairs, and what waits for you"), WayThere("Progress", "", tr("Open Progress"))),
        (tr("Every query with its pairs"), WayThere("Queries", "", tr("Open Queries"))),
    )


STEPS: Sequence[SetUpStep] = (
    *(videos.VIDEOS_STEP, annotations.STEP, videos.MOMENTS_STEP, names.STEP, queries.STEP, candidates.STEP),
    SetUpStep("training", marked("Guideline and exam"), _training_standing, _show_training, optional=True),
    SetUpStep("people", marked("People"), _inviting_standing, _show_inviting),
    SetUpStep("open", marked("Open"), _open_standing, _show_open),
)
