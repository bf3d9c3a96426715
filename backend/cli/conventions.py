"""Presets and options of an evaluation, as the commands that score take them."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from backend.cli.options import list_option, option, typed

if TYPE_CHECKING:
    from backend.scoring.pools.model import PoolFile
    from backend.scoring.presets import Options
    from backend.scoring.run_files import RunList
    from backend.scoring.views.table import Shown


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
K = Annotated[list[int], list_option("--k K,K", "Rank cut-offs.", int)]
Mu = Annotated[list[float], list_option("--mu M,M", "IoU thresholds of NDCG.")]
Theta = Annotated[list[float], list_option("--theta T,T", "IoU thresholds of measures without grades.")]
Option = Annotated[list[str] | None, option("--option NAME=VALUE", "Override one point of the preset, e.g. gain=exp2.")]

CUTOFFS, THRESHOLDS = typed("10,20,40"), typed("0.3,0.5,0.7")


CHARTS = ("by-k", "order", "own-video")
"""What a chart of an evaluation shows."""
Charts = Annotated[
    list[str] | None,
    option(
        "--chart [NAME=]FILE.svg|.png",
        "by-k: a measure by cut-off; order: runs sorted by it, under others; own-video. May be repeated.",
    ),
]


def read_charts(texts: list[str], *, in_pools: bool) -> list[tuple[str, Path]]:
    """`order=figure.svg` as name and file; a file alone is of runs by cut-off, in pools of own video and pool."""
    found = []
    for text in texts:
        name, equals, file = text.partition("=")
        known = name in CHARTS
        if equals and not known and "/" not in name and "." not in name:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(CHARTS)}", param_hint="--chart")
        path = Path(file if known and equals else text)
        if path.suffix not in (".svg", ".png"):
            raise typer.BadParameter(f"{path.name} is neither .svg nor .png", param_hint="--chart")
        usual = "own-video" if in_pools else "by-k"
        found.append((name if known and equals else usual, path))
    return found


@dataclass(frozen=True)
class PoolChoices:
    """What is done with the pools of an evaluation."""

    outside_pool: Annotated[
        Literal["error", "drop"],
        option("--outside-pool", "Predictions outside the pool: refuse them, or leave them out."),
    ] = "error"
    one_per_video: Annotated[
        bool, option("--one-per-video", "Only the best moment of each video by score, ranked by it.")
    ] = False
    top_videos: Annotated[
        int | None, option("--top-videos N", "Two steps: the N best videos of a pool, then moments.", min=1)
    ] = None
    first_step: Annotated[
        Path | None,
        option("--first-step FILE", "The run that ranks the videos (5 of them); else each run does so itself."),
    ] = None
    own_video: Annotated[
        bool, option("--own-video", "Beside it, each run in the query's own video alone (VMR beside MVMR).")
    ] = False

    def of_file(self, pool: Path | None) -> "PoolFile | None":
        """The pools to score in; options of pools without pools are wrong usage."""
        from backend.scoring.pools.model import PoolConventions, PoolFile

        if pool is not None:
            conventions = PoolConventions(self.outside_pool, self.one_per_video, self.top_videos)
            return PoolFile(pool, conventions, self.first_step, self.own_video)
        given = {
            "--outside-pool": self.outside_pool != "error",
            "--one-per-video": self.one_per_video,
            "--top-videos": self.top_videos,
            "--first-step": self.first_step,
            "--own-video (or --chart own-video=FILE)": self.own_video,
        }
        for name, value in given.items():
            if value:
                raise typer.BadParameter("is about pools; add --pool FILE", param_hint=name)
        return None


def measure_option(name: str, help_text: str) -> Any:
    """Return an option that takes measures by name or by key; keys have commas too, such as `ndcg@20,0.5`."""

    def split(text: str) -> list[str]:
        from backend.scoring.requested_values import split as split_measures

        return split_measures(text)

    return list_option(f"{name} NAME|KEY,...", help_text, str, split=split)


@dataclass(frozen=True)
class ScoringOptions:
    """How runs are scored; where cut-offs and thresholds are not given, pools have others than a truth."""

    pool: Annotated[Path | None, option("--pool FILE", "MVMR pools: search each query in its own videos.")] = None
    videos: Videos = None
    benchmark: Annotated[
        str | None,
        option(
            "--benchmark NAME",
            "The figures of a benchmark, by its conventions; `reelrank measures benchmarks` lists them.",
        ),
    ] = None
    preset: PresetOption = Preset.PAPER
    k: Annotated[
        list[int] | None, list_option("--k K,K", "Rank cut-offs.  [default: 10,20,40; in pools 1,5,20,50]", int)
    ] = None
    mu: Annotated[
        list[float] | None,
        list_option("--mu M,M", "IoU thresholds of NDCG.  [default: 0.3,0.5,0.7; in pools 0.5,0.7]"),
    ] = None
    theta: Annotated[
        list[float] | None, list_option("--theta T,T", "IoU thresholds of measures without grades; the same.")
    ] = None
    min_relevance: Annotated[int, option("--min-relevance 1-4", "What counts as relevant without grades.")] = 1
    measure: Annotated[
        list[str] | None,
        measure_option(
            "--measure",
            "Only these, such as ndcg,recall or ndcg@20,0.5,map@avg; by default all of the preset; in pools "
            "recall,axiou,ndcg.",
        ),
    ] = None
    options: Option = None
    nms: Annotated[
        float | None,
        option(
            "--nms IOU", "Non-maximum suppression first: what overlaps a better prediction of its video by more falls."
        ),
    ] = None

    def conventions(self) -> dict[str, Any]:
        """The same as `score_splits` takes them, but for pools and videos."""
        return {
            **{"preset": self.preset.value, "k": self.k, "mu": self.mu, "theta": self.theta},
            **{"min_relevance": self.min_relevance, "measures": self.measure, "benchmark": self.benchmark},
            **read_options(self.options),
            **({} if self.nms is None else {"nms": self.nms}),
        }


@dataclass(frozen=True)
class AskedRuns:
    """Which runs are scored, against which truth."""

    run: Annotated[list[str] | None, option("--run [NAME=]FILE ...", "A run, or several; may be repeated.")] = None
    runs: Annotated[
        Path | None, option("--runs FILE.toml", "A list of runs: model, variant, seed, split, file, and truths.")
    ] = None
    split: Annotated[str | None, option("--split NAME", "Only this split of the list of runs, or of a release.")] = None
    truth: Annotated[
        Path | None,
        option("--truth FILE|DIR", "Truth, such as val.json, or the folder of a release; pools may be one themselves."),
    ] = None

    def read(self) -> "RunList":
        """The runs that were asked for, each split with its truth."""
        from backend.scoring.run_files import of_releases, read_run_list

        if (self.run is None) == (self.runs is None):
            raise typer.BadParameter("give runs with --run, or a list of them with --runs", param_hint="--run")
        if self.runs is None:
            return self._named()
        listed = read_run_list(self.runs)
        if self.split is not None:
            if self.split not in listed.splits:
                known = ", ".join(name for name in listed.splits if name) or "none"
                raise typer.BadParameter(
                    f"{self.split!r} is not a split of {self.runs.name}, which has {known}", param_hint="--split"
                )
            listed = replace(listed, runs=tuple(listed.of(self.split)), splits=(self.split,))
        if self.truth is not None:
            if listed.truths or (len(listed.splits) > 1 and not self.truth.is_dir()):
                raise typer.BadParameter(f"the truth stands in {self.runs.name}; leave this out", param_hint="--truth")
            listed = of_releases(replace(listed, truths=dict.fromkeys(listed.splits, self.truth)))
        return listed

    def _named(self) -> "RunList":
        """The runs of `--run`."""
        from backend.scoring.files.release_folder import choose_truth
        from backend.scoring.run_files import RunList, named_files

        for text in self.run or ():
            if text.endswith(".toml"):
                raise typer.BadParameter(f"{text} is a list of runs; give it with --runs", param_hint="--run")
        named = tuple(named_files(self.run or ()))
        if self.split is None:
            return RunList(named, truths={"": self.truth} if self.truth else {})
        if self.truth is None or not self.truth.is_dir():
            message = "is about a list of runs or a release; add --runs FILE.toml, or give --truth the folder of one"
            raise typer.BadParameter(message, param_hint="--split")
        chosen = choose_truth(self.truth, split=self.split)
        return RunList(named, truths={"": chosen.path}, videos=chosen.videos)


@dataclass(frozen=True)
class Writing:
    """How numbers and tables of scores are written."""

    percent: Annotated[bool, option("--percent", "In percent, two digits; not in CSV and JSON.")] = False
    digits: Annotated[int | None, option("--digits N", "Digits after the point.", min=0, max=12)] = None
    caption: Annotated[str | None, option("--caption TEXT", "Of the LaTeX table, its first words.")] = None
    label: Annotated[str | None, option("--label NAME", "Of the LaTeX table, such as tab:runs.")] = None

    def shown(self, form: str, *, variant: str, intervals: bool, benchmark: str | None) -> "Shown":
        """The same for a format; an option that it would not heed is wrong usage."""
        from backend.scoring.views.table import Shown

        if self.percent or self.digits is not None:
            hint = "--percent" if self.percent else "--digits"
            if form in ("csv", "json"):
                raise typer.BadParameter(f"{form.upper()} has shares in full", param_hint=hint)
            if benchmark is not None:
                raise typer.BadParameter(f"{benchmark} says itself how its figures are written", param_hint=hint)
        if form != "latex" and (self.caption or self.label):
            raise typer.BadParameter("is of --format latex", param_hint="--caption" if self.caption else "--label")
        return Shown(self.percent, self.digits, self.caption or "", self.label or "", variant, intervals)


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


def read_options(texts: list[str] | None) -> "Options":
    """The points of a preset that `--option` overrides, each with its value."""
    return dict(map(read_option, texts or ()))  # type: ignore[return-value]
