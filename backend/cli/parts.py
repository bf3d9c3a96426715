"""Commands for campaigns that outgrow one server: `reelrank split` and `join`."""

from pathlib import Path
from typing import Annotated

from backend.api import open_project
from backend.cli.commands import add_command
from backend.cli.options import Dir, argument, option
from backend.cli.output import counted, now, say, table


@add_command("split")
def split(
    folder: Dir,
    parts: Annotated[int, option("--parts N", "Number of parts.", min=2)],
    out: Annotated[
        Path | None, option("--out FOLDER", "Folder to make for the parts. Default: DIR-parts, beside the project.")
    ] = None,
) -> None:
    """Split a project into parts over disjoint queries.

    Do it before people begin. Each part is a project for a server of its own. The project itself does not change. Do
    not serve it any more.

    Example: reelrank split my-project --parts 3
    """
    from backend.campaign.parts import splitting

    out = out or folder.resolve().with_name(f"{folder.resolve().name}-parts")
    made = splitting.split(open_project(folder), parts, out, now=now())
    table(("part", "val queries", "test queries", "pairs"), [(p.folder, p.val, p.test, p.pairs) for p in made])
    say(f"\nServe each part, and not {folder}. At the end: reelrank join {out}/part-* JOINED")


@add_command("join")
def join(
    folders: Annotated[list[Path], argument("PART... OUT", "All parts, then the project folder to make.")],
) -> None:
    """Join the parts of a split project into one project.

    Its releases are those that one campaign would have given for the same grades. The parts do not change.

    Example: reelrank join part-1 part-2 part-3 joined
    """
    from backend.campaign.parts import joining

    *parts, out = folders
    report = joining.join(parts, out, now=now())
    say(
        f"{out}: {counted(report.queries, 'query', 'queries')}, {counted(report.pairs, 'pair')}, "
        f"{counted(report.judgements, 'judgement')} of {counted(report.annotators, 'annotator')}."
    )
    if report.other_passwords:
        say(
            f"{', '.join(report.other_passwords)} had different passwords in different parts: that of the part with "
            "the lowest number is valid."
        )
    say(f"Next: reelrank doctor {out}")
