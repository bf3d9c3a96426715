"""Commands for retrieval systems: `reelrank baseline`, `features`, `train` and `predict`."""

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command
from backend.cli.options import (
    Cluster,
    Dir,
    EncoderOption,
    EncodingJobs,
    KindOption,
    argument,
    list_option,
    option,
    typed,
    where,
    whole,
)
from backend.cli.output import counted, progress_bar, say, say_each, seconds, table
from backend.systems.learning.systems import SYSTEMS

_WINDOWS_S = typed("4,8,16,32")
_NAMED = 5
"""Number of unreadable videos to name."""


@add_command("baseline")
def baseline(
    name: Annotated[str, argument("NAME", "random, prior, caption, clip or two-step.")],
    source: Annotated[Path, argument("DIR|TRUTH", "A project, the folder of a release, or a truth file.")],
    out: Annotated[Path, argument("OUT", "The run to write; a new file.")],
    seed: Annotated[int, option("--seed S", "Seed of random and prior.")] = 0,
    top: Annotated[int, option("--top N", "Predictions per query.", min=1)] = 100,
    split: Annotated[
        Literal["val", "test"] | None, option("--split", "Only these queries of a project or release.")
    ] = None,
    videos: Annotated[
        Path | None,
        option(
            "--videos MAP",
            "For a truth: name -> [duration, index] of all videos, or a release. Default: the truth's videos.",
        ),
    ] = None,
    training: Annotated[
        Path | None, option("--training FILE", "For prior and a truth: the file whose moments it learns from.")
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    visual: Annotated[
        str, option("--visual NAME|FOLDER", "For clip: the model; 'clip' is CLIP ViT-B/32 of the model hub.")
    ] = "clip",
    folder: Annotated[
        Path | None, option("--folder FOLDER", "For clip and a truth: folder of the video files.")
    ] = None,
    frames_per_s: Annotated[float, option("--frames-per-s R", "For clip: frames per second to look at.")] = 1.0,
    windows: Annotated[list[float], list_option("--windows S,S", "For clip: window lengths in seconds.")] = _WINDOWS_S,
    nms: Annotated[
        float, option("--nms X", "For clip: drop a window whose IoU with a better one of its video is higher.")
    ] = 0.5,
    first: Annotated[Path | None, option("--first RUN", "For two-step: the run that ranks the videos.")] = None,
    second: Annotated[Path | None, option("--second RUN", "For two-step: the run that has the moments.")] = None,
    best: Annotated[int, option("--best N", "For two-step: number of videos to keep from the first run.", min=1)] = 5,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write the run of a baseline, to compare your runs with.

    Score it with `reelrank evaluate`, like any other run. The baseline caption is an upper bound: it has seen the
    captions of the moments. Tables mark a run named caption as one, and never rank it.

    Example: reelrank baseline prior my-project prior.json --split val

    Example: reelrank baseline random release/val.json random.json --videos release/video_corpus.json --seed 1

    Example: reelrank baseline two-step release/val.json both.json --first xml.json --second mmn.json
    """
    from backend.campaign.setup.project.places import is_project
    from backend.scoring.upper_bound import CAPTION, is_upper_bound
    from backend.systems.baselines import BaselineOptions, fault_of_name
    from backend.systems.model import Windowing

    start = time.monotonic()
    encoding = where(jobs, cluster, usual=1)
    if fault := fault_of_name(name):
        raise typer.BadParameter(f"{name!r} {fault}", param_hint="NAME")
    options = BaselineOptions(seed, top, Windowing(frames_per_s, tuple(windows), nms), first, second, best, videos)
    with progress_bar() as progress:
        if source.is_dir() and is_project(source):
            from backend.campaign.release.board.baselines import write_baseline

            own = {"--training": training, "--folder": folder, "--encoder": encoder, "--encoder-kind": kind}
            for option, value in own.items():
                if value is not None:
                    raise typer.BadParameter("a project has its own; leave it out", param_hint=option)
            project = open_project(whole(source, cluster))
            report = write_baseline(
                project, OPERATOR, name, out, options, split=split, visual=visual, where=encoding, progress=progress
            )
        else:
            from backend.systems.baseline_runs import write_baseline_from_file

            report = write_baseline_from_file(
                source,
                name,
                out,
                options,
                videos=videos,
                training=training,
                folder=whole(folder, cluster) if folder else None,
                split=split,
                encoder=encoder,
                kind=kind,
                visual=visual,
                where=encoding,
                progress=progress,
            )
    predictions, queries = counted(report.predictions, "prediction"), counted(report.queries, "query", "queries")
    say(f"{name}: {predictions} for {queries} in {out} ({seconds(start)}). It {report.seen}.")
    if name == CAPTION and not is_upper_bound(out.stem):
        say(f"Its name does not mark it as an upper bound: score it with --upper-bound {out.stem}.")
    if report.unanswered:
        say(f"Queries without an answer, because one of the runs lacks them: {report.unanswered:,}.")
    _tell_unseen(report.unseen)


@add_command("features")
def features(
    folder: Dir,
    out: Annotated[Path, argument("OUT", "The file to write, NAME.h5; a new file.")],
    encoder: Annotated[
        str,
        option("--encoder clip|NAME", "A CLIP model: its name on the model hub, or its folder; 'clip' is ViT-B/32."),
    ] = "clip",
    rate: Annotated[float, option("--rate R", "Feature vectors per second of video.")] = 1.0,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write features of video frames as HDF5, to train models.

    The file has a dataset for each video, `(frames, dim)`. Vectors are kept in the project as they are made: after
    Ctrl-C, run the command again to continue.

    Example: reelrank features my-project features.h5 --encoder clip --rate 1
    """
    from backend.campaign.release.board.baselines import write_frame_features

    start = time.monotonic()
    encoding = where(jobs, cluster, usual=1)
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = write_frame_features(
            project, OPERATOR, out, encoder=encoder, rate=rate, where=encoding, progress=progress
        )
    say(f"{out}: features of {counted(report.videos, 'video')}, {rate:g} per second ({seconds(start)}).")
    say(f"Made by {report.encoder}.")
    _tell_unseen(report.unseen)


def _tell_unseen(unseen: tuple[str, ...]) -> None:
    """Print which videos cannot be read and are left out, and exit with code 1; do nothing if there are none."""
    if not unseen:
        return
    say(f"\nVideos that cannot be read and are left out: {len(unseen):,}")
    say_each("  {}", unseen[:_NAMED])
    if len(unseen) > _NAMED:
        say(f"  and {len(unseen) - _NAMED:,} more")
    raise typer.Exit(1)


_SYSTEM_HELP = f"The system: {', '.join(SYSTEMS)}."


@add_command("train")
def train(
    source: Annotated[Path, argument("CONFIG.toml|RELEASE", "The training settings, or the folder of a release.")],
    system: Annotated[
        str | None, option("--system NAME", _SYSTEM_HELP, show_default="that of the settings, or late")
    ] = None,
    features: Annotated[Path | None, option("--features FILE", "For a release: file of the features.")] = None,
    subtitles: Annotated[Path | None, option("--subtitles FILE", "For a release: file of subtitle features.")] = None,
    out: Annotated[
        Path | None, option("--out FOLDER", "For a release: folder that gets a folder for each seed.")
    ] = None,
    preset: Annotated[
        str | None, option("--preset NAME", "For a release: published settings for a data set, such as charades.")
    ] = None,
    top: Annotated[
        int | None, option("--top N", "For a release: N of its train_topN.json.", min=1, show_default="20")
    ] = None,
    seeds: Annotated[list[int] | None, list_option("--seeds S,S", "For a release: the seeds. Default: 0.", int)] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
) -> None:
    """Train a system for moment retrieval on a release.

    It learns from the pseudo training set, once per seed. Training stops when NDCG on validation queries no longer
    rises. You can stop it at any time (Ctrl-C): the same command continues after the last finished epoch or
    evaluation, with the same result. docs/training.md explains every setting.

    Example: reelrank train assets/example/train.toml --system late

    Example: reelrank train release-1 --system mmn --preset charades --features frames.h5 --out trained
    """
    from backend.systems.learning.trained_models import train_model, train_release

    start = time.monotonic()
    own: dict[str, object] = {
        "features": features and str(features),
        "subtitles": subtitles and str(subtitles),
        "out": out and str(out),
        "preset": preset,
        "top": top,
        "seeds": seeds,
        "encoder": encoder,
        "encoder_kind": kind,
    }
    given = {name: value for name, value in own.items() if value is not None}
    with progress_bar() as progress:
        if source.is_dir():
            for name, needed in (("--system", system), ("--features", features), ("--out", out)):
                if needed is None:
                    raise typer.BadParameter("a release needs it; or name a file of settings", param_hint=name)
            reports = train_release(source, given | {"system": system}, progress=progress)
        else:
            if given:
                name = "--" + next(iter(given)).replace("_", "-")
                raise typer.BadParameter("is for a release: write it into the file of settings", param_hint=name)
            reports = train_model(source, system=system, progress=progress)
    table(
        ("seed", "epochs", "best epoch", "NDCG@20, IoU>=0.5 (val)", "folder"),
        [(run.seed, f"{run.epochs:g}", f"{run.best:g}", f"{run.ndcg:.4f}", run.folder) for run in reports],
        left=(False, False, False, False, True),
    )
    for run in reports:
        if run.resumed:
            done = "was finished already" if run.resumed == run.epochs else f"went on after epoch {run.resumed:g}"
            say(f"Seed {run.seed} {done}.")
        if not run.stopped_early:
            say(f"Note: seed {run.seed} reached the last epoch. Consider a higher `training.epochs`, in another `out`.")
    say(f"Took {seconds(start)}. Next: reelrank predict {reports[0].folder} RUN.json")


@add_command("predict")
def predict(
    folder: Annotated[Path, argument("FOLDER", "Folder of one seed, made by `train`.")],
    out: Annotated[Path, argument("OUT.json", "The run to write.")],
    split: Annotated[
        Literal["val", "test", "train"],
        option("--split", "Split whose queries to answer; train is for the first run of conquer."),
    ] = "test",
    release: Annotated[
        Path | None, option("--release FOLDER", "Folder of the release.", show_default="as in training")
    ] = None,
    features: Annotated[
        Path | None, option("--features FILE", "File of the features.", show_default="as in training")
    ] = None,
    subtitles: Annotated[
        Path | None, option("--subtitles FILE", "File of subtitle features.", show_default="as in training")
    ] = None,
    first_run: Annotated[
        Path | None,
        option("--first-run RUN", "For conquer: the run that names the videos.", show_default="as in training"),
    ] = None,
    pool: Annotated[
        Path | None, option("--pool POOLS", "Answer the queries of this file of pools, each in its pool.")
    ] = None,
    nms: Annotated[
        float | None,
        option(
            "--nms IOU",
            "Leave out moments that overlap a better one of their video by more than this IoU.",
            show_default="as in training",
            min=0.001,
            max=1.0,
        ),
    ] = None,
) -> None:
    """Write a trained system's run for queries of its release.

    Example: reelrank predict trained/seed-0 run.json --split test

    Example: reelrank predict trained/seed-0 run.json --pool pools.json
    """
    from backend.systems.learning.trained_models import predict_run

    with progress_bar() as progress:
        run = predict_run(
            folder,
            out,
            split=split,
            release=release,
            features=features,
            subtitles=subtitles,
            first_run=first_run,
            pools=pool,
            nms=nms,
            progress=progress,
        )
    queries = counted(run.queries, "query", "queries")
    say(f"{run.out}: {queries} over {counted(run.videos, 'video')}, by seed {run.seed} after epoch {run.epoch:g}.")
