"""Commands that plan a campaign, and replay a finished one with fewer grades: `reelrank plan`, `reelrank replay`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.cli.commands import add_command
from backend.cli.conventions import Option, Preset, PresetOption, Runs, Videos, read_options
from backend.cli.measures import Seed
from backend.cli.options import Json, ScaleOption, argument, list_option, option
from backend.cli.output import counted, end_with_json, progress_bar, say, table
from backend.cli.studies import Out, as_text, finish
from backend.core.errors import InputError

if TYPE_CHECKING:
    from backend.scoring.studies.study import Cell

Cutoff = Annotated[int, option("--k K", "Rank cut-off of NDCG.", min=1)]
Level = Annotated[float, option("--mu M", "IoU threshold of NDCG.")]


def _policies(texts: list[str] | None) -> dict[str, list[float]]:
    """Return the settings of each policy from texts such as `single=0.8,0.9` or `active`."""
    chosen: dict[str, list[float]] = {}
    for text in texts or ():
        name, equals, numbers = text.partition("=")
        try:
            settings = [float(number) for number in numbers.split(",")] if equals else []
        except ValueError:
            message = f"{text!r} is not NAME or NAME=V,V with numbers, such as single=0.8,0.9"
            raise typer.BadParameter(message, param_hint="--policy") from None
        chosen.setdefault(name, []).extend(settings)
    return chosen


@add_command("replay")
def replay(
    raw: Annotated[Path, argument("RAW.csv", "Rows of pair_id,worker,relevance.")],
    pairs: Annotated[Path, option("--pairs FILE", "The pairs, as a release's raw_query_moment_pair.csv.")],
    run: Runs,
    videos: Videos = None,
    policy: Annotated[
        list[str] | None,
        option(
            "--policy NAME[=V,V]",
            "single, settled, batches, raters, active or random, with settings. May be repeated.  [default: all]",
        ),
    ] = None,
    k: Cutoff = 20,
    mu: Level = 0.5,
    preset: PresetOption = Preset.PAPER,
    options: Option = None,
    scale: ScaleOption = None,
    batch_size: Annotated[int, option("--batch-size N", "Pairs of a batch.", min=1)] = 20,
    target: Annotated[float, option("--target TAU", "Kendall's tau-b that is good enough.", min=-1, max=1)] = 0.98,
    draws: Annotated[
        int, option("--draws N", "Orders of grades to draw, where the file does not tell who graded first.", min=1)
    ] = 5,
    resamples: Annotated[int, option("--resamples N", "Samples of the queries for intervals.", min=1)] = 1_000,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Show how many grades a finished campaign could have saved.

    Collects the grades again by policies that ask for fewer, applies the consensus rule, and scores the runs by the
    truth that results. Prints what each policy saves, and how it changes NDCG and the order of the runs (tau-b), with
    95 % intervals over queries.

    Example: reelrank replay raw_annotation.csv --pairs raw_query_moment_pair.csv --run a.json b.json c.json
    """
    from backend.campaign.release.replay.figure import draw
    from backend.campaign.release.replay.policies import POLICIES
    from backend.campaign.release.replay.replaying import ReplayInputs, fewest, replay_study
    from backend.scoring.run_files import named_files

    try:
        runs = {run_file.name: run_file.path for run_file in named_files(run)}
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--run") from None
    inputs = ReplayInputs(
        *(raw, pairs, runs, videos, scale, batch_size, preset.value, k, mu), options=read_options(options)
    )
    with progress_bar() as progress:
        study = replay_study(inputs, _policies(policy), draws=draws, resamples=resamples, seed=seed, progress=progress)
    rows = [
        (
            row["policy"] if row["setting"] is None else f"{row['policy']} {row['setting']:g}",
            f"{row['grades']:,.0f}",
            f"{row['saved_share']:.1%}",
            f"{row['change']:+.4f}",
            _between(row["change_low"], row["change_high"], "+.4f"),
            f"{row['largest_change']:+.4f}",
            as_text(row["tau_b"], ".3f"),
            _between(row["tau_low"], row["tau_high"], ".3f"),
        )
        for row in study.rows
    ]
    columns = ("policy", "grades", "saved", "NDCG", "95 %", "most", "tau-b", "95 %")
    finish(study, out, json, columns, rows, chart=draw(study))
    if json:
        return
    for found in fewest(study, target):
        about = f"{found.policy} ({POLICIES[found.policy].about})"
        say(f"{about}: tau-b >= {target:g} {_grades(found.enough)}; its whole interval {_grades(found.sure)}")


