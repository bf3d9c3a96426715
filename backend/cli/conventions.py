"""Options of the commands that score runs: presets, measures, runs, pools and output."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from backend.cli.options import list_option, option, typed
from backend.core.typed_text import nfc

if TYPE_CHECKING:
    from backend.scoring.pools.model import PoolFile
    from backend.scoring.presets import Options
    from backend.scoring.run_files import RunList
    from backend.scoring.views.table import Shown


class Preset(StrEnum):
    """The presets, named sets of rules for scoring."""

    PAPER = "paper"
    TVR_RANKING = "tvr-ranking"
    AXIOU = "axiou"


def preset_named(text: str) -> Preset:
    """Return the preset with this current or former name; an unknown name is wrong usage."""
    from backend.scoring.presets import FORMER as FORMER_PRESETS

    try:
        return Preset(FORMER_PRESETS.get(text, text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(Preset)}") from None


Truth = Annotated[Path, option("--truth FILE|DIR", "A truth file such as val.json, or the folder of a release.")]
Runs = Annotated[list[str], option("--run [NAME=]FILE ...", "One or more run files; may be repeated.")]
Videos = Annotated[
    Path | None,
    option("--videos MAP|DIR", "For runs with video indices: a JSON map name -> [duration, index], or a release."),
]
PresetOption = Annotated[
    Preset,
    option(
        "--preset paper|tvr-ranking|axiou",
        "paper: the formulas of the papers; tvr-ranking: the published code of TVR-Ranking; axiou: as paper, with the "
        "twelve measures of the AxIoU paper.",
        parser=preset_named,
    ),
]
K = Annotated[list[int] | None, list_option("--k K,K", "Rank cut-offs.  [default: 10,20,40; preset axiou 1,5,10]", int)]
Mu = Annotated[list[float], list_option("--mu M,M", "IoU thresholds of NDCG.")]
Theta = Annotated[list[float], list_option("--theta T,T", "IoU thresholds of measures without grades.")]
Option = Annotated[
    list[str] | None, option("--option NAME=VALUE", "Change one option of the preset, such as gain=exp2.")
]

THRESHOLDS = typed("0.3,0.5,0.7")


CHARTS = ("by-k", "order", "own-video")
"""Names of charts."""
Charts = Annotated[
    list[str] | None,
    option(
        "--chart [NAME=]FILE.svg|.png",
        "Draw a chart: by-k (a measure by cut-off), order (ranks under other measures) or own-video. May be repeated.",
    ),
]


def read_charts(texts: list[str], *, in_pools: bool) -> list[tuple[str, Path]]:
    """Return (chart name, file) for each value of --chart, such as `order=figure.svg` or `figure.svg`.

    If the value has no chart name, the name is `own-video` if `in_pools`, else `by-k`. `in_pools` says whether each
    query is searched in a pool, a given set of videos. An unknown name, or a file that is neither SVG nor PNG, is wrong
    usage.
    """
    charts = []
    for text in texts:
        name, equals, file = text.partition("=")
        known = name in CHARTS
        if equals and not known and "/" not in name and "." not in name:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(CHARTS)}", param_hint="--chart")
        path = Path(file if known and equals else text)
        if path.suffix not in (".svg", ".png"):
            raise typer.BadParameter(f"{path.name} is neither .svg nor .png", param_hint="--chart")
        usual = "own-video" if in_pools else "by-k"
        charts.append((name if known and equals else usual, path))
    return charts


@dataclass(frozen=True)
class PoolChoices:
    """Options for scoring in pools, where each query is searched in a given set of videos only."""

    outside_pool: Annotated[
        Literal["error", "drop"],
        option("--outside-pool", "What to do with predictions outside the pool: refuse the run, or leave them out."),
    ] = "error"
    one_per_video: Annotated[
        bool, option("--one-per-video", "Keep only the moment of highest score in each video, ranked by score.")
    ] = False
    top_videos: Annotated[
        int | None,
        option("--top-videos N", "Search in two steps: the N best videos of a pool, then their moments.", min=1),
    ] = None
    first_step: Annotated[
        Path | None,
        option(
            "--first-step FILE", "The run that ranks the videos in the first step. Default: each run itself; N is 5."
        ),
    ] = None
    own_video: Annotated[
        bool, option("--own-video", "Also score each run in the query's own video alone (VMR beside MVMR).")
    ] = False

    def of_file(self, pool: Path | None) -> "PoolFile | None":
        """Return the file of pools at `pool` with these options; None if `pool` is None.

        An option for pools without a file of pools is wrong usage.
        """
        from backend.scoring.pools.model import PoolConventions, PoolFile

        if pool is not None:
            conventions = PoolConventions(self.outside_pool, self.one_per_video, self.top_videos)
            return PoolFile(pool, conventions, self.first_step, self.own_video)
        pool_options = {
            "--outside-pool": self.outside_pool != "error",
            "--one-per-video": self.one_per_video,
            "--top-videos": self.top_videos,
            "--first-step": self.first_step,
            "--own-video (or --chart own-video=FILE)": self.own_video,
        }
        for name, value in pool_options.items():
            if value:
                raise typer.BadParameter("needs pools: add --pool FILE", param_hint=name)
        return None


def measure_option(name: str, help_text: str) -> Any:
    """Return an option for a list of measures, each given by its name (`ndcg`) or its key (`ndcg@20,0.5`).

    A comma inside a key does not separate two measures.
    """

    def split(text: str) -> list[str]:
        from backend.scoring.requested_values import split as split_measures

        return split_measures(text)

    return list_option(f"{name} NAME|KEY,...", help_text, str, split=split)


@dataclass(frozen=True)
class ScoringOptions:
    """Options that say how to score: by which measures, cut-offs, thresholds and rules.

    The default cut-offs (--k) and thresholds (--mu) are different ones if --pool is given.
    """

    pool: Annotated[Path | None, option("--pool FILE", "Search each query in its own pool of videos (MVMR).")] = None
    videos: Videos = None
    benchmark: Annotated[
        str | None,
        option(
            "--benchmark NAME",
            "Print a benchmark's figures by its conventions; `reelrank measures benchmarks` lists them.",
        ),
    ] = None
    also: Annotated[
        list[str] | None,
        measure_option(
            "--also", "With --benchmark: add these measures, such as miou,recall@1,0.3; each also for its groups."
        ),
    ] = None
    preset: PresetOption = Preset.PAPER
    k: Annotated[
        list[int] | None,
        list_option("--k K,K", "Rank cut-offs.  [default: 10,20,40; in pools 1,5,20,50; preset axiou 1,5,10]", int),
    ] = None
    mu: Annotated[
        list[float] | None,
        list_option("--mu M,M", "IoU thresholds of NDCG.  [default: 0.3,0.5,0.7; in pools 0.5,0.7]"),
    ] = None
    theta: Annotated[
        list[float] | None, list_option("--theta T,T", "IoU thresholds of measures without grades. Default: as --mu.")
    ] = None
    min_relevance: Annotated[
        float, option("--min-relevance 1-4", "Lowest grade that counts as relevant in measures without grades.")
    ] = 1
    measure: Annotated[
        list[str] | None,
        measure_option(
            "--measure",
            "Compute only these, such as ndcg,recall or ndcg@20,0.5. Default: all of the preset; in pools "
            "recall,axiou,ndcg.",
        ),
    ] = None
    options: Option = None
    nms: Annotated[
        float | None,
        option(
            "--nms IOU",
            "First drop predictions whose IoU with a better one of the same video is higher (non-maximum suppression).",
        ),
    ] = None

    def conventions(self) -> dict[str, Any]:
        """Return the rules for scoring as keyword arguments for `score_splits`.

        They hold the preset and its overridden options, cut-offs, thresholds, measures and benchmark, and `nms` if
        given.
        """
        return {
            **{"preset": self.preset.value, "k": self.k, "mu": self.mu, "theta": self.theta},
            **{"min_relevance": self.min_relevance, "measures": self.measure, "benchmark": self.benchmark},
            "also": self.also or (),
            **read_options(self.options),
            **({} if self.nms is None else {"nms": self.nms}),
        }


@dataclass(frozen=True)
class RunChoices:
    """Options that name the runs to score (files of predicted moments), and the truth to score them against."""

    run: Annotated[list[str] | None, option("--run [NAME=]FILE ...", "One or more run files; may be repeated.")] = None
    runs: Annotated[
        Path | None,
        option("--runs FILE.toml", "A file that lists runs with their model, variant, seed, split and truth."),
    ] = None
    split: Annotated[
        str | None, option("--split NAME", "Score only this split of the list of runs, or of a release.")
    ] = None
    truth: Annotated[
        Path | None,
        option(
            "--truth FILE|DIR", "A truth file such as val.json, or the folder of a release. Not needed with --pool."
        ),
    ] = None
    upper_bound: Annotated[
        list[str] | None,
        option(
            "--upper-bound RUN",
            "Mark a run as an upper bound, which is never ranked; may be repeated. A run named caption is one.",
        ),
    ] = None

    def read(self) -> "RunList":
        """Return the runs to score with the truth of each split, from --runs, or from --run and --truth.

        Runs named by --upper-bound are marked. Wrong combinations and unknown names are wrong usage.
        """
        listed = self._listed()
        upper_bounds = set(map(nfc, self.upper_bound or ()))
        if unknown := upper_bounds - {run.name for run in listed.runs}:
            names = ", ".join(dict.fromkeys(run.name for run in listed.runs))
            raise typer.BadParameter(f"{min(unknown)!r} is not one of {names}", param_hint="--upper-bound")
        marked = (replace(run, upper_bound=run.upper_bound or run.name in upper_bounds) for run in listed.runs)
        return replace(listed, runs=tuple(marked))

    def _listed(self) -> "RunList":
        from backend.scoring.run_files import read_run_list, resolve_releases

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
                raise typer.BadParameter(
                    f"{self.runs.name} names the truth already: leave this out", param_hint="--truth"
                )
            listed = resolve_releases(replace(listed, truths=dict.fromkeys(listed.splits, self.truth)))
        return listed

    def _named(self) -> "RunList":
        """Return the runs given by `--run`, with the truth given by `--truth`."""
        from backend.scoring.files.release_folder import choose_truth
        from backend.scoring.run_files import RunList, named_files

        for text in self.run or ():
            if text.endswith(".toml"):
                raise typer.BadParameter(f"{text} is a list of runs; give it with --runs", param_hint="--run")
        runs = tuple(named_files(self.run or ()))
        if self.split is None:
            return RunList(runs, truths={"": self.truth} if self.truth else {})
        if self.truth is None or not self.truth.is_dir():
            message = "needs a list of runs or a release: add --runs FILE.toml, or give --truth the folder of a release"
            raise typer.BadParameter(message, param_hint="--split")
        chosen = choose_truth(self.truth, split=self.split)
        return RunList(runs, truths={"": chosen.path}, videos=chosen.videos)


@dataclass(frozen=True)
class Writing:
    """Options about the output of scores."""

    percent: Annotated[bool, option("--percent", "Write numbers in percent with two digits; not in CSV and JSON.")] = (
        False
    )
    digits: Annotated[int | None, option("--digits N", "Number of digits after the point.", min=0, max=12)] = None
    caption: Annotated[str | None, option("--caption TEXT", "Beginning of the caption of the LaTeX table.")] = None
    label: Annotated[str | None, option("--label NAME", "Label of the LaTeX table, such as tab:runs.")] = None
    wide: Annotated[
        bool, option("--wide", "Make the LaTeX table as wide as a page, not as one of its two columns.")
    ] = False

    def shown(self, form: str, *, variant: str, intervals: bool, benchmark: str | None) -> "Shown":
        """Return how to show the scores in an output format, from these options and the arguments.

        An option that the format ignores is wrong usage.

        Args:
            form: the output format, such as `csv` or `latex`.
            variant: the head of the column that names the variants of models.
            intervals: whether tables of models and variants show intervals.
            benchmark: the benchmark whose figures are printed; None if there is none.
        """
        from backend.scoring.views.table import Shown

        if self.percent or self.digits is not None:
            hint = "--percent" if self.percent else "--digits"
            if form in ("csv", "json"):
                raise typer.BadParameter(f"{form.upper()} always has full numbers between 0 and 1", param_hint=hint)
            if benchmark is not None:
                raise typer.BadParameter(f"{benchmark} has its own number format", param_hint=hint)
        of_latex = {"--caption": self.caption, "--label": self.label, "--wide": self.wide}
        for name, value in of_latex.items():
            if value and form != "latex":
                raise typer.BadParameter("needs --format latex", param_hint=name)
        return Shown(self.percent, self.digits, self.caption or "", self.label or "", variant, intervals, self.wide)


def read_option(text: str) -> tuple[str, str | bool]:
    """Return (name, value) of a preset option that the user typed as NAME=VALUE, such as `missing=skip`.

    An unknown option, or a value that it cannot have, is wrong usage.
    """
    from backend.scoring.presets import OPTION_VALUES as EVALUATION_OPTIONS
    from backend.scoring.presets import READERS

    name, equals, value = text.partition("=")
    if equals and name in READERS:
        return name, value  # read with the other settings
    if not equals or name not in EVALUATION_OPTIONS:
        known = ", ".join(dict.fromkeys([*EVALUATION_OPTIONS, *READERS]))
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE with one of {known}", param_hint="--option")
    legal = {str(choice).lower(): choice for choice in EVALUATION_OPTIONS[name]}
    if value.lower() not in legal:
        raise typer.BadParameter(f"{name} is one of {', '.join(legal)}, not {value!r}", param_hint="--option")
    return name, legal[value.lower()]


def read_options(texts: list[str] | None) -> "Options":
    """Return the values of all preset options given with `--option`, by name; see `read_option`."""
    return dict(map(read_option, texts or ()))  # type: ignore[return-value]
