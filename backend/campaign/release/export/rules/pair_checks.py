"""Check that the truth of a release follows from its pairs and its raw annotations (one row per grade). Pure functions.

The consensus rule, which derives a pair's relevance from its grades, is applied again to every pair. The decisions of
leads override it. The pairs that leads decided are marked as adjudicated in `raw_query_moment_pair.csv` or
`raw_annotation.csv`.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import msgspec

from backend.campaign.judging.rules import Decision, decide
from backend.campaign.nouns import Rounding, Verdict
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierPair
from backend.campaign.release.export.rules.checks import Span, SpanFaults
from backend.core.errors import Problem
from backend.core.reading import UNDECODABLE
from backend.core.release_entries import Entry, GradedMoment, Queries, name_of
from backend.core.text_files import CsvTable, whole

_SETTLED = (Verdict.CONSENSUS.value, Verdict.ADJUDICATED.value)


@dataclass(frozen=True, slots=True)
class Rule:
    """The rules by which a release was made: scale, tolerance, rounding, and what was left out.

    `left_out` has the ids of the queries that the manifest lists as left out. `without_adjudicated` says whether
    adjudicated pairs, which a lead decided, are left out.
    """

    grades: range
    tolerance: int = 1
    rounding: Rounding = Rounding.HALF_UP
    left_out: frozenset[str] = frozenset()
    without_adjudicated: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """The pairs and grades of a release, and its grading rule.

    `decided` maps ids of pairs to the relevance that a lead decided on.
    """

    campaign: EarlierCampaign
    decided: Mapping[int, int]
    rule: Rule

    def decisions(self) -> Callable[[int], tuple[tuple[int, ...], Decision]]:
        """Return a function that maps a pair id to the pair's grades and its decision (verdict and relevance).

        A lead's decision is used if there is one. Otherwise the consensus rule computes the decision from the grades.
        """
        grades_by_pair: defaultdict[int, list[int]] = defaultdict(list)
        for grade in self.campaign.grades:
            grades_by_pair[grade.pair_id].append(grade.grade)
        settle = cache(lambda grades, more: decide(grades, self.rule.tolerance, self.rule.rounding, re_opened=more))

        def decision_of(pair_id: int) -> tuple[tuple[int, ...], Decision]:
            grades = tuple(grades_by_pair.get(pair_id, ()))
            if pair_id in self.decided:
                return grades, Decision(Verdict.ADJUDICATED, self.decided[pair_id])
            return grades, settle(grades, pair_id in self.campaign.re_opened)

        return decision_of


def read_decided(
    table: CsvTable | None, file: str, pairs: Sequence[EarlierPair], pairs_file: str
) -> tuple[dict[int, int], Iterator[Problem]]:
    """Read the relevances that leads decided on, from the raw annotations and from the file of pairs.

    Args:
        table: the raw annotations, with the column `pair_id` and perhaps `adjudicated`; None if there are none.
        file: name of the file of raw annotations.
        pairs: the pairs of the release.
        pairs_file: name of the file of pairs.

    Returns:
        The decided relevances by pair id, and a problem for each pair about which the two files differ.
    """
    by_verdict = {
        pair.pair_id: relevance
        for pair in pairs
        if pair.verdict == Verdict.ADJUDICATED and (relevance := _relevance(pair)) is not None
    }
    by_grades: dict[int, int] = {}
    rows: dict[int, int] = {}
    if table is not None and "adjudicated" in table.columns:
        for row, number, cell in zip(table.rows, table.columns["pair_id"], table.columns["adjudicated"], strict=True):
            pair_id, relevance = whole(number), whole(cell)
            if pair_id is not None:
                rows.setdefault(pair_id, row)
                if relevance is not None:
                    by_grades[pair_id] = relevance

    def differences() -> Iterator[Problem]:
        if not any(pair.verdict for pair in pairs) or not rows:
            return
        for pair in pairs:
            in_pairs, in_grades = by_verdict.get(pair.pair_id), by_grades.get(pair.pair_id)
            if pair.pair_id in rows and in_pairs != in_grades:
                grades_text = "nothing" if in_grades is None else in_grades
                pairs_text = "not adjudicated" if in_pairs is None else f"adjudicated {in_pairs}"
                message = f"pair {pair.pair_id}: is {pairs_text} in {pairs_file}, and adjudicated {grades_text} here"
                yield Problem(file, rows[pair.pair_id], message)

    return {**by_grades, **by_verdict}, differences()


def check_pairs(campaign: EarlierCampaign, spans: SpanFaults, grades: range) -> Iterator[Problem]:
    """Yield the problems of single pairs that `read_campaign` does not check: wrong spans, verdicts and relevances.

    `campaign` is the content of the files of pairs and raw annotations, `spans` checks the moments, and `grades` are
    those of the scale.
    """
    for pair in campaign.pairs:
        faults = list(spans.span_faults(*pair.span, campaign.durations.get(pair.span[0])))
        if pair.verdict is not None and pair.verdict not in [verdict.value for verdict in Verdict]:
            faults.append(f"verdict {pair.verdict!r} is not one of {', '.join(verdict.value for verdict in Verdict)}")
        elif pair.relevance and _relevance(pair) not in grades:
            faults.append(f"relevance is {pair.relevance!r}, not one of {', '.join(map(str, grades))}")
        elif pair.verdict is not None and (pair.verdict in _SETTLED) != bool(pair.relevance):
            has = f"relevance {pair.relevance}" if pair.relevance else "no relevance"
            faults.append(f"is {pair.verdict} with {has}")
        yield from (Problem(campaign.pairs_file, pair.row, f"{_pair_label(pair)}: {fault}") for fault in faults)


def check_judged(truth: Sequence[Queries[GradedMoment]], judged: Judged) -> Iterator[Problem]:
    """Yield a problem for each contradiction between a release's truth, its pairs and its grades."""
    campaign, outcome = judged.campaign, judged.decisions()
    by_number = {str(pair.pair_id): pair for pair in campaign.pairs}
    by_moment = {(pair.query.strip(), pair.span): pair for pair in campaign.pairs}
    released: set[int] = set()
    for file in truth:
        for entry in file.entries:
            for number, moment in entry.moments:
                pair = _pair_of(entry, moment, by_number, by_moment)
                pair_id = pair.pair_id if pair else whole(str(moment.pair_id))
                faults: list[str] = []
                if pair is None and campaign.pairs_file:
                    faults.append(f"is not in {campaign.pairs_file}")
                elif pair is not None:
                    faults += _differences(file.file, entry, moment, pair, campaign.pairs_file)
                if pair_id is not None:
                    released.add(pair_id)
                    faults += _grade_faults(moment, *outcome(pair_id))
                name = name_of(entry, number, moment)
                yield from (Problem(file.file, entry.row, f"{name}: {fault}") for fault in faults)
    yield from _wrong_verdicts(campaign, outcome)
    if campaign.pairs_file and truth:
        yield from _missing_pairs(truth, judged, outcome, released)


