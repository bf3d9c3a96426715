"""Check that the truth of anybody's release is what its pairs and its raw annotations give. Pure.

The rule is asked anew for every pair. What leads decided goes over it: the pairs that `raw_query_moment_pair.csv` or
`raw_annotation.csv` calls adjudicated.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from backend.campaign.judging.rules import Decision, decide
from backend.campaign.nouns import Rounding, Verdict
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierPair
from backend.campaign.release.export.rules.checks import Span, SpanFaults
from backend.core.errors import Problem
from backend.core.release_entries import Entry, GradedMoment, Queries, name_of
from backend.core.text_files import CsvTable, whole

_SETTLED = (Verdict.CONSENSUS.value, Verdict.ADJUDICATED.value)


@dataclass(frozen=True, slots=True)
class Rule:
    """By what a release was graded, and what it says it leaves out."""

    grades: range
    tolerance: int = 1
    rounding: Rounding = Rounding.HALF_UP
    left_out: frozenset[str] = frozenset()
    """Queries that the manifest names as not in the truth."""
    without_adjudicated: bool = False
    """Whether the pairs that leads decided on were left out."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The pairs and grades of a release, beside its truth; `decided` are the relevances that leads decided on."""

    campaign: EarlierCampaign
    decided: Mapping[int, int]
    rule: Rule

    def decisions(self) -> Callable[[int], tuple[tuple[int, ...], Decision]]:
        """Grades of a pair, and what comes of them."""
        given: defaultdict[int, list[int]] = defaultdict(list)
        for grade in self.campaign.grades:
            given[grade.pair_id].append(grade.grade)
        settle = cache(lambda grades, more: decide(grades, self.rule.tolerance, self.rule.rounding, re_opened=more))

        def of(pair_id: int) -> tuple[tuple[int, ...], Decision]:
            grades = tuple(given.get(pair_id, ()))
            if pair_id in self.decided:
                return grades, Decision(Verdict.ADJUDICATED, self.decided[pair_id])
            return grades, settle(grades, pair_id in self.campaign.re_opened)

        return of


def read_decided(
    table: CsvTable | None, file: str, pairs: Sequence[EarlierPair], pairs_file: str
) -> tuple[dict[int, int], Iterator[Problem]]:
    """The relevances that leads decided on, from the column `adjudicated` and from the verdicts of the pairs.

    Args:
        table: the raw annotations with `pair_id` and perhaps `adjudicated`.
        file: its name.
        pairs: of the release.
        pairs_file: their file.

    Returns:
        What was decided, and where the two files say different things.
    """
    by_pairs = {
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

    def differing() -> Iterator[Problem]:
        if not any(pair.verdict for pair in pairs) or not rows:
            return
        for pair in pairs:
            here, there = by_pairs.get(pair.pair_id), by_grades.get(pair.pair_id)
            if pair.pair_id in rows and here != there:
                said = "nothing" if there is None else there
                mine = "not adjudicated" if here is None else f"adjudicated {here}"
                message = f"pair {pair.pair_id}: is {mine} in {pairs_file}, and adjudicated {said} here"
                yield Problem(file, rows[pair.pair_id], message)

    return {**by_grades, **by_pairs}, differing()


def check_pairs(campaign: EarlierCampaign, spans: SpanFaults, grades: range) -> Iterator[Problem]:
    """What is wrong with the pairs by themselves, beyond what their reader refuses."""
    for pair in campaign.pairs:
        faults = list(spans.of(*pair.span, campaign.durations.get(pair.span[0])))
        if pair.verdict is not None and pair.verdict not in [verdict.value for verdict in Verdict]:
            faults.append(f"verdict {pair.verdict!r} is not one of {', '.join(verdict.value for verdict in Verdict)}")
        elif pair.relevance and _relevance(pair) not in grades:
            faults.append(f"relevance is {pair.relevance!r}, not one of {', '.join(map(str, grades))}")
        elif pair.verdict is not None and (pair.verdict in _SETTLED) != bool(pair.relevance):
            has = f"relevance {pair.relevance}" if pair.relevance else "no relevance"
            faults.append(f"is {pair.verdict} with {has}")
        yield from (Problem(campaign.pairs_file, pair.row, f"{_named(pair)}: {fault}") for fault in faults)


def check_judged(truth: Sequence[Queries[GradedMoment]], judged: Judged) -> Iterator[Problem]:
    """Where the truth, the pairs and the grades say different things."""
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
                    faults += _against_grades(moment, *outcome(pair_id))
                name = name_of(entry, number, moment)
                yield from (Problem(file.file, entry.row, f"{name}: {fault}") for fault in faults)
    yield from _verdicts(campaign, outcome)
    if campaign.pairs_file and truth:
        yield from _missing(truth, judged, outcome, released)


def check_released(table: CsvTable, file: str, truth: Sequence[Queries[GradedMoment]]) -> Iterator[Problem]:
    """Where the column `released` says another thing than the truth does; older releases have none."""
    there = {str(moment.pair_id) for one in truth for entry in one.entries for _, moment in entry.moments}
    cells = table.columns.get("released", ())
    for row, number, cell in zip(table.rows, table.columns["pair_id"], cells, strict=bool(cells)):
        if cell not in ("0", "1"):
            yield Problem(file, row, f"pair {number}: released is {cell!r}, not 0 or 1")
        elif (cell == "1") != (number in there):
            yield Problem(
                file, row, f"pair {number}: released is {cell}, but it is {'not ' * (cell == '1')}in the truth"
            )


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
    file: str, entry: Entry[GradedMoment], moment: GradedMoment, pair: EarlierPair, there: str
) -> Iterator[str]:
    """What the pair's row says otherwise."""
    span = (moment.video_name, *moment.timestamp)
    told: list[tuple[str, object, object]] = [("query", entry.query.strip(), pair.query), ("moment", span, pair.span)]
    if pair.query_id is not None:
        told.append(("query_id", str(entry.query_id), str(pair.query_id)))
    if pair.split is not None:
        told.append(("split", file.split(".")[0], pair.split.value))
    if pair.relevance is not None:
        told.append(("relevance", moment.relevance, _relevance(pair)))
    for what, here, other in told:
        if here != other:
            yield f"{what} is {here!r} here and {other!r} in {there}, row {pair.row}"


