"""Commands about what annotators read and practise: `reelrank guideline`, `tutorial` and `trial`."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.model import Grading
from backend.cli.options import ShowByDefault, add_group
from backend.cli.output import Dir, Json, fail, json_text, minute, now, save, say, table
from backend.core.ids import QueryId


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "guideline",
        "Show or change the grading guideline.",
        "my-project",
        {"show": show, "set": set_guideline},
        ShowByDefault,
    )
    add_group(
        app,
        "tutorial",
        "Set what annotators practise before their first clip.",
        "set my-project practice.csv",
        {"set": set_practice, "status": tutorial_status, "on": switch_on, "off": switch_off},
    )
    add_group(
        app,
        "trial",
        "Run a calibration round: all grade the same few pairs.",
        "start my-project --queries 3 --pairs 5",
        {
            "start": start_round,
            "status": trial_status,
            "end": end_round,
            "export": export_answers,
        },
    )


def show(folder: Dir, json: Json = False) -> None:
    """Print the guideline and its versions.

    Example: reelrank guideline show my-project, or for short: reelrank guideline my-project
    """
    from backend.campaign.qualification.guideline.rules import changes as guideline_changes
    from backend.campaign.qualification.guideline.versions import guideline_readers, guideline_versions

    project = open_project(folder)
    versions, readers = (
        guideline_versions(project, OPERATOR),
        guideline_readers(project, OPERATOR),
    )
    if json:
        say(json_text({"versions": versions, "readers": readers}))
        return
    _print(versions[-1].grading)
    say("\nVersions:")
    for before, one in zip([None, *versions], versions, strict=False):
        since = "from the beginning" if one.since is None else f"since {minute(one.since)}"
        by = f" by {one.by}" if one.by else "" if one.since is None else " by the command line"
        say(f"  {one.version}  {since}{by}{f': {one.reason}' if one.reason else ''}")
        for change in guideline_changes(before.grading, one.grading) if before else ():
            say(f"     {change.where}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}")


def set_guideline(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A TOML file, as for `init --scale`.")],
    reason: Annotated[
        str | None,
        typer.Option("--reason", help="Why it changes; annotators read this sentence.", show_default="the file's name"),
    ] = None,
) -> None:
    """Replace the guideline by a file.

    Once somebody has graded, only its words may change. Annotators see what changed before their next clip.

    Example: reelrank guideline set my-project guideline.toml --reason "Grade 3 was too wide"
    """
    from backend.campaign.qualification.guideline.versions import set_guideline_from_file

    project = open_project(folder)
    number, changed = set_guideline_from_file(project, OPERATOR, file, reason or f"from {file.name}", now=now())
    say(f"Version {number} of the guideline stands now; {len(changed)} texts differ:")
    for change in changed:
        say(f"  {change.where}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}")


def _print(grading: Grading) -> None:
    for n, asked in enumerate(grading.questions, start=1):
        say(f"{n}. {asked.title} {asked.text}")
    for meaning in reversed(grading.scale.meanings):
        say(f"{meaning.grade}  {meaning.label}: {meaning.meaning}. {meaning.detail}")
        if meaning.example:
            say(f"   e.g. {meaning.example}")
    if any(meaning.example for meaning in grading.scale.meanings):
        say(f"The examples are for the query: {grading.example_query}")
    for text in grading.reminders:
        say(f"- {text}")


def set_practice(
    folder: Dir,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv", help="One moment of the project per row: query,video,start,end,grade,explanation."
        ),
    ],
) -> None:
    """Replace the practice pairs by those of a file, in its order.

    A pair that still needs grades cannot be a practice pair.

    Example: reelrank tutorial set my-project practice.csv
    """
    from backend.campaign.qualification.guideline.practice_pairs import set_practice_from_file

    count = set_practice_from_file(open_project(folder), OPERATOR, file, now=now())
    say(f"Newcomers practise on {count} pairs now.")


def tutorial_status(folder: Dir, json: Json = False) -> None:
    """Show whether the tutorial is on, and misses per practice pair.

    Example: reelrank tutorial status my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import practice_figures

    project = open_project(folder)
    pairs = practice_figures(project, OPERATOR, now=now())
    if json:
        say(json_text({"on": project.campaign.tutorial, "practice": pairs}))
        return
    said = "are shown the tutorial" if project.campaign.tutorial else "begin at once: the tutorial is off"
    say(f"Newcomers {said}.\n")
    rows = [(one.grade, one.query, one.video, one.people, one.missed, one.hidden or "yes") for one in pairs]
    table(("grade", "query", "video", "answered", "missed", "shown"), rows)