def check_released(table: CsvTable, file: str, truth: Sequence[Queries[GradedMoment]]) -> Iterator[Problem]:
    """Yield a problem for each row of the file of pairs whose column `released` contradicts the truth.

    Older releases lack the column, and have no such problem.
    """
    pair_ids = {str(moment.pair_id) for content in truth for entry in content.entries for _, moment in entry.moments}
    cells = table.columns.get("released", ())
    for row, number, cell in zip(table.rows, table.columns["pair_id"], cells, strict=bool(cells)):
        if cell not in ("0", "1"):
            yield Problem(file, row, f"pair {number}: released is {cell!r}, not 0 or 1")
        elif (cell == "1") != (number in pair_ids):
            yield Problem(
                file, row, f"pair {number}: released is {cell}, but it is {'not ' * (cell == '1')}in the truth"
            )


class _ModelGrade(msgspec.Struct):
    pair_id: int
    grade: int
    reason: str


class _ModelJudge(msgspec.Struct):
    model: str
    prompt_version: str
    grades: list[_ModelGrade]


class _ModelGradesFile(msgspec.Struct):
    """The content of `model-grades.json`."""

    judges: list[_ModelJudge]


def check_model_grades(
    data: bytes, file: str, pair_ids: Collection[int] | None, grades: range
) -> tuple[int, list[Problem]]:
    """Return how many grades of models a file has, and its problems.

    A problem is a grade that is not on the scale, or a pair that is unknown or graded twice by one judge.

    Args:
        data: the bytes of the file.
        file: its name.
        pair_ids: the pairs of the release; None if they are not known.
        grades: the grades of the scale.
    """
    try:
        judges = msgspec.json.decode(data, type=_ModelGradesFile).judges
    except UNDECODABLE as error:
        return 0, [Problem(file, None, f"is no file of models' grades: {error}")]
    return sum(len(judge.grades) for judge in judges), [*_model_faults(judges, file, pair_ids, grades)]


def _model_faults(
    judges: Iterable[_ModelJudge], file: str, pair_ids: Collection[int] | None, grades: range
) -> Iterator[Problem]:
    for judge in judges:
        seen: set[int] = set()
        for one in judge.grades:
            name = f"model {judge.model!r} ({judge.prompt_version}), pair {one.pair_id}"
            if one.grade not in grades:
                yield Problem(file, None, f"{name}: grade {one.grade} is not on the scale, 0 to {grades[-1]}")
            if pair_ids is not None and one.pair_id not in pair_ids:
                yield Problem(file, None, f"{name}: there is no such pair in the release")
            if one.pair_id in seen:
                yield Problem(file, None, f"{name}: is graded twice")
            seen.add(one.pair_id)


