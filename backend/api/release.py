"""Operations on the results of a campaign: releases, stored runs and ground truths, and the leaderboard."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backend.api.model import Caller, LeaderboardScores, RunScores, SentFile
from backend.campaign.release.board.model import Kept
from backend.campaign.release.export.model import Adjudicated, KeptRelease, ReleaseOptions, ReleaseSelection
from backend.core.errors import ProjectError
from backend.core.messages import said

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


def preview_release(
    project: "Project",
    by: Caller,
    *,
    adjudicated: Literal["include", "leave-out"] = "include",
    unfinished: bool = False,
) -> ReleaseSelection:
    """Return which queries a release made now would include, and which it would leave out.

    Args:
        adjudicated: whether the ground truth has pairs whose relevance a lead decided.
        unfinished: whether queries with pairs that still wait for grades are included.
    """
    from backend.campaign.release.export import freezing

    return freezing.release_preview(project, by, ReleaseOptions(Adjudicated(adjudicated), unfinished))


def make_release(
    project: "Project",
    by: Caller,
    *,
    name: str | None = None,
    notes: str = "",
    adjudicated: Literal["include", "leave-out"] = "include",
    unfinished: bool = False,
    with_published: bool = False,
) -> KeptRelease:
    """Make a release in the format of TVR-Ranking, store it in the project as a zip, and return its description.

    If the project already has a release with the same content, that release is returned.

    Args:
        name: its name; the next `release-N` if None.
        notes: notes to show with the name.
        adjudicated: whether the ground truth has pairs whose relevance a lead decided.
        unfinished: whether queries with pairs that still wait for grades are included.
        with_published: whether to add the captions as they were published, which may contain names of people.

    Raises:
        ProjectError: no query can be released, or the name is taken or invalid.
        EncoderUnavailable: the sentence encoder that chose the candidates cannot be found.
    """
    from backend.campaign.release.export import freezing, kept_releases

    options = ReleaseOptions(Adjudicated(adjudicated), unfinished, with_published)
    made = freezing.export_release(project, by, None, options, name=name, notes=notes, now=time.time())
    return next(entry for entry in kept_releases.list_releases(project, by) if entry.name == made.name)


def releases(project: "Project", by: Caller) -> list[KeptRelease]:
    """Return the releases of the project, the newest first."""
    from backend.campaign.release.export.kept_releases import list_releases

    return list_releases(project, by)


def release_file(project: "Project", by: Caller, name: str) -> Path:
    """Return the zip of a release, after checking that it has not changed since it was made.

    Args:
        name: the name of the release.

    Raises:
        ProjectError: there is no such release, or its zip is missing or was changed.
    """
    from backend.campaign.release.export import kept_releases

    return kept_releases.release_file(project, by, name)


def add_truth(project: "Project", by: Caller, file: SentFile, *, name: str | None = None) -> Kept:
    """Check a ground truth file completely, and store it in the project, to score stored runs against.

    Args:
        file: a truth file of any format.
        name: its name; that of the file if None.

    Raises:
        InputError: every problem of the file.
        ProjectError: the name is taken or invalid.
    """
    from backend.campaign.release.board import kept_runs

    return kept_runs.add_truth(project, by, Path(file), name=name, now=time.time())


def truths(project: "Project", by: Caller) -> list[Kept]:
    """Return a description of each ground truth that was added by `add_truth`: its name, file, date and so on.

    Runs can also be scored against the project's own splits and releases; see `truth_names`.
    """
    from backend.campaign.release.board.kept_runs import list_truths

    return list_truths(project, by)


def truth_names(project: "Project", by: Caller) -> tuple[str, ...]:
    """Return the names of all ground truths that runs can be scored against.

    They are the project's own splits with a completely graded query, its releases, and the truths that were added.
    """
    from backend.campaign.release.board import leaderboard as board

    return tuple(board.truth_names(project, by))


def remove_truth(project: "Project", by: Caller, name: str) -> Kept:
    """Remove a stored ground truth, and return the description that `truths` had of it.

    Args:
        name: its name.

    Raises:
        ProjectError: there is no such ground truth.
    """
    from backend.campaign.release.board import kept_runs

    return kept_runs.remove_truth(project, by, name, now=time.time())


def add_run(
    project: "Project",
    by: Caller,
    file: SentFile,
    *,
    name: str | None = None,
    videos: SentFile | None = None,
    upper_bound: bool = False,
) -> Kept:
    """Check a run (a file with a system's ranked moments for queries) completely, and add it to the leaderboard.

    Args:
        file: a run file of any format.
        name: its name on the leaderboard; that of the file if None.
        videos: needed if the run names videos by index: a JSON file that maps each video name to [duration in seconds,
            index].
        upper_bound: whether the run uses information that no competing system has, such as the captions. The
            leaderboard then shows it without a rank.

    Raises:
        InputError: every problem of the file.
        ProjectError: the name is taken or invalid.
    """
    from backend.campaign.release.board import kept_runs

    return kept_runs.add_run(
        project,
        by,
        Path(file),
        name=name,
        videos=Path(videos) if videos is not None else None,
        upper_bound=upper_bound,
        now=time.time(),
    )


def runs(project: "Project", by: Caller) -> list[Kept]:
    """Return a description of each stored run (ranked results of a system), in the order in which they were added."""
    from backend.campaign.release.board.kept_runs import list_runs

    return list_runs(project, by)


def remove_run(project: "Project", by: Caller, name: str) -> Kept:
    """Remove a stored run (ranked results of a system), and return the description that `runs` had of it.

    Args:
        name: its name.

    Raises:
        ProjectError: there is no such run.
    """
    from backend.campaign.release.board import kept_runs

    return kept_runs.remove_run(project, by, name, now=time.time())


def leaderboard(
    project: "Project",
    by: Caller,
    truth: str | None = None,
    *,
    preset: Literal["paper", "tvr-ranking"] = "paper",
    k: Sequence[int] = (10, 20, 40),
    mu: Sequence[float] = (0.3, 0.5, 0.7),
) -> LeaderboardScores:
    """Score every stored run (ranked results of a system) that shares queries with a ground truth.

    Args:
        truth: one of `truth_names`; the one that fits most of the stored runs if None.
        preset: the rules of scoring: of the papers, or of TVR-Ranking's published code.
        k: the rank cut-offs.
        mu: the IoU thresholds.

    Raises:
        ProjectError: there is no such truth, or none that fits a stored run.
        InputError: a cut-off or threshold cannot be used.
    """
    from backend.campaign.release.board import leaderboard as board

    name = truth or board.truth_of_runs(project, by)
    if name is None:
        raise ProjectError(
            said("no ground truth shares queries with a stored run: add a run, or name the ground truth")
        )
    found = board.score_kept_runs(project, by, name, preset=preset, k=k, mu=mu)
    if found.scores is None:
        return LeaderboardScores(found.truth, preset, None, None, [], dict(found.left_out))
    summary = found.scores.summary()
    return LeaderboardScores(
        truth=found.truth,
        preset=summary["preset"],
        queries=summary["truth"]["queries"],
        moments=summary["truth"]["moments"],
        runs=[
            RunScores(run["name"], run["queries"], run["missing"], run["measures"], run.get("upper_bound", False))
            for run in summary["runs"]
        ],
        left_out=dict(found.left_out),
        options=summary["options"],
        warnings=summary["warnings"],
        notes=summary.get("notes", []),
    )
