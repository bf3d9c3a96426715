"""The command `reelrank judge report`, which measures a model's grades against people's."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.options import Dir, Json, list_option, option
from backend.cli.output import counted, end_with_json, progress_bar, save, say, table, tell_written

if TYPE_CHECKING:
    from backend.campaign.monitoring.quality.model import Figure
    from backend.campaign.release.judge_report.model import BiasGroup, JudgeReport, MeasureOrder, SplitSpread


def judge_report(
    folder: Dir,
    model: Annotated[str | None, option("--model NAME", "The model. Default: the one that was asked last.")] = None,
    prompt: Annotated[str | None, option("--prompt VERSION", "The version of its prompt. Default: the newest.")] = None,
    split: Annotated[str, option("--split NAME", "Only pairs of this split.")] = "",
    runs: Annotated[
        list[str] | None, list_option("--runs NAME,NAME", "Order only these runs of the project.", str)
    ] = None,
    splits: Annotated[int, option("--splits N", "How often to split the people at random into halves.", min=1)] = 10,
    resamples: Annotated[int, option("--resamples N", "Samples of queries for the intervals.", min=1)] = 1_000,
    differences: Annotated[
        Path | None,
        option("--differences OUT.csv", "Write the pairs at which a model and people differ by 2 or more."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure a model's grades against people's.

    Prints kappa, alpha and bias with 95 % intervals, and the order of the project's runs by the model's grades against
    their order by people's. The ceiling is the agreement of two random halves of the people. The file of differences
    has no grade of a model, so a lead can decide before they see it. Its order is the suggested order of review.

    Example: reelrank judge report my-project --split test
    """
    from backend.campaign.release.judge_report import measuring

    if differences is not None and differences.exists():
        raise typer.BadParameter(f"{differences} exists already: name a new file", param_hint="--differences")
    project = open_project(folder)
    judge = measuring.judge_of(project, OPERATOR, model, prompt)
    with progress_bar() as progress:
        report = measuring.judge_report(
            project,
            OPERATOR,
            judge,
            split=split,
            runs=runs or (),
            splits=splits,
            resamples=resamples,
            progress=progress,
        )
    if differences is not None:
        save(differences, measuring.differences_csv(project, OPERATOR))
    if json:
        tell_written([differences], data=True)
        end_with_json(report)
    _say_grades(report)
    _say_orders(report)
    tell_written([differences])


def _say_grades(report: "JudgeReport") -> None:
    from backend.campaign.release.judge_report.model import FIGURE_WORDS, LEFT_OUT

    pairs, queries = counted(report.pairs, "pair"), counted(report.queries, "query", "queries")
    say(f"{report.judge.model}, prompt {report.judge.prompt_version}: {pairs} of {queries} compared with people.")
    for why, n in report.left_out.items():
        say(f"Left out, because {LEFT_OUT[why]}: {n:,}.")
    say("")
    rows = [(words, *_cells(report.figures[key]), _over(report.figures[key])) for key, words in FIGURE_WORDS.items()]
    table(("Figure", "value", "95 % interval", "over"), rows)
    say("")
    grades = range(len(report.confusion))
    head = ("Relevance by people", *(f"model {grade}" for grade in grades))
    table(head, [(grade, *(f"{n:,}" for n in row)) for grade, row in zip(grades, report.confusion, strict=True)])
    for title, groups in (
        ("Relevance", report.by_grade),
        ("Query", report.by_length),
        ("Show", report.by_show),
    ):
        if groups:
            say("")
            table((title, "pairs", "bias of the model", "95 % interval"), [_group_row(group) for group in groups])
    say("")
    say(f"{counted(report.apart, 'pair')} differ by 2 or more: see the list Model differs on the page Disputes.")
    say("Bias: the model's grade minus the unrounded grade that people agreed on; above 0: more generous.")
    say("Where people gave the lowest grade, the model can only be more generous; at the highest, only stricter.")


def _say_orders(report: "JudgeReport") -> None:
    say("")
    for name, why in report.runs_left_out.items():
        say(f"Run {name} is not ordered: {why}.")
    if report.no_orders:
        say(f"No orders of runs: {report.no_orders}.")
        return
    runs, queries = counted(len(report.runs), "run"), counted(report.order_queries, "query", "queries")
    say(f"Orders of {runs} over {queries}, by Kendall's tau-b:")
    table(
        ("Measure", "model", "95 % interval", "model, half", "half, half", "largest swap by the model"),
        [_order_row(order) for order in report.orders],
        (True, False, False, False, False, True),
    )
    say(
        f"model: against all people. half: against a random half of the people; mean of {report.splits} splits (range)."
    )
    say("half, half: two halves of the people against each other, the ceiling for the column before it.")
    say(
        "Swap: the run in front by people and the one behind it, their difference by people, its 95 % interval, and the"
    )
    say("difference by the model.")


def _order_row(order: "MeasureOrder") -> tuple[str, ...]:
    change = order.change
    tau = "-" if change.tau is None else f"{change.tau:.3f}"
    bounds = "" if change.low is None or change.high is None else f"{change.low:.3f} to {change.high:.3f}"
    swap = "none"
    if (two := change.swap) is not None:
        by_people = f"{two.by_first:+.4f} ({two.low:+.4f} to {two.high:+.4f})"
        swap = f"{two.ahead}, {two.behind}: {by_people}, {two.by_second:+.4f}"
    return change.key, tau, bounds, _spread(order.half), _spread(order.people), swap


def _spread(spread: "SplitSpread | None") -> str:
    return "-" if spread is None else f"{spread.mean:.3f} ({spread.low:.3f} to {spread.high:.3f})"


def _group_row(group: "BiasGroup") -> tuple[str, ...]:
    return group.name, f"{group.pairs:,}", *_cells(group.bias, "+.3f")


def _cells(figure: "Figure", form: str = ".3f") -> tuple[str, str]:
    """Return two cells of a table: the value of a figure and its interval."""
    value = "-" if figure.value is None else format(figure.value, form)
    if figure.low is None or figure.high is None:
        return value, ""
    return value, f"{figure.low:{form}} to {figure.high:{form}}"


def _over(figure: "Figure") -> str:
    return f"{figure.n:,} {figure.of}" if figure.value is not None else f"undefined: {figure.reason}"
