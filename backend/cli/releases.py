"""Commands for releases: `reelrank releases`, `validate`, `diff` and `import-release`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.model import LICENCES, KeptRelease
from backend.cli.commands import add_command, add_group
from backend.cli.options import Dir, EncoderOption, Json, KindOption, argument, option
from backend.cli.output import (
    counted,
    end_with_json,
    fail,
    json_text,
    minute,
    now,
    progress_bar,
    save,
    say,
    say_each,
    seconds,
    table,
    tell_written,
)
from backend.core.messages import as_text
from backend.core.reading import file_bytes
from backend.core.text_files import decode_text
from backend.core.typed_text import nfc

if TYPE_CHECKING:
    from backend.campaign.release.export.rules.diffing import PairChange, QueryChange


SHOWN = 50
"""Number of problems or changes to print; --json has more."""
ReleaseArgument = Annotated[Path, argument("FOLDER", "The folder of a release, or its zip.")]


@add_command("validate")
def validate(release: ReleaseArgument, json: Json = False) -> None:
    """Check a release, and list every problem in it.

    Takes any release in the format of TVR-Ranking. Checks hashes, shapes, times, videos, pairs, splits and training
    sets. It also checks that each pair's relevance follows from its grades.

    Example: reelrank validate release-1
    """
    from backend.campaign.release.export.validating import validate_release

    start = time.monotonic()
    with progress_bar() as progress:
        report = validate_release(release, progress=progress)
    if json:
        say(json_text({"clean": report.clean, **msgspec.to_builtins(report, enc_hook=as_text)}))
    else:
        for problem in report.problems[:SHOWN]:
            say(str(problem))
        if report.count > SHOWN:
            say(f"... and {report.count - SHOWN:,} more problems")
        say_each("Checked: {}.", report.checked)
        say_each("Not checked: {}.", report.not_checked)
        problems = counted(report.count, "problem") if report.count else "no problems"
        say(f"{release}: {problems} ({seconds(start)}).")
    raise typer.Exit(0 if report.clean else 1)


@add_command("import-release")
def import_release(
    release: ReleaseArgument,
    folder: Annotated[Path, argument("DIR", "The new project folder.")],
    encoder: EncoderOption = None,
    kind: KindOption = None,
    json: Json = False,
) -> None:
    """Create a project from a release.

    A release of the new project has the same truth, grades, pairs and training sets. The names of annotators,
    candidates that were not handed out, and captions are not in a release, and are lost. --encoder is used if the
    release does not name one.

    Example: reelrank import-release release-1.zip again
    """
    from backend.campaign.release.export import importing

    start = time.monotonic()
    with progress_bar() as progress:
        report = importing.import_release(release, folder, encoder=encoder, kind=kind, now=now(), progress=progress)
    if json:
        end_with_json(report)
    splits = ", ".join(f"{count:,} {split}" for split, count in report.queries.items())
    judged = report.judgements
    say(f"Created the project {folder} ({seconds(start)}): queries {splits}; {counted(report.moments, 'moment')}.")
    by = counted(judged.workers, "annotator")
    say(
        f"{counted(judged.rows, 'grade')} of {counted(judged.pairs, 'pair')} by {by}, now named by numbers; "
        f"{judged.consensus:,} in consensus, {judged.discarded:,} discarded, {report.adjudicated:,} adjudicated."
    )
    if report.blocked:
        say(f"{counted(report.blocked, 'pair')} with a clip that cannot be shown: see the page Disputes.")
    if report.training_lists:
        say(f"Training lists from the release: {report.training_lists:,}.")
    videos = counted(report.videos, "video")
    say(f"{videos} without a file yet. Add them: `reelrank import {folder} FILE --videos FOLDER`")


def show(folder: Dir, json: Json = False) -> None:
    """List a project's releases: contents, hash and place.

    Example: reelrank releases show my-project, or for short: reelrank releases my-project
    """
    from backend.campaign.release.export.kept_releases import list_releases

    releases = list_releases(open_project(folder), OPERATOR)
    if json:
        end_with_json(releases)
    if not releases:
        say(f"There are no releases yet. Next: reelrank export {folder} OUT")
        return
    rows = [
        (
            *(row.name, minute(row.made_at), row.made_by or ""),
            *("" if count is None else f"{count:,}" for count in (row.val_queries, row.test_queries, row.moments)),
            *(row.sha256[:12], _place(row)),
        )
        for row in releases
    ]
    table(("name", "made", "by", "val", "test", "moments", "sha256", "kept in"), rows)
    for row in releases:
        if said := "; ".join([*row.settings, *([row.notes] if row.notes else [])]):
            say(f"{row.name}: {said}")


@add_command("diff")
def diff(
    before: Annotated[str, argument("A", "A folder, a zip, or a name in --project.")],
    after: Annotated[str, argument("B", "The release to compare it with.")],
    project: Annotated[Path | None, option("--project DIR", "The project whose releases and log to use.")] = None,
    csv: Annotated[Path | None, option("--csv FILE", "Write every change to a file, one per row.")] = None,
    json: Json = False,
) -> None:
    """List what changed from one release to another, and why.

    Compares queries, pairs and relevances. The reasons are computed from the grades in the releases. With --project,
    the project's log also tells what leads did between the releases.

    Example: reelrank diff release-1 release-2 --project my-project
    """
    from backend.campaign.release.export.diffing import diff_csv, diff_releases

    with progress_bar() as progress:
        if project:
            from backend.campaign.release.export.kept_releases import release_changes

            changes = release_changes(open_project(project), OPERATOR, before, after, progress=progress)
        else:
            changes = diff_releases(Path(before), Path(after), progress=progress)
    if csv is not None:
        save(csv, diff_csv(changes))
    if json:
        say(json_text(changes))
        tell_written([csv], data=True)
        return
    for query in changes.queries[:SHOWN]:
        say(f"query {query.query_id}: {query.before or '(not there)'} -> {query.after or '(not there)'}{_why(query)}")
    for pair in changes.pairs[:SHOWN]:
        pair_number = f", pair {pair.pair_id}" if pair.pair_id else ""
        moment = f"{pair.video} {pair.start_s:g}-{pair.end_s:g} s"
        was, now_ = ("none" if relevance is None else relevance for relevance in (pair.before, pair.after))
        say(f"query {pair.query_id}{pair_number}, {moment}: {was} -> {now_}{_why(pair)}")
    more = max(0, len(changes.queries) - SHOWN) + max(0, len(changes.pairs) - SHOWN)
    if more:
        say(f"... and {more:,} more; --csv FILE has all of them")
    say(
        f"{changes.before} -> {changes.after}: {counted(len(changes.queries), 'query', 'queries')} changed. Moments: "
        f"{changes.same:,} the same, {sum(changes.moved.values()):,} with another relevance, {changes.moments_gone:,} "
        f"removed, {changes.moments_new:,} new."
    )
    tell_written([csv])


def _why(change: "QueryChange | PairChange") -> str:
    return f"  ({change.reason})" if change.reason else ""


def terms(
    folder: Dir,
    licence: Annotated[
        str | None, option("--licence NAME", f"An SPDX name ({', '.join(LICENCES[:5])}, ...) or any text.")
    ] = None,
    citation: Annotated[str | None, option("--citation TEXT", "How to cite a release.")] = None,
    citation_file: Annotated[Path | None, option("--citation-file FILE", "File with the citation.")] = None,
    reason: Annotated[str, option("--reason TEXT", "Why; required to change earlier terms.")] = "",
    json: Json = False,
) -> None:
    """Show or set the licence and citation of future releases.

    Their dataset cards and manifests contain them.

    Example: reelrank releases terms my-project --licence CC-BY-4.0 --citation-file cite.bib
    """
    from backend.campaign.release.export.terms import release_terms, set_release_terms

    project = open_project(folder)
    if citation_file is not None:
        citation = decode_text(file_bytes(citation_file), str(citation_file))
    if licence is None and citation is None:
        current = release_terms(project, OPERATOR)
    else:
        current = set_release_terms(project, OPERATOR, licence=licence, citation=citation, reason=reason, now=now())
    if json:
        end_with_json(current)
    say(f"Licence: {current.licence or '(none chosen)'}")
    say(f"Citation: {current.citation or '(none)'}")
    if current.at is not None:
        because = f": {current.reason}" if current.reason else ""
        say(f"Set {minute(current.at)} by {current.by or 'the command line'}{because}")


def remove(
    folder: Dir,
    name: Annotated[str, argument("NAME", "Name of the release.")],
    reason: Annotated[str, option("--reason TEXT", "Why it is removed; this stays on record.")],
) -> None:
    """Remove a release and its zip from the project.

    The zip cannot be recovered. The name and the reason stay on record, and the name cannot be used again.

    Example: reelrank releases remove my-project release-1 --reason "Wrong licence"
    """
    from backend.campaign.release.export.kept_releases import list_releases
    from backend.campaign.release.export.removing import remove_release

    project = open_project(folder)
    names = [release.name for release in list_releases(project, OPERATOR)]
    if nfc(name) not in map(nfc, names):
        fail(f"there is no release named {name}; the releases are {', '.join(names) or '(none)'}")
    remove_release(project, OPERATOR, name, name, reason, now=now())
    say(f"Removed the release {name}.")


def _place(row: KeptRelease) -> str:
    if row.file is None:
        return "(not kept)"
    return f"{row.file} ({row.megabytes:.1f} MB)" if row.megabytes is not None else f"{row.file} IS MISSING"


add_group(
    "releases",
    "List and remove releases, and set their licence.",
    "my-project",
    {"show": show, "remove": remove, "terms": terms},
    default="show",
)
