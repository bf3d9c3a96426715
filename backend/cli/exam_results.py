"""How people do in the exam: `reelrank exam status|results`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, Json, json_text, save, say, table, tell_written


def status(folder: Dir, json: Json = False) -> None:
    """Which exam is held, at which stage, who has finished it, and how every annotator stands.

    Example: reelrank exam status my-project
    """
    project = api.open_project(folder)
    held, people = api.exam_held(project, api.OPERATOR), api.exam_results(project, api.OPERATOR)
    reserve = api.exam_although(project, api.OPERATOR)
    if json:
        weak, although = reserve or ([], "")
        told: dict[str, object] = {
            "exam": held,
            "stage": held.stage if held else None,
            "weak": weak,
            "although": although,
        }
        told |= {"finished": _finished(people), "people": people}
        say(json_text(told))
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
        if reserve is not None:
            say(f"It tells too little: {'; '.join(reserve[0])}. Held all the same: {reserve[1]}")
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
        tell_written([csv], data=json)
    if json:
        say(json_text(found))
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
