"""Reading raw annotation files, and what is counted in them."""

import pytest

from backend.campaign.monitoring.quality.rules.figures import GradeSummary
from backend.campaign.nouns import Rounding
from backend.campaign.release.earlier.rules.raw_annotation import RawAnnotations, grades_of, read_raw, summarise
from backend.core.errors import InputError
from backend.core.text_files import read_csv

HEADER = "pair_id,worker,relevance\n"


def problems_of(text: str | bytes) -> list[str]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InputError) as caught:
        read_raw(data, "raw.csv")
    return [str(problem) for problem in caught.value.problems]


def summary_of(*rows: str) -> GradeSummary:
    return summarise(read_raw((HEADER + "\n".join(rows)).encode(), "raw.csv"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", "raw.csv: the file is empty"),
        (b"\xef\xbb\xbf \r\n", "raw.csv: the file is empty"),
        (HEADER, "raw.csv: the file has a header but no rows"),
        (
            HEADER.encode() + b"a,b\xe9,1\n",
            "raw.csv, row 2: the byte at offset 28 (0xe9) is not UTF-8; save the file as UTF-8",
        ),
        (
            b"\xef\xbb\xbf" + HEADER.encode() + b"a,b\xe9,1\n",
            "raw.csv, row 2: the byte at offset 31 (0xe9) is not UTF-8; save the file as UTF-8",
        ),
        (
            "pair_id|worker|relevance\n1|2|3\n",
            "raw.csv, row 1: no column 'pair_id'; the header is 'pair_id|worker|relevance'",
        ),
        (
            "pair_id,worker,worker,relevance\n1,2,2,3\n",
            "raw.csv, row 1: column 'worker' occurs 2 times in the header: keep one",
        ),
        (HEADER + "a,b\n", "raw.csv, row 2: 2 columns where the header has 3"),
        (HEADER + "a,b,5\n", "raw.csv, row 2: relevance is '5', not one of 0, 1, 2, 3, 4"),
        (HEADER + "a,b,2.0\n", "raw.csv, row 2: relevance is '2.0', not one of 0, 1, 2, 3, 4"),
        (HEADER + "a,b,\n", "raw.csv, row 2: relevance is '', not one of 0, 1, 2, 3, 4"),
        (HEADER + " ,b,1\n", "raw.csv, row 2: pair_id is empty"),
        (HEADER + "a,,1\n", "raw.csv, row 2: worker is empty"),
    ],
)
def test_a_broken_file_is_refused_in_words(text: str | bytes, expected: str) -> None:
    assert problems_of(text)[0] == expected


def test_all_problems_are_collected_in_the_order_of_the_file() -> None:
    assert problems_of(HEADER + 'a,b,9\n\na,b\n,b,1\nc,d,1\nc,"d,1\n') == [
        "raw.csv, row 2: relevance is '9', not one of 0, 1, 2, 3, 4",
        "raw.csv, row 4: 2 columns where the header has 3",
        "raw.csv, row 5: pair_id is empty",
        "raw.csv, row 7: not readable as CSV from here on: unexpected end of data",
    ]


def test_a_fifth_grade_of_a_pair_is_refused_where_it_stands() -> None:
    rows = "".join(f"a,w{n},1\nb{n},w,1\n" for n in range(6))
    assert problems_of(HEADER + rows) == ["raw.csv, row 10: pair 'a' has more than 4 grades; keep the ones that count"]


def test_ids_are_any_text_and_further_columns_are_ignored() -> None:
    text = 'round,relevance,worker,pair_id\r\n1,4,"Ann, the first",väldigt\r\n2,0,007,"two\r\nlines"\r\n'
    raw = read_raw(b"\xef\xbb\xbf" + text.encode(), "raw.csv")
    assert raw.pairs == ("väldigt", "two\r\nlines")
    assert raw.annotators == ("Ann, the first", "007")
    assert raw.grade.tolist() == [4, 0]
    assert raw.row.tolist() == [2, 3]


def test_every_pair_is_either_consensus_or_discarded() -> None:
    found = summary_of(
        "two,a,1", "two,b,2",
        "four,a,0", "four,b,4", "four,c,3", "four,d,3",
        "split,a,0", "split,b,4", "split,c,1", "split,d,3",
        "one,a,1",
        "undecided,a,1", "undecided,b,3",
        "three,a,1", "three,b,3", "three,c,2",
    )  # fmt: skip
    assert (found["rows"], found["pairs"], found["annotators"]) == (16, 6, 4)
    assert (found["consensus"], found["settled_by_two"], found["settled_by_four"]) == (2, 1, 1)
    assert found["discarded"] == 4
    assert found["undecided"] == {"one": 1, "two": 1, "three": 1}
    assert found["relevance"] == {"0": 0, "1": 0, "2": 1, "3": 1, "4": 0}


def test_a_grade_given_twice_counts_twice_and_is_reported() -> None:
    found = summary_of("a,ann,3", "a,ann,3", "b,ann,1", "b,bob,1", "b,ann,4", "b,bob,2")
    assert found["settled_by_two"] == found["settled_by_four"] == 1
    assert found["pairs_graded_twice_by_one"] == 2
    assert found["duplicate_rows"] == 1


def test_undefined_statistics_say_why() -> None:
    found = summary_of("a,ann,3", "b,bob,3")
    assert found["alpha_ordinal"] is None
    assert found["undefined"]["alpha_ordinal"] == "no pair has two grades"
    assert found["undefined"].keys() == {
        "alpha_ordinal",
        "alpha_nominal",
        "alpha_interval",
        "alpha_ordinal_first_per_annotator",
        "exact_agreement",
        "within_one_agreement",
        "kappa_plain",
        "kappa_quadratic",
    }


