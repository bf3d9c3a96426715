"""Reading raw annotation files, and what is counted in them."""

import pytest

from backend.campaign.earlier.rules.raw_annotation import read_raw, summarise
from backend.campaign.quality.rules.summary import GradeSummary
from backend.ground.errors import InputError

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
            "pair_id;worker;relevance\n1;2;3\n",
            "raw.csv, row 1: no column 'pair_id'; the header is 'pair_id;worker;relevance'",
        ),
        (
            "pair_id,worker,worker,relevance\n1,2,2,3\n",
            "raw.csv, row 1: column 'worker' stands 2 times in the header",
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
