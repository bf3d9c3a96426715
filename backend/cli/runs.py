"""Commands for runs: `reelrank truths`, `runs` and `match-run`."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command, add_group
from backend.cli.options import Dir, Json, argument, option
from backend.cli.output import (
    end_with_json,
    minute,
    now,
    progress_bar,
    save,
    say,
    say_each,
    seconds,
    table,
    tell_written,
)
from backend.core.messages import said_n

if TYPE_CHECKING:
    from backend.campaign.release.board import model as board_model


Name = Annotated[str | None, option("--name NAME", "Its name in the list. Default: the name of the file.")]
Kept = Annotated[str, argument("NAME", "Its name in the list.")]
_QUERIES, _PREDICTIONS = ("{n:,} query", "{n:,} queries"), ("{n:,} prediction", "{n:,} predictions")
_GRADED = ("{n:,} graded moment", "{n:,} graded moments")


def add_truth(
    folder: Dir,
    file: Annotated[Path, argument("FILE|DIR", "A truth file of any supported format, or the folder of a release.")],
    name: Name = None,
) -> None:
    """Check a ground truth file, and add it to the project.

    Example: reelrank truths add my-project val.json --name tvr-val
    """
    from backend.campaign.release.board import kept_runs

    with progress_bar() as report:
        report(f"reading {file.name}", 0, 1)
        added = kept_runs.add_truth(open_project(folder), OPERATOR, file, name=name, now=now())
        report(f"reading {file.name}", 1, 1)
    say(f"Added {added.name}: {said_n(*_QUERIES, added.queries)}, {said_n(*_GRADED, added.moments)}.")


def add_run(
    folder: Dir,
    file: Annotated[Path, argument("FILE", "A run file of any supported format.")],
    name: Name = None,
    videos: Annotated[
        Path | None,
        option(
            "--videos MAP|DIR", "For a run that gives videos by index: a map name -> [duration, index], or a release."
        ),
    ] = None,
    upper_bound: Annotated[bool, option("--upper-bound", "Mark it as an upper bound, which is never ranked.")] = False,
) -> None:
    """Check a run file, and add it to the project.

    Example: reelrank runs add my-project conquer.json --videos video_corpus.json
    """
    from backend.campaign.release.board import kept_runs
    from backend.scoring.upper_bound import run_label

    with progress_bar() as report:
        report(f"reading {file.name}", 0, 1)
        project = open_project(folder)
        added = kept_runs.add_run(project, OPERATOR, file, name=name, videos=videos, upper_bound=upper_bound, now=now())
        report(f"reading {file.name}", 1, 1)
    label = run_label(added.name, upper_bound=added.upper_bound)
    say(f"Added {label}: {said_n(*_QUERIES, added.queries)}, {said_n(*_PREDICTIONS, added.moments)}.")


def list_truths(folder: Dir, json: Json = False) -> None:
    """List the ground truths of the project.

    Example: reelrank truths list my-project
    """
    from backend.campaign.release.board import kept_runs

    _list(kept_runs.list_truths(open_project(folder), OPERATOR), json)


def list_runs(folder: Dir, json: Json = False) -> None:
    """List the runs of the project.

    Example: reelrank runs list my-project
    """
    from backend.campaign.release.board import kept_runs

    _list(kept_runs.list_runs(open_project(folder), OPERATOR), json)


def remove_truth(folder: Dir, name: Kept) -> None:
    """Remove a ground truth from the project.

    The log keeps a record that it was there.

    Example: reelrank truths remove my-project tvr-val
    """
    from backend.campaign.release.board import kept_runs

    removed = kept_runs.remove_truth(open_project(folder), OPERATOR, name, now=now())
    say(f"Removed {removed.name} (from {removed.file}).")


def remove_run(folder: Dir, name: Kept) -> None:
    """Remove a run from the project.

    The log keeps a record that it was there.

    Example: reelrank runs remove my-project conquer
    """
    from backend.campaign.release.board import kept_runs

    removed = kept_runs.remove_run(open_project(folder), OPERATOR, name, now=now())
    say(f"Removed {removed.name} (from {removed.file}).")


def _list(files: "list[board_model.Kept]", json: bool) -> None:
    from backend.scoring.upper_bound import run_label

    if json:
        end_with_json([{name: value for name, value in asdict(row).items() if value is not False} for row in files])
    rows = [
        (
            run_label(row.name, upper_bound=row.upper_bound),
            f"{row.queries:,}",
            f"{row.moments:,}",
            row.file,
            row.sha256[:12],
            minute(row.added_at),
        )
        for row in files
    ]
    table(("name", "queries", "moments", "file", "sha256", "added"), rows)


@add_command("match-run")
def match_run(
    out: Annotated[Path, argument("OUT.trec", "The run to write.")],
    truth: Annotated[Path, option("--truth FILE|DIR", "A truth file, or the folder of a release.")],
    run: Annotated[Path, option("--run FILE", "The run file.")],
    mu: Annotated[float, option("--mu", "Lowest IoU at which a prediction matches a moment.")] = 0.5,
    videos: Annotated[
        Path | None,
        option(
            "--videos MAP|DIR", "For a run that gives videos by index: a map name -> [duration, index], or a release."
        ),
    ] = None,
    qrels: Annotated[Path | None, option("--qrels FILE", "Write the truth to this file, with the same ids.")] = None,
) -> None:
    """Convert a run for ir_measures or trec_eval.

    Each prediction gets the id of the moment of the truth that it matches. --qrels writes the truth with the same ids.
    From both files these programs compute an nDCG@K that equals NDCG@K, IoU>=mu, of `reelrank evaluate` with preset
    `paper`. Write one run file for each mu.

    Example: reelrank match-run --truth val.json --run mine.json --mu 0.5 mine.trec --qrels val.qrels
    """
    from backend.scoring import trec

    start = time.monotonic()
    for place in (out, qrels):
        if place is not None and place.exists():
            raise typer.BadParameter(f"{place} exists already: name a new file")
    matched = trec.match_run(truth, run, mu, videos=videos)
    save(out, matched.run)
    if qrels is not None:
        save(qrels, matched.qrels)
    counts = f"{said_n(*_PREDICTIONS, matched.predictions)} for {said_n(*_QUERIES, matched.queries)}"
    say(f"{out}: {counts}; matched to a moment at IoU >= {mu:g}: {matched.taken:,} ({seconds(start)}).")
    tell_written([qrels])
    if matched.missing:
        say(f"Note: the run lacks {said_n(*_QUERIES, matched.missing)} of the truth, which count 0.")
    say_each("Warning: {}", matched.warnings)


add_group(
    "truths",
    "Add ground truths to a project, list and remove them.",
    "add my-project val.json --name tvr-val",
    {"add": add_truth, "list": list_truths, "remove": remove_truth},
)


add_group(
    "runs",
    "Add runs to a project, list and remove them.",
    "add my-project mine.json",
    {"add": add_run, "list": list_runs, "remove": remove_run},
)
