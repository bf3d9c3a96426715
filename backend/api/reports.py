"""The report of an evaluation, for callers of the api."""

from collections.abc import Callable
from datetime import datetime

from backend.campaign.project.folder import Project
from backend.scoring.files.facts import Inputs
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.statistics.sureness import Sureness


def report_page(
    board: Scoreboard,
    inputs: Inputs,
    *,
    made: datetime,
    asked: Sureness | None = None,
    project: Project | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> str:
    """One self-contained HTML page of a scoreboard; see `backend.scoring.report.report`.

    With a project, the cases show frames of the moments whose videos it has.
    """
    # Charts take as long to load as everything else together; only a report needs them.
    from backend.campaign.board import strips as report_strips
    from backend.scoring.report import report

    film = report_strips.film_of(project) if project else None
    return report.report_page(board, inputs, made=made, asked=asked, film=film, progress=progress)
