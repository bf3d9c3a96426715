"""Scales that a campaign may have instead of TVR-Ranking's five grades: kept ones, and a person's own as a TOML file.

Such a file says all that differs between campaigns about grades: `scales/matches.toml` is one, with remarks.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from backend.campaign.nouns import GradeMeaning, Rounding, Scale
from backend.campaign.project.model import Grading, Question
from backend.ground.errors import InputError, Problem, ProjectError
from backend.ground.reading import bytes_of

FOLDER = Path(__file__).parent / "scales"
MATCHES = "matches"
"""Matches, or does not: the scale of the check of pools."""
MOST_GRADES = 5
"""The tables of grades take 0 to 4."""
LONGEST_LABEL = 24
"""Characters that fit on a button."""


class _Grade(msgspec.Struct, forbid_unknown_fields=True):
    label: str
    meaning: str = ""
    detail: str = ""
    example: str = ""


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    text: str


class _ScaleFile(msgspec.Struct, forbid_unknown_fields=True):
    """What a file says."""

    grades: list[_Grade]
    tolerance: int
    rounding: Rounding = Rounding.HALF_UP
    example_query: str = ""
    questions: list[_Question] = []
    reminders: list[str] = []


def kept() -> list[str]:
    """The names of the scales that come with ReelRank."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def named(name: str) -> Grading:
    """The scale of this name, or in the file of this path.

    Raises:
        ProjectError: there is neither.
        InputError: everything that is wrong with the file.
    """
    if name in kept():
        return read(FOLDER / f"{name}.toml")
    if not Path(name).exists():
        raise ProjectError(f"there is no scale and no file {name}: name a file, or one of {', '.join(kept())}")
    return read(Path(name))


def read(file: Path) -> Grading:
    """The scale in a file.

    Raises:
        InputError: everything that is wrong with it.
    """
    try:
        found = msgspec.toml.decode(bytes_of(file), type=_ScaleFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError.single(file, str(error)) from error
    if problems := [Problem(str(file), None, message) for message in _wrong(found)]:
        raise InputError(problems)
    meanings = (
        GradeMeaning(n, one.label.strip(), one.meaning, one.detail, one.example) for n, one in enumerate(found.grades)
    )
    return Grading(
        Scale(tuple(meanings)),
        found.tolerance,
        found.rounding,
        found.example_query,
        tuple(Question(one.title, one.text) for one in found.questions),
        tuple(found.reminders),
    )


def _wrong(found: _ScaleFile) -> Iterator[str]:
    count = len(found.grades)
    if not 2 <= count <= MOST_GRADES:
        yield f"has {count} grade{'s' * (count != 1)}: a scale has 2 to {MOST_GRADES}"
    elif found.tolerance >= count - 1:
        best = "0" if count == 2 else f"0 to {count - 2}"
        yield f"tolerance is {found.tolerance}: with {count} grades any two would agree, write {best}"
    if found.tolerance < 0:
        yield f"tolerance is {found.tolerance}: it is 0 or more"
    for n, one in enumerate(found.grades):
        if not one.label.strip():
            yield f"grade {n} has no label"
        elif len(one.label.strip()) > LONGEST_LABEL:
            yield f"the label of grade {n} has {len(one.label.strip())} characters: a button holds {LONGEST_LABEL}"
    labels = Counter(one.label.strip().casefold() for one in found.grades if one.label.strip())
    yield from (f"{times} grades have the label {label!r}" for label, times in labels.items() if times > 1)
    if any(one.example.strip() for one in found.grades) and not found.example_query.strip():
        yield "has examples but no example_query, which they are for"
    for n, asked in enumerate(found.questions, start=1):
        if not (asked.title.strip() and asked.text.strip()):
            yield f"question {n} lacks its {'text' if asked.title.strip() else 'title'}"
    yield from (f"reminder {n} is empty" for n, text in enumerate(found.reminders, start=1) if not text.strip())
