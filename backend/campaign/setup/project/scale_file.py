"""Read a scale of grades that differs from TVR-Ranking's five: one that comes with ReelRank, or a TOML file.

The file has the grades, the rules for combining them, and the guideline. See `scales/matches.toml` for an example.
"""

from collections.abc import Collection
from pathlib import Path

import msgspec

from backend.campaign.nouns import GradeMeaning, Rounding, Scale
from backend.campaign.setup.project import model
from backend.campaign.setup.project.model import Grading, Question
from backend.core.errors import InputError, Problem, ProjectError
from backend.core.messages import said
from backend.core.reading import UNDECODABLE, file_bytes

FOLDER = Path(__file__).parent / "scales"
MATCHES = "matches"
"""The scale of the pool check: a video matches, or does not."""


class _Grade(msgspec.Struct, forbid_unknown_fields=True):
    label: str
    meaning: str = ""
    detail: str = ""
    example: str = ""


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    text: str


class _ScaleFile(msgspec.Struct, forbid_unknown_fields=True):
    grades: list[_Grade]
    tolerance: int
    rounding: Rounding = Rounding.HALF_UP
    example_query: str = ""
    questions: list[_Question] = []
    reminders: list[str] = []
    translations: dict[str, dict[str, str]] = {}


def scale_names() -> list[str]:
    """Return the names of the scales of grades that come with ReelRank."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load_scale(name: str) -> Grading:
    """Return the scale of this name that comes with ReelRank; otherwise read the scale file with this path.

    Raises:
        ProjectError: there is neither such a scale nor such a file.
        InputError: the file is not valid; the error lists everything that is wrong.
    """
    if name in scale_names():
        return read(FOLDER / f"{name}.toml")
    if not Path(name).exists():
        raise ProjectError(
            said(
                "{name} is neither a scale nor a file: write the path of a scale file, or one of {kept}",
                name=name,
                kept=", ".join(scale_names()),
            )
        )
    return read(Path(name))


def read(file: Path, notes: Collection[str] = ()) -> Grading:
    """Read a scale of grades and its guideline from a TOML file.

    Args:
        file: the TOML file.
        notes: explanations of the guideline's example pairs, which the file may translate.

    Raises:
        InputError: the file is not valid; the error lists everything that is wrong.
    """
    data = file_bytes(file)
    try:
        content = msgspec.toml.decode(data, type=_ScaleFile)
    except UNDECODABLE as error:
        raise InputError.single(file, str(error)) from error
    meanings = [
        GradeMeaning(n, grade.label.strip(), grade.meaning, grade.detail, grade.example)
        for n, grade in enumerate(content.grades)
    ]
    questions = tuple(Question(question.title, question.text) for question in content.questions)
    messages = model.grading_problems(meanings, content.tolerance, content.example_query, questions, content.reminders)
    if problems := [Problem(str(file), None, message) for message in messages]:
        raise InputError(problems)
    grading = Grading(
        Scale(tuple(meanings)),
        content.tolerance,
        content.rounding,
        content.example_query,
        questions,
        tuple(content.reminders),
        content.translations,
    )
    if problems := [Problem(str(file), None, message) for message in model.translation_problems(grading, notes)]:
        raise InputError(problems)
    return grading
