"""The command agreement: how far annotators agree, as the lead's page says it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.monitoring.quality.model import AGGREGATOR_WORDS, FIGURE_WORDS, WHOLE, BoardPart, Figure, Verdicts
from backend.campaign.nouns import OPERATOR
from backend.cli.output import (
    FirstDay,
    Json,
    LastDay,
    ScaleOption,
    day_of,
    json_text,
    progress_bar,
    say,
    table,
    tell_written,
)

if TYPE_CHECKING:
    from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("agreement")(agreement)


def agreement(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|RAW.csv", help="A project folder, or rows of pair_id,worker,relevance.", show_default=False
        ),
    ],
    scale: ScaleOption = None,
    others: Annotated[
        Path | None,
        typer.Option(
            "--others",
            metavar="OUT.csv",
            help="Compare the rule with mean, median and Dawid-Skene, and write the pairs that differ to this file.",
        ),
    ] = None,
    split: Annotated[str, typer.Option("--split", metavar="NAME", help="Only pairs of this split.")] = "",
    query: Annotated[str, typer.Option("--query", metavar="TEXT", help="Only pairs of this query.")] = "",
    first: FirstDay = None,
    last: LastDay = None,
    json: Json = False,
) -> None:
    """Measure inter-annotator agreement, and annotators' bias.

    Prints alphas, kappas and shares with their intervals. --scale is for a file, as a project has its own scale.
    --split, --query, --from and --to are for a project; a pair belongs to the day of its first grade. With --json
    also every two annotators, every day, week and query.

    Example: reelrank agreement my-project --split val --from 2026-03-01
    """
    from backend.campaign.monitoring.quality.rules.board import as_json as agreement_json

    part = BoardPart(split, query, day_of(first, "--from") or "", day_of(last, "--to") or "")
    board, compared = _found(place, part, scale, others)
    if json:
        rest = {} if compared is None else {"others": compared.counts}
        say(json_text({**agreement_json(board), **rest}))
        tell_written([others], data=True)
        return
    found = board.summary
    say(f"{found['rows']:,} grades by {found['annotators']} annotators over {found['pairs']:,} pairs")
    if board.imported or board.simulated:
        say(f"{board.imported:,} of the grades are of earlier campaigns, {board.simulated:,} were made by a program.")
    say("")
    table(
        ("Figure", "value", "95 % interval", "over"),
        [_row(words, board.figures[key]) for key, words in FIGURE_WORDS.items()],
    )
    for key, words in FIGURE_WORDS.items():
        if board.figures[key].value is None:
            say(f"{words}: undefined, {board.figures[key].reason}.")
    say("")
    heads = ("Pairs", "all", "by two", "by four", "by six", "by a lead", "discarded", "waiting")
    table(heads, [_settled(part) for part in board.settled])
    say("")
    people = [
        (one.name, f"{one.grades:,}", f"{one.most_used} ({one.most_used_share:.0%})", *_cells(one.bias, "+.3f"))
        for one in board.people
    ]
    table(("Annotator", "grades", "most used", "bias", "95 % interval"), people)
    say("")
    flagged = [one.name for one in board.people if one.often]
    if flagged:
        say(f"One grade more than {board.most_used_limit:.0%} of the time: {', '.join(flagged)}.")
    say("Alpha: Krippendorff's. Kappa: Cohen's, of couples who share 50 pairs. Intervals: bootstrap over pairs.")
    say("Bias: mean of a grade minus the unrounded mean of what others gave to the same pair; above 0: more generous.")
    if compared is not None:
        _say_others(compared, others)


def _found(
    place: Path, part: BoardPart, scale: str | None, others: Path | None
) -> "tuple[AgreementBoard, AggregatorReport | None]":
    """The board, and the comparison where it is asked for, which is written too."""
    from backend.campaign.monitoring.quality.agreement_board import write_other_relevances

    if place.is_dir() and scale is not None:
        raise typer.BadParameter("is for a file; a project knows its own scale", param_hint="--scale")
    if not place.is_dir() and part != WHOLE:
        raise typer.BadParameter("a file tells nothing of splits, queries and days: name a project's folder")
    if others is not None and part != WHOLE:
        raise typer.BadParameter(
            "compares all pairs: leave --split, --query, --from and --to out", param_hint="--others"
        )
    compared = None
    with progress_bar() as progress:
        if place.is_dir():
            from backend.campaign.monitoring.quality.agreement_board import agreement_board, other_relevances

            project = open_project(place)
            board = agreement_board(project, OPERATOR, part)
            if others is not None:
                compared = other_relevances(project, OPERATOR, progress=progress)
        else:
            # A file needs no database, and so no more than the core.
            from backend.campaign.release.earlier.raw_agreement import agreement_of_file, other_relevances_of_file

            board = agreement_of_file(place, scale=scale)
            if others is not None:
                compared = other_relevances_of_file(place, scale=scale, progress=progress)
    if compared is not None and others is not None:
        write_other_relevances(compared, others)
    return board, compared


def _say_others(compared: "AggregatorReport", file: Path | None) -> None:
    """How many pairs another way would settle otherwise."""
    say("")
    rows = [
        (
            AGGREGATOR_WORDS[one.name],
            f"{one.differs:,} of {one.by_rule:,} ({one.differs / max(one.by_rule, 1):.1%})",
            f"{one.differs_by_more:,}",
            f"{one.differs_from_lead:,} of {one.by_lead:,}",
            f"{one.gained:,}",
        )
        for one in compared.counts
    ]
    table(("Instead of the rule", "other relevance", "by more than one", "than a lead's", "of discarded"), rows)
    say(f"{len(compared.pairs):,} pairs differ: {file}. The rule stays what it is.")


def _row(words: str, figure: Figure) -> tuple[str, ...]:
    return (words, *_cells(figure, ".1%" if figure.of.startswith("pairs") else ".3f"), f"{figure.n:,} {figure.of}")


def _cells(figure: Figure, form: str) -> tuple[str, str]:
    """A value and its interval."""
    value = "-" if figure.value is None else format(figure.value, form)
    if figure.low is None or figure.high is None:
        return value, ""
    return value, f"{figure.low:{form}} to {figure.high:{form}}"


def _settled(part: Verdicts) -> tuple[str, ...]:
    """A part's counts, each with its share."""
    counts = (part.by_two, part.by_four, part.by_six, part.adjudicated, part.discarded, part.waiting)
    return part.part, f"{part.pairs:,}", *(f"{count:,} ({count / part.pairs:.1%})" for count in counts)