def switch_on(folder: Dir) -> None:
    """Show newcomers the guideline and practice before their first clip.

    Example: reelrank tutorial on my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import switch_tutorial

    switch_tutorial(open_project(folder), OPERATOR, True, now=now())
    say("Newcomers are shown the tutorial.")


def switch_off(folder: Dir) -> None:
    """Let newcomers start without the tutorial.

    Annotators who know an earlier guideline still see what changed.

    Example: reelrank tutorial off my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import switch_tutorial

    switch_tutorial(open_project(folder), OPERATOR, False, now=now())
    say("Newcomers begin at once; the guideline is a key away (G).")


def start_round(
    folder: Dir,
    queries: Annotated[int, typer.Option("--queries", min=1, help="Number of queries to draw.")] = 3,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Number of pairs per query: its top candidates.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw.")] = 1,
    chosen: Annotated[
        list[int] | None,
        typer.Option(
            "--query", metavar="ID", help="Use this query instead of a draw; may be repeated.", show_default=False
        ),
    ] = None,
) -> None:
    """Start a calibration round: all grade the same few pairs.

    Annotators grade without seeing each other's grades, before exam and work. These grades never count. The pairs
    are reserved until the round ends; then they go to annotators who did not grade them.

    Example: reelrank trial start my-project --queries 3 --pairs 5
    """
    from backend.campaign.qualification.exam.setting import start_trial

    report = start_trial(
        open_project(folder),
        OPERATOR,
        queries=queries,
        pairs=pairs,
        seed=seed,
        chosen=[QueryId(one) for one in chosen or ()],
        now=now(),
    )
    drawn = "chosen" if chosen else f"seed {seed}"
    say(f"Trial round of {report.items} pairs of {report.queries} queries, {drawn}.")
    if report.short:
        say(f"Note: {report.short}")


def trial_status(folder: Dir, json: Json = False) -> None:
    """Show each annotator's progress, and where grades differ most.

    Example: reelrank trial status my-project
    """
    from backend.campaign.qualification.exam.setting import trial_round

    found = trial_round(open_project(folder), OPERATOR)
    if json:
        say(json_text(found))
        return
    if found is None:
        say("This project has had no trial round.")
        return
    say(f"Trial round of {len(found.pairs)} pairs, {'open' if found.ended_at is None else 'over'}.\n")
    people = [(one.name, one.answered, "yes" if one.finished else "") for one in found.people]
    table(("annotator", "answered", "finished"), people)
    say("")
    rows = [
        (pair.spread, " ".join(str(answer.grade) for answer in pair.answers), pair.notes, pair.rank, pair.query)
        for pair in found.pairs
    ]
    table(("apart", "grades", "notes", "rank", "query"), rows)


def end_round(folder: Dir) -> None:
    """End the calibration round.

    Its answers can still be read. Its pairs go back into the queue.

    Example: reelrank trial end my-project
    """
    from backend.campaign.qualification.exam.setting import end_trial

    ended = end_trial(open_project(folder), OPERATOR, now=now())
    say("The trial round is over." if ended else "Nothing to do: no trial round is open.")


def export_answers(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="The file to write.", show_default=False)],
    names: Annotated[bool, typer.Option("--names/--no-names", help="Write names, or numbers instead.")] = True,
) -> None:
    """Write all answers of the calibration round with their notes.

    They are for a discussion, and never part of a release.

    Example: reelrank trial export my-project trial.csv --no-names
    """
    from backend.campaign.qualification.exam.setting import trial_csv, trial_round

    project = open_project(folder)
    found = trial_round(project, OPERATOR)
    if found is None:
        fail("this project has had no trial round: begin one with reelrank trial start")
    save(file, trial_csv(project, OPERATOR, names=names))
    say(f"{sum(len(pair.answers) for pair in found.pairs)} answers are in {file}.")
