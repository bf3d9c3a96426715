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
    """Show the current exam, and each annotator's progress and result.

    Example: reelrank exam status my-project
    """
    from backend.campaign.qualification.exam.results import exam_results
    from backend.campaign.qualification.exam.setting import exam_although, exam_held

    project = open_project(folder)
    current, people = exam_held(project, OPERATOR), exam_results(project, OPERATOR)
    reservation = exam_although(project, OPERATOR)
    if json:
        weak, although = reservation or ([], "")
        stage = current.stage if current else None
        exam = {"exam": current, "stage": stage, "weak": weak, "although": although}
        end_with_json({**exam, "finished": _finished(people), "people": people})
    if current is None:
        say("This project has no exam.")
    else:
        seed = "" if current.seed is None else f", seed {current.seed}"
        say(
            f"Exam of {counted(current.items, 'pair')} of {counted(current.queries, 'query', 'queries')} from "
            f"{current.source}{seed}; {current.most_missed:g} % of the answers may miss."
        )
        if current.key_from.comes_later:
            finished = _finished(people)
            say(f"{current.stage.capitalize()} (answer key: {current.key_from}); its pairs are reserved until it ends.")
            say(f"Handed in: {', '.join(finished) or 'nobody'}.")
        if reservation is not None:
            say(f"Guessing does too well: {'; '.join(reservation[0])}. Reason to use it anyway: {reservation[1]}")
        say("")
    table(("annotator", "exam", "attempts", "missed", "of", "kappa", "quadratic"), [_row(row) for row in people])


def results(
    folder: Dir,
    csv: Annotated[Path | None, option("--csv FILE.csv", "Write the figures to this file.")] = None,
    json: Json = False,
) -> None:
    """Show the results of all first attempts: misses and kappas.

    Each figure has a 95 % interval. "missed first" counts the answers as handed in. "missed after" counts the clips
    that the annotator missed again after reading the explanation.

    Example: reelrank exam results my-project --csv exam.csv
    """
    from backend.campaign.qualification.exam.results import exam_outcomes, exam_outcomes_csv

    outcomes = exam_outcomes(open_project(folder), OPERATOR)
    if csv is not None:
        save(csv, exam_outcomes_csv(outcomes))
    if json:
        say(json_text(outcomes))
    elif outcomes.people:
        _print(outcomes)
    else:
        say("Nobody has handed in an exam yet.")
    tell_written([csv], data=json)


def _print(results: "ExamOutcomes") -> None:
    outcomes = [*((entry.person.name, entry.outcome) for entry in results.people), ("mean of all", results.together)]
    rows = [row for name, outcome in outcomes for row in _figures(name, outcome)]
    table(("annotator", "figure", "n", "value", "from", "to"), [row[:-1] for row in rows], (True, True, *[False] * 4))
    why = [f"{name}, {row[1]}: {row[-1]}" for name, outcome in outcomes for row in _figures(name, outcome) if row[-1]]
    if why:
        say("\n" + "\n".join(why))


def _finished(people: Sequence["ExamPerson"]) -> list[str]:
    """Return the names of the annotators in `people` who have handed in an exam attempt."""
    return [row.person.name for row in people if any(attempt.handed_in_at is not None for attempt in row.attempts)]


def _row(row: "ExamPerson") -> tuple[object, ...]:
    attempt = row.attempts[-1] if row.attempts else None
    result = attempt.result if attempt else None
    figures: tuple[object, ...] = ("", "", "", "")
    if result is not None:
        kappas = ("undefined" if value is None else f"{value:.2f}" for value in (result.kappa, result.kappa_quadratic))
        figures = (result.missed, result.answers, *kappas)
    elif attempt is not None:
        figures = ("", f"{attempt.answered} so far", "", "")
    return (row.person.name, row.phase.value if row.phase else "", len(row.attempts), *figures)


def _figures(name: str, outcome: "ExamOutcome") -> list[tuple[str, str, int, str, str, str, str]]:
    """Return the table rows of one annotator's exam result: a row for each figure.

    A row is (annotator's name, figure, number of answers or people, value, low and high end of its interval, reason).
    The reason says why the value or the interval is undefined, and is empty otherwise. Only the first row has the name.
    """
    figures = {
        "missed first, %": (outcome.missed_first, 100, 1),
        "missed after, %": (outcome.missed_after, 100, 1),
        "kappa": (outcome.kappa, 1, 2),
        "quadratic kappa": (outcome.kappa_quadratic, 1, 2),
    }

    def shown(value: float | None, scale: int, digits: int) -> str:
        return "" if value is None else f"{scale * value:.{digits}f}"

    rows = []
    for nth, (figure, (estimate, scale, digits)) in enumerate(figures.items()):
        value, low, high = (shown(number, scale, digits) for number in (estimate.value, estimate.low, estimate.high))
        rows.append(("" if nth else name, figure, estimate.n, value, low, high, estimate.reason))
    return rows
