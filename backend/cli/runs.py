"""Commands about runs: `reelrank truths`, `runs` and `match-run`."""

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

if TYPE_CHECKING:
    from backend.campaign.release.board import model as board_model


Name = Annotated[str | None, option("--name NAME", "Name in the list. Default: the name of the file.")]
Kept = Annotated[str, argument("NAME", "Its name in the list.")]


def add_truth(
    folder: Dir,
    file: Annotated[Path, argument("FILE|DIR", "A truth file in any supported form, or a release.")],
    name: Name = None,
) -> None:
    """Check a ground truth file, and keep it in the project.

    Example: reelrank truths add my-project val.json --name tvr-val
    """
    from backend.campaign.release.board import kept_runs

    with progress_bar() as report:
        report(f"reading {file.name}", 0, 1)
        kept = kept_runs.add_truth(open_project(folder), OPERATOR, file, name=name, now=now())
        report(f"reading {file.name}", 1, 1)
    say(f"Kept {kept.name}: {kept.queries:,} queries, {kept.moments:,} graded moments.")


def add_run(
    folder: Dir,
    file: Annotated[Path, argument("FILE", "A run file in any supported form.")],
    name: Name = None,
    videos: Annotated[
        Path | None, option("--videos MAP|DIR", "name -> [duration, index] or a release, for a run with video indices.")
    ] = None,
) -> None:
    """Check a run file, and keep it in the project.

    Example: reelrank runs add my-project conquer.json --videos video_corpus.json
    """
    from backend.campaign.release.board import kept_runs

    with progress_bar() as report:
        report(f"reading {file.name}", 0, 1)
        kept = kept_runs.add_run(open_project(folder), OPERATOR, file, name=name, videos=videos, now=now())
        report(f"reading {file.name}", 1, 1)
    say(f"Kept {kept.name}: {kept.queries:,} queries, {kept.moments:,} predictions.")


def list_truths(folder: Dir, json: Json = False) -> None:
    """List the ground truths that the project keeps.

    Example: reelrank truths list my-project
    """
    from backend.campaign.release.board import kept_runs

    _list(kept_runs.list_truths(open_project(folder), OPERATOR), json)


def list_runs(folder: Dir, json: Json = False) -> None:
    """List the runs that the project keeps.

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

    kept = kept_runs.remove_truth(open_project(folder), OPERATOR, name, now=now())
    say(f"Removed {kept.name}, made of {kept.file}.")


def remove_run(folder: Dir, name: Kept) -> None:
    """Remove a run from the project.

    The log keeps a record that it was there.

    Example: reelrank runs remove my-project conquer
    """
    from backend.campaign.release.board import kept_runs

    kept = kept_runs.remove_run(open_project(folder), OPERATOR, name, now=now())
    say(f"Removed {kept.name}, made of {kept.file}.")


def _list(kept: "list[board_model.Kept]", json: bool) -> None:
    if json:
        end_with_json([asdict(one) for one in kept])
    rows = [
        (one.name, f"{one.queries:,}", f"{one.moments:,}", one.file, one.sha256[:12], minute(one.added_at))
        for one in kept
    ]
    table(("name", "queries", "moments", "file", "sha256", "added"), rows)


@add_command("match-run")
def match_run(
    out: Annotated[Path, argument("OUT.trec", "The run to write.")],
    truth: Annotated[Path, option("--truth FILE|DIR", "Graded truth, or a release.")],
    run: Annotated[Path, option("--run FILE", "Ranked predictions.")],
    mu: Annotated[float, option("--mu", "Lowest IoU at which a prediction takes a moment.")] = 0.5,
    videos: Annotated[
        Path | None,
        option("--videos MAP|DIR", "`name -> [duration, index]` or a release, for runs with video indices."),
    ] = None,
    qrels: Annotated[Path | None, option("--qrels FILE", "Write the truth to this file, with the same ids.")] = None,
) -> None:
    """Convert a run for ir_measures or trec_eval.

    Each prediction gets the id of the pair that it takes. With the qrels, nDCG@K of these programs is NDCG@K,
    IoU>=mu of preset `paper`. Write one file for each mu.

    Example: reelrank match-run --truth val.json --run mine.json --mu 0.5 mine.trec --qrels val.qrels
    """
    from backend.scoring import trec

    start = now()
    for place in (out, qrels):
        if place is not None and place.exists():
            raise typer.BadParameter(f"{place} exists already: name a new file")
    found = trec.match_run(truth, run, mu, videos=videos)
    save(out, found.run)
    if qrels is not None:
        save(qrels, found.qrels)
    say(
        f"{out}: {found.predictions:,} predictions of {found.queries:,} queries, {found.taken:,} of which take a pair "
        f"at IoU >= {mu:g} ({seconds(start)})."
    )
    tell_written([qrels])
    if found.missing:
        say(f"Note: {found.missing:,} queries of the truth are not in the run, and count 0.")
    say_each("Warning: {}", found.warnings)


add_group(
    "truths",
    "Keep ground truths in a project.",
    "add my-project val.json --name tvr-val",
    {"add": add_truth, "list": list_truths, "remove": remove_truth},
)


add_group(
    "runs",
    "Keep runs in a project.",
    "add my-project mine.json",
    {"add": add_run, "list": list_runs, "remove": remove_run},
)
