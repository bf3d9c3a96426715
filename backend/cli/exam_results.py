"""Commands that show exam results: `reelrank exam status|results`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.options import Dir, Json, option
from backend.cli.output import counted, end_with_json, json_text, save, say, table, tell_written

if TYPE_CHECKING:
    from backend.campaign.qualification.exam.results import ExamOutcomes, ExamPerson
    from backend.campaign.qualification.exam.rules.marking import Outcome as ExamOutcome


def status(folder: Dir, json: Json = False) -> None:
    """Show the current exam, its stage, and how each annotator stands.

    Example: reelrank exam status my-project
    """
    from backend.campaign.qualification.exam.results import exam_results
    from backend.campaign.qualification.exam.setting import exam_although, exam_held

    project = open_project(folder)
    held, people = exam_held(project, OPERATOR), exam_results(project, OPERATOR)
    reservation = exam_although(project, OPERATOR)
    if json:
        weak, although = reservation or ([], "")
        stage = held.stage if held else None
        exam = {"exam": held, "stage": stage, "weak": weak, "although": although}
        end_with_json({**exam, "finished": _finished(people), "people": people})
    if held is None:
        say("This project has no exam.")
    else:
        seed = "" if held.seed is None else f", seed {held.seed}"
        say(
            f"Exam of {counted(held.items, 'pair')} of {counted(held.queries, 'query', 'queries')} from "
            f"{held.source}{seed}; {held.most_missed:g} % of the answers may miss."
        )
        if held.key_from.comes_later:
            finished = _finished(people)
            say(f"{held.stage.capitalize()} (answer key: {held.key_from}); its pairs are reserved until it ends.")
            say(f"Handed in: {', '.join(finished) or 'nobody'}.")
        if reservation is not None:
            say(f"Guessing does too well: {'; '.join(reservation[0])}. Reason to use it anyway: {reservation[1]}")
        say("")
    table(("annotator", "exam", "attempts", "missed", "of", "kappa", "quadratic"), [_row(one) for one in people])


def results(
    folder: Dir,
    csv: Annotated[Path | None, option("--csv FILE.csv", "Write the figures to this file.")] = None,
    json: Json = False,
) -> None:
    """Show the results of all first attempts: misses and kappas.

    Each has a 95 % interval. "missed after" counts clips that were missed again after the explanation.

    Example: reelrank exam results my-project --csv exam.csv
    """
    from backend.campaign.qualification.exam.results import exam_outcomes, exam_outcomes_csv

    found = exam_outcomes(open_project(folder), OPERATOR)
    if csv is not None:
        save(csv, exam_outcomes_csv(found))
    if json:
        say(json_text(found))
    elif found.people:
        _print(found)
    else:
        say("Nobody has handed in an exam yet.")
    tell_written([csv], data=json)


def _print(found: "ExamOutcomes") -> None:
    outcomes = [*((one.person.name, one.outcome) for one in found.people), ("mean of all", found.together)]
    rows = [row for name, of in outcomes for row in _figures(name, of)]
    table(("annotator", "figure", "n", "value", "from", "to"), [row[:-1] for row in rows], (True, True, *[False] * 4))
    why = [f"{name}, {row[1]}: {row[-1]}" for name, of in outcomes for row in _figures(name, of) if row[-1]]
    if why:
        say("\n" + "\n".join(why))


def _finished(people: Sequence["ExamPerson"]) -> list[str]:
    """Return the names of those who have handed in an attempt."""
    return [one.person.name for one in people if any(attempt.handed_in_at is not None for attempt in one.attempts)]


def _row(one: "ExamPerson") -> tuple[object, ...]:
    attempt = one.attempts[-1] if one.attempts else None
    result = attempt.result if attempt else None
    figures: tuple[object, ...] = ("", "", "", "")
    if result is not None:
        kappas = ("undefined" if value is None else f"{value:.2f}" for value in (result.kappa, result.kappa_quadratic))
        figures = (result.missed, result.answers, *kappas)
    elif attempt is not None:
        figures = ("", f"{attempt.answered} so far", "", "")
    return (one.person.name, one.phase.value if one.phase else "", len(one.attempts), *figures)


def _figures(name: str, of: "ExamOutcome") -> list[tuple[str, str, int, str, str, str, str]]:
    """Return rows (name, figure, n, value, bounds of its interval, why it is undefined) of one outcome."""
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
