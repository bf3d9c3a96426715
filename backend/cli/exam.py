"""Commands about the qualification exam: `reelrank exam set|close|use|status|results|off|retake|exempt`."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from backend import api
from backend.cli.output import Dir, Json, fail, now, save, say, table
from backend.ground.ids import AnnotatorId

Name = Annotated[str, typer.Argument(metavar="NAME", help="The annotator.", show_default=False)]


class ExamKeyOption(StrEnum):
    """Where the right grades come from."""

    SETTLED = "settled"
    MEDIAN = "median"
    OWN = "own"


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    exam = typer.Typer(
        help="The exam that annotators pass before they judge.", no_args_is_help=True, rich_markup_mode=None
    )
    exam.command("set")(set_exam)
    exam.command("close")(close)
    exam.command("use")(use)
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
        typer.Option("--pairs", min=1, help="Draw at most so many pairs of each.", show_default="10"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw.")] = 1,
    most_missed: Annotated[
        float | None,
        typer.Option(
            "--most-missed", min=0, max=100, help="Percent of the answers that may miss the key.", show_default="20.0"
        ),
    ] = None,
    key: Annotated[
        ExamKeyOption,
        typer.Option(
            "--key",
            help="What is right: the relevance of settled pairs; or, of open pairs, the median of everybody who "
            "finished, or a lead's own grades.",
        ),
    ] = ExamKeyOption.SETTLED,
    file: Annotated[
        Path | None,
        typer.Option("--from", metavar="KEY.csv", help="Instead of a draw: pair_id,grade and perhaps explanation."),
    ] = None,
    newcomers_only: Annotated[
        bool, typer.Option("--newcomers-only", help="Exempt everybody who has graded here.")
    ] = False,
) -> None:
    """Hold an exam: annotators pass it before they judge. It replaces the exam that is held.

    An answer misses the key if it differs from it by more than two grades of a pair may. With --key median or own the
    exam asks the top candidates of open pairs, which nobody is handed as work while it is held; its key comes later.

    Example: reelrank exam set my-project --queries 10 --pairs 10 --most-missed 20
    """
    project = api.open_project(folder)
    if file is not None and key is not ExamKeyOption.SETTLED:
        raise typer.BadParameter("a file brings the key with it: leave --key out", param_hint="--key")
    if file is not None:
        report = api.set_exam_from_file(
            project, api.OPERATOR, file, most_missed=most_missed, newcomers_only=newcomers_only, now=now()
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
            key=api.ExamKey(key.value),
            now=now(),
        )
    drawn = "settled pairs" if key is ExamKeyOption.SETTLED else "open pairs"
    source = f"the key of {file.name}" if file else f"{drawn}, seed {seed}"
    say(f"Exam of {report.items} pairs of {report.queries} queries from {source}; {report.most_missed:g} % may miss.")
    if report.grades:
        say("Right grades: " + ", ".join(f"{grade}: {count}" for grade, count in enumerate(report.grades)))
    if report.short:
        say(f"Note: {report.short}")
    if report.exempted:
        say(f"Exempted, because they had graded before: {report.exempted}")


def close(folder: Dir) -> None:
    """Close the round of an exam with --key median: the median of everybody who finished is the key from now on.

    Everybody who handed in is told their result; at least two have to have finished.

    Example: reelrank exam close my-project
    """
    report = api.close_exam_round(api.open_project(folder), api.OPERATOR, now=now())
    say(f"The key is there: the median of {report.finished} people for {report.items} pairs.")
    say("Right grades: " + ", ".join(f"{grade}: {count}" for grade, count in enumerate(report.grades)))
    for why in report.weak:
        say(f"Note: {why}")


def use(folder: Dir) -> None:
    """Let the answers of the newest exam of open pairs count as judgements of the first round.

    Of everybody the first attempt that is handed in, two people a pair at most, drawn by the seed of the exam and
    spread evenly. It can be done once, when the exam has its key or is over.

    Example: reelrank exam use my-project
    """
    report = api.use_exam(api.open_project(folder), api.OPERATOR, now=now())
    say(f"{report.judgements} answers about {report.pairs} pairs count as judgements now.")
    say(f"Of each of {report.people} people {report.fewest} to {report.most} count.")


def status(folder: Dir, json: Json = False) -> None:
    """Which exam is held, at which stage, who has finished it, and how every annotator stands.

    Example: reelrank exam status my-project
    """
    project = api.open_project(folder)
    held, people = api.exam_held(project, api.OPERATOR), api.exam_results(project, api.OPERATOR)
    if json:
        told = {"exam": held, "stage": held.stage if held else None, "finished": _finished(people), "people": people}
        say(msgspec.json.encode(told).decode())
        return
    if held is None:
        say("This project holds no exam.")
    else:
        seed = "" if held.seed is None else f", seed {held.seed}"
        say(
            f"Exam of {held.items} pairs of {held.queries} queries from {held.source}{seed}; "
            f"{held.most_missed:g} % may miss."
        )
        if held.key_from.comes_later:
            finished = _finished(people)
            aside = "its pairs are set aside from work until it ends"
            say(f"{held.stage.capitalize()} (key: {held.key_from}); {aside}.")
            say(f"Handed in: {', '.join(finished) or 'nobody'}.")
        say("")
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


def _finished(people: Sequence["api.ExamPerson"]) -> list[str]:
    """Who has handed an attempt in, by name."""
    return [one.person.name for one in people if any(attempt.handed_in_at is not None for attempt in one.attempts)]


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
