"""The report of an evaluation, for callers of the api."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from backend.campaign.nouns import Operator, Person
from backend.core.errors import NotAllowed
from backend.core.progress import Progress
from backend.core.saying import said
from backend.scoring.files.facts import Inputs
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.statistics.sureness import Sureness

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


def report_page(
    board: Scoreboard,
    inputs: Inputs,
    *,
    made: datetime,
    asked: Sureness | None = None,
    project: Project | None = None,
    by: Person | Operator | None = None,
    progress: Progress | None = None,
) -> str:
    """One self-contained HTML page of a scoreboard; see `backend.scoring.report.report`.

    With a project, the cases show frames of the moments whose videos it has; `by` is who asks for them.

    Raises:
        NotAllowed: frames are for leads, and for whoever runs commands on the machine itself.
    """
    film = None
    if project is not None:
        # A report without a project needs no database.
        from backend.campaign.release.board import strips as report_strips
        from backend.campaign.setup.people import permissions

        if by is None:
            raise NotAllowed(said("frames of a project's videos are for its leads: say who asks"))
        permissions.require_in_charge(project.store, by)
        film = report_strips.film_of(project)
    # Charts take as long to load as everything else together; only a report needs them.
    from backend.scoring.report import report

    return report.report_page(board, inputs, made=made, asked=asked, film=film, progress=progress)
