"""Read raw annotation files (`pair_id,worker,relevance`, one row per grade), and apply the consensus rule to them.

No project is needed. `reelrank consensus` prints the result of `summarise`. The module `campaign_files` also reads the
further columns of such a file.

The published file of TVR-Ranking (227,808 rows) is read as follows, which gives its 94,442 relevances:

- Every row is one grade. 8,345 rows repeat an earlier row exactly, and in 11,682 pairs somebody graded twice.
  These grades count like any other for the consensus and for Krippendorff's alpha, as they did for the authors.
- Rows are in the order of worker numbers, so the file does not say which two of four grades came first. Four grades
  are therefore always trimmed to the middle two. Without a column `round`, there is no alpha over first-round grades.
- Every pair without a consensus is `discarded`: after four grades by the rule, or because the grades that would
  decide are missing. Pairs with missing grades are also counted as `undecided` (two pairs of the published file).
- More than four grades of one pair are refused, because the rule does not say which of them count. Up to six are
  accepted if a column `re_opened` is 1 in every row of the pair: a lead asked two more people about it.

Files with further columns, such as those of a release of ReelRank, come from campaigns that may not be finished. With a
column `round`, pairs that lack grades are `undecided` and not `discarded`. A column `adjudicated` holds the relevance
that a lead decided on, in every row of the pair. Such pairs are `adjudicated`, whatever their grades.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.campaign.judging.rules import MOST_GRADES, MOST_RE_OPENED
from backend.campaign.monitoring.quality.rules.figures import GradeSummary, figures, summary
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.nouns import Rounding
from backend.campaign.release.earlier.model import PUBLISHED_HIGHEST, PUBLISHED_TOLERANCE
from backend.core.errors import InputError, Problem
from backend.core.text_files import CsvTable, read_csv
from backend.core.typed_text import nfc

COLUMNS = ("pair_id", "worker", "relevance")
"""The columns that a raw annotation file must have."""

ROUND, ADJUDICATED, RE_OPENED = "round", "adjudicated", "re_opened"
"""Optional columns: the round of each grade, the relevance that a lead decided on, and 1 where a lead re-opened the
pair. If any is there, pairs without a consensus may still wait for grades."""

NO_ROUNDS = "the file does not say which of four grades came first"


@dataclass(frozen=True, slots=True, eq=False)
class RawAnnotations:
    """The grades of a raw annotation file, as arrays with one entry per row, in file order.

    `pairs` and `annotators` are the distinct ids in order of first appearance; `pair` and `annotator` are the indices
    of each row's pair and annotator in them, from 0. Grades are 0..`highest`, and `row` is the line in the file,
    counting from 1 with the header. `round` is 1, 2 or 3, and 0 where the file does not state it. `decided`, of shape
    [pairs], is the relevance that a lead decided on, -1 where none did. `re_opened`, of shape [pairs], says where a
    lead asked two more people. `may_go_on` says whether pairs may still wait for grades.
    """

    pairs: tuple[str, ...]
    annotators: tuple[str, ...]
    pair: NDArray[np.int64]
    annotator: NDArray[np.int64]
    grade: NDArray[np.int64]
    row: NDArray[np.int64]
    decided: NDArray[np.int64]
    highest: int
    may_go_on: bool
    round: NDArray[np.int64]
    re_opened: NDArray[np.bool_]

    def graded(self, tolerance: int = PUBLISHED_TOLERANCE, rounding: Rounding = Rounding.HALF_UP) -> GradedPairs:
        """Return the grades together with a tolerance and rounding, for computing agreement and consensus."""
        has_rounds = bool(self.round.all())
        return GradedPairs(
            self.annotators,
            self.pair,
            self.annotator,
            self.grade,
            self.decided,
            self.highest,
            tolerance,
            rounding,
            self.may_go_on,
            first_round=self.round == 1 if has_rounds else None,
            no_rounds="" if has_rounds else NO_ROUNDS,
            re_opened=self.re_opened,
        )


def read_raw(data: bytes, file: str, highest: int = PUBLISHED_HIGHEST) -> RawAnnotations:
    r"""Return the grades of a CSV with the columns pair_id, worker and relevance, in any order.

    It may also have the columns round, adjudicated and re_opened. Further columns are ignored.

    Ids may be any text that is not blank, and are returned in Unicode's composed form (NFC).

    Args:
        data: the file's bytes, UTF-8.
        file: the file's name, for messages.
        highest: the highest grade of the scale.

    Raises:
        InputError: lists every problem of the file: not UTF-8, empty, a column missing, a row of a wrong width, a blank
            id, a grade that is not one of 0..`highest`, a fifth grade of a pair that was not re-opened, or two
            different decisions about a pair.

    >>> raw = read_raw(b"pair_id,worker,relevance\np1,ann,4\np1,bob,3\n", "raw.csv")
    >>> raw.pairs, raw.annotators, raw.pair.tolist(), raw.annotator.tolist(), raw.grade.tolist()
    (('p1',), ('ann', 'bob'), [0, 0], [0, 1], [4, 3])
    """
    raw, problems = grades_of(read_csv(data, file, COLUMNS, (ROUND, ADJUDICATED, RE_OPENED)), file, highest)
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    return raw


def grades_of(table: CsvTable, file: str, highest: int) -> tuple[RawAnnotations, list[Problem]]:
    """Return the grades of a file whose columns were read already, and the problems of the file.

    If there are problems, use the grades only to look for further problems: an invalid grade is -1 there.
    """
    problems = list(table.problems)
    for name in ("pair_id", "worker"):
        table.columns[name] = list(map(nfc, table.columns[name]))
    pairs, pair = _encode(table.columns["pair_id"])
    annotators, annotator = _encode(table.columns["worker"])
    grade_of = {str(grade): grade for grade in range(highest + 1)}
    grade = np.array([grade_of.get(text, -1) for text in table.columns["relevance"]], dtype=np.int64)
    row = np.array(table.rows, dtype=np.int64)

    for name, ids, codes in (("pair_id", pairs, pair), ("worker", annotators, annotator)):
        blank = [code for code, text in enumerate(ids) if not text.strip()]
        problems += [Problem(file, int(r), f"{name} is empty") for r in row[np.isin(codes, blank)]]
    for at in np.flatnonzero(grade < 0).tolist():
        found = table.columns["relevance"][at]
        problems.append(Problem(file, int(row[at]), f"relevance is {found!r}, not one of {', '.join(grade_of)}"))
    rounds = table.columns.get(ROUND, [""] * len(row))
    round_no = np.array([int(text) if text in ("1", "2", "3") else 0 for text in rounds], dtype=np.int64)
    more, unlike = _re_opened(table, pairs, pair, file)
    beyond = [at for at in _first_beyond(pair, MOST_GRADES) if not more[pair[at]]]
    for at in sorted([*beyond, *(at for at in _first_beyond(pair, MOST_RE_OPENED) if more[pair[at]])]):
        most = MOST_RE_OPENED if more[pair[at]] else MOST_GRADES
        message = f"pair {pairs[pair[at]]!r} has more than {most} grades; keep the ones that count"
        problems.append(Problem(file, int(row[at]), message))
    decided, disputed = _decided(table, pairs, pair, grade_of, file)
    may_go_on = any(name in table.columns for name in (ROUND, ADJUDICATED, RE_OPENED))
    read = RawAnnotations(pairs, annotators, pair, annotator, grade, row, decided, highest, may_go_on, round_no, more)
    return read, [*problems, *disputed, *unlike]


def _decided(
    table: CsvTable, pairs: Sequence[str], pair: NDArray[np.int64], grade_of: dict[str, int], file: str
) -> tuple[NDArray[np.int64], list[Problem]]:
    """Return the relevance that a lead decided on for each pair (-1 for none), and the problems of that column.

    The column is `adjudicated`. `pair` is the index of each row's pair in `pairs`. `grade_of` maps the text of a valid
    grade to the grade.
    """
    cells = table.columns.get(ADJUDICATED)
    decided = np.full(len(pairs), -1, dtype=np.int64)
    if cells is None:
        return decided, []
    problems, seen = [], np.zeros(len(pairs), dtype=bool)
    for place, text, row in zip(pair.tolist(), cells, table.rows, strict=True):
        relevance = grade_of.get(text, -1)
        if text and relevance < 0:
            problems.append(Problem(file, row, f"adjudicated is {text!r}, not one of {', '.join(grade_of)}"))
        elif seen[place] and relevance != decided[place]:
            here, above = (str(value) if value >= 0 else "nothing" for value in (relevance, int(decided[place])))
            problems.append(Problem(file, row, f"pair {pairs[place]!r} is adjudicated {here} here and {above} above"))
        else:
            seen[place], decided[place] = True, relevance
    return decided, problems


def summarise(
    raw: RawAnnotations, tolerance: int = PUBLISHED_TOLERANCE, rounding: Rounding = Rounding.HALF_UP
) -> GradeSummary:
    r"""Return counts of verdicts, relevances and irregularities of a raw annotation file, and its agreement.

    A verdict is the outcome of grading a pair, such as consensus. The docstring of this module says how the file
    is read.

    >>> raw = read_raw(b"pair_id,worker,relevance\np1,ann,4\np1,bob,3\np2,ann,0\np2,bob,2\n", "raw.csv")
    >>> found = summarise(raw)
    >>> found["pairs"], found["consensus"], found["discarded"], found["undecided"]["two"]
    (2, 1, 1, 1)
    >>> found["undefined"]["kappa_plain"]
    'no two annotators share 50 pairs'
    """
    graded = raw.graded(tolerance, rounding)
    kinds = graded.patterns()
    return summary(graded, kinds, figures(graded, kinds))


def _re_opened(
    table: CsvTable, pairs: Sequence[str], pair: NDArray[np.int64], file: str
) -> tuple[NDArray[np.bool_], list[Problem]]:
    """Return, for each pair, whether a lead asked two more annotators to grade it, and the column's problems.

    The column is `re_opened`.
    """
    cells = table.columns.get(RE_OPENED)
    if cells is None:
        return np.zeros(len(pairs), dtype=bool), []
    said = np.array([text == "1" for text in cells], dtype=bool)
    re_opened = np.bincount(pair[said], minlength=len(pairs)) > 0
    problems = [
        Problem(file, row, f"re_opened is {text!r}, not 1 or empty")
        if text not in ("", "1")
        else Problem(file, row, f"re_opened is empty here, but 1 in another row of pair {pairs[place]!r}")
        for place, text, row in zip(pair.tolist(), cells, table.rows, strict=True)
        if text != "1" and (text or re_opened[place])
    ]
    return re_opened, problems


def _encode(ids: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct ids in order of first appearance, and each row's index into them."""
    # Not numpy strings: one very long id would widen all of them.
    place = {text: number for number, text in enumerate(dict.fromkeys(ids))}
    return tuple(place), np.fromiter(map(place.__getitem__, ids), dtype=np.int64, count=len(ids))


def _first_beyond(codes: NDArray[np.int64], most: int) -> list[int]:
    """Return the index in `codes` of the first surplus occurrence of each value that occurs more than `most` times."""
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    # `searchsorted` gives where the run of equal codes starts, so the difference is the place within the run.
    return [int(at) for at in order[np.arange(len(codes)) - np.searchsorted(ranked, ranked) == most]]
