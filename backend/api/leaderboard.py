"""The leaderboard over the runs that the project keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Operator, Person
from backend.campaign.release.board import leaderboard as boards
from backend.campaign.release.board.leaderboard import Leaderboard
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.scoring.presets import Preset
from backend.scoring.scoreboard import Scoreboard
from backend.store.connection import reading

if TYPE_CHECKING:
    from backend.scoring.report.parts import Picture


def truth_names(project: Project, by: Person | Operator) -> list[str]:
    """What can be scored against: the project's own splits with finished queries, releases, kept truths."""
    permissions.require_in_charge(project.store, by)
    return boards.truth_names(project)


def score_kept_runs(project: Project, by: Person | Operator, truth: str, *, preset: Preset = "paper") -> Leaderboard:
    """All kept runs against one truth."""
    permissions.require_in_charge(project.store, by)
    return boards.leaderboard(project, truth, preset=preset)


def leaderboard_version(project: Project, by: Person | Operator, truth: str) -> str:
    """Changes whenever the leaderboard of this truth would."""
    permissions.require_in_charge(project.store, by)
    return boards.version(project, truth)


def board_pictures(scores: Scoreboard, key: str | None = None) -> list[Picture]:
    """The charts of a scoreboard by one measure (that in focus, if None)."""
    # Charts take as long to load as everything else together; the command line rarely needs them.
    from backend.scoring.report import parts as report_parts

    return report_parts.pictures(scores, scores.focus if key is None else key)


def videos_with_file(project: Project, by: Person | Operator) -> dict[str, float]:
    """Lengths in seconds of the videos whose file the project knows, by name."""
    permissions.require_in_charge(project.store, by)
    with reading(project.store) as db:
        without = set(corpus.videos_without_file(db))
        return {name: length for name, length in corpus.video_durations(db).items() if name not in without}
