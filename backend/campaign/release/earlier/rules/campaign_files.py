"""Read the two files of an earlier campaign: its raw annotations (one row per grade), and its pairs.

This works on bytes, without disk or project; `importing` compares the result with the project and stores it. Problems
are collected, not raised, so that the user sees the problems of both files, and contradictions between them and the
project, in one list.

Irregularities of published files are accepted: repeated rows, two grades of one worker for a pair, gaps in numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import msgspec

from backend.campaign.judging.rules import MOST_GRADES
from backend.campaign.monitoring.quality.rules.figures import repeats
from backend.campaign.nouns import Split
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierGrade, EarlierPair, Span
from backend.campaign.release.earlier.rules.raw_annotation import COLUMNS, RE_OPENED, grades_of
from backend.core.errors import InputError, Problem
from backend.core.reading import UNDECODABLE
from backend.core.text_files import CsvTable, instant, not_blank, number, read_csv, stripped, whole
from backend.core.typed_text import name_key, nfc

RAW_OPTIONAL = ("round", "graded_at", "active_ms", "elapsed_ms", "contexts", "simulated", RE_OPENED)
PAIR_COLUMNS = ("pair_id", "query", "video_name", "similarity")
PAIR_OPTIONAL = (
    *("timestamp", "start", "end", "query_id", "split", "rank", "duration", "caption", "verdict", "relevance"),
)
_NUMBERS = ("start", "end", "duration", "similarity")

_Value = TypeVar("_Value")


def read_campaign(
    raw: bytes,
    raw_file: str,
    pairs: bytes | None = None,
    pairs_file: str = "",
    *,
    highest: int,
    may_be_ungraded: bool = False,
) -> EarlierCampaign:
    r"""Read the raw annotations of an earlier campaign and, if there is one, its file of pairs.

    Args:
        raw: CSV bytes with the columns pair_id, worker, relevance and perhaps those of `RAW_OPTIONAL`.
        raw_file: name of that file, for messages.
        pairs: CSV bytes with the columns `PAIR_COLUMNS`, `timestamp` ("[1.5, 4]") or `start` and `end`, and perhaps
            others of `PAIR_OPTIONAL`.
        pairs_file: name of that file.
        highest: the highest grade of the scale.
        may_be_ungraded: whether the raw annotations may be a header alone, as in a release of leads' decisions only.

    >>> found = read_campaign(b"pair_id,worker,relevance\n7,4,2\n0,6,3\n7,4,2\n", "raw.csv", highest=4)
    >>> [(grade.pair_id, grade.seat_no, grade.repeat) for grade in found.grades]
    [(0, 1, False), (7, 1, False), (7, 2, True)]
    >>> found.graded_twice, found.duplicate_rows, found.problems
    (1, 1, ())
    """
    campaign = _Reading(raw_file).raw(raw, highest, may_be_empty=may_be_ungraded)
    if pairs is None:
        return campaign
    return _Reading(pairs_file).pairs(pairs, campaign)


@dataclass(slots=True)
class _Reading:
    """A reader of one file, of raw annotations or of pairs, which collects the file's problems."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    table: CsvTable = field(default_factory=lambda: CsvTable({}, (), []))

    def raw(self, data: bytes, highest: int, *, may_be_empty: bool) -> EarlierCampaign:
        """Read the file of raw annotations; `may_be_empty` says whether it may have no rows."""
        if not self._split(data, COLUMNS, RAW_OPTIONAL, may_be_empty=may_be_empty):
            return EarlierCampaign(self.file, "", problems=tuple(self.problems))
        annotations, problems = grades_of(self.table, self.file, highest)
        self.problems = problems
        at_first = dict(zip(reversed(self.table.columns["worker"]), reversed(self.table.rows), strict=True))
        self._alike(annotations.annotators, at_first)
        numbers = self._column("pair_id", whole, "a whole number from 0 on")
        cells = zip(
            numbers,
            self._column("round", _one_of(1, 2, 3), "1, 2 or 3"),
            self.table.rows,
            self.table.columns["worker"],
            annotations.grade.tolist(),
            self._column("graded_at", instant, "a time such as 2026-09-21T14:13:20Z"),
            self._column("active_ms", whole, "a whole number of milliseconds"),
            self._column("elapsed_ms", whole, "a whole number of milliseconds"),
            self._column("contexts", whole, "a whole number"),
            self._column("simulated", _one_of(0, 1), "0 or 1"),
            strict=True,
        )
        rows = sorted((row for row in cells if row[0] is not None), key=lambda row: (row[0], row[1] or 0, row[2]))
        grades = list(self._seated(rows))
        places = zip(numbers, annotations.re_opened[annotations.pair].tolist(), strict=True)
        re_opened = frozenset(number for number, more in places if more and number is not None)
        self._refuse(self._too_early(grades, re_opened))
        twice, duplicates = (0, 0) if self.problems else repeats(annotations.graded())
        return EarlierCampaign(
            raw_file=self.file,
            pairs_file="",
            grades=grades,
            workers=annotations.annotators,
            re_opened=re_opened,
            graded_twice=twice,
            duplicate_rows=duplicates,
            problems=tuple(self.problems),
        )

    def pairs(self, data: bytes, campaign: EarlierCampaign) -> EarlierCampaign:
        """Read the file of pairs, and return the campaign with its pairs added."""
        pairs: list[EarlierPair] = []
        durations: dict[str, float] = {}
        if self._split(data, PAIR_COLUMNS, PAIR_OPTIONAL):
            self.problems = list(self.table.problems)
            durations_s = self._column("duration", _seconds, "a positive number of seconds")
            pairs = self._ranked(list(self._pair_rows(durations_s)))
            known = zip(map(nfc, self.table.columns["video_name"]), durations_s, strict=True)
            durations = {video: seconds for video, seconds in known if seconds is not None}
        return replace(
            campaign,
            pairs_file=self.file,
            pairs=pairs,
            durations=durations,
            problems=(*campaign.problems, *self.problems),
        )

    def _split(
        self, data: bytes, required: Sequence[str], optional: Sequence[str], *, may_be_empty: bool = False
    ) -> bool:
        """Split the bytes of a CSV file into columns, and return whether that was possible.

        The file must have the `required` columns, and may have the `optional` ones. With `may_be_empty`, it need not
        have rows.
        """
        try:
            self.table = read_csv(data, self.file, required, optional, numbers=_NUMBERS, may_be_empty=may_be_empty)
        except InputError as error:
            self.problems += error.problems
            return False
        return True

    def _column(
        self, name: str, read: Callable[[str], _Value | None], expected: str, *, needed: bool = False
    ) -> list[_Value | None]:
        """Return the cells of a column converted by `read`, and add a problem for each invalid cell.

        `expected` says in words what a valid cell holds. Invalid and empty cells become None. With `needed`, empty
        cells are invalid too.
        """
        values, wrong = self.table.values(name, read, needed=needed)
        self._refuse((row, f"{name} is {text!r}, not {expected}") for row, text in wrong)
        return values

    def _refuse(self, faults: Iterable[tuple[int, str]]) -> None:
        self.problems += [Problem(self.file, row, message) for row, message in faults]

    def _alike(self, workers: Sequence[str], at_first: dict[str, int]) -> None:
        """Add a problem for each worker whose name looks like that of another worker, such as by upper or lower case.

        `at_first` maps each worker to the line of their first row, for the message.
        """
        same: defaultdict[str, list[str]] = defaultdict(list)
        for worker in workers:
            same[name_key(worker)].append(worker)
        self._refuse(
            (
                at_first[worker],
                f"worker {worker!r} looks like {first!r}: write them alike, or rename one",
            )
            for first, *others in same.values()
            for worker in others
        )

    def _seated(
        self, rows: Sequence[tuple[int, int | None, int, str, int, float | None, *tuple[int | None, ...]]]
    ) -> Iterator[EarlierGrade]:
        """Yield each row as a grade with its seat number: 1 for the first grade of a pair, 2 for the next, and so on.

        A seat is an annotator's place on a pair. Each round of grading fills two seats of a pair. If the file states
        another round for a seat, a problem is added.
        """
        for pair_id, together in groupby(rows, key=itemgetter(0)):
            workers: set[str] = set()
            for seat_no, (_, round_no, row, worker, grade, graded_at, *rest) in enumerate(together, start=1):
                active_ms, elapsed_ms, contexts, simulated = rest
                if round_no is not None and round_no != (seat_no + 1) // 2:
                    self._refuse([(row, f"round is {round_no}, but this is grade {seat_no} of pair {pair_id}")])
                yield EarlierGrade(
                    *(row, pair_id, seat_no, worker in workers, worker, grade),
                    *(graded_at, active_ms, elapsed_ms, contexts, bool(simulated)),
                )
                workers.add(worker)

    def _too_early(self, grades: Sequence[EarlierGrade], re_opened: frozenset[int]) -> Iterator[tuple[int, str]]:
        """Yield (row, message) for each pair that is marked as re-opened although it has fewer than four grades."""
        last = {grade.pair_id: grade for grade in grades}
        for pair_id in sorted(re_opened & last.keys()):
            if (seats := last[pair_id].seat_no) < MOST_GRADES:
                yield (
                    last[pair_id].row,
                    f"pair {pair_id} is marked re_opened, but only {seats} of its first {MOST_GRADES} grades are there",
                )

    def _pair_rows(self, durations: Sequence[float | None]) -> Iterator[EarlierPair]:
        """Yield the valid rows of the file of pairs that contradict no earlier row; add problems for the others.

        `durations` has the video's duration in seconds as each row states it; None where it states none.
        """
        spans: Iterable[tuple[float | None, float | None]]
        if "timestamp" in self.table.columns:
            stamps = self._column("timestamp", _span, "[start, end] in seconds", needed=True)
            spans = [stamp or (None, None) for stamp in stamps]
        elif {"start", "end"} <= self.table.columns.keys():
            columns = [self._column(name, number, "a number of seconds", needed=True) for name in ("start", "end")]
            spans = zip(*columns, strict=True)
        else:
            self.problems.append(Problem(self.file, 1, "no column 'timestamp', and not both 'start' and 'end'"))
            return
        ranked = "rank" in self.table.columns
        cells = zip(
            self._column("pair_id", whole, "a whole number from 0 on", needed=True),
            self._column("query", stripped, "a text", needed=True),
            self._column("query_id", whole, "a whole number from 0 on"),
            self._column("split", _split, "val or test"),
            self._column("video_name", _video, "a name", needed=True),
            spans,
            self._column("rank", _place, "a whole number from 1 on", needed=ranked),
            self._column("similarity", number, "a number", needed=not ranked),
            self._column("caption", not_blank, "a text"),
            self._column("verdict", stripped, "a text"),
            self._column("relevance", str.strip, "a text"),
            strict=True,
        )
        agree = _Agreement()
        for row, duration_s, values in zip(self.table.rows, durations, cells, strict=True):
            pair_id, query, query_id, split, video, (start_s, end_s), rank, similarity, *rest = values
            if pair_id is None or query is None or video is None or start_s is None or end_s is None:
                continue
            if (rank if ranked else similarity) is None:
                continue
            caption, verdict, relevance = rest
            pair = EarlierPair(
                *(row, pair_id, query, query_id, split, (video, start_s, end_s), rank or 0, similarity),
                *(caption, verdict, relevance),
            )
            faults = [*_span_faults(pair.span), *agree.faults(pair, duration_s)]
            self._refuse((row, fault) for fault in faults)
            if not faults:
                yield pair

    def _ranked(self, pairs: list[EarlierPair]) -> list[EarlierPair]:
        """Return the pairs with the file's ranks; if it has none, rank each query's pairs by falling similarity."""
        if "rank" in self.table.columns:
            return pairs
        by_query: defaultdict[str, list[EarlierPair]] = defaultdict(list)
        for pair in sorted(pairs, key=_least_similar_last):  # stable: equally similar pairs stay in file order
            by_query[pair.query].append(pair)
        ranks = {pair.row: rank for group in by_query.values() for rank, pair in enumerate(group, start=1)}
        return [pair._replace(rank=ranks[pair.row]) for pair in pairs]