def _against_grades(moment: GradedMoment, grades: Sequence[int], decision: Decision) -> Iterator[str]:
    by_lead = decision.verdict is Verdict.ADJUDICATED
    if decision.relevance != moment.relevance:
        because = "a lead decided on" if by_lead else f"the grades {_listed(grades)} give"
        outcome = "none" if decision.relevance is None else f"{decision.relevance}"
        state = "" if decision.relevance is not None else f" ({decision.verdict.value})"
        yield f"relevance is {moment.relevance}, but {because} {outcome}{state}"
    if moment.adjudicated and not by_lead:
        yield "is marked adjudicated, but no lead decided on it"


def _verdicts(
    campaign: EarlierCampaign, outcome: Callable[[int], tuple[tuple[int, ...], Decision]]
) -> Iterator[Problem]:
    """Rows of the file of pairs whose verdict is not that of their grades."""
    for pair in campaign.pairs:
        grades, decision = outcome(pair.pair_id)
        if pair.verdict is not None and pair.verdict != decision.verdict:
            message = f"is {pair.verdict}, but the grades {_listed(grades)} make it {decision.verdict.value}"
        elif pair.relevance is not None and _relevance(pair) != decision.relevance:
            given = "none" if decision.relevance is None else decision.relevance
            message = f"relevance is {pair.relevance or 'empty'}, but the grades {_listed(grades)} give {given}"
        else:
            continue
        yield Problem(campaign.pairs_file, pair.row, f"{_named(pair)}: {message}")


def _missing(
    truth: Sequence[Queries[GradedMoment]],
    judged: Judged,
    outcome: Callable[[int], tuple[tuple[int, ...], Decision]],
    released: Collection[int],
) -> Iterator[Problem]:
    """Pairs with a relevance that the truth lacks, though it has their query, or does not say that it leaves it out."""
    entries = {entry.query.strip(): (file.file, entry) for file in truth for entry in file.entries}
    there = {file.file for file in truth}
    untold: set[str] = set()
    for pair in judged.campaign.pairs:
        if pair.split is not None and f"{pair.split.value}.json" not in there:
            continue  # that the file is missing is said
        decision = outcome(pair.pair_id)[1]
        by_lead = decision.verdict is Verdict.ADJUDICATED
        if decision.relevance is None or pair.pair_id in released or (by_lead and judged.rule.without_adjudicated):
            continue
        if found := entries.get(pair.query):
            file, entry = found
            if entry.whole:
                message = f"pair {pair.pair_id} is missing; its relevance is {decision.relevance}"
                yield Problem(file, entry.row, f"query {entry.query_id}: {message}")
        elif str(pair.query_id) not in judged.rule.left_out and pair.query not in untold:
            untold.add(pair.query)
            message = f"{_named(pair)}: has a relevance, but its query is in neither val.json nor test.json"
            yield Problem(judged.campaign.pairs_file, pair.row, message)


def _relevance(pair: EarlierPair) -> int | None:
    """The relevance in a row, also where another program wrote it as 3.0; None where it is none."""
    text = (pair.relevance or "").removesuffix(".0")
    return whole(text)


def _named(pair: EarlierPair) -> str:
    return f"query {pair.query if pair.query_id is None else pair.query_id}, pair {pair.pair_id}"


def _listed(grades: Sequence[int]) -> str:
    return ", ".join(map(str, grades)) if grades else "(there are none)"
