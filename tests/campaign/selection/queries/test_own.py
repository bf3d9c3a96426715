"""Own queries from the bytes of a file, by tables as people write and spreadsheets copy them."""

import pytest

from backend.campaign.nouns import Split
from backend.campaign.selection.queries.rules import parse_own
from backend.core.errors import InputError

VAL, TEST, TRAIN = Split.VAL, Split.TEST, Split.TRAIN
Told = tuple[str, Split, str, int]


def told(data: bytes, file: str, split: Split = TEST) -> list[Told]:
    return [(one.text, one.split, one.source, one.row) for one in parse_own(data, file, split, {})]


@pytest.mark.parametrize(
    ("data", "file", "expected"),
    [
        # One query a line, whatever follows the last end of a line; white space around a text is none of it.
        (b" A cat sits. \r\nIt rains.", "q.txt", [("A cat sits.", TEST, "q.txt", 1), ("It rains.", TEST, "q.txt", 2)]),
        (b"A cat sits.\n \t", "q.txt", [("A cat sits.", TEST, "q.txt", 1)]),
        (b"text, splits\n", "q.txt", [("text, splits", TEST, "q.txt", 1)]),
        (b"textXsplit\n", "q.txt", [("textXsplit", TEST, "q.txt", 1)]),
        # A table by its name, or by its first line that is not blank, in all three ways to part columns.
        (b"text,split\nA cat sits., val \n", "Q.CSV", [("A cat sits.", VAL, "Q.CSV", 2)]),
        (b"split,text\ntrain, A cat sits.\n", "q.txt", [("A cat sits.", TRAIN, "q.txt", 2)]),
        (b"Text, Split\nA cat sits., val\n", "q.txt", [("A cat sits.", VAL, "q.txt", 2)]),
        (b"text\tsplit\nA, cat\ttest\n", "q.txt", [("A, cat", TEST, "q.txt", 2)]),
        (b"text;split\nA, cat;test\n", "q.csv", [("A, cat", TEST, "q.csv", 2)]),
        (b"\n\ntext;split\nA cat;val\n", "q.txt", [("A cat", VAL, "q.txt", 4)]),
        (b"\xef\xbb\xbftext,split\nA cat,val\n", "q.txt", [("A cat", VAL, "q.txt", 2)]),
        (b"note,text,split\nx,caf\xc3\xa9,val\n", "q.txt", [("caf\xe9", VAL, "q.txt", 2)]),
        # Who names no source has the file as source.
        (
            b"text,split,source\nA cat,val, a survey \nA dog,test, \n",
            "q.csv",
            [("A cat", VAL, "a survey", 2), ("A dog", TEST, "q.csv", 3)],
        ),
    ],
)
def test_queries_are_what_a_person_reads_in_the_file(data: bytes, file: str, expected: list[Told]) -> None:
    assert told(data, file) == expected


def test_lines_have_the_split_that_was_said() -> None:
    assert told(b"A cat sits.", "q.txt", TRAIN) == [("A cat sits.", TRAIN, "q.txt", 1)]


def refused(data: bytes, file: str, there: dict[str, Split] | None = None) -> list[str]:
    with pytest.raises(InputError) as refusal:
        parse_own(data, file, VAL, there or {})
    return str(refusal.value).splitlines()


def test_every_problem_is_told_in_the_order_of_the_rows() -> None:
    table = b"text,split\nA cat,val\n ,test\nA cow,dev \nA cat,val\nA cat,test\nA,dog,val\nIt rains,train\n"
    assert refused(table, "own.csv", {"A cow": VAL, "It rains": TEST}) == [
        "own.csv, row 3: the text is empty: write a query, or remove the line",
        "own.csv, row 4: the split is 'dev': write one of val, test, train",
        "own.csv, row 5: this text is also in row 2: remove one of them",
        "own.csv, row 6: this text is also in row 2, in split val, but here in test: use one split",
        "own.csv, row 7: 3 columns where the header has 2",
        "own.csv, row 8: this text is already a test query of the project, in split test, but here in train: "
        "use one split",
    ]
    assert refused(b"\nA cat\n\nA cat\n", "q.txt", {"A cat": VAL}) == [
        "q.txt, row 2: this text is already a val query of the project: remove one of them",
        "q.txt, row 4: this text is also in row 2: remove one of them",
    ]


def test_what_is_no_text_and_no_table_is_refused() -> None:
    assert refused(b"A cat\n\xff\n", "q.txt") == [
        "q.txt, row 2: the byte at offset 6 (0xff) is not UTF-8; save the file as UTF-8"
    ]
    assert refused(b"\xff\n", "q.txt") == [
        "q.txt, row 1: the byte at offset 0 (0xff) is not UTF-8; save the file as UTF-8"
    ]
    assert refused(b"A cat\nA dog\n", "q.csv") == [
        "q.csv, row 1: no column 'text'; the header is 'A cat'",
        "q.csv, row 1: no column 'split'; the header is 'A cat'",
    ]
