"""Whether truth, pairs and grades of a release say one thing: each message by hand, and none where they do."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from backend.campaign.judging.rules import Decision
from backend.campaign.nouns import Rounding, Split, Verdict
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierGrade, EarlierPair
from backend.campaign.release.export.rules.checks import SpanFaults
from backend.campaign.release.export.rules.pair_checks import (
    Judged,
    Rule,
    check_judged,
    check_pairs,
    check_released,
    read_decided,
)
from backend.core.release_entries import Entry, GradedMoment, Queries
from backend.core.text_files import CsvTable

FIVE = range(5)


def pair(row: int, pair_id: int, **more: Any) -> EarlierPair:
    """Of query 1, `A dog.`, the moment that begins at its row."""
    plain = EarlierPair(
        *(row, pair_id, "A dog.", 1, Split.VAL, ("v", float(row), float(row) + 1), row, 0.5),
        *(None, None, None),
    )
    return plain._replace(**more)


def grades(pair_id: int, *given: int) -> list[EarlierGrade]:
    return [
        EarlierGrade(2, pair_id, seat, False, f"w{seat}", grade, None, None, None, None, False)
        for seat, grade in enumerate(given, start=1)
    ]


def campaign(
    pairs: Sequence[EarlierPair], given: Mapping[int, Sequence[int]] | None = None, **more: Any
) -> EarlierCampaign:
    both = [grade for pair_id, one in (given or {}).items() for grade in grades(pair_id, *one)]
    return EarlierCampaign("raw.csv", "pairs.csv", grades=both, pairs=pairs, **more)


def truth(*moments: GradedMoment, file: str = "val.json", **more: Any) -> Queries[GradedMoment]:
    """One query of it."""
    said = {"row": 3, "query_id": 1, "query": "A dog.", **more}
    return Queries(file, [Entry(moments=list(enumerate(moments, start=1)), **said)])


def moment(of: EarlierPair, relevance: int, **more: Any) -> GradedMoment:
    said = {"video_name": of.span[0], "timestamp": of.span[1:], "pair_id": of.pair_id, **more}
    return GradedMoment(relevance=relevance, **said)


def told(
    here: Sequence[Queries[GradedMoment]],
    there: EarlierCampaign,
    decided: Mapping[int, int] | None = None,
    rule: Rule | None = None,
) -> list[str]:
    return [str(problem) for problem in check_judged(here, Judged(there, decided or {}, rule or Rule(FIVE)))]


def test_the_rule_decides_by_grades_and_a_lead_over_it() -> None:
    given = {1: (3, 4), 2: (0, 4, 1, 3), 3: (0, 4, 1, 3), 4: (2, 2)}
    there = campaign([], given, re_opened=frozenset({3}))
    of = Judged(there, {4: 0}, Rule(FIVE)).decisions()
    assert of(1) == ((3, 4), Decision(Verdict.CONSENSUS, 4, 3.5))
    assert of(2) == ((0, 4, 1, 3), Decision(Verdict.DISCARDED))
    assert of(3) == ((0, 4, 1, 3), Decision(Verdict.ESCALATED))  # the same grades, but two more are asked
    assert of(4) == ((2, 2), Decision(Verdict.ADJUDICATED, 0))
    assert of(5) == ((), Decision(Verdict.OPEN))
    milder = Judged(there, {}, Rule(FIVE, tolerance=2, rounding=Rounding.HALF_DOWN)).decisions()
    assert (milder(1)[1].relevance, milder(2)[1].relevance) == (3, 2)


class TestDecided:
    """What leads decided stands in two files."""

    PAIRS = (
        pair(2, 10, verdict="adjudicated", relevance="3.0"),
        pair(3, 11, verdict="adjudicated", relevance="1"),
        pair(4, 12, verdict="consensus", relevance="2"),
        pair(5, 13, verdict="adjudicated", relevance="often"),
        pair(6, 14, verdict="adjudicated", relevance="4"),
    )

    def read(self, cells: Mapping[int, tuple[str, str]], pairs: Sequence[EarlierPair] = PAIRS) -> tuple[Any, list[str]]:
        """Of rows of (pair_id, adjudicated)."""
        numbers, decided = ([cell[place] for cell in cells.values()] for place in (0, 1))
        table = CsvTable({"pair_id": numbers, "adjudicated": decided}, list(cells), [])
        found, problems = read_decided(table, "raw.csv", pairs, "pairs.csv")
        return found, [str(problem) for problem in problems]

    def test_is_read_from_both_and_where_they_differ_is_told(self) -> None:
        cells = {
            **{2: ("10", "3"), 3: ("10", "3"), 4: ("11", "2"), 5: ("12", "4"), 6: ("13", ""), 7: ("x", "1")},
            **{8: ("11", ""), 9: ("99", "0"), 10: ("14", "")},
        }
        found, problems = self.read(cells)
        assert found == {10: 3, 11: 1, 12: 4, 14: 4, 99: 0}
        assert problems == [
            "raw.csv, row 4: pair 11: is adjudicated 1 in pairs.csv, and adjudicated 2 here",
            "raw.csv, row 5: pair 12: is not adjudicated in pairs.csv, and adjudicated 4 here",
            "raw.csv, row 10: pair 14: is adjudicated 4 in pairs.csv, and adjudicated nothing here",
        ]

    def test_pairs_without_verdicts_say_nothing_against_it(self) -> None:
        assert self.read({2: ("10", "3")}, [pair(2, 10), pair(3, 11)]) == ({10: 3}, [])
        assert self.read({2: ("10", "3")}, [pair(2, 10), pair(3, 11, verdict="open")])[1] == [
            "raw.csv, row 2: pair 10: is not adjudicated in pairs.csv, and adjudicated 3 here"
        ]

    def test_grades_that_tell_of_no_decision_say_nothing_against_it(self) -> None:
        for table in (None, CsvTable({"pair_id": ["10"]}, [2], [])):
            found, problems = read_decided(table, "raw.csv", self.PAIRS, "pairs.csv")
            assert (found, list(problems)) == ({10: 3, 11: 1, 14: 4}, [])


@pytest.mark.parametrize(
    ("more", "faults"),
    [
        ({}, []),
        ({"relevance": "2"}, []),
        ({"verdict": "consensus", "relevance": "2.0"}, []),
        ({"verdict": "adjudicated", "relevance": "0"}, []),
        ({"verdict": "open"}, []),
        ({"verdict": "discarded", "relevance": ""}, []),
        ({"verdict": "fine"}, [
            "verdict 'fine' is not one of open, escalated, consensus, discarded, adjudicated",
        ]),
        ({"relevance": "5"}, ["relevance is '5', not one of 0, 1, 2, 3, 4"]),
        ({"verdict": "open", "relevance": "2.5"}, ["relevance is '2.5', not one of 0, 1, 2, 3, 4"]),
        ({"verdict": "consensus"}, ["is consensus with no relevance"]),
        ({"verdict": "adjudicated", "relevance": ""}, ["is adjudicated with no relevance"]),
        ({"verdict": "discarded", "relevance": "0"}, ["is discarded with relevance 0"]),
        ({"span": ("v", 2.0, 30.0), "verdict": "escalated", "relevance": "3"}, [
            "end 30.0 is more than 1 s after the video's end at 9.0 s",
            "is escalated with relevance 3",
        ]),
        ({"span": ("nowhere", 2.0, 30.0)}, ["video 'nowhere' is not in video_corpus.json"]),
        ({"span": ("w", 2.0, 3.0)}, ["video 'w' lasts 8.0 s here and 9.0 s in video_corpus.json"]),
    ],
)  # fmt: skip
def test_what_one_pair_cannot_be(more: dict[str, Any], faults: list[str]) -> None:
    there = campaign([pair(2, 10), pair(3, 11, **more)], durations={"w": 8.0})
    found = [str(problem) for problem in check_pairs(there, SpanFaults({"v": 9.0, "w": 9.0}), FIVE)]
    assert found == [f"pairs.csv, row 3: query 1, pair 11: {fault}" for fault in faults]


def test_a_pair_of_a_query_without_number_is_called_by_its_text() -> None:
    (problem,) = check_pairs(campaign([pair(2, 10, query_id=None, verdict="?")]), SpanFaults(None), FIVE)
    assert str(problem).startswith("pairs.csv, row 2: query A dog., pair 10: verdict '?'")


ONE = pair(2, 10)
HERE, THERE = "val.json, row 3: query 1", "pairs.csv, row 2"
LACKS = f"{HERE}: pair 10 is missing; its relevance is 3"
UNTOLD = f"{THERE}: query 1, pair 10: has a relevance, but its query is in neither val.json nor test.json"


@pytest.mark.parametrize(
    ("said", "relevance", "entry", "row", "faults"),
    [
        ({}, 3, {}, {}, []),
        ({"pair_id": None}, 3, {"query": " A dog. "}, {}, []),
        ({}, 3, {"query_id": "1"}, {"relevance": "3.0", "verdict": "consensus"}, []),
        ({}, 3, {"query_id": 9, "file": "test.json"}, {"query_id": None, "split": None}, []),
        ({"pair_id": 99}, 3, {}, {}, [
            f"{HERE}, pair 99: is not in pairs.csv",
            f"{HERE}, pair 99: relevance is 3, but the grades (there are none) give none (open)",
            LACKS,
        ]),
        ({"pair_id": "x"}, 3, {}, {}, [f"{HERE}, pair x: is not in pairs.csv", LACKS]),
        ({"pair_id": None}, 3, {"query": "A cat."}, {}, [f"{HERE}, moment 1: is not in pairs.csv", UNTOLD]),
        ({"timestamp": (2.0, 4.0)}, 3, {}, {}, [
            f"{HERE}, pair 10: moment is ('v', 2.0, 4.0) here and ('v', 2.0, 3.0) in {THERE}",
        ]),
        ({"video_name": "w"}, 3, {}, {}, [
            f"{HERE}, pair 10: moment is ('w', 2.0, 3.0) here and ('v', 2.0, 3.0) in {THERE}",
        ]),
        ({"video_name": "w", "pair_id": None}, 3, {}, {}, [f"{HERE}, moment 1: is not in pairs.csv", LACKS]),
        ({}, 3, {"query": "A cat."}, {}, [f"{HERE}, pair 10: query is 'A cat.' here and 'A dog.' in {THERE}"]),
        ({}, 3, {"query_id": 9}, {}, [
            f"val.json, row 3: query 9, pair 10: query_id is '9' here and '1' in {THERE}",
        ]),
        ({}, 3, {"file": "test.json"}, {}, [
            f"test.json, row 3: query 1, pair 10: split is 'test' here and 'val' in {THERE}",
        ]),
        ({}, 3, {}, {"relevance": ""}, [
            f"{HERE}, pair 10: relevance is 3 here and None in {THERE}",
            f"{THERE}: query 1, pair 10: relevance is empty, but the grades 2, 3 give 3",
        ]),
        ({}, 3, {}, {"verdict": "discarded", "relevance": ""}, [
            f"{HERE}, pair 10: relevance is 3 here and None in {THERE}",
            f"{THERE}: query 1, pair 10: is discarded, but the grades 2, 3 make it consensus",
        ]),
        ({}, 2, {}, {"relevance": "2"}, [
            f"{HERE}, pair 10: relevance is 2, but the grades 2, 3 give 3",
            f"{THERE}: query 1, pair 10: relevance is 2, but the grades 2, 3 give 3",
        ]),
        ({"adjudicated": True}, 3, {}, {}, [f"{HERE}, pair 10: is marked adjudicated, but no lead decided on it"]),
    ],
)  # fmt: skip
def test_a_moment_is_held_against_its_pair_and_grades(
    said: dict[str, Any], relevance: int, entry: dict[str, Any], row: dict[str, Any], faults: list[str]
) -> None:
    there = campaign([ONE._replace(**row)], {10: (2, 3)})
    assert told([truth(moment(ONE, relevance, **said), **entry)], there) == faults


def test_what_a_lead_decided_is_right_whatever_the_grades_say() -> None:
    there = campaign([ONE._replace(verdict="adjudicated", relevance="0")], {10: (2, 3)})
    assert told([truth(moment(ONE, 0, adjudicated=True))], there, {10: 0}) == []
    assert told([truth(moment(ONE, 0))], there, {10: 0}) == []
    assert told([truth(moment(ONE, 3))], there, {10: 0}) == [
        f"{HERE}, pair 10: relevance is 3 here and 0 in {THERE}",
        f"{HERE}, pair 10: relevance is 3, but a lead decided on 0",
    ]


def test_a_release_without_its_file_of_pairs_is_held_against_its_grades_alone() -> None:
    there = EarlierCampaign("raw.csv", "", grades=[*grades(10, 2, 3), *grades(11, 0, 4)])
    others = [moment(ONE, 1, pair_id=number) for number in (11, "x", None)]
    assert told([truth(moment(ONE, 3), *others)], there) == [
        f"{HERE}, pair 11: relevance is 1, but the grades 0, 4 give none (escalated)"
    ]


def test_every_row_of_pairs_is_held_against_its_grades() -> None:
    rows = [ONE, pair(3, 11, relevance="2"), pair(4, 12, relevance="1"), pair(5, 13, verdict="consensus")]
    assert told([], campaign(rows, {11: (0, 4), 12: (1, 1), 13: (2,)})) == [
        "pairs.csv, row 3: query 1, pair 11: relevance is 2, but the grades 0, 4 give none",
        "pairs.csv, row 5: query 1, pair 13: is consensus, but the grades 2 make it open",
    ]


GIVEN = {number: (2, 3) for number in range(10, 20)}


class TestMissing:
    """Pairs that have a relevance, and are not in the truth."""

    def test_only_pairs_with_a_relevance_have_to_be_there(self) -> None:
        there = campaign([ONE, pair(3, 11), pair(4, 12), pair(5, 13)], {10: (2, 3), 11: (0, 4), 12: (4, 4)})
        assert told([truth(moment(ONE, 3))], there) == [f"{HERE}: pair 12 is missing; its relevance is 4"]
        (entry,) = (read := truth(moment(ONE, 3))).entries
        entry.whole = False  # then nobody knows which moments it has
        assert told([read], there) == []

    def test_queries_have_to_be_there_unless_the_manifest_leaves_them_out(self) -> None:
        cats = [pair(row, 8 + row, query="A cat.", query_id=2) for row in (3, 4)]
        birds = [pair(row, 8 + row, query="A bird.", query_id=None, split=None) for row in (5, 6)]
        flies = [pair(row, 8 + row, query="A fly.", query_id=4, split=Split.TEST) for row in (7,)]
        there = campaign([ONE, *flies, *cats, *birds], GIVEN)
        here = [truth(moment(ONE, 3))]
        untold = "has a relevance, but its query is in neither val.json nor test.json"
        a_cat = f"pairs.csv, row 3: query 2, pair 11: {untold}"
        a_bird = f"pairs.csv, row 5: query A bird., pair 13: {untold}"
        assert told(here, there) == [a_cat, a_bird]  # once for a query; test.json is not there at all
        assert told(here, there, rule=Rule(FIVE, left_out=frozenset({"2", "99"}))) == [a_bird]
        both = [*here, Queries[GradedMoment]("test.json")]
        assert told(both, there) == [f"pairs.csv, row 7: query 4, pair 15: {untold}", a_cat, a_bird]
        assert told([], there) == []

    def test_what_leads_decided_may_be_left_out(self) -> None:
        there = campaign([ONE, pair(3, 11), pair(4, 12)], GIVEN)
        lacks = [f"{HERE}: pair {number} is missing; its relevance is {found}" for number, found in ((11, 3), (12, 0))]
        here = [truth(moment(ONE, 3))]
        assert told(here, there, {12: 0}) == lacks
        assert told(here, there, {12: 0}, Rule(FIVE, without_adjudicated=True)) == lacks[:1]


def test_whether_pairs_are_said_to_be_released_as_they_are() -> None:
    here = [truth(moment(ONE, 3), moment(ONE, 3, pair_id=None)), truth(moment(ONE, 3, pair_id="11"), file="test.json")]

    def read(columns: dict[str, Sequence[str]]) -> list[str]:
        return [str(problem) for problem in check_released(CsvTable(columns, [2, 3, 5, 6, 7], []), "pairs.csv", here)]

    numbers = ["10", "11", "12", "14", "13"]
    assert read({"pair_id": numbers}) == []
    assert read({"pair_id": numbers, "released": ["1", "1", "0", "0", "0"]}) == []
    assert read({"pair_id": numbers, "released": ["0", "2", "1", "", "0"]}) == [
        "pairs.csv, row 2: pair 10: released is 0, but it is in the truth",
        "pairs.csv, row 3: pair 11: released is '2', not 0 or 1",
        "pairs.csv, row 5: pair 12: released is 1, but it is not in the truth",
        "pairs.csv, row 6: pair 14: released is '', not 0 or 1",
    ]
