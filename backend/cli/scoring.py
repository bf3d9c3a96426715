"""The command that settles and scores raw annotations: consensus."""

from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.output import Json, ScaleOption, json_text, say


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("consensus")(consensus)


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
    from backend.campaign.release.earlier.raw_summary import summarise_raw

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
