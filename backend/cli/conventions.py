"""Presets and options of an evaluation, as the commands that score take them."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.options import list_option, option, typed

if TYPE_CHECKING:
    from backend.scoring.pools.model import PoolFile


class Preset(StrEnum):
    """Conventions of scoring."""

    PAPER = "paper"
    TVR_RANKING = "tvr-ranking"


def preset_named(text: str) -> Preset:
    """A preset by its name, or by a former one; anything else is wrong usage."""
    from backend.scoring.presets import FORMER as FORMER_PRESETS

    try:
        return Preset(FORMER_PRESETS.get(text, text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(Preset)}") from None


Truth = Annotated[Path, option("--truth FILE|DIR", "Truth, such as val.json, or the folder of a release.")]
Runs = Annotated[list[str], option("--run [NAME=]FILE ...", "A run, or several; may be repeated.")]
Videos = Annotated[
    Path | None, option("--videos MAP|DIR", "name -> [duration, index], or a release, for runs with indices.")
]
PresetOption = Annotated[
    Preset,
    option(
        "--preset paper|tvr-ranking",
        "paper: the formula; tvr-ranking: the published code of TVR-Ranking.",
        parser=preset_named,
    ),
]
Benchmark = Annotated[
    str | None,
    option(
        "--benchmark NAME", "The figures of a benchmark, by its conventions; `reelrank measures benchmarks` lists them."
    ),
]
K = Annotated[list[int], list_option("--k", "K,K", "Rank cut-offs.", int)]
Mu = Annotated[list[float], list_option("--mu", "M,M", "IoU thresholds of NDCG.")]
Theta = Annotated[list[float], list_option("--theta", "T,T", "IoU thresholds of measures without grades.")]
Option = Annotated[list[str] | None, option("--option NAME=VALUE", "Override one point of the preset, e.g. gain=exp2.")]
Nms = Annotated[
    float | None,
    option("--nms IOU", "Non-maximum suppression first: what overlaps a better prediction of its video by more falls."),
]

CUTOFFS, THRESHOLDS = typed("10,20,40"), typed("0.3,0.5,0.7")


class OutsidePool(StrEnum):
    """What happens to predictions of videos outside the query's pool."""

    ERROR = "error"
    DROP = "drop"


# Evaluation in pools: where these are not given, a pool has other values than a truth.
TruthOrPool = Annotated[
    Path | None,
    option("--truth FILE|DIR", "Truth, such as val.json, or the folder of a release; pools may be one themselves."),
]
UsualK = Annotated[
    list[int] | None, list_option("--k", "K,K", "Rank cut-offs.  [default: 10,20,40; in pools 1,5,20,50]", int)
]
UsualMu = Annotated[
    list[float] | None, list_option("--mu", "M,M", "IoU thresholds of NDCG.  [default: 0.3,0.5,0.7; in pools 0.5,0.7]")
]
UsualTheta = Annotated[
    list[float] | None, list_option("--theta", "T,T", "IoU thresholds of measures without grades; the same.")
]
Pool = Annotated[Path | None, option("--pool FILE", "MVMR pools: search each query in its own videos.")]
Outside = Annotated[
    OutsidePool, option("--outside-pool", "Predictions outside the pool: refuse them, or leave them out.")
]
OnePerVideo = Annotated[bool, option("--one-per-video", "Only the best moment of each video by score, ranked by it.")]
TopVideos = Annotated[
    int | None, option("--top-videos N", "Two steps: the N best videos of a pool, then moments.", min=1)
]
FirstStep = Annotated[
    Path | None, option("--first-step FILE", "The run that ranks the videos (5 of them); else each run does so itself.")
]
OwnVideo = Annotated[
    bool, option("--own-video", "Beside it, each run in the query's own video alone (VMR beside MVMR).")
]


class ChartName(StrEnum):
    """What a chart of an evaluation shows."""

    BY_K = "by-k"
    ORDER = "order"
    OWN_VIDEO = "own-video"


Charts = Annotated[
    list[str] | None,
    option(
        "--chart [NAME=]FILE.svg|.png",
        "by-k: a measure by cut-off; order: runs sorted by it, under others; own-video. May be repeated.",
    ),
]


def read_charts(texts: list[str], *, in_pools: bool) -> list[tuple[ChartName, Path]]:
    """`order=figure.svg` as name and file; a file alone is of runs by cut-off, in pools of own video and pool."""
    found = []
    for text in texts:
        name, equals, file = text.partition("=")
        known = name in list(ChartName)
        if equals and not known and "/" not in name and "." not in name:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(ChartName)}", param_hint="--chart")
        path = Path(file if known and equals else text)
        if path.suffix not in (".svg", ".png"):
            raise typer.BadParameter(f"{path.name} is neither .svg nor .png", param_hint="--chart")
        usual = ChartName.OWN_VIDEO if in_pools else ChartName.BY_K
        found.append((ChartName(name) if known and equals else usual, path))
    return found


def pool_file(
    pool: Path | None,
    outside: OutsidePool,
    one_per_video: bool,
    top_videos: int | None,
    first_step: Path | None,
    own_video: bool,
) -> "PoolFile | None":
    """The pools to score in, from their options; options of pools without pools are wrong usage."""
    from backend.scoring.pools.model import PoolConventions as Pooling
    from backend.scoring.pools.model import PoolFile

    if pool is None:
        given = {
            "--outside-pool": outside is not OutsidePool.ERROR,
            "--one-per-video": one_per_video,
            "--top-videos": top_videos,
            "--first-step": first_step,
            "--own-video (or --chart own-video=FILE)": own_video,
        }
        for name, value in given.items():
            if value:
                raise typer.BadParameter("is about pools; add --pool FILE", param_hint=name)
        return None
    return PoolFile(pool, Pooling(outside.value, one_per_video, top_videos), first_step, own_video)


def read_option(text: str) -> tuple[str, str | bool]:
    """`missing=skip` as name and value; an unknown one is wrong usage."""
    from backend.scoring.presets import OPTION_VALUES as EVALUATION_OPTIONS

    name, equals, value = text.partition("=")
    if not equals or name not in EVALUATION_OPTIONS:
        known = ", ".join(EVALUATION_OPTIONS)
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE with one of {known}", param_hint="--option")
    if name == "abandonment":
        return name, value  # probabilities, which are as many as people want, or a name
    legal = {str(choice).lower(): choice for choice in EVALUATION_OPTIONS[name]}
    if value.lower() not in legal:
        raise typer.BadParameter(f"{name} is one of {', '.join(legal)}, not {value!r}", param_hint="--option")
    return name, legal[value.lower()]


def measure_option(name: str, help_text: str) -> Any:
    """Return an option that takes measures by name or by key; keys have commas too, such as `ndcg@20,0.5`."""

    def split(text: str) -> list[str]:
        from backend.scoring.requested_values import split as split_measures

        return split_measures(text)

    return list_option(name, "NAME|KEY,...", help_text, str, split=split)
