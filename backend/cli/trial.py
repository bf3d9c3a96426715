"""Commands about trial rounds: `reelrank trial start|status|end|export`."""

from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, Json, fail, json_text, now, save, say, table
from backend.ground.ids import QueryId


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    trial = typer.Typer(
        help="A round of grading that is only talked about, to refine the guideline.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    trial.command("start")(start)
    trial.command("status")(status)
    trial.command("end")(end)
    trial.command("export")(export)
    app.add_typer(trial, name="trial")


def start(
    folder: Dir,
    queries: Annotated[int, typer.Option("--queries", min=1, help="Draw so many queries.")] = 3,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="So many pairs of each, the top candidates.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw.")] = 1,
    chosen: Annotated[
        list[int] | None,
        typer.Option(
            "--query", metavar="ID", help="This query instead of a draw; may be given again.", show_default=False
        ),
    ] = None,
) -> None:
    """Begin a trial round: everybody grades a few pairs blind, before exam and work, and nothing of it ever counts.

    Its pairs are set aside from work until the round ends; afterwards they go to people who did not answer them.

    Example: reelrank trial start my-project --queries 3 --pairs 5
    """
    report = api.start_trial(
        api.open_project(folder),
        api.OPERATOR,
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


def status(folder: Dir, json: Json = False) -> None:
    """How far everybody is with the trial round, and what they are farthest apart about.

    Example: reelrank trial status my-project
    """
    found = api.trial_round(api.open_project(folder), api.OPERATOR)
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


def end(folder: Dir) -> None:
    """End the trial round. What was answered stays to be read; the pairs are work again.

    Example: reelrank trial end my-project
    """
    ended = api.end_trial(api.open_project(folder), api.OPERATOR, now=now())
    say("The trial round is over." if ended else "Nothing to do: no trial round is open.")


def export(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="The file to write.", show_default=False)],
    names: Annotated[bool, typer.Option("--names/--no-names", help="With names, or people numbered.")] = True,
) -> None:
    """Write every answer of the trial round with its note: for a talk, never part of a release.

    Example: reelrank trial export my-project trial.csv --no-names
    """
    project = api.open_project(folder)
    found = api.trial_round(project, api.OPERATOR)
    if found is None:
        fail("this project has had no trial round: begin one with reelrank trial start")
    save(file, api.trial_csv(project, api.OPERATOR, names=names))
    say(f"{sum(len(pair.answers) for pair in found.pairs)} answers are in {file}.")
