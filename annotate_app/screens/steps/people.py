"""Steps of Set up: what people read and take before they grade, who they are, and whether they can begin."""

from typing import Any

import streamlit as st

from annotate_app.screens.steps.step import SetUpStep, StepStanding
from annotate_app.widgets import inviting, tables, wording
from annotate_app.widgets.waiting import WayThere
from backend import api
from backend.campaign.nouns import Person, Role


def _ways(*ways: tuple[str, WayThere]) -> None:
    st.html(tables.table(("", ""), [(told, way.link) for told, way in ways]))


def _trained(project: api.Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    version, held = api.guideline_versions(project, lead)[-1].version, api.exam_held(project, lead) is not None
    return StepStanding(version > 1 or held, f"guideline version {version}, {'an exam is held' if held else 'no exam'}")


def _train(project: api.Project, lead: Person, counts: dict[str, Any]) -> None:
    _ways(
        ("What annotators read before they grade", WayThere("Guideline", "", "Look at the guideline")),
        ("Pairs to practise on, with the right grade", WayThere("Guideline", "?tab=Tutorial", "Choose practice pairs")),
        ("Pairs with a key that annotators pass first", WayThere("Exam", "", "Set an exam")),
    )


def _invited(project: api.Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    there, seats = counts["annotators"], project.campaign.seats
    told = wording.count_of(there, "annotator") if there else "nobody yet"
    return StepStanding(there >= seats, told)


def _invite(project: api.Project, lead: Person, counts: dict[str, Any]) -> None:
    seats, further = project.campaign.seats, project.campaign.further_seats
    st.markdown(
        f"{wording.number(seats)} people grade every pair, and {wording.number(further).lower()} more where these "
        f"disagree: {wording.number(seats + further).lower()} annotators or more can bring everything to an end. Leads "
        "do not grade."
    )
    people = [row.person for row in api.list_people(project, lead) if not row.person.suspended]
    for role, noun in ((Role.LEAD, "Leads"), (Role.ANNOTATOR, "Annotators")):
        names = [person.name for person in people if person.role is role]
        if names:
            st.text(f"{noun}: {', '.join(names)}")
    inviting.form()
    _ways(("Links, pauses, who grades which queries", WayThere("People", "", "The page People")))


def _lacks(project: api.Project, counts: dict[str, Any]) -> list[str]:
    lacking = project.campaign.seats - counts["annotators"]
    return [
        *([] if any(counts["pairs"].values()) else ["no pair is handed out yet"]),
        *(
            [f"{wording.count_of(lacking, 'annotator')} more {'is' if lacking == 1 else 'are'} needed"]
            if lacking > 0
            else []
        ),
    ]


def _opened(project: api.Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    lacks = _lacks(project, counts)
    return StepStanding(
        not lacks, "; ".join(lacks) if lacks else "people can grade", f"Not yet: {'; '.join(lacks)}." if lacks else ""
    )


def _open(project: api.Project, lead: Person, counts: dict[str, Any]) -> None:
    origin = inviting.origin(st.context.url or "")
    st.markdown("Everybody who signs in as an annotator is handed pairs now. The address to sign in at:")
    st.code(origin or "the address of this page", language=None)
    _ways(
        ("How far the work is, what is stuck, what waits for you", WayThere("Progress", "", "Progress")),
        ("Every query with its pairs", WayThere("Queries", "", "Queries")),
    )


TRAIN = SetUpStep("training", "Guideline and exam", _trained, _train, optional=True)
INVITE = SetUpStep("people", "People", _invited, _invite)
OPEN = SetUpStep("open", "Open", _opened, _open)
