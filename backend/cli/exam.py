"""Commands about the qualification exam: `reelrank exam preview|set|close|use|off|retake|exempt`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.exam.model import ExamKey
from backend.cli.commands import add_group
from backend.cli.exam_results import results, status
from backend.cli.options import Dir, Json, argument, option
from backend.cli.output import counted, end_with_json, fail, now, say, table
from backend.core.ids import AnnotatorId
from backend.core.typed_text import name_key

if TYPE_CHECKING:
    from backend.campaign.qualification.exam.rules.marking import Constant as ExamConstant
    from backend.campaign.qualification.exam.rules.marking import Guesses as ExamGuesses
    from backend.campaign.setup.project.folder import Project


Name = Annotated[str, argument("NAME", "The annotator.")]
Although = Annotated[
    str,
    option(
        "--although REASON",
        "Reason to accept an exam that guessing, or always giving one grade, would pass or nearly pass.",
    ),
]


@dataclass(frozen=True)
class ExamOptions:
    """Options of an exam: its pairs, the source of its answer key, and the misses allowed."""

    queries: Annotated[int | None, option("--queries", "Number of queries to draw.", min=1, show_default="10")] = None
    pairs: Annotated[int | None, option("--pairs", "Highest number of pairs per query.", min=1, show_default="10")] = (
        None
    )
    seed: Annotated[int, option("--seed", "Seed of the draw.")] = 1
    most_missed: Annotated[
        float | None,
        option(
            "--most-missed", "Percent of the answers that may miss the answer key.", min=0, max=100, show_default="20.0"
        ),
    ] = None
    spread: Annotated[bool, option("--spread/--no-spread", "Draw all grades as evenly as the settled pairs allow.")] = (
        True
    )
    key: Annotated[
        Literal["settled", "median", "own"],
        option(
            "--key",
            "Answer key: the relevance of settled pairs; or, for open pairs, the median of everybody who "
            "finished, or a lead's own grades.",
        ),
    ] = "settled"
    file: Annotated[
        Path | None,
        option(
            "--from KEY.csv", "Use the pairs of this file instead of a draw: pair_id,grade and optionally explanation."
        ),
    ] = None

    def drawn(self) -> dict[str, Any]:
        """Return the options for drawing and marking an exam, as keyword arguments for `preview_exam` and `set_exam`.

        They are the numbers of queries and pairs, the seed, the misses allowed, the source of the answer key, and
        `spread`.
        """
        return {
            **{"queries": self.queries, "pairs": self.pairs, "seed": self.seed, "most_missed": self.most_missed},
            **{"key": ExamKey(self.key), "spread": self.spread},
        }

    def __post_init__(self) -> None:
        """Refuse `--key` together with a file."""
        if self.file is not None and self.key != "settled":
            raise typer.BadParameter("the file contains the answer key: leave --key out", param_hint="--key")


def preview(folder: Dir, *, options: ExamOptions, json: Json = False) -> None:
    """Preview an exam, and how guessing would score in it.

    This does not set the exam. For random guesses, every grade of the scale is equally likely. To see the pairs, open
    the page Exam.

    Example: reelrank exam preview my-project --queries 10 --pairs 10
    """
    from backend.campaign.qualification.answers.key_file import KeyFile
    from backend.campaign.qualification.exam.setting import preview_exam, preview_exam_from_file

    project = open_project(folder)
    if options.file is not None:
        previewed = preview_exam_from_file(
            project, OPERATOR, KeyFile.at(options.file), most_missed=options.most_missed, now=now()
        )
    else:
        previewed = preview_exam(project, OPERATOR, **options.drawn(), now=now())
    if json:
        end_with_json(previewed)
    items = len(previewed.items)
    drawn = previewed.source if previewed.seed is None else f"{previewed.source}, seed {previewed.seed}"
    say(f"{_size(items, previewed.queries)} from {drawn}; {previewed.most_missed:g} % of the answers may miss.")
    _say_key(previewed.grades, previewed.short)
    if previewed.guesses is not None:
        _say_guesses(previewed.guesses)


def set_exam(
    folder: Dir,
    *,
    options: ExamOptions,
    although: Although = "",
    newcomers_only: Annotated[bool, option("--newcomers-only", "Exempt everybody who has graded here.")] = False,
) -> None:
    """Set the exam that annotators have to pass before they judge.

    This replaces the current exam. An answer is a miss if it differs from the answer key by more than the scale's
    tolerance. By default, the exam uses pairs whose relevance is settled. With --key median or own, it uses open pairs:
    the top candidates of drawn queries. Annotators cannot grade these pairs while the exam runs, and the answer key is
    made later. To preview an exam of settled pairs, use `reelrank exam preview`.

    Example: reelrank exam set my-project --queries 10 --pairs 10 --most-missed 20
    """
    from backend.campaign.qualification.answers.key_file import KeyFile
    from backend.campaign.qualification.exam import setting

    project = open_project(folder)
    if options.file is not None:
        report = setting.set_exam_from_file(
            project,
            OPERATOR,
            KeyFile.at(options.file),
            most_missed=options.most_missed,
            although=although,
            newcomers_only=newcomers_only,
            now=now(),
        )
        source = f"the answer key in {options.file.name}"
    else:
        report = setting.set_exam(
            project, OPERATOR, **options.drawn(), although=although, newcomers_only=newcomers_only, now=now()
        )
        source = f"{'settled' if options.key == 'settled' else 'open'} pairs, seed {options.seed}"
    say(f"{_size(report.items, report.queries)} from {source}; {report.most_missed:g} % of the answers may miss.")
    _say_key(report.grades, report.short)
    if report.exempted:
        say(f"Exempt, because they have graded before: {counted(report.exempted, 'annotator')}.")


def close(folder: Dir, although: Although = "") -> None:
    """Close an exam with --key median, and compute its answer key.

    The right grade of a pair is the median of the grades of all annotators who finished. At least two annotators must
    have finished. Then everybody who handed in an attempt gets a result. An answer key by a lead (--key own) is
    accepted when the lead hands it in, unless an annotator could pass by guessing. To accept it then, use this command
    with a reason in --although.

    Example: reelrank exam close my-project
    """
    from backend.campaign.qualification.exam.answer_key import close_exam_round

    report = close_exam_round(open_project(folder), OPERATOR, although=although, now=now())
    finished = counted(report.finished, "annotator has", "annotators have")
    say(f"The answer key is set for {counted(report.items, 'pair')}; {finished} finished.")
    _say_key(report.grades, "")


def use(folder: Dir) -> None:
    """Count the answers to an exam of open pairs as judgements.

    This uses the newest exam that was set with --key median or own, and the first attempt of each annotator who handed
    one in. At most two annotators count per pair. They are drawn with the seed of the exam, so that all annotators get
    a similar number. You can do this once, after the exam has its answer key or was ended.

    Example: reelrank exam use my-project
    """
    from backend.campaign.qualification.exam.answer_key import use_exam

    report = use_exam(open_project(folder), OPERATOR, now=now())
    say(f"Now {counted(report.judgements, 'answer')} to {counted(report.pairs, 'pair')} count as judgements.")
    say(f"Each of {counted(report.people, 'annotator')} gave {report.fewest} to {report.most} of them.")


def off(folder: Dir) -> None:
    """End the exam, so that everybody may judge.

    Attempts stay in the record.

    Example: reelrank exam off my-project
    """
    from backend.campaign.qualification.exam import setting

    ended = setting.end_exam(open_project(folder), OPERATOR, now=now())
    say("The exam is over: everybody may judge." if ended else "Nothing to do: this project has no exam.")


def retake(folder: Dir, name: Name) -> None:
    """Let an annotator take the exam once more.

    This also ends an exemption.

    Example: reelrank exam retake my-project Ana
    """
    from backend.campaign.qualification.exam.results import grant_retake
    from backend.campaign.qualification.exam.retaking import retake_outlooks

    project = open_project(folder)
    person = _annotator(project, name)
    grant_retake(project, OPERATOR, person, now=now())
    say(f"{name} can take the exam once more.")
    outlook = retake_outlooks(project, OPERATOR, [person], now=now()).get(person)
    if outlook is not None and outlook.short:
        say(outlook.short)


def exempt(
    folder: Dir, name: Name, reason: Annotated[str, option("--reason", "Why they may judge without passing.")]
) -> None:
    """Let an annotator judge without passing the exam.

    Example: reelrank exam exempt my-project Ana --reason "wrote the guideline"
    """
    from backend.campaign.qualification.exam.results import exempt_from_exam

    project = open_project(folder)
    exempt_from_exam(project, OPERATOR, _annotator(project, name), reason, now=now())
    say(f"{name} can judge without the exam.")


def _size(items: int, queries: int) -> str:
    return f"Exam of {counted(items, 'pair')} of {counted(queries, 'query', 'queries')}"


def _say_key(grades: tuple[int, ...], short: str) -> None:
    if grades:
        say("Right grades: " + ", ".join(f"{grade}: {count}" for grade, count in enumerate(grades)))
    if short:
        say(f"Note: {short}")


def _say_guesses(guesses: "ExamGuesses") -> None:
    rows: list[tuple[object, ...]] = [
        (f"always {row.grade}", row.missed, guesses.items, f"{100 * row.missed / guesses.items:.1f}", _verdict(row))
        for row in guesses.constants
    ]
    share = 100 * guesses.chance_missed
    odds = f"passes in {100 * guesses.chance_passes:.2g} %"
    rows.append(("by chance", f"{share * guesses.items / 100:.1f}", guesses.items, f"{share:.1f}", odds))
    table(("grades", "missed", "of", "%", "result"), rows, (True, False, False, False, True))
    if guesses.weak:
        say(f"\nGuessing does too well: {'; '.join(guesses.weak)}.\nTo use this exam anyway: --although REASON")


def _verdict(guess: "ExamConstant") -> str:
    return "PASSES" if guess.passed else "fails narrowly" if guess.near else "fails"


def _annotator(project: "Project", name: str) -> AnnotatorId:
    from backend.campaign.setup.people.accounts import list_people

    for row in list_people(project, OPERATOR):
        if name_key(row.person.name) == name_key(name):
            return row.person.annotator_id
    fail(f"there is nobody named {name}: reelrank exam status lists the annotators")


add_group(
    "exam",
    "Set the qualification exam, and show its results.",
    "set my-project --queries 10 --pairs 10",
    {
        "preview": preview,
        "set": set_exam,
        "close": close,
        "use": use,
        "status": status,
        "results": results,
        "off": off,
        "retake": retake,
        "exempt": exempt,
    },
)