def _grades(row: "dict[str, Cell] | None") -> str:
    return "with no setting" if row is None else f"with {row['grades']:,.0f} grades (setting {row['setting']:g})"


def _between(low: object, high: object, form: str) -> str:
    return "-" if low is None else f"{as_text(low, form)} to {as_text(high, form)}"


@add_command("plan")
def plan(
    difference: Annotated[list[float], list_option("--difference D,D", "Differences of two systems' means to find.")],
    sd: Annotated[
        float | None, option("--sd S", "Standard deviation of that difference over queries. Default: from --run.")
    ] = None,
    pilot: Annotated[
        Path | None, option("--pilot DIR", "The folder of a pilot's release.  [default: TVR-Ranking's figures]")
    ] = None,
    run: Annotated[
        list[str] | None, option("--run [NAME=]FILE ...", "Runs on the pilot; two or more give the deviation.")
    ] = None,
    split: Annotated[str | None, option("--split NAME", "Use only this split of the pilot, val or test.")] = None,
    k: Cutoff = 20,
    mu: Level = 0.5,
    preset: PresetOption = Preset.PAPER,
    power: Annotated[float, option("--power P", "Probability of finding the difference.")] = 0.8,
    alpha: Annotated[float, option("--alpha A", "Level of the two-sided test.")] = 0.05,
    seconds: Annotated[float | None, option("--seconds S", "Working time of a grade. Default: as measured.")] = None,
    wage: Annotated[float | None, option("--wage W", "Pay of an hour, to compute the cost.")] = None,
    json: Json = False,
) -> None:
    """Plan how many queries and grades a campaign needs.

    Says how many queries a paired t-test needs to find a difference between two systems, and how many batches, pairs,
    grades and hours that takes at the rates of a pilot, or of TVR-Ranking.

    Example: reelrank plan --difference 0.01,0.02,0.05 --sd 0.15 --wage 14
    """
    from dataclasses import replace

    from backend.campaign.release.planning import (
        TVR_RANKING,
        figures_of,
        largest_sd,
        pilot_differences,
        plans,
    )
    from backend.scoring.run_files import named_files

    if run and pilot is None:
        raise typer.BadParameter("needs the release that the runs are on: add --pilot DIR", param_hint="--run")
    if not run and sd is None:
        raise typer.BadParameter("give it, or a pilot and runs on it: --pilot DIR --run A B", param_hint="--sd")
    if seconds is not None and not seconds > 0:
        raise typer.BadParameter(f"{seconds:g} is not above 0", param_hint="--seconds")
    figures = TVR_RANKING if pilot is None else figures_of(pilot, seconds)
    if pilot is None and seconds is not None:
        figures = replace(figures, seconds=seconds, timed="as given")
    found = []
    if run and pilot is not None:
        paths = {run_file.name: run_file.path for run_file in named_files(run)}
        found = pilot_differences(pilot, paths, f"ndcg@{k},{mu:g}", preset.value, split)
    widest = largest_sd(found) if found else None
    if sd is None and widest is not None:
        sd = widest.sd
    made = plans(difference, sd or 0.0, figures, power=power, alpha=alpha, wage=wage)
    if json:
        end_with_json({"sd": sd, "power": power, "alpha": alpha, "figures": figures, "pilot": found, "plans": made})
    origin = "" if widest is None or sd != widest.sd else f" ({widest.first} and {widest.second}, the largest)"
    say(f"Standard deviation of the difference {sd:.4f}{origin}; power {power:g}, alpha {alpha:g}, paired t-test.")
    say(f"Rates of {figures.source}: {figures.grades:,} grades of {counted(figures.queries, 'query', 'queries')}.")
    say(f"{figures.seconds:.1f} s a grade: {figures.timed}.")
    columns = ["difference", "queries", "batches", "pairs", "grades", "hours", *(["cost"] if wage is not None else [])]
    table(
        columns,
        [
            (
                f"{one.difference:g}",
                *(f"{count:,}" for count in (one.queries, one.batches, one.pairs, one.grades)),
                f"{one.hours:,.1f}",
                *([] if one.cost is None else [f"{one.cost:,.0f}"]),
            )
            for one in made
        ],
    )
