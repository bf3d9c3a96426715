"""Steps of Set up: what people read and take before they grade, who they are, and whether they can begin."""

from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.screens.set_up.step import SetUpStep, StepStanding
from annotate_app.shared import inviting, tables, wording
from annotate_app.shared.ways import WayThere
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.exam.setting import exam_held
from backend.campaign.qualification.guideline.versions import guideline_versions
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project


def _ways(*ways: tuple[str, WayThere]) -> None:
    st.html(tables.table(("", ""), [(told, way.link) for told, way in ways]))


def _trained(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    version, held = guideline_versions(project, lead)[-1].version, exam_held(project, lead) is not None
    return StepStanding(
        version > 1 or held,
        tr(
            "guideline version {version}, {held}",
            version=version,
            held=tr("an exam is held") if held else tr("no exam"),
        ),
    )


def _train(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    _ways(
        (tr("What annotators read before they grade"), WayThere("Guideline", "", tr("Look at the guideline"))),
        (
            tr("Pairs to practise on, with the right grade"),
            WayThere("Guideline", "?tab=Tutorial", tr("Choose practice pairs")),
        ),
        (tr("Pairs with a key that annotators pass first"), WayThere("Exam", "", tr("Set an exam"))),
    )


def _invited(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    there, seats = counts["annotators"], project.campaign.seats
    told = wording.count_of(there, "annotator") if there else tr("nobody yet")
    return StepStanding(there >= seats, told)


def _invite(project: Project, lead: Person, counts: dict[str, Any]) -> None:
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
    return [
        *([] if any(counts["pairs"].values()) else [tr("no pair is handed out yet")]),
        *(
            [
                tr(
                    "{annotators} more {lacking} needed",
                    annotators=wording.count_of(lacking, "annotator"),
                    lacking=tr("is") if lacking == 1 else tr("are"),
                )
            ]
            if lacking > 0
            else []
        ),
    ]


def _opened(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    lacks = _lacks(project, counts)
    return StepStanding(
        not lacks,
        "; ".join(lacks) if lacks else tr("people can grade"),
        tr("Not yet: {join}.", join="; ".join(lacks)) if lacks else "",
    )


def _open(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    address = inviting.app_address(st.context.url or "")
    st.markdown(tr("Everybody who signs in as an annotator is handed pairs now. The address to sign in at:"))
    st.code(address or tr("the address of this page"), language=None)
    _ways(
        (tr("How far the work is, what is stuck, what waits for you"), WayThere("Progress", "", tr("Progress"))),
        (tr("Every query with its pairs"), WayThere("Queries", "", tr("Queries"))),
    )


TRAIN = SetUpStep("training", marked("Guideline and exam"), _trained, _train, optional=True)
INVITE = SetUpStep("people", marked("People"), _invited, _invite)
OPEN = SetUpStep("open", marked("Open"), _opened, _open)
