"""What of one query cannot come to its end by itself: which of its pairs, why, and where that is dealt with."""

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.shared import waiting, wording
from annotate_app.shared.waiting import Line
from annotate_app.shared.ways import WayThere
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.model import QueryStuck
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId

_CLIPS = WayThere("Disagreements", "?show=blocked", marked("Look at the clips"))
_EXAM = WayThere("Exam", "", marked("Look"))


def query_stuck(project: Project, lead: Person, query_id: QueryId) -> None:
    """The sentences, each with its way out; nothing where all goes on by itself."""
    if found := lines(progress.query_stuck(project, lead, query_id)):
        st.markdown(f"**{tr('Stuck')}**")
        st.html(waiting.list_of(found))


def lines(found: QueryStuck) -> list[Line]:
    """What is stuck, blocked and set aside, with the ranks."""
    told = []
    for one, ranks in found.stuck:
        told += waiting.lines_of(one, f" {wording.ranks(ranks)}.")
    if found.blocked:
        clips = tr("its clip cannot") if len(found.blocked) == 1 else tr("their clips cannot")
        told.append(
            Line(
                tr(
                    "{are} blocked: {clips} be shown. {ranks}.",
                    are=_are(found.blocked),
                    clips=clips,
                    ranks=wording.ranks(found.blocked),
                ),
                _CLIPS,
            )
        )
    if found.set_aside:
        asked = tr(
            "set aside while an exam or a trial asks for {len}.",
            len=tr("it") if len(found.set_aside) == 1 else tr("them"),
        )
        told.append(Line(f"{_are(found.set_aside)} {asked} {wording.ranks(found.set_aside)}.", _EXAM))
    return told


def _are(ranks: tuple[int, ...]) -> str:
    return wording.pairs_are(len(ranks))
