"""Read answer keys from CSV files that leads bring, for the exam, gold questions and practice pairs.

*Reads* pairs, scale. *Writes* nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from backend.campaign.qualification.answers import rows as pairs_known
from backend.campaign.setup.project import rows as project_rows
from backend.core.errors import InputError, Problem
from backend.core.ids import PairId
from backend.core.messages import said
from backend.core.reading import file_bytes
from backend.core.text_files import CsvTable, read_csv, whole
from backend.store.connection import Database

LONGEST_TEXT = 400
"""The most characters that an explanation may have."""
KeyItem = tuple[PairId, int, str]
"""(pair, right grade, explanation)"""


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A CSV file with an answer key: columns `pair_id,grade`, optionally also `query_id,explanation`."""

    data: bytes
    name: str

    @classmethod
    def at(cls, path: Path) -> Self:
        """Return the answer key file at a path, read into memory.

        Raises:
            InputError: the file cannot be read.
        """
        return cls(file_bytes(path), path.name)


def read_key(db: Database, key_file: KeyFile, *, now: float) -> list[KeyItem]:
    """Return the pairs of an answer key file, each with its right grade and explanation.

    Grading must have ended for every pair: it has a final grade, or was discarded without one.

    Raises:
        InputError: the file has problems, all of which are listed.
    """
    file, table = (
        key_file.name,
        read_csv(key_file.data, key_file.name, ("pair_id", "grade"), ("query_id", "explanation")),
    )
    problems = list(table.problems)
    pairs, bad_pairs = table.values("pair_id", whole, needed=True)
    grades, bad_grades = grade_column(db, table, file)
    queries, bad_queries = table.values("query_id", whole)
    problems += [
        Problem(file, row, said("pair_id is {given!r}, not a whole number", given=text)) for row, text in bad_pairs
    ]
    problems += bad_grades
    problems += [
        Problem(file, row, said("query_id is {given!r}, not a whole number", given=text)) for row, text in bad_queries
    ]
    explanations = table.columns.get("explanation", [""] * len(table.rows))
    items: dict[PairId, KeyItem] = {}
    for row, pair, grade, query, text in zip(table.rows, pairs, grades, queries, explanations, strict=True):
        if pair is None or grade is None:
            continue
        pair_id, explanation = PairId(pair), " ".join(text.split())
        if pair_id in items:
            problems.append(Problem(file, row, said("pair {pair} is in the file twice", pair=pair)))
        elif why := pairs_known.why_unfit(db, pair_id, now=now):
            problems.append(Problem(file, row, said("pair {pair} {why}", pair=pair, why=why)))
        elif query is not None and pairs_known.query_of(db, pair_id) != query:
            problems.append(
                Problem(file, row, said("pair {pair} does not belong to query {query}", pair=pair, query=query))
            )
        elif len(explanation) > LONGEST_TEXT:
            problems.append(
                Problem(
                    file,
                    row,
                    said("the explanation has more than {longest} characters", longest=LONGEST_TEXT),
                )
            )
        items.setdefault(pair_id, (pair_id, grade, explanation))
    require_none(problems)
    return list(items.values())


def grade_column(db: Database, table: CsvTable, file: str) -> tuple[list[int | None], list[Problem]]:
    """Return the grades in the column `grade` of an answer key file, and a problem for each invalid one.

    There is one grade per row; None where the text is not a grade of the campaign's scale.
    """
    grade_of = {str(grade): grade for grade in project_rows.scale(db).grades}
    grades, bad = table.values("grade", grade_of.get, needed=True)
    return grades, [
        Problem(file, row, said("grade is {given!r}, not one of {grades}", given=text, grades=", ".join(grade_of)))
        for row, text in bad
    ]


def require_none(problems: Sequence[Problem]) -> None:
    """Raise an error that lists all problems of a file in the order of its rows, if there are any.

    Raises:
        InputError: there is at least one problem.
    """
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
