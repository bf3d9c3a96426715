"""Commands about the qualification exam: `reelrank exam set|status|results|off|retake|exempt`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from backend import api
from backend.cli.output import Dir, Json, fail, now, save, say, table
from backend.ground.ids import AnnotatorId

Name = Annotated[str, typer.Argument(metavar="NAME", help="The annotator.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    exam = typer.Typer(
        help="The exam that annotators pass before they judge.", no_args_is_help=True, rich_markup_mode=None
    )
    exam.command("set")(set_exam)
    exam.command("status")(status)
    exam.command("results")(results)
    exam.command("off")(off)
    exam.command("retake")(retake)
    exam.command("exempt")(exempt)
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
    if report.grades:
        say("Right grades: " + ", ".join(f"{grade}: {count}" for grade, count in enumerate(report.grades)))
    if report.short:
        say(f"Note: {report.short}")
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


def results(
    folder: Dir,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write the figures there.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """How everybody did in their first attempt: misses and kappas, with intervals of 95 %.

    Missed "after" are those of the same clips that were missed again when they had been explained.

    Example: reelrank exam results my-project --csv exam.csv
    """
    found = api.exam_outcomes(api.open_project(folder), api.OPERATOR)
    if csv is not None:
        save(csv, api.exam_outcomes_csv(found))
    if json:
        say(msgspec.json.encode(found).decode())
        return
    if not found.people:
        say("Nobody has handed an exam in yet.")
        return
    outcomes = [*((one.person.name, one.outcome) for one in found.people), ("mean of all", found.together)]
    rows = [row for name, of in outcomes for row in _figures(name, of)]
    table(("annotator", "figure", "n", "value", "from", "to"), [row[:-1] for row in rows], (True, True, *[False] * 4))
    why = [f"{name}, {row[1]}: {row[-1]}" for name, of in outcomes for row in _figures(name, of) if row[-1]]
    if why:
        say("\n" + "\n".join(why))


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


def _figures(name: str, of: "api.ExamOutcome") -> list[tuple[str, str, int, str, str, str, str]]:
    """Rows (whose, figure, n, value, bounds of its interval, why something is undefined) of one outcome."""
    figures = {
        "missed first, %": (of.missed_first, 100, 1),
        "missed after, %": (of.missed_after, 100, 1),
        "kappa": (of.kappa, 1, 2),
        "quadratic kappa": (of.kappa_quadratic, 1, 2),
    }

    def shown(value: float | None, scale: int, digits: int) -> str:
        return "" if value is None else f"{scale * value:.{digits}f}"

    rows = []
    for nth, (figure, (one, scale, digits)) in enumerate(figures.items()):
        value, low, high = (shown(number, scale, digits) for number in (one.value, one.low, one.high))
        rows.append(("" if nth else name, figure, one.n, value, low, high, one.reason))
    return rows


def _annotator(project: "api.Project", name: str) -> AnnotatorId:
    for row in api.list_people(project, api.OPERATOR):
        if row.person.name.casefold() == name.casefold():
            return row.person.annotator_id
    fail(f"there is nobody named {name}: reelrank exam status lists the annotators")