def _pair_of(
    entry: Entry[GradedMoment],
    moment: GradedMoment,
    by_number: Mapping[str, EarlierPair],
    by_moment: Mapping[tuple[str, Span], EarlierPair],
) -> EarlierPair | None:
    if moment.pair_id is not None:
        return by_number.get(str(moment.pair_id))
    return by_moment.get((entry.query.strip(), (moment.video_name, *moment.timestamp)))


def _differences(
    file: str, entry: Entry[GradedMoment], moment: GradedMoment, pair: EarlierPair, pairs_file: str
) -> Iterator[str]:
    """Yield a message for each value that differs between a moment of the truth and its row in the file of pairs."""
    span = (moment.video_name, *moment.timestamp)
    comparisons: list[tuple[str, object, object]] = [
        ("query", entry.query.strip(), pair.query),
        ("moment", span, pair.span),
    ]
    if pair.query_id is not None:
        comparisons.append(("query_id", str(entry.query_id), str(pair.query_id)))
    if pair.split is not None:
        comparisons.append(("split", file.split(".")[0], pair.split.value))
    if pair.relevance is not None:
        comparisons.append(("relevance", moment.relevance, _relevance(pair)))
    for field, truth_value, pair_value in comparisons:
        if truth_value != pair_value:
            yield f"{field} is {truth_value!r} here and {pair_value!r} in {pairs_file}, row {pair.row}"


def _grade_faults(moment: GradedMoment, grades: Sequence[int], decision: Decision) -> Iterator[str]:
    by_lead = decision.verdict is Verdict.ADJUDICATED
    if decision.relevance != moment.relevance:
        because = "a lead decided on" if by_lead else f"the grades {_grades_text(grades)} give"
        outcome = "none" if decision.relevance is None else f"{decision.relevance}"
        state = "" if decision.relevance is not None else f" ({decision.verdict.value})"
        yield f"relevance is {moment.relevance}, but {because} {outcome}{state}"
    if moment.adjudicated and not by_lead:
        yield "is marked adjudicated, but no lead decided on it"


def _wrong_verdicts(
    campaign: EarlierCampaign, outcome: Callable[[int], tuple[tuple[int, ...], Decision]]
) -> Iterator[Problem]:
    """Yield a problem for each pair whose verdict or relevance in the file of pairs does not follow from its grades.

    `outcome` returns the grades, verdict and relevance of a pair id.
    """
    for pair in campaign.pairs:
        grades, decision = outcome(pair.pair_id)
        if pair.verdict is not None and pair.verdict != decision.verdict:
            message = f"is {pair.verdict}, but the grades {_grades_text(grades)} make it {decision.verdict.value}"
        elif pair.relevance is not None and _relevance(pair) != decision.relevance:
            expected = "none" if decision.relevance is None else decision.relevance
            message = f"relevance is {pair.relevance or 'empty'}, but the grades {_grades_text(grades)} give {expected}"
        else:
            continue
        yield Problem(campaign.pairs_file, pair.row, f"{_pair_label(pair)}: {message}")


def _missing_pairs(
    truth: Sequence[Queries[GradedMoment]],
    judged: Judged,
    outcome: Callable[[int], tuple[tuple[int, ...], Decision]],
    released: Collection[int],
) -> Iterator[Problem]:
    """Yield a problem for each pair that has a relevance but is missing in the truth without a stated reason.

    `outcome` returns the grades, verdict and relevance of a pair id. `released` has the ids of the pairs in the truth.
    """
    entries = {entry.query.strip(): (file.file, entry) for file in truth for entry in file.entries}
    truth_files = {file.file for file in truth}
    reported: set[str] = set()
    for pair in judged.campaign.pairs:
        if pair.split is not None and f"{pair.split.value}.json" not in truth_files:
            continue  # the missing file is reported already
        decision = outcome(pair.pair_id)[1]
        by_lead = decision.verdict is Verdict.ADJUDICATED
        if decision.relevance is None or pair.pair_id in released or (by_lead and judged.rule.without_adjudicated):
            continue
        if entry_in_truth := entries.get(pair.query):
            file, entry = entry_in_truth
            if entry.whole:
                message = f"pair {pair.pair_id} is missing; its relevance is {decision.relevance}"
                yield Problem(file, entry.row, f"query {entry.query_id}: {message}")
        elif str(pair.query_id) not in judged.rule.left_out and pair.query not in reported:
            reported.add(pair.query)
            message = f"{_pair_label(pair)}: has a relevance, but its query is in neither val.json nor test.json"
            yield Problem(judged.campaign.pairs_file, pair.row, message)


def _relevance(pair: EarlierPair) -> int | None:
    """Return the relevance in a row of the file of pairs; None if it is no whole number. 3.0 counts as 3."""
    text = (pair.relevance or "").removesuffix(".0")
    return whole(text)


def _pair_label(pair: EarlierPair) -> str:
    return f"query {pair.query if pair.query_id is None else pair.query_id}, pair {pair.pair_id}"


def _grades_text(grades: Sequence[int]) -> str:
    return ", ".join(map(str, grades)) if grades else "(there are none)"
