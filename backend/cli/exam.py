"""Commands about the qualification exam: `reelrank exam set|status|off|retake|exempt`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from backend import api
from backend.cli.output import Dir, Json, fail, now, say, table
from backend.ground.ids import AnnotatorId

Name = Annotated[str, typer.Argument(metavar="NAME", help="The annotator.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    exam = typer.Typer(
        help="The exam that annotators pass before they judge.", no_args_is_help=True, rich_markup_mode=None
    )
    for name, command in (("set", set_exam), ("status", status), ("off", off), ("retake", retake), ("exempt", exempt)):
        exam.command(name)(command)
    app.add_typer(exam, name="exam")


def set_exam(
    folder: Dir,
    queries: Annotated[
        int | None, typer.Option("--queries", min=1, help="Draw so many queries.", show_default="10")
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option("--pairs", min=1, help="Draw at most so many settled pairs of each.", show_default="10"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw.")] = 1,
    most_missed: Annotated[
        float | None,
        typer.Option(
            "--most-missed", min=0, max=100, help="Percent of the answers that may miss the key.", show_default="20.0"
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--from", metavar="KEY.csv", help="Instead of a draw: pair_id,grade and perhaps explanation."),
    ] = None,
    newcomers_only: Annotated[
        bool, typer.Option("--newcomers-only", help="Exempt everybody who has graded here.")
    ] = False,
) -> None:
    """Hold an exam of settled pairs: annotators pass it before they judge. It replaces the exam that is held.

    An answer misses the key if it differs from it by more than 1.

    Example: reelrank exam set my-project --queries 10 --pairs 10 --most-missed 20
    """
    project = api.open_project(folder)
    if key is not None:
        report = api.set_exam_from_file(
            project, api.OPERATOR, key, most_missed=most_missed, newcomers_only=newcomers_only, now=now()
        )
    else:
        report = api.set_exam(
            project,
            api.OPERATOR,
            queries=queries,
            pairs=pairs,
            seed=seed,
            most_missed=most_missed,
            newcomers_only=newcomers_only,
            now=now(),
        )
    source = f"the key of {key.name}" if key else f"settled pairs, seed {seed}"
    say(f"Exam of {report.items} pairs of {report.queries} queries from {source}; {report.most_missed:g} % may miss.")
    say("Right grades: " + ", ".join(f"{grade}: {count}" for grade, count in enumerate(report.grades)))
    if report.items < report.asked:
        say(f"Note: {report.asked} were asked for; there are no more settled pairs.")
    if report.exempted:
        say(f"Exempted, because they had graded before: {report.exempted}")


def status(folder: Dir, json: Json = False) -> None:
    """Which exam is held, and how every annotator stands.

    Example: reelrank exam status my-project
    """
    project = api.open_project(folder)
    held, people = api.exam_held(project, api.OPERATOR), api.exam_results(project, api.OPERATOR)
    if json:
        say(msgspec.json.encode({"exam": held, "people": people}).decode())
        return
    if held is None:
        say("This project holds no exam.")
    else:
        seed = "" if held.seed is None else f", seed {held.seed}"
        say(
            f"Exam of {held.items} pairs of {held.queries} queries from {held.source}{seed}; "
            f"{held.most_missed:g} % may miss.\n"
        )
    table(("annotator", "exam", "attempts", "missed", "of", "kappa", "quadratic"), [_row(one) for one in people])


def off(folder: Dir) -> None:
    """Hold no exam any more: everybody may judge. Attempts stay in the record.

    Example: reelrank exam off my-project
    """
    ended = api.end_exam(api.open_project(folder), api.OPERATOR, now=now())
    say("The exam is over: everybody may judge." if ended else "Nothing to do: this project holds no exam.")


def retake(folder: Dir, name: Name) -> None:
    """Let an annotator take the exam once more; it also ends an exemption.

    Example: reelrank exam retake my-project Ana
    """
    project = api.open_project(folder)
    api.grant_retake(project, api.OPERATOR, _annotator(project, name), now=now())
    say(f"{name} may take the exam once more.")


def exempt(
    folder: Dir,
    name: Name,
    reason: Annotated[str, typer.Option("--reason", help="Why they may judge without passing.")],
) -> None:
    """Let an annotator judge without having passed.

    Example: reelrank exam exempt my-project Ana --reason "wrote the guideline"
    """
    project = api.open_project(folder)
    api.exempt_from_exam(project, api.OPERATOR, _annotator(project, name), reason, now=now())
    say(f"{name} may judge without the exam.")


def _row(one: "api.ExamPerson") -> tuple[object, ...]:
    attempt = one.attempts[-1] if one.attempts else None
    result = attempt.result if attempt else None
    figures: tuple[object, ...] = ("", "", "", "")
    if result is not None:
        kappas = ("undefined" if value is None else f"{value:.2f}" for value in (result.kappa, result.kappa_quadratic))
        figures = (result.missed, result.answers, *kappas)
    elif attempt is not None:
        figures = ("", f"{attempt.answered} so far", "", "")
    return (one.person.name, one.phase.value if one.phase else "", len(one.attempts), *figures)


def _annotator(project: "api.Project", name: str) -> AnnotatorId:
    for row in api.list_people(project, api.OPERATOR):
        if row.person.name.casefold() == name.casefold():
            return row.person.annotator_id
    fail(f"there is nobody named {name}: reelrank exam status lists the annotators")
