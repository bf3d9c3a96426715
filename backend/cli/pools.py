"""Commands that make pools: `reelrank mvmr build` and `calibrate`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.pools.model import PAPERS_ENCODER, T_NEG, T_POS, PoolOptions, VisualOptions
from backend.cli.corpus import ColumnsOption, FormatOption, TypeOption, known_format, read_columns
from backend.cli.options import Cluster, EncoderOption, EncodingJobs, KindOption, argument, option, where, whole
from backend.cli.output import first_of, now, progress_bar, say, say_each, seconds, table

if TYPE_CHECKING:
    from backend.campaign.selection.pools.building import BuildReport


EmbeddingsOption = Annotated[
    Path | None,
    option(
        "--embeddings FOLDER",
        "Folder for sentence vectors. Default: reelrank/embeddings in your cache folder; a project has its own.",
    ),
]
_NAMED = 5


def build(
    source: Annotated[
        Path, argument("DIR_OR_FILE", "A project folder, or an annotation file: each caption is a query.")
    ],
    out: Annotated[Path, argument("OUT", "Folder for the files.")],
    pool: Annotated[int, option("--pool N", "Videos in a pool.", min=2)] = 50,
    positives: Annotated[
        int, option("--positives K", "Highest number of positive videos, including the caption's own.", min=1)
    ] = 5,
    t_pos: Annotated[
        float | None, option("--t-pos S", f"Lowest similarity of a positive video. Default: {T_POS}.")
    ] = None,
    t_neg: Annotated[
        float | None, option("--t-neg S", f"Highest similarity of a negative video. Default: {T_NEG}.")
    ] = None,
    thresholds: Annotated[
        Path | None, option("--thresholds FILE", "Both thresholds, from a file made by `reelrank mvmr calibrate`.")
    ] = None,
    seed: Annotated[int, option("--seed S", "Seed of all draws.")] = 0,
    as_published: Annotated[
        bool, option("--as-published", "Follow the published code where it differs from its paper.")
    ] = False,
    visual: Annotated[
        Literal["none", "emscore"],
        option("--visual", "emscore: also compare the videos (recommended); none: only text."),
    ] = "none",
    clip: Annotated[
        str | None,
        option(
            "--clip NAME",
            "For emscore: a model hub name or a local folder. Default: sentence-transformers/clip-ViT-B-32.",
        ),
    ] = None,
    frames_per_s: Annotated[
        float, option("--frames-per-s N", "For emscore: frames per second to look at.", min=0.001)
    ] = 1.0,
    videos: Annotated[
        Path | None, option("--videos FOLDER", "For emscore and an annotation file: folder of its videos.")
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    embeddings: EmbeddingsOption = None,
    format_: FormatOption = None,
    types: TypeOption = None,
    columns: ColumnsOption = None,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Build a pool of videos for every caption.

    A pool holds the caption's own video, other videos that the caption also describes, and negatives, which it does not
    describe. Each encoder needs thresholds of its own: `reelrank mvmr calibrate` finds them. Where you have the videos,
    use --visual emscore, as the MVMR paper does: captions tell only part of a video.

    Example: reelrank mvmr build charades_test.json pools --encoder minilm --t-pos 0.8 --seed 1
    """
    from backend.campaign.selection.pools.corpora import build_pools, build_pools_from_file, has_video_files

    start = time.monotonic()
    known_format(format_)
    if thresholds and (t_pos is not None or t_neg is not None):
        raise typer.BadParameter("does not go with --t-pos and --t-neg: use either", param_hint="--thresholds")
    options = PoolOptions(
        pool=pool,
        positives=positives,
        t_pos=T_POS if t_pos is None else t_pos,
        t_neg=T_NEG if t_neg is None else t_neg,
        seed=seed,
        as_published=as_published,
    )
    looks = VisualOptions(clip, frames_per_s) if visual == "emscore" else None
    file_only = {
        "--videos": videos,
        "--encoder": encoder,
        "--encoder-kind": kind,
        "--embeddings": embeddings,
        "--format": format_,
        "--type": types,
        "--columns": columns,
    }
    with progress_bar() as progress:
        if source.is_dir():
            if extra := [option for option, value in file_only.items() if value is not None]:
                raise typer.BadParameter(f"a project has its own: leave out {', '.join(extra)}", param_hint=extra[0])
            project = open_project(whole(source, cluster))
            have_videos = has_video_files(project, OPERATOR)
            report = build_pools(
                project,
                OPERATOR,
                out,
                options,
                thresholds=thresholds,
                looks=looks,
                where=where(jobs, cluster, usual=1),
                now=now(),
                progress=progress,
            )
        else:
            have_videos = videos is not None
            report = build_pools_from_file(
                source,
                out,
                options,
                thresholds=thresholds,
                looks=looks,
                videos=whole(videos, cluster) if videos else None,
                encoder=encoder,
                kind=kind,
                embeddings=whole(embeddings, cluster) if embeddings else None,
                format=format_,
                types=frozenset(types) if types else None,
                columns=read_columns(columns) if columns else None,
                where=where(jobs, cluster, usual=1),
                now=now(),
                progress=progress,
            )
    _tell(report, options, out, start)
    if have_videos and looks is None:
        say("Note: only the text decided, but the videos are there: --visual emscore compares them, too.")
    if thresholds is None and t_pos is None and t_neg is None and PAPERS_ENCODER not in report.encoder:
        say(
            f"Note: thresholds {T_POS} and {T_NEG} are the paper's, for {PAPERS_ENCODER}; `reelrank mvmr calibrate` "
            "finds those of this encoder."
        )


