"""The command stats: a corpus, a project or a release as one row of a table that compares data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.corpus import ColumnsOption, FormatOption, TypeOption, known_format, read_columns
from backend.cli.output import Json, json_text, progress_bar, say, table
from backend.core.messages import as_text

if TYPE_CHECKING:
    from backend.campaign.release.statistics.model import Statistics


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("stats")(stats)


def stats(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE_OR_DIR",
            help="Annotation files of one corpus, or the folder of a project or of a release.",
            show_default=False,
        ),
    ],
    format_: FormatOption = None,
    types: TypeOption = None,
    columns: ColumnsOption = None,
    json: Json = False,
) -> None:
    """Count the queries, moments, words and hours of a data set.

    These are the figures of the data set tables in papers. Several files are counted together, as the splits of one
    corpus. Nothing is written.

    Example: reelrank stats train.json val.json test.json
    """
    from backend.campaign.release.export.counting import release_statistics
    from backend.campaign.release.export.statistics.rules import release_statistics_table
    from backend.campaign.release.statistics.from_files import file_statistics
    from backend.campaign.release.statistics.from_project import project_statistics
    from backend.campaign.setup.project.places import is_project

    known_format(format_)
    called = read_columns(columns) if columns else {}
    if any(place.is_dir() for place in places) and (format_ or types or columns):
        raise typer.BadParameter("--format, --type and --columns are for annotation files, not for a folder")
    truth = None
    with progress_bar() as progress:
        if len(places) == 1 and places[0].is_dir() and is_project(places[0]):
            found = project_statistics(open_project(places[0]), OPERATOR, progress=progress)
        else:
            found = file_statistics(
                places,
                format=format_,
                types=frozenset(types) if types else None,
                columns=called,
                progress=progress,
            )
            if places[0].is_dir():
                truth = release_statistics(places[0])
    if json:
        say(json_text({**msgspec.to_builtins(found, enc_hook=as_text), **({"release": truth} if truth else {})}))
        return
    for note in found.notes:
        say(f"Note: {note}")
    table(("what", "figure"), _rows(found))
    if truth:
        head, *rows = release_statistics_table(truth)
        say(
            "\nThe graded truth; three figures are the least, the mean and the most, and a moment or video counts once:"
        )
        table(("what", *head[1:]), rows)
    say(f"\nwords: {found.tokeniser}")
    say(f"verbs: in base form, by {found.verb_list};")
    say("       at least those with a form that can be nothing but a verb, at most all with a form that can be one")


def _rows(found: "Statistics") -> list[tuple[str, str]]:
    parts = [(f"  {part}", f"{queries:,}") for part, queries in found.parts.items()] if len(found.parts) > 1 else []
    unknown = f" ({found.videos_without_duration:,} more of unknown duration)" if found.videos_without_duration else ""
    return [
        ("queries", f"{found.queries:,}"),
        *parts,
        ("distinct queries", f"{found.distinct_queries:,}"),
        ("pairs of a query and a moment", f"{found.pairs:,}"),
        ("moments", f"{found.moments:,}"),
        ("videos", f"{found.videos:,}{unknown}"),
        ("vocabulary (words)", f"{found.vocabulary:,}"),
        ("verbs, at least", f"{found.verbs_at_least:,}"),
        ("verbs, at most", f"{found.verbs_at_most:,}"),
        ("words per query, mean", f"{found.words_per_query:.2f}"),
        ("hours of moments", f"{found.moment_hours:,.1f}"),
        ("hours of videos", "unknown" if found.video_hours is None else f"{found.video_hours:,.1f}"),
        ("seconds per moment, mean", f"{found.mean_moment_s:.2f}"),
        ("seconds per pair's moment, mean", f"{found.mean_pair_s:.2f}"),
        ("seconds per video, mean", "unknown" if found.mean_video_s is None else f"{found.mean_video_s:.2f}"),
    ]
