"""Commands for a corpus: `reelrank import` and `reelrank stats`."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command
from backend.cli.options import Cluster, Dir, Jobs, Json, argument, list_option, option, where_if_given, whole
from backend.cli.output import end_with_json, now, progress_bar, say, say_done, say_each, seconds, table
from backend.cli.pipeline import say_next
from backend.cli.videos import DecodeOption, FpsOption, frame_rate, print_problems
from backend.core.addresses import place_of
from backend.core.messages import as_text

if TYPE_CHECKING:
    from backend.campaign.release.statistics.rules import Statistics


FormatOption = Annotated[
    str | None,
    option("--format NAME", "Format of the annotation file, such as tvr or csv. Default: detected from its content."),
]
TypeOption = Annotated[
    list[str] | None,
    list_option("--type T,T", "For tvr: v (purely visual, as in the paper; the default), t, vt or all.", str),
]

ColumnsOption = Annotated[
    list[str] | None,
    list_option(
        "--columns NAME=COLUMN,...",
        "For csv and jsonl: the file's column for each of video, start, end, caption, duration, id.",
        str,
    ),
]


@add_command("import")
def import_(
    folder: Dir,
    file: Annotated[Path, argument("FILE", "The annotation file.")],
    format_: FormatOption = None,
    videos: Annotated[
        str | None, option("--videos FOLDER", "Folder of the video files, or an address: s3://, gs://, https://.")
    ] = None,
    types: TypeOption = None,
    columns: ColumnsOption = None,
    frames_per_s: FpsOption = "3",
    decode: DecodeOption = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    dry_run: Annotated[bool, option("--dry-run", "Check and count everything, and write nothing.")] = False,
) -> None:
    """Import videos, moments and captions from a file.

    The whole annotation file is imported, or nothing of it. A missing or unreadable video does not stop the import:
    it is listed, and the exit code is 1.

    Example: reelrank import my-project tvr_val_release.jsonl --videos my-videos
    """
    from backend.campaign.monitoring.videos.check import import_corpus

    start = time.monotonic()
    known_format(format_)
    called = read_columns(columns) if columns else {}
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = import_corpus(
            project,
            OPERATOR,
            file,
            format_,
            videos=whole(place_of(videos), cluster) if videos else None,
            types=frozenset(types) if types else None,
            columns=called,
            fps=frame_rate(frames_per_s),
            decode=decode,
            where=where_if_given(jobs, cluster),
            dry_run=dry_run,
            now=now(),
            progress=progress,
        )
    say_done(report.done)
    detected = "" if format_ else ", detected from its content"
    say(f"{file.name}: format {report.format}{detected} ({seconds(start)}).\n")
    new = report.videos, report.moments, report.captions
    rows = zip(("videos", "moments", "captions"), report.taken, new, strict=True)
    table(("what", "read", "would be new" if dry_run else "new"), [(noun, f"{n:,}", f"{m:,}") for noun, n, m in rows])
    left_out = [(f"{left.count:,}", left.why, ", ".join(left.where)) for left in report.left_out]
    if report.merged:
        left_out.append((f"{report.merged:,}", "video, span and caption of an earlier row: merged", ""))
    if left_out:
        say("")
        table(("left out", "reason", "first rows"), left_out, left=(False, True, True))
    say("")
    say_each("Note: {}", report.notes)
    if report.format == "tvr":
        type_words = "of every type" if types and "all" in types else f"of type {','.join(types or ['v'])}"
        say(f"Note: lines {type_words} were imported. The paper uses v, purely visual; --type all imports every line.")
    if videos is None:
        say("No videos were checked. Import again with --videos FOLDER before judging begins.")
    elif not report.decoded:
        say("Frames were not decoded. To find damage inside the files, add --decode.")
    if dry_run:
        say("Nothing was written: this was a dry run.")
    else:
        say_next(project)
    print_problems(report.troubles)


def known_format(name: str | None) -> None:
    """Exit with a usage error if there is no file format of this name; None is accepted."""
    from backend.campaign.corpus.importing.formats import FORMATS as CORPUS_FORMATS

    if name is not None and name not in CORPUS_FORMATS:
        known = ", ".join(CORPUS_FORMATS)
        raise typer.BadParameter(f"{name!r} is not one of {known}", param_hint="--format")


def read_columns(values: list[str]) -> Mapping[str, str]:
    """Return the column of a file for each field, from `--columns start=begin,end=finish` split at its commas.

    Any other form, and a field that is given twice, is wrong usage.
    """
    pairs = [part.partition("=") for part in values]
    text = ",".join(values)
    if not all(name and column for name, _, column in pairs):
        message = f"{text!r} is not of the form NAME=COLUMN,NAME=COLUMN, as in start=begin,end=finish"
        raise typer.BadParameter(message, param_hint="--columns")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise typer.BadParameter(f"{text!r} gives a name twice", param_hint="--columns")
    return {name.strip(): column.strip() for name, _, column in pairs}


@add_command("stats")
def stats(
    places: Annotated[
        list[Path],
        argument("FILE_OR_DIR", "Annotation files of one corpus, or the folder of a project or of a release."),
    ],
    format_: FormatOption = None,
    types: TypeOption = None,
    columns: ColumnsOption = None,
    json: Json = False,
) -> None:
    """Count the queries, moments, words and hours of a data set.

    These are the figures of the data set tables in papers. Several files are counted together, as the splits of one
    corpus. Of a release, the figures of each split follow: Tables 1 and 4 of the TVR-Ranking paper. Nothing is written.

    Example: reelrank stats my-release
    """
    from backend.campaign.release.statistics.rules import TOKENS, TRAINING
    from backend.campaign.setup.project.places import is_project

    known_format(format_)
    called = read_columns(columns) if columns else {}
    if any(place.is_dir() for place in places) and (format_ or types or columns):
        raise typer.BadParameter("--format, --type and --columns are for annotation files, not for a folder")
    truth = None
    with progress_bar() as progress:
        if len(places) == 1 and places[0].is_dir() and is_project(places[0]):
            from backend.campaign.release.statistics.from_project import project_statistics

            figures = project_statistics(open_project(places[0]), OPERATOR, progress=progress)
        else:
            from backend.campaign.release.statistics.from_files import file_statistics

            figures = file_statistics(
                places, format=format_, types=frozenset(types) if types else None, columns=called, progress=progress
            )
            if places[0].is_dir():
                from backend.campaign.release.export.diffing import release_statistics

                training = [part for part in figures.by_part if part.queries and TRAINING.fullmatch(part.part)]
                truth = release_statistics(places[0], training[0] if training else None)
    if json:
        end_with_json({**msgspec.to_builtins(figures, enc_hook=as_text), **({"release": truth} if truth else {})})
    say_each("Note: {}", figures.notes)
    table(("what", "figure"), _rows(figures))
    if truth:
        from backend.campaign.release.export.rules.statistics import release_statistics_table

        head, *rows = release_statistics_table(truth)
        say("\nBy split. Three numbers are minimum, mean and maximum; each moment or video counts once:")
        table(("what", *head[1:]), rows)
    say(f"\nwords: {figures.tokeniser}")
    say(f"tokens: {TOKENS}")
    say(f"verbs: in base form, by {figures.verb_list};")
    say("       at least: a form in the text can only be a verb; at most: a form can be a verb")


def _rows(stats: "Statistics") -> list[tuple[str, str]]:
    parts = [(f"  {part}", f"{queries:,}") for part, queries in stats.parts.items()] if len(stats.parts) > 1 else []
    unknown = f" ({stats.videos_without_duration:,} more of unknown duration)" if stats.videos_without_duration else ""
    return [
        ("queries", f"{stats.queries:,}"),
        *parts,
        ("distinct queries", f"{stats.distinct_queries:,}"),
        ("pairs of a query and a moment", f"{stats.pairs:,}"),
        ("moments", f"{stats.moments:,}"),
        ("videos", f"{stats.videos:,}{unknown}"),
        ("vocabulary (words)", f"{stats.vocabulary:,}"),
        ("vocabulary (tokens)", f"{stats.token_vocabulary:,}"),
        ("verbs, at least", f"{stats.verbs_at_least:,}"),
        ("verbs, at most", f"{stats.verbs_at_most:,}"),
        ("words per query, mean", f"{stats.words_per_query:.2f}"),
        ("tokens per query, mean", f"{stats.tokens_per_query:.2f}"),
        ("hours of moments", f"{stats.moment_hours:,.2f}"),
        ("hours of videos", "unknown" if stats.video_hours is None else f"{stats.video_hours:,.2f}"),
        ("seconds per moment, mean", f"{stats.mean_moment_s:.2f}"),
        ("seconds per pair's moment, mean", f"{stats.mean_pair_s:.2f}"),
        ("seconds per video, mean", "unknown" if stats.mean_video_s is None else f"{stats.mean_video_s:.2f}"),
    ]
