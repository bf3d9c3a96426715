"""Commands about judgements given elsewhere: `import-judgements` and `consensus`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.api import open_project
from backend.cli.output import Dir, Json, ScaleOption, json_text, now, progress_bar, say, seconds

if TYPE_CHECKING:
    from backend.campaign.release.earlier.model import JudgementsReport


SHOWN = 10
"""So many numbers of pairs are printed; --json has all."""


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("import-judgements")(import_judgements)
    app.command("consensus")(consensus)


def import_judgements(
    folder: Dir,
    raw: Annotated[
        Path,
        typer.Argument(
            metavar="RAW.csv",
            help="Columns pair_id,worker,relevance; optionally round,graded_at,active_ms,elapsed_ms,simulated.",
            show_default=False,
        ),
    ],
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="PAIRS.csv",
            help="The pairs: pair_id,query,video_name,similarity and timestamp, or start and end.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Import the judgements of an earlier campaign.

    All of them are imported or none, and the consensus rule settles their pairs. With --pairs, queries, moments and
    batches that the project lacks are added, and annotators can continue where the campaign stopped. Without it, a
    pair that the project does not know is only a number with grades.

    Example: reelrank import-judgements my-project raw_annotation.csv --pairs raw_query_moment_pair.csv
    """
    from backend.campaign.release.earlier import importing

    start = now()
    project = open_project(folder)
    with progress_bar() as progress:
        report = importing.import_judgements(project, raw, pairs, now=start, progress=progress)
    if json:
        say(json_text(report))
        return
    say(f"{raw.name}: {report.rows:,} rows by {report.workers} workers over {report.pairs:,} pairs ({seconds(start)}).")
    _say_pairs(report, with_file=pairs is not None)
    _say_verdicts(report)
    say(
        f"{report.pairs_graded_twice_by_one:,} pairs graded twice by one worker, {report.duplicate_rows:,} rows that "
        f"repeat another, {report.missing_ids:,} numbers below the highest that no pair has: kept as they are."
    )
    for worker, number in report.renumbered.items():
        say(f"Note: worker {worker} has the number {number} here.")


def _say_pairs(report: "JudgementsReport", *, with_file: bool) -> None:
    """What was added, and what was there."""
    say(
        f"New: {report.people_added} people, {report.videos:,} videos, {report.moments:,} moments, "
        f"{report.queries:,} queries, {report.batches:,} batches, {report.pairs_added:,} pairs; "
        f"{report.pairs_known:,} pairs were here already, {report.pairs_by_number:,} are known by their number alone."
    )
    if with_file and report.pairs_without_grade:
        say(f"{report.pairs_without_grade:,} pairs have no grade in this file.")
    if report.queries_renumbered:
        say(f"Note: {report.queries_renumbered:,} queries have another number here than in the file.")
    if report.verdicts_that_differ:
        say(f"Note: {report.verdicts_that_differ:,} pairs have another verdict or relevance in the file than here.")


def _say_verdicts(report: "JudgementsReport") -> None:
    """How the pairs stand now."""
    without = report.pairs - report.consensus - report.adjudicated
    decided = f", {report.adjudicated:,} decided by a lead" if report.adjudicated else ""
    say(
        f"{report.consensus:,} in consensus{decided}, {without:,} without: {report.discarded:,} discarded, "
        f"{len(report.sent_on) + len(report.never_sent_on):,} escalated, {report.open:,} with one grade."
    )
    _say_some("sent on to two further people now", report.sent_on)
    _say_some("never sent on, and cannot be: only their numbers are known", report.never_sent_on)


def _say_some(what: str, pair_ids: Sequence[int]) -> None:
    if pair_ids:
        more = " ..." if len(pair_ids) > SHOWN else ""
        say(f"Escalated, {what}: {', '.join(map(str, pair_ids[:SHOWN]))}{more}")


def consensus(
    file: Annotated[
        Path, typer.Argument(metavar="RAW.csv", help="Rows of pair_id,worker,relevance.", show_default=False)
    ],
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
        say(json_text(summary))
        return
    say(f"{summary['rows']:,} rows by {summary['annotators']} annotators over {summary['pairs']:,} pairs")
    decided = f", {summary['adjudicated']:,} decided by a lead" if summary["adjudicated"] else ""
    say(f"{summary['consensus']:,} in consensus{decided}, {summary['discarded']:,} discarded{_undecided(summary)}")
    counts = " / ".join(f"{count:,}" for count in summary["relevance"].values())
    say(f"relevances {' / '.join(summary['relevance'])}: {counts}")
    by_two, by_four = summary["settled_by_two"], summary["settled_by_four"]
    by_six = f", by six {summary['settled_by_six']:,}" if summary["settled_by_six"] else ""
    say(f"settled by two {by_two:,} ({by_two / summary['pairs']:.2%}), by four {by_four:,}{by_six}")
    alpha = summary["alpha_ordinal"]
    say(f"Krippendorff's alpha (ordinal) {'undefined' if alpha is None else format(alpha, '.3f')}")


def _undecided(summary: dict[str, Any]) -> str:
    """The pairs that lack grades: beside the discarded, or among them where the file does not tell them apart."""
    waiting = sum(summary["undecided"].values())
    if not waiting:
        return ""
    counted = summary["consensus"] + summary["adjudicated"] + summary["discarded"] == summary["pairs"]
    return f" ({waiting:,} of them lack grades)" if counted else f", {waiting:,} undecided (they lack grades)"