def read(text: str) -> RawAnnotations:
    return read_raw(text.encode(), "raw.csv")


def test_what_leads_decided_stands_in_every_row_of_its_pair() -> None:
    header = "pair_id,worker,relevance,adjudicated\n"
    raw = read(header + "a,1,0,3\nb,1,1,\na,2,4,3\nc,1,1,0\nb,2,1,\n")
    assert (raw.decided.tolist(), raw.may_go_on, raw.re_opened.tolist()) == ([3, -1, 0], True, [False] * 3)
    assert problems_of(header + "a,1,0,3\nb,1,1,\na,2,4,\nb,2,1,0\nc,1,1,7\nc,2,1,2\na,3,1,3\na,4,1,4\n") == [
        "raw.csv, row 4: pair 'a' is adjudicated nothing here and 3 above",
        "raw.csv, row 5: pair 'b' is adjudicated 0 here and nothing above",
        "raw.csv, row 6: adjudicated is '7', not one of 0, 1, 2, 3, 4",
        "raw.csv, row 9: pair 'a' is adjudicated 4 here and 3 above",
    ]


def test_a_pair_is_re_opened_in_every_row_or_in_none() -> None:
    header = "pair_id,worker,relevance,re_opened\n"
    raw = read(header + "a,1,0,\nb,1,1,1\na,2,4,\nb,2,1,1\n")
    assert (raw.re_opened.tolist(), raw.may_go_on, raw.decided.tolist()) == ([False, True], True, [-1, -1])
    assert problems_of(header + "a,1,0,1\nb,1,1,\na,2,4,\nc,1,1,yes\na,3,1,0\nb,2,1,\n") == [
        "raw.csv, row 4: re_opened is empty here, but 1 in another row of pair 'a'",
        "raw.csv, row 5: re_opened is 'yes', not 1 or empty",
        "raw.csv, row 6: re_opened is '0', not 1 or empty",
    ]


def test_only_a_re_opened_pair_may_have_six_grades_and_none_has_seven() -> None:
    header = "pair_id,worker,relevance,re_opened\n"
    rows = [*(f"a,{n},1,1\nb,{n},1,\n" for n in range(4))]
    six = "".join(rows) + "a,4,1,1\na,5,1,1\n"
    assert read(header + six).re_opened.tolist() == [True, False]
    assert problems_of(header + six + "a,6,1,1\nb,4,1,\na,7,1,1\nb,5,1,\n") == [
        "raw.csv, row 12: pair 'a' has more than 6 grades; keep the ones that count",
        "raw.csv, row 13: pair 'b' has more than 4 grades; keep the ones that count",
    ]


def test_rounds_count_where_every_row_says_one() -> None:
    header = "pair_id,worker,relevance,round\n"
    raw = read(header + "a,1,0,1\na,2,4,1\na,3,2,2\na,4,2,2\n")
    assert (raw.round.tolist(), raw.may_go_on) == ([1, 1, 2, 2], True)
    first = raw.graded().first_round
    assert first is not None
    assert (first.tolist(), raw.graded().no_rounds) == ([True, True, False, False], "")
    some = read(header + "a,1,0,1\na,2,4,\nb,3,2,3\nb,4,2,4\n")
    assert some.round.tolist() == [1, 0, 3, 0]
    assert (some.graded().first_round, some.graded().no_rounds) == (
        *(None, "the file does not say which of four grades came first"),
    )
    none = read(HEADER + "a,1,0\n")
    assert (none.round.tolist(), none.may_go_on, none.graded().first_round) == ([0], False, None)


def test_grades_are_read_under_the_rule_of_a_campaign() -> None:
    raw = read_raw(b"pair_id,worker,relevance\nb,ann,2\na,bob,0\nb,bob,1\n", "raw.csv", 2)
    assert (raw.pairs, raw.annotators, raw.highest) == (("b", "a"), ("ann", "bob"), 2)
    found = raw.graded(0, Rounding.HALF_DOWN)
    assert (found.people, found.highest, found.tolerance, found.rounding) == (("ann", "bob"), 2, 0, Rounding.HALF_DOWN)
    assert (found.pair.tolist(), found.annotator.tolist(), found.grade.tolist()) == ([0, 1, 0], [0, 1, 1], [2, 0, 1])
    assert (found.may_go_on, found.decided.tolist(), found.pairs) == (False, [-1, -1], 2)
    assert found.re_opened is not None
    assert (raw.graded().tolerance, raw.graded().rounding) == (1, Rounding.HALF_UP)
    with pytest.raises(InputError, match="relevance is '3', not one of 0, 1, 2"):
        read_raw(b"pair_id,worker,relevance\na,bob,3\n", "raw.csv", 2)
    assert (summarise(raw, 0)["discarded"], summarise(raw)["discarded"]) == (2, 1)
    assert summarise(raw, 1, Rounding.HALF_DOWN)["relevance"] == {"0": 0, "1": 1, "2": 0}


def test_of_no_rows_there_are_whole_numbers_too_and_a_grade_that_is_none_is_below_all() -> None:
    columns = ("pair_id", "worker", "relevance", "round", "adjudicated", "re_opened")
    nothing, problems = grades_of(read_csv(",".join(columns).encode(), "f", columns, may_be_empty=True), "f", 4)
    assert (problems, nothing.pairs) == ([], ())
    assert {str(one.dtype) for one in (nothing.grade, nothing.row, nothing.round, nothing.decided)} == {"int64"}
    assert nothing.re_opened.dtype == bool
    wrong, problems = grades_of(read_csv((HEADER + "a,b,9\n").encode(), "f", columns[:3]), "f", 4)
    assert (wrong.grade.tolist(), len(problems)) == ([-1], 1)
