"""Commands for models: `train` and `predict`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from backend.cli.output import now, progress_bar, say, seconds, table


class AskedSplit(StrEnum):
    """Whose queries a model answers."""

    VAL = "val"
    TEST = "test"


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("train")(train)
    app.command("predict")(predict)


def train(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG.toml", help="Names the release, the features and the training settings.", show_default=False
        ),
    ],
) -> None:
    """Train a moment retrieval model on a release.

    It learns from the pseudo training set, once with each seed that the file names. Training stops when NDCG of the
    validation queries no longer rises. You can stop it at any time (Ctrl-C): the same command continues after the
    last finished epoch, with the same result. docs/training.md explains every setting.

    Example: reelrank train assets/example/train.toml
    """
    from backend.systems.learning.trained_models import train_model

    start = now()
    with progress_bar() as progress:
        reports = train_model(config, progress=progress)
    table(
        ("seed", "epochs", "best epoch", "NDCG@20, IoU>=0.5 (val)", "folder"),
        [(one.seed, one.epochs, one.best, f"{one.ndcg:.4f}", one.folder) for one in reports],
        left=(False, False, False, False, True),
    )
    for one in reports:
        if one.resumed:
            done = "was finished already" if one.resumed == one.epochs else f"went on after epoch {one.resumed}"
            say(f"Seed {one.seed} {done}.")
        if not one.stopped_early:
            say(f"Note: seed {one.seed} reached the last epoch; `training.epochs` may be too few.")
    say(f"Took {seconds(start)}. Now: reelrank predict {reports[0].folder} RUN.json")


def predict(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of one seed, made by `train`.", show_default=False)
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT.json", help="The run to write.", show_default=False)],
    split: Annotated[AskedSplit, typer.Option("--split", help="Split whose queries to answer.")] = AskedSplit.TEST,
    release: Annotated[
        Path | None,
        typer.Option("--release", metavar="FOLDER", help="Folder of the release.", show_default="as in training"),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option("--features", metavar="FILE", help="File of the features.", show_default="as in training"),
    ] = None,
) -> None:
    """Write a trained model's run for the queries of its release.

    Example: reelrank predict trained/seed-0 run.json --split test
    """
    from backend.systems.learning.trained_models import predict_run

    with progress_bar() as progress:
        found = predict_run(folder, out, split=split.value, release=release, features=features, progress=progress)
    told = f"{found.queries:,} queries over {found.videos:,} videos"
    say(f"{found.out}: {told}, by seed {found.seed} after epoch {found.epoch}.")