def _tell(report: "BuildReport", options: PoolOptions, out: Path, start: float) -> None:
    rows = [
        ("captions, each a query", f"{report.sentences:,}"),
        ("videos", f"{report.videos:,}"),
        (f"queries with a pool of {options.pool}", f"{report.queries - options.as_published * len(report.short):,}"),
        ("queries with a short pool", f"{len(report.short):,}"),
        ("positive videos per query, mean, own included", f"{report.positives:.3f}"),
        ("queries without a distractor", f"{len(report.without_distractor):,}"),
    ]
    table(("what", "figure"), rows)
    say("")
    _name(report.short, "short, and kept as published" if options.as_published else "short, and dropped")
    _name(report.without_distractor, "without a distractor: every video of the pool is positive")
    say_each("Note: {}.", report.left_out)
    say(f"Captions: {report.captions}.")
    say(f"Encoder: {report.encoder}")
    say(f"Visual: {report.visual}.")
    if report.bounds:
        say(
            f"EMScore of a positive video is at least {report.bounds.positive:.4f}, of a negative one at most "
            f"{report.bounds.negative:.4f}."
        )
    say(f"Written to {out} ({seconds(start)}): pools.json, pairs.csv, manifest.json.")


def _name(ids: tuple[str, ...], statement: str) -> None:
    if ids:
        say(f"{statement[0].upper()}{statement[1:]}: {first_of(ids, _NAMED)}.")


def calibrate(
    labelled: Annotated[
        Path,
        argument("FILE", "Labelled pairs: sentence1, sentence2, score (0 to 5), tab-separated; or a file of pools."),
    ],
    out: Annotated[Path, argument("OUT", "Folder for the files.")],
    alike_above: Annotated[
        float | None,
        option(
            "--alike-above S", "Pairs with a higher score are alike, all others different.", min=0, show_default="3"
        ),
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    embeddings: EmbeddingsOption = None,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Find the similarity thresholds of an encoder.

    They come from pairs that people score by how alike they are, or from published pools. Positives of pools are alike
    with their query, and negatives are different.

    Example: reelrank mvmr calibrate charades_test_mvmr.json minilm-thresholds --encoder minilm
    """
    from backend.campaign.selection.pools.calibrating import calibrate_thresholds

    start = time.monotonic()
    with progress_bar() as progress:
        result = calibrate_thresholds(
            labelled,
            out,
            alike_above=alike_above,
            encoder=encoder,
            kind=kind,
            embeddings=embeddings,
            where=where(jobs, cluster, usual=1),
            progress=progress,
        )
    alike, different = [f"{share:.1%}" for share in result.held_out] if result.held_out else ("", "")
    high, low = f"at {result.t_pos:g} or more", f"at {result.t_neg:g} or less"
    table(
        ("pairs", "count", "kept", "share", "beyond the other", "share by the other half"),
        [
            ("alike", result.alike, high, f"{result.kept_alike:.1%}", result.alike_below, alike),
            ("different", result.different, low, f"{result.kept_different:.1%}", result.different_above, different),
        ],
    )
    say(f"\nt_pos {result.t_pos:g}, t_neg {result.t_neg:g}: {result.rule} ({result.youden:.3f}, at {result.best:g}).")
    say(f"Encoder: {result.encoder}")
    say(
        f"Written to {out} ({seconds(start)}): thresholds.json, calibration.csv, calibration.png, calibration.svg. "
        f"For pools: reelrank mvmr build DIR_OR_FILE OUT --thresholds {out / 'thresholds.json'}"
    )
