"""Systems to compare with: `reelrank baseline`; and what systems learn from: `reelrank features`."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.learning import AskedSplit
from backend.cli.lists import list_option, typed
from backend.cli.output import Dir, EncoderOption, KindOption, now, progress_bar, say, seconds
from backend.cli.where import Cluster, EncodingJobs, where, whole

_WINDOWS_S = typed("4,8,16,32")
_NAMED = 5
"""So many videos that nobody could look at are named."""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("baseline")(baseline)
    app.command("features")(features)


def baseline(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="random, prior, caption, clip or prmr.", show_default=False)
    ],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|TRUTH", help="A project, the folder of a release, or a truth file.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The run to write; a new file.", show_default=False)],
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of random and prior.")] = 0,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Predictions per query.")] = 100,
    split: Annotated[
        AskedSplit | None, typer.Option("--split", help="Only these queries of a project or release.")
    ] = None,
    videos: Annotated[
        Path | None,
        typer.Option(
            "--videos",
            metavar="MAP",
            help="For a truth: name -> [duration, index] of all videos, or a release. Default: the truth's videos.",
            show_default=False,
        ),
    ] = None,
    training: Annotated[
        Path | None,
        typer.Option(
            "--training",
            metavar="FILE",
            help="For prior and a truth: the file whose moments it learns from.",
            show_default=False,
        ),
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    visual: Annotated[
        str,
        typer.Option(
            "--visual", metavar="NAME|FOLDER", help="For clip: the model; 'clip' is CLIP ViT-B/32 of the model hub."
        ),
    ] = "clip",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", metavar="FOLDER", help="For clip and a truth: folder of the video files.", show_default=False
        ),
    ] = None,
    frames_per_s: Annotated[
        float, typer.Option("--frames-per-s", metavar="R", help="For clip: frames per second to look at.")
    ] = 1.0,
    windows: Annotated[
        list[float], list_option("--windows", "S,S", "For clip: window lengths in seconds.")
    ] = _WINDOWS_S,
    nms: Annotated[
        float,
        typer.Option(
            "--nms", metavar="X", help="For clip: drop a window whose IoU with a better one of its video is higher."
        ),
    ] = 0.5,
    first: Annotated[
        Path | None,
        typer.Option("--first", metavar="RUN", help="For prmr: the run that ranks the videos.", show_default=False),
    ] = None,
    second: Annotated[
        Path | None,
        typer.Option("--second", metavar="RUN", help="For prmr: the run that has the moments.", show_default=False),
    ] = None,
    best: Annotated[
        int, typer.Option("--best", metavar="N", min=1, help="For prmr: number of videos to keep from the first run.")
    ] = 5,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write the run of a baseline, to compare your runs with.

    `reelrank evaluate` reads it like any other run. The command says what the baseline has seen. caption is an
    upper bound: it has seen the captions of the moments.

    Example: reelrank baseline prior my-project prior.json --split val

    Example: reelrank baseline random release/val.json random.json --videos release/video_corpus.json --seed 1

    Example: reelrank baseline prmr release/val.json both.json --first xml.json --second conquer.json
    """
    from backend.campaign.release.board.baselines import write_baseline
    from backend.campaign.setup.project.places import is_project
    from backend.systems.baseline_runs import write_baseline_from_file
    from backend.systems.baselines import BASELINES, BaselineOptions
    from backend.systems.windowing import Windowing

    start = now()
    encoding = where(jobs, cluster, usual=1)
    if name not in BASELINES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(BASELINES)}", param_hint="NAME")
    options = BaselineOptions(seed, top, Windowing(frames_per_s, tuple(windows), nms), first, second, best, videos)
    with progress_bar() as progress:
        if source.is_dir() and is_project(source):
            own = {"--training": training, "--folder": folder, "--encoder": encoder, "--encoder-kind": kind}
            for option, value in own.items():
                if value is not None:
                    raise typer.BadParameter("a project has its own; leave it out", param_hint=option)
            project = open_project(whole(source, cluster))
            report = write_baseline(
                project,
                OPERATOR,
                name,
                out,
                options,
                split=split.value if split else None,
                visual=visual,
                where=encoding,
                progress=progress,
            )
        else:
            report = write_baseline_from_file(
                source,
                name,
                out,
                options,
                videos=videos,
                training=training,
                folder=whole(folder, cluster) if folder else None,
                split=split.value if split else None,
                encoder=encoder,
                kind=kind,
                visual=visual,
                where=encoding,
                progress=progress,
            )
    say(
        f"{name}: {report.predictions:,} predictions for {report.queries:,} queries in {out} ({seconds(start)}). "
        f"It {report.seen}."
    )
    if report.unanswered:
        say(f"Without an answer, because one of the runs lacks them: {report.unanswered:,} of the queries.")
    _tell_unseen(report.unseen)


def features(
    folder: Dir,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write, NAME.h5; a new file.", show_default=False)
    ],
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder",
            metavar="clip|NAME",
            help="A CLIP model: its name on the model hub, or its folder; 'clip' is ViT-B/32.",
        ),
    ] = "clip",
    rate: Annotated[float, typer.Option("--rate", metavar="R", help="Rows per second of video.")] = 1.0,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write features of video frames as HDF5, to train models.

    The file has a dataset for each video, `(frames, dim)`. Vectors are kept in the project as they are made: after
    Ctrl-C, run the command again to continue.

    Example: reelrank features my-project features.h5 --encoder clip --rate 1
    """
    from backend.campaign.release.board.baselines import write_frame_features

    start = now()
    encoding = where(jobs, cluster, usual=1)
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = write_frame_features(
            project, OPERATOR, out, encoder=encoder, rate=rate, where=encoding, progress=progress
        )
    say(f"Features of {report.videos:,} videos, {rate:g} rows a second, in {out} ({seconds(start)}).")
    say(f"Made by {report.encoder}.")
    _tell_unseen(report.unseen)


def _tell_unseen(unseen: tuple[str, ...]) -> None:
    """Say which videos are left out, and leave with code 1."""
    if not unseen:
        return
    say(f"\nVideos that could not be looked at and are left out: {len(unseen):,}")
    for one in unseen[:_NAMED]:
        say(f"  {one}")
    if len(unseen) > _NAMED:
        say(f"  and {len(unseen) - _NAMED:,} more")
    raise typer.Exit(1)