def _least_similar_last(pair: EarlierPair) -> float:
    return -(pair.similarity or 0.0)


class _Agreement:
    """A check that each row of the file of pairs agrees with the rows before it."""

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], tuple[object, int]] = {}

    def faults(self, pair: EarlierPair, duration_s: float | None) -> Iterator[str]:
        """Yield each way in which a row contradicts or repeats an earlier row."""
        row, query = pair.row, pair.query
        if first := self._differs(("pair", pair.pair_id), row, row):
            yield f"pair {pair.pair_id} was already given in row {first[1]}"
        if first := self._differs(("moment", query, pair.span), row, row):
            yield f"this query and moment were already given in row {first[1]}"
        if pair.rank and (first := self._differs(("rank", query, pair.rank), row, row)):
            yield f"rank {pair.rank} of this query was already given in row {first[1]}"
        if first := self._differs(("query", query), pair.query_id, row):
            yield f"this query has the number {pair.query_id} here, but {first[0]} in row {first[1]}"
        if pair.query_id is not None and (first := self._differs(("number", pair.query_id), query, row)):
            yield f"query {pair.query_id} has another text in row {first[1]}"
        if first := self._differs(("split", query), pair.split, row):
            yield f"this query is in split {pair.split} here, but in {first[0]} in row {first[1]}"
        if duration_s is not None and (first := self._differs(("video", pair.span[0]), duration_s, row)):
            yield f"video {pair.span[0]!r} lasts {duration_s} s here, but {first[0]} s in row {first[1]}"

    def _differs(self, key: tuple[object, ...], value: object, row: int) -> tuple[object, int] | None:
        """Return the first (value, row) given for a key, if that value differs from `value`; otherwise None.

        A key says what the value is about, such as the split of a query. A new key is remembered with its value and
        row.
        """
        first = self._first.setdefault(key, (value, row))
        return first if first[0] != value else None


def _span_faults(span: Span) -> Iterator[str]:
    _, start_s, end_s = span
    if start_s < 0:
        yield f"start {start_s} is negative"
    if end_s <= start_s:
        yield f"end {end_s} is not after start {start_s}"


def _video(text: str) -> str | None:
    return nfc(text) if text.strip() else None


def _place(text: str) -> int | None:
    return whole(text) or None


def _one_of(*values: int) -> Callable[[str], int | None]:
    return {str(value): value for value in values}.get


def _seconds(text: str) -> float | None:
    value = number(text)
    return value if value is not None and value > 0 else None


def _span(text: str) -> tuple[float, float] | None:
    try:
        return msgspec.json.decode(text, type=tuple[float, float])
    except UNDECODABLE:
        return None


def _split(text: str) -> Split | None:
    return {split.value: split for split in (Split.VAL, Split.TEST)}.get(text)
