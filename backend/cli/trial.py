"""Commands about trial rounds: `reelrank trial start|status|end|export`."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.groups import add_group
from backend.cli.output import Dir, Json, fail, json_text, now, save, say, table
from backend.core.ids import QueryId


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "trial",
        "Run a calibration round: all grade the same few pairs.",
        "start my-project --queries 3 --pairs 5",
        {"start": start, "status": status, "end": end, "export": export},
    )


def start(
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
    from backend.campaign.qualification.exam.calibration import start_trial

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


def status(folder: Dir, json: Json = False) -> None:
    """Show each annotator's progress, and where grades differ most.

    Example: reelrank trial status my-project
    """
    from backend.campaign.qualification.exam.calibration import trial_round

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


def end(folder: Dir) -> None:
    """End the calibration round.

    Its answers can still be read. Its pairs go back into the queue.

    Example: reelrank trial end my-project
    """
    from backend.campaign.qualification.exam.calibration import end_trial

    ended = end_trial(open_project(folder), OPERATOR, now=now())
    say("The trial round is over." if ended else "Nothing to do: no trial round is open.")


def export(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="The file to write.", show_default=False)],
    names: Annotated[bool, typer.Option("--names/--no-names", help="Write names, or numbers instead.")] = True,
) -> None:
    """Write all answers of the calibration round with their notes.

    They are for a discussion, and never part of a release.

    Example: reelrank trial export my-project trial.csv --no-names
    """
    from backend.campaign.qualification.exam.calibration import trial_csv, trial_round

    project = open_project(folder)
    found = trial_round(project, OPERATOR)
    if found is None:
        fail("this project has had no trial round: begin one with reelrank trial start")
    save(file, trial_csv(project, OPERATOR, names=names))
    say(f"{sum(len(pair.answers) for pair in found.pairs)} answers are in {file}.")
