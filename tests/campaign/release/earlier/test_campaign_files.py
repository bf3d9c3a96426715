"""Reading the two files of an earlier campaign: what they say, and every way in which they may be wrong."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.nouns import Split
from backend.campaign.release.earlier.model import EarlierCampaign
from backend.campaign.release.earlier.rules.campaign_files import read_campaign

RAW = b"pair_id,worker,relevance\n1,4,3\n"
HEADER = "pair_id,query,video_name,similarity,timestamp"
PAIRS = HEADER + "\n"
COLUMNS = "pair_id,query,video_name,similarity,start,end"


def read(raw: str | bytes = RAW, pairs: str | None = None) -> EarlierCampaign:
    data = raw if isinstance(raw, bytes) else raw.encode()
    return read_campaign(data, "raw.csv", None if pairs is None else pairs.encode(), "pairs.csv", highest=4)


def problems(raw: str | bytes = RAW, pairs: str | None = None) -> list[str]:
    return [str(problem) for problem in read(raw, pairs).problems]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.integers(0, 4)), min_size=1, max_size=14).filter(
        lambda rows: all(sum(row[0] == pair for row in rows) <= 4 for pair in range(4))
    )
)
def test_rows_of_a_pair_take_its_seats_in_file_order_and_a_worker_again_is_a_repeat(
    rows: list[tuple[int, str, int]],
) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([("pair_id", "worker", "relevance"), *rows])
    found = {grade.row: grade for grade in read(text.getvalue()).grades}
    for n, (pair, worker, grade) in enumerate(rows):
        before = [other for other in rows[:n] if other[0] == pair]
        here = found[n + 2]
        assert (here.pair_id, here.worker, here.grade) == (pair, worker, grade)
        assert here.seat_no == len(before) + 1
        assert here.repeat == any(other[1] == worker for other in before)


def test_the_first_round_sits_down_first_wherever_it_stands() -> None:
    found = read("pair_id,worker,relevance,round\n5,c,2,2\n5,a,0,1\n5,b,4,1\n5,d,2,2\n").grades
    assert [(grade.worker, grade.seat_no) for grade in found] == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]


def test_further_columns_are_read_and_blank_ones_are_unknown() -> None:
    found = read(
        "elapsed_ms,pair_id,worker,relevance,graded_at,active_ms,contexts,simulated\n"
        "9000,1,a,3,2026-09-21T14:13:20Z,4000,2,1\n,1,b,3,,,,\n"
    ).grades
    assert [tuple(grade)[-5:] for grade in found] == [
        (1_790_000_000.0, 4000, 9000, 2, True),
        (None, None, None, None, False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pair_id,worker\n1,2\n", "row 1: no column 'relevance'; the header is 'pair_id,worker'"),
        ("pair_id,worker,relevance\n1,2,5\n", "row 2: relevance is '5', not one of 0, 1, 2, 3, 4"),
        ("pair_id,worker,relevance\n01,2,3\n", "row 2: pair_id is '01', not a whole number from 0 on"),
        ("pair_id,worker,relevance\n-1,2,3\n", "row 2: pair_id is '-1', not a whole number from 0 on"),
        (f"pair_id,worker,relevance\n{2**53 + 1},2,3\n", f"row 2: pair_id is '{2**53 + 1}', not a whole number"),
        ("pair_id,worker,relevance\n1,ann,3\n1,Ann,3\n", "row 3: worker 'Ann' looks like 'ann'"),
        ("pair_id,worker,relevance,round\n1,2,3,4\n", "row 2: round is '4', not 1, 2 or 3"),
        ("pair_id,worker,relevance,round\n1,2,3,3\n", "row 2: round is 3, but this is grade 1 of pair 1"),
        ("pair_id,worker,relevance,round\n1,2,3,2\n", "row 2: round is 2, but this is grade 1 of pair 1"),
        ("pair_id,worker,relevance,graded_at\n1,2,3,soon\n", "row 2: graded_at is 'soon', not a time such as"),
        ("pair_id,worker,relevance,active_ms\n1,2,3,1.5\n", "row 2: active_ms is '1.5', not a whole number of"),
        ("pair_id,worker,relevance,elapsed_ms\n1,2,3,-4\n", "row 2: elapsed_ms is '-4', not a whole number of mill"),
        ("pair_id,worker,relevance,contexts\n1,2,3,x\n", "row 2: contexts is 'x', not a whole number"),
        ("pair_id,worker,relevance,simulated\n1,2,3,2\n", "row 2: simulated is '2', not 0 or 1"),
        ("pair_id,worker,relevance,simulated\n1,2,3,yes\n", "row 2: simulated is 'yes', not 0 or 1"),
        ("pair_id,worker,relevance\n" + "1,2,3\n" * 5, "row 6: pair '1' has more than 4 grades"),
    ],
)
def test_a_wrong_cell_of_the_raw_annotations_is_named(text: str, expected: str) -> None:
    found = problems(text)
    assert len(found) == 1
    assert found[0].startswith(f"raw.csv, {expected}")


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        (HEADER, '1,q,v,.5,"[2, 1]"', "row 2: end 1.0 is not after start 2.0"),
        (HEADER, '1,q,v,.5,"[-1, 1]"', "row 2: start -1.0 is negative"),
        (HEADER, '1,q,v,.5,"[1, 1]"', "row 2: end 1.0 is not after start 1.0"),
        (HEADER, "1,q,v,.5,", "row 2: timestamp is '', not [start, end] in seconds"),
        (COLUMNS, "1,q,v,.5,x,2", "row 2: start is 'x', not a number of seconds"),
        (COLUMNS, "1,q,v,.5,,2", "row 2: start is '', not a number of seconds"),
        (COLUMNS, "1,q,v,.5,1,", "row 2: end is '', not a number of seconds"),
        (HEADER, "1,q,v,.5,7", "row 2: timestamp is '7', not [start, end] in seconds"),
        (HEADER, '1,q,v,.5,"[1, 2, 3]"', "row 2: timestamp is '[1, 2, 3]', not [start, end] in seconds"),
        (HEADER, '1,q,v,nan,"[1, 2]"', "row 2: similarity is 'nan', not a number"),
        (HEADER, '1, ,v,.5,"[1, 2]"', "row 2: query is ' ', not a text"),
        (HEADER, '1,q,,.5,"[1, 2]"', "row 2: video_name is '', not a name"),
        (HEADER, ',q,v,.5,"[1, 2]"', "row 2: pair_id is '', not a whole number from 0 on"),
        (HEADER, '1,q,v,.5,"[1, 2]"\n1,q,v,.5,"[2, 3]"', "row 3: pair 1 was already given in row 2"),
        (HEADER, '1,q,v,.5,"[1, 2]"\n2, q,v,.5,"[1.0, 2]"', "row 3: this query and moment were already given in row 2"),
        (HEADER + ",split", '1,q,v,.5,"[1, 2]",train', "row 2: split is 'train', not val or test"),
        (
            HEADER + ",split",
            '1,q,v,.5,"[1, 2]",val\n2,q,v,.5,"[2, 3]",test',
            "row 3: this query is in split test here, but in val in row 2",
        ),
        (HEADER + ",rank", '1,q,v,.5,"[1, 2]",0', "row 2: rank is '0', not a whole number from 1 on"),
        (HEADER + ",rank", '1,q,v,.5,"[1, 2]",', "row 2: rank is '', not a whole number from 1 on"),
        (
            HEADER + ",rank",
            '1,q,v,.5,"[1, 2]",4\n2,q,v,.5,"[2, 3]",4',
            "row 3: rank 4 of this query was already given in row 2",
        ),
        (
            HEADER + ",query_id",
            '1,q,v,.5,"[1, 2]",4\n2,q,v,.5,"[2, 3]",5',
            "row 3: this query has the number 5 here, but 4 in row 2",
        ),
        (HEADER + ",query_id", '1,q,v,.5,"[1, 2]",4\n2,p,v,.5,"[2, 3]",4', "row 3: query 4 has another text in row 2"),
        (HEADER + ",query_id", '1,q,v,.5,"[1, 2]",x', "row 2: query_id is 'x', not a whole number from 0 on"),
        (HEADER + ",duration", '1,q,v,.5,"[1, 2]",0', "row 2: duration is '0', not a positive number of seconds"),
        (
            HEADER + ",duration",
            '1,q,v,.5,"[1, 2]",9\n2,q,v,.5,"[2, 3]",8',
            "row 3: video 'v' lasts 8.0 s here, but 9.0 s in row 2",
        ),
    ],
)
def test_a_wrong_cell_of_the_pairs_is_named_and_a_pair_that_lacks_it_is_left_out(
    header: str, rows: str, expected: str
) -> None:
    found = read(pairs=f"{header}\n{rows}\n")
    assert len(found.problems) == 1
    assert str(found.problems[0]).startswith(f"pairs.csv, {expected}")
    bad = {found.problems[0].row}
    may_lack = ("split is", "query_id is", "duration is")
    kept = set(range(2, 3 + rows.count("\n"))) - (set() if any(cell in expected for cell in may_lack) else bad)
    assert {pair.row for pair in found.pairs} == kept


def test_problems_of_both_files_are_told_together() -> None:
    assert problems("pair_id,worker,relevance\n1,2,9\nx,2,1\n", PAIRS + '1,q,v,x,"[1, 2]"\n') == [
        "raw.csv, row 2: relevance is '9', not one of 0, 1, 2, 3, 4",
        "raw.csv, row 3: pair_id is 'x', not a whole number from 0 on",
        "pairs.csv, row 2: similarity is 'x', not a number",
    ]
    assert problems(b"\xff", "") == [
        "raw.csv, row 1: the byte at offset 0 (0xff) is not UTF-8; save the file as UTF-8",
        "pairs.csv: the file is empty",
    ]


@pytest.mark.parametrize("more", ["", ",start", ",end"])
def test_a_file_of_pairs_without_moments_is_refused(more: str) -> None:
    found = read(pairs=f"pair_id,query,video_name,similarity{more}\n1,q,v,.5{more and ',1'}\n")
    assert [str(problem) for problem in found.problems] == [
        "pairs.csv, row 1: no column 'timestamp', and not both 'start' and 'end'"
    ]
    assert found.pairs == []


def test_of_a_file_that_cannot_be_read_there_are_no_pairs_and_no_durations() -> None:
    found = read(pairs=PAIRS)
    assert [str(problem) for problem in found.problems] == ["pairs.csv: the file has a header but no rows"]
    assert (found.pairs, found.durations, found.pairs_file) == ([], {}, "pairs.csv")


def test_without_a_file_of_pairs_there_is_no_name_of_one() -> None:
    assert read().pairs_file == ""
    assert read_campaign(RAW, "raw.csv", (PAIRS + '1,q,v,.5,"[1, 2]"\n').encode(), highest=4).pairs_file == ""


def test_what_repeats_is_counted_only_in_a_file_without_problems() -> None:
    header, twice = "pair_id,worker,relevance,contexts\n", "1,a,3,\n1,a,3,\n"
    good, wrong = read(header + twice), read(header + twice + "2,a,3,x\n")
    assert (good.graded_twice, good.duplicate_rows) == (1, 1)
    assert (wrong.graded_twice, wrong.duplicate_rows) == (0, 0)


def test_a_grade_without_a_round_sits_down_before_those_with_one() -> None:
    found = read("pair_id,worker,relevance,round\n5,b,4,1\n5,c,2,2\n5,a,0,\n")
    assert [(grade.worker, grade.seat_no) for grade in found.grades] == [("a", 1), ("b", 2), ("c", 3)]
    assert found.problems == ()


def test_grades_of_people_are_told_from_simulated_ones() -> None:
    found = read("pair_id,worker,relevance,simulated\n1,a,3,0\n1,b,3,1\n1,c,3,\n")
    assert [grade.simulated for grade in found.grades] == [False, True, False]
    assert found.problems == ()


def test_names_that_look_alike_are_one_worker_written_in_two_ways() -> None:
    assert problems("pair_id,worker,relevance\n1,weiß,3\n1,WEISS,3\n") == [
        "raw.csv, row 3: worker 'WEISS' looks like 'weiß': write them alike, or rename one"
    ]
    assert problems("pair_id,worker,relevance\n1,weiß,3\n1,weis,3\n") == []


def test_queries_and_videos_each_have_numbers_splits_and_durations_of_their_own() -> None:
    header = HEADER + ",query_id,split,duration\n"
    found = read(pairs=header + '1,q,v,.5,"[0, 0.5]",4,val,0.5\n2,p,w,.5,"[0, 0.5]",5,test,8\n')
    assert found.problems == ()
    assert found.durations == {"v": 0.5, "w": 8.0}


def test_without_ranks_similarity_makes_them_and_equal_ones_keep_the_order_of_the_file() -> None:
    rows = [(1, "q", 0.0), (2, "p", 0.9), (3, "q", 0.7), (4, "q", 0.0), (5, "q", 0.9), (6, "q", -0.1)]
    text = PAIRS + "".join(f'{n},{query},v,{similarity},"[{n}, {n}.5]"\n' for n, query, similarity in rows)
    assert {pair.pair_id: pair.rank for pair in read(pairs=text).pairs} == {5: 1, 3: 2, 1: 3, 4: 4, 6: 5, 2: 1}


def test_a_moment_is_the_same_as_timestamp_and_as_start_and_end() -> None:
    stamp = read(pairs=PAIRS + '1,q,v,.5,"[63.47, 77.42]"\n').pairs
    columns = read(pairs="pair_id,query,video_name,similarity,start,end\n1,q,v,.5,63.47,77.42\n").pairs
    assert stamp == columns
    assert stamp[0].span == ("v", 63.47, 77.42)


def test_everything_that_both_files_say_is_read() -> None:
    found = read(
        "pair_id,worker,relevance,re_opened\n7,ann,0,\n3,bob,4,\n7,bob,0,\n7,ann,0,\n"
        + "".join(f"5,w{n},{n},1\n" for n in range(4)),
        "relevance,verdict,caption,duration,rank,split,query_id,pair_id,query,video_name,similarity,start,end\n"
        " 3 , consensus ,a dog ,60,2,test,4,7, q ,v,,1,2.5\n"
        ",,,,1,,,3,p,w,-0.5,0,1\n"
        ",,,60.0,1,test,4,5,q,v,,3,4\n",
    )
    assert found.problems == ()
    assert (found.raw_file, found.pairs_file, found.workers) == (
        *("raw.csv", "pairs.csv", ("ann", "bob", "w0", "w1", "w2", "w3")),
    )
    assert [(grade.row, grade.pair_id, grade.seat_no, grade.repeat) for grade in found.grades] == [
        *((3, 3, 1, False), (6, 5, 1, False), (7, 5, 2, False), (8, 5, 3, False), (9, 5, 4, False)),
        *((2, 7, 1, False), (4, 7, 2, False), (5, 7, 3, True)),
    ]
    assert (found.re_opened, found.graded_twice, found.duplicate_rows) == (frozenset({5}), 1, 1)
    assert found.durations == {"v": 60.0}
    assert [tuple(pair) for pair in found.pairs] == [
        (2, 7, "q", 4, Split.TEST, ("v", 1.0, 2.5), 2, None, "a dog ", "consensus", "3"),
        (3, 3, "p", None, None, ("w", 0.0, 1.0), 1, -0.5, None, None, ""),
        (4, 5, "q", 4, Split.TEST, ("v", 3.0, 4.0), 1, None, None, None, ""),
    ]


@pytest.mark.parametrize("seats", [1, 3])
def test_a_pair_is_re_opened_only_after_four_grades(seats: int) -> None:
    rows = "".join(f"{pair},{n},1,1\n" for pair, most in ((9, 4), (8, seats), (7, 0)) for n in range(most))
    assert problems("pair_id,worker,relevance,re_opened\n" + rows + "5,1,1,\n") == [
        f"raw.csv, row {5 + seats}: pair 8 is marked re_opened, but only {seats} of its first 4 grades are there"
    ]


def test_rounds_are_two_grades_each() -> None:
    header = "pair_id,worker,relevance,round,re_opened\n"
    good = "".join(f"5,w{n},1,{1 + n // 2},1\n" for n in range(6))
    assert problems(header + good) == []
    bad = "".join(f"5,w{n},1,{said},1\n" for n, said in enumerate((1, 1, 2, 3, 3, 3)))
    assert problems(header + bad) == ["raw.csv, row 5: round is 3, but this is grade 4 of pair 5"]


def test_raw_annotations_may_be_a_header_alone_where_somebody_says_so() -> None:
    data = b"pair_id,worker,relevance\n"
    found = read_campaign(data, "raw.csv", highest=4)
    assert [str(problem) for problem in found.problems] == ["raw.csv: the file has a header but no rows"]
    assert (found.raw_file, found.pairs_file, found.grades) == ("raw.csv", "", ())
    empty = read_campaign(data, "raw.csv", (PAIRS + '1,q,v,.5,"[1, 2]"\n').encode(), "pairs.csv", highest=4)
    assert (empty.pairs_file, len(empty.pairs), len(empty.problems)) == ("pairs.csv", 1, 1)
    allowed = read_campaign(data, "raw.csv", highest=4, may_be_ungraded=True)
    assert (allowed.problems, list(allowed.grades), allowed.graded_twice) == ((), [], 0)


def test_names_that_only_case_tells_apart_are_told_at_their_first_rows() -> None:
    rows = ["1,Ann,3", "1,bob,3", "2,ann,1", "2,ANN,2", "3,ann,3", "3,BOB,3"]
    assert problems("pair_id,worker,relevance\n" + "\n".join(rows) + "\n") == [
        "raw.csv, row 4: worker 'ann' looks like 'Ann': write them alike, or rename one",
        "raw.csv, row 5: worker 'ANN' looks like 'Ann': write them alike, or rename one",
        "raw.csv, row 7: worker 'BOB' looks like 'bob': write them alike, or rename one",
    ]


def test_a_row_that_is_wrong_is_left_out_and_the_others_are_read() -> None:
    text = HEADER + ',rank\n1,q,v,.5,"[1, 2]",1\nx,q,v,.5,"[2, 3]",2\n3,q,v,.5,"[5, 4]",3\n4,q,v,,"[4, 5]",4\n'
    found = read(pairs=text)
    assert [(pair.pair_id, pair.rank) for pair in found.pairs] == [(1, 1), (4, 4)]
    assert [problem.row for problem in found.problems] == [3, 4]
    blank = read(pairs=HEADER + '\n1,q,v,,"[1, 2]"\n2,q,v,.5,"[2, 3]"\n')
    assert [str(problem) for problem in blank.problems] == ["pairs.csv, row 2: similarity is '', not a number"]
    assert [pair.pair_id for pair in blank.pairs] == [2]
