"""Commands for judgements: `reelrank agreement`, `import-judgements` and `consensus`."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.api import open_project
from backend.campaign.monitoring.quality.model import AGGREGATOR_WORDS, FIGURE_WORDS, WHOLE, BoardPart, Figure, Verdicts
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command
from backend.cli.options import Dir, FirstDay, Json, LastDay, ScaleOption, argument, day_of, option
from backend.cli.output import (
    counted,
    end_with_json,
    first_of,
    json_text,
    now,
    progress_bar,
    say,
    seconds,
    table,
    tell_written,
)

if TYPE_CHECKING:
    from backend.campaign.monitoring.quality.model import AggregatorReport, AgreementBoard
    from backend.campaign.release.earlier.model import JudgementsReport


@add_command("agreement")
def agreement(
    place: Annotated[Path, argument("DIR|RAW.csv", "A project folder, or rows of pair_id,worker,relevance.")],
    scale: ScaleOption = None,
    others: Annotated[
        Path | None,
        option(
            "--others OUT.csv",
            "Compare the rule with mean, median and Dawid-Skene, and write the pairs that differ to this file.",
        ),
    ] = None,
    split: Annotated[str, option("--split NAME", "Only pairs of this split.")] = "",
    query: Annotated[str, option("--query TEXT", "Only pairs of this query.")] = "",
    first: FirstDay = None,
    last: LastDay = None,
    json: Json = False,
) -> None:
    """Measure inter-annotator agreement, and annotators' bias.

    Prints alphas, kappas and shares, such as the share of equal grades, each with its interval. --scale is for a file,
    as a project has its own scale. --split, --query, --from and --to are for a project; a pair belongs to the day of
    its first grade. --json also has figures for each two annotators, day, week and query.

    Example: reelrank agreement my-project --split val --from 2026-03-01
    """
    from backend.campaign.monitoring.quality.rules.board import as_json as agreement_json

    part = BoardPart(split, query, day_of(first, "--from") or "", day_of(last, "--to") or "")
    board, compared = _board(place, part, scale, others)
    if json:
        rest = {} if compared is None else {"others": compared.counts}
        say(json_text({**agreement_json(board), **rest}))
        tell_written([others], data=True)
        return
    summary = board.summary
    say(f"{_rows_of(summary, 'grade')}")
    if board.imported or board.simulated:
        say(f"{board.imported:,} of the grades are from earlier campaigns, {board.simulated:,} are simulated.")
    say("")
    table(
        ("Figure", "value", "95 % interval", "over"),
        [_figure_row(words, board.figures[key]) for key, words in FIGURE_WORDS.items()],
    )
    for key, words in FIGURE_WORDS.items():
        if board.figures[key].value is None:
            say(f"{words}: undefined, {board.figures[key].reason}.")
    say("")
    heads = ("Pairs", "all", "by two", "by four", "by six", "by a lead", "discarded", "waiting")
    table(heads, [_settled_row(part) for part in board.settled])
    say("")
    people = [
        (row.name, f"{row.grades:,}", f"{row.most_used} ({row.most_used_share:.0%})", *_figure_cells(row.bias, "+.3f"))
        for row in board.people
    ]
    table(("Annotator", "grades", "most used", "bias", "95 % interval"), people)
    say("")
    flagged = [row.name for row in board.people if row.often]
    if flagged:
        say(f"Gave one grade more than {board.most_used_limit:.0%} of the time: {', '.join(flagged)}.")
    say("Alpha: Krippendorff's. Kappa: Cohen's, of couples who share 50 pairs. Intervals: bootstrap over pairs.")
    say("Bias: mean grade minus the unrounded mean of the others' grades for the same pairs; above 0: more generous.")
    if compared is not None:
        _say_others(compared, others)


def _board(
    place: Path, part: BoardPart, scale: str | None, comparison_file: Path | None
) -> "tuple[AgreementBoard, AggregatorReport | None]":
    """Return the figures of annotators' agreement, and how often other rules differ from the consensus rule.

    The other rules are mean, median and Dawid-Skene.

    The comparison is made only if `comparison_file` is given, and is also written to that file. Otherwise it is None.
    """
    from backend.campaign.monitoring.quality.agreement_files import write_other_relevances

    if place.is_dir() and scale is not None:
        raise typer.BadParameter("is for a file: a project has its own scale", param_hint="--scale")
    if not place.is_dir() and part != WHOLE:
        raise typer.BadParameter(
            "--split, --query, --from and --to need a project: a file has no splits, queries and days"
        )
    if comparison_file is not None and part != WHOLE:
        raise typer.BadParameter(
            "compares all pairs: leave --split, --query, --from and --to out", param_hint="--others"
        )
    compared = None
    with progress_bar() as progress:
        if place.is_dir():
            from backend.campaign.monitoring.quality.agreement_board import agreement_board, other_relevances

            project = open_project(place)
            board = agreement_board(project, OPERATOR, part)
            if comparison_file is not None:
                compared = other_relevances(project, OPERATOR, progress=progress)
        else:
            # A file needs no database, and so no more than the core.
            from backend.campaign.release.earlier.raw_agreement import agreement_of_file, other_relevances_of_file

            board = agreement_of_file(place, scale=scale)
            if comparison_file is not None:
                compared = other_relevances_of_file(place, scale=scale, progress=progress)
    if compared is not None and comparison_file is not None:
        write_other_relevances(compared, comparison_file)
    return board, compared


def _say_others(compared: "AggregatorReport", file: Path | None) -> None:
    """Print for how many pairs the mean, the median and Dawid-Skene give another relevance than the consensus rule."""
    say("")
    rows = [
        (
            AGGREGATOR_WORDS[count.name],
            f"{count.differs:,} of {count.by_rule:,} ({count.differs / max(count.by_rule, 1):.1%})",
            f"{count.differs_by_more:,}",
            f"{count.differs_from_lead:,} of {count.by_lead:,}",
            f"{count.gained:,}",
        )
        for count in compared.counts
    ]
    table(("Instead of the rule", "other relevance", "by more than one", "than a lead's", "of discarded"), rows)
    say(f"Written: {file}, with {counted(len(compared.pairs), 'pair')} that differ. The rule does not change.")


def _figure_row(words: str, figure: Figure) -> tuple[str, ...]:
    return (
        words,
        *_figure_cells(figure, ".1%" if figure.of.startswith("pairs") else ".3f"),
        f"{figure.n:,} {figure.of}",
    )


def _figure_cells(figure: Figure, form: str) -> tuple[str, str]:
    """Return the two table cells of a figure: its value and its interval, as texts."""
    value = "-" if figure.value is None else format(figure.value, form)
    if figure.low is None or figure.high is None:
        return value, ""
    return value, f"{figure.low:{form}} to {figure.high:{form}}"


def _settled_row(part: Verdicts) -> tuple[str, ...]:
    """Return a table row about the pairs of a split, or of the whole campaign.

    Its cells are the name, the number of pairs, and the numbers with percentages of pairs that were settled by two,
    four or six grades or by a lead, were discarded, or wait for grades.
    """
    counts = (part.by_two, part.by_four, part.by_six, part.adjudicated, part.discarded, part.waiting)
    return part.part, f"{part.pairs:,}", *(f"{count:,} ({count / part.pairs:.1%})" for count in counts)


SHOWN = 10
"""Number of pair ids to print; --json has all."""


@add_command("import-judgements")
def import_judgements(
    folder: Dir,
    raw: Annotated[
        Path,
        argument(
            "RAW.csv", "Columns pair_id,worker,relevance; optionally round,graded_at,active_ms,elapsed_ms,simulated."
        ),
    ],
    pairs: Annotated[
        Path | None,
        option("--pairs PAIRS.csv", "The pairs: pair_id,query,video_name,similarity and timestamp, or start and end."),
    ] = None,
    json: Json = False,
) -> None:
    """Import the judgements of an earlier campaign.

    If one row is wrong, none is imported. The consensus rule then computes the relevance of each pair. With --pairs,
    missing queries, moments and batches are added, and annotators can continue where that campaign stopped. Without
    --pairs, a pair that the project does not know is stored as its number and its grades only.

    Example: reelrank import-judgements my-project raw_annotation.csv --pairs raw_query_moment_pair.csv
    """
    from backend.campaign.release.earlier import importing

    start = time.monotonic()
    project = open_project(folder)
    with progress_bar() as progress:
        report = importing.import_judgements(project, raw, pairs, now=now(), progress=progress)
    if json:
        end_with_json(report)
    rows, workers = counted(report.rows, "row"), counted(report.workers, "worker")
    say(f"{raw.name}: {rows} by {workers} over {counted(report.pairs, 'pair')} ({seconds(start)}).")
    _say_pairs(report, with_file=pairs is not None)
    _say_verdicts(report)
    say(
        f"Kept as they are: {counted(report.pairs_graded_twice_by_one, 'pair')} graded twice by one worker, "
        f"{counted(report.duplicate_rows, 'repeated row')}, {counted(report.missing_ids, 'unused pair number')}."
    )
    for worker, number in report.renumbered.items():
        say(f"Note: worker {worker} is number {number} in this project.")


def _say_pairs(report: "JudgementsReport", *, with_file: bool) -> None:
    """Print how many annotators, videos, queries, pairs and so on were added, and how many pairs existed already.

    If a file of pairs was given (`with_file`), this also prints how many of its pairs have no grade. It also prints for
    how many pairs the imported file states a verdict or relevance that differs from the computed one.
    """
    say(
        f"New: {counted(report.people_added, 'annotator')}, {counted(report.videos, 'video')}, "
        f"{counted(report.moments, 'moment')}, {counted(report.queries, 'query', 'queries')}, "
        f"{counted(report.batches, 'batch', 'batches')}, {counted(report.pairs_added, 'pair')}; "
        f"{counted(report.pairs_known, 'pair')} existed already, {report.pairs_by_number:,} stored by number only."
    )
    if with_file and report.pairs_without_grade:
        say(f"Without a grade in this file: {counted(report.pairs_without_grade, 'pair')}.")
    if report.queries_renumbered:
        say(f"Note: the numbers of {counted(report.queries_renumbered, 'query', 'queries')} differ from the file's.")
    if report.verdicts_that_differ:
        say(f"Note: {counted(report.verdicts_that_differ, 'pair')} had another verdict or relevance in the file.")


def _say_verdicts(report: "JudgementsReport") -> None:
    """Print how many of the imported pairs are settled, discarded or disputed, and how many have one grade only."""
    without = report.pairs - report.consensus - report.adjudicated
    decided = f", {report.adjudicated:,} adjudicated" if report.adjudicated else ""
    say(
        f"{report.consensus:,} in consensus{decided}, {without:,} without: {report.discarded:,} discarded, "
        f"{len(report.sent_on) + len(report.never_sent_on):,} disputed, {report.open:,} with one grade."
    )
    _say_some("now waiting for two more annotators", report.sent_on)
    _say_some("but not handed out again, as only their numbers are known", report.never_sent_on)


def _say_some(group: str, pair_ids: Sequence[int]) -> None:
    if pair_ids:
        say(f"Disputed, {group}: {first_of(pair_ids, SHOWN, ' ...')}")


@add_command("consensus")
def consensus(
    file: Annotated[Path, argument("RAW.csv", "Rows of pair_id,worker,relevance.")],
    scale: ScaleOption = None,
    json: Json = False,
) -> None:
    """Apply the consensus rule to a file of raw annotations.

    Also prints Krippendorff's alpha of its annotators.

    Example: reelrank consensus raw_annotation.csv
    """
    from backend.campaign.release.earlier.raw_agreement import summarise_raw

    summary = summarise_raw(file, scale=scale)
    if json:
        end_with_json(summary)
    say(_rows_of(summary, "row"))
    decided = f", {summary['adjudicated']:,} adjudicated" if summary["adjudicated"] else ""
    say(f"{summary['consensus']:,} in consensus{decided}, {summary['discarded']:,} discarded{_undecided(summary)}")
    counts = " / ".join(f"{count:,}" for count in summary["relevance"].values())
    say(f"relevances {' / '.join(summary['relevance'])}: {counts}")
    by_two, by_four = summary["settled_by_two"], summary["settled_by_four"]
    by_six = f", by six {summary['settled_by_six']:,}" if summary["settled_by_six"] else ""
    say(f"settled by two {by_two:,} ({by_two / summary['pairs']:.2%}), by four {by_four:,}{by_six}")
    alpha = summary["alpha_ordinal"]
    say(f"Krippendorff's alpha (ordinal) {'undefined' if alpha is None else format(alpha, '.3f')}")


def _rows_of(summary: dict[str, Any], noun: str) -> str:
    by = counted(summary["annotators"], "annotator")
    return f"{counted(summary['rows'], noun)} by {by} for {counted(summary['pairs'], 'pair')}"


def _undecided(summary: dict[str, Any]) -> str:
    """Return how many pairs lack grades, as text to put after the number of discarded pairs; empty if none do.

    The text says "of them" if the pairs that lack grades are counted as discarded.
    """
    waiting = sum(summary["undecided"].values())
    if not waiting:
        return ""
    among = summary["consensus"] + summary["adjudicated"] + summary["discarded"] == summary["pairs"]
    return f" ({waiting:,} of them without enough grades)" if among else f", {waiting:,} without enough grades"
