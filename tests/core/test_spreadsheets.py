"""Tables as spreadsheets save them: read, or refused in one sentence that names file, row, value and cause."""

import ast
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

import backend
from backend.campaign.corpus.importing.formats import parse
from backend.campaign.nouns import Split
from backend.campaign.release.earlier.rules.campaign_files import read_campaign
from backend.campaign.release.earlier.rules.raw_annotation import read_raw
from backend.campaign.selection.pools.files import read_sts
from backend.campaign.selection.queries.rules import parse_own
from backend.core.errors import InputError
from backend.core.reading import unpack
from backend.core.text_files import read_csv
from backend.scoring.files.formats import run_file, truth_file, video_map_file

TIMES = (1.5, 4.25)


def corpus(data: bytes) -> object:
    [moment] = parse(None, data, "t.csv").moments
    return moment.start_s, moment.end_s


def truth(data: bytes) -> object:
    found = truth_file(unpack(data, "t.csv"), "t.csv")
    return *found.start_s.tolist(), *found.end_s.tolist()


def run(data: bytes) -> object:
    found = run_file(unpack(data, "t"), "t")  # without a name that tells of a table
    return *found.start_s.tolist(), *found.end_s.tolist()


def grades(data: bytes) -> object:
    return read_raw(data, "t.csv").grade.tolist()


def earlier_pairs(data: bytes) -> object:
    [pair] = read_campaign(b"pair_id,worker,relevance\n1,ann,4\n", "raw.csv", data, "t.csv", highest=4).pairs
    return pair.span[1:]


def queries(data: bytes) -> object:
    return [(query.text, query.split.value) for query in parse_own(data, "t.txt", Split.TEST, {})]


READERS: dict[Callable[[bytes], object], tuple[list[list[str]], object]] = {
    corpus: ([["Video", "start", "end", "duration", "caption"], ["v", "1.5", "4.25", "9", "A, b"]], TIMES),
    truth: ([["query_id", "video", "start", "end", "relevance"], ["q", "v", "1.5", "4.25", "4"]], TIMES),
    run: ([["query_id", "video", "start", "end", "score"], ["q", "v", "1.5", "4.25", "0.5"]], TIMES),
    grades: ([["pair_id", "worker", "relevance"], ["7", "ann", "3"]], [3]),
    earlier_pairs: (
        [
            ["pair_id", "query", "video_name", "similarity", "start", "end"],
            ["1", "A cat.", "v", "0.5", "1.5", "4.25"],
        ],
        TIMES,
    ),
    queries: ([["text", "split"], ["A, cat.", "val"]], [("A, cat.", "val")]),
}


def saved(rows: list[list[str]], delimiter: str, *, comma: bool = False, space: str = "") -> str:
    """A table as a spreadsheet writes it: quotes where a cell has the delimiter, rows of blank cells at the end."""
    rows = [[cell.replace(".", ",") if comma and cell[0].isdigit() else cell for cell in row] for row in rows]
    rows += [[""] * len(rows[0])] * 2
    cells = [[f'"{cell}"' if delimiter in cell else cell for cell in row] for row in rows]
    return "".join((delimiter + space).join(row) + "\r\n" for row in cells)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_every_reader_takes_what_spreadsheets_write(reader: Callable[[bytes], object]) -> None:
    rows, expected = READERS[reader]
    titled = [[name.replace("_", " ").title() for name in rows[0]], *rows[1:]]
    for table, delimiter, comma in itertools.product((rows, titled), ",;\t", (False, True)):
        text = saved(table, delimiter, comma=comma)
        big_endian = b"\xfe\xff" + text.encode("utf-16-be")
        for data in (text.encode(), text.encode("utf-8-sig"), text.encode("utf-16"), big_endian):
            assert reader(data) == expected, data
    assert reader(saved(rows, ",", space=" ").encode()) == expected
    assert reader(b"sep=;\r\n" + saved(rows, ";").encode()) == expected


def test_no_other_module_takes_tables_apart() -> None:
    """`csv.reader` and `csv.DictReader` are of the one reader that knows all this."""
    root = Path(backend.__file__).parent
    users = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("reader", "DictReader")
    }
    assert users == {"core/text_files.py"}


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        # Exactly three digits after the only comma: decimals, because the other number can be nothing else.
        (["1,234", "4,5"], [1.234, 4.5]),
        (["-1,234", "0,125"], [-1.234, 0.125]),
        (["1,234", "12345,678"], [1.234, 12345.678]),
        (["1.234,5", "1,234"], [1234.5, 1.234]),
        # Both signs, or one sign twice, in one number leave no doubt.
        (["1,234.5", "7"], [1234.5, 7]),
        (["1,234,567", "7"], [1234567, 7]),
        (["4.5", "4,5"], [4.5, 4.5]),
        # Without a comma anywhere a point is a decimal point.
        (["1.234", "7"], [1.234, 7]),
        (["1e-3", "-.5"], [0.001, -0.5]),
    ],
)
@pytest.mark.parametrize("delimiter", ",;\t")
def test_numbers_of_one_meaning_are_read(cells: list[str], numbers: list[float], delimiter: str) -> None:
    text = saved([["name", "n"], *(["a", cell] for cell in cells)], delimiter)
    table = read_csv(text.encode(), "t.csv", ["n"], numbers=["n"])
    assert (list(map(float, table.columns["n"])), table.problems) == (numbers, [])


@pytest.mark.parametrize(
    ("cells", "row", "value", "meanings"),
    [
        (["7", "1,234"], 3, "1,234", ("1.234", "1234")),
        (["4.5", "12,345"], 3, "12,345", ("12.345", "12345")),
        (["1,234.5", "1,234"], 3, "1,234", ("1.234", "1234")),
        (["4,5", "1.234"], 3, "1.234", ("1.234", "1234")),
        (["4,5", "4.5", "-1.234"], 4, "-1.234", ("-1.234", "-1234")),
    ],
)
@pytest.mark.parametrize("delimiter", ",;\t")
def test_a_number_of_two_meanings_is_refused(
    cells: list[str], row: int, value: str, meanings: tuple[str, str], delimiter: str
) -> None:
    text = saved([["name", "n"], *(["a", cell] for cell in cells)], delimiter)
    table = read_csv(text.encode(), "t.csv", ["n"], numbers=["n"])
    said = f"t.csv, row {row}: n is {value!r}, which may be {meanings[0]} or {meanings[1]}: write one of these"
    assert [str(problem) for problem in table.problems] == [said]
    assert len(table.rows) == len(cells) - 1


def refused(read: Callable[[], object]) -> list[str]:
    with pytest.raises(InputError) as caught:
        read()
    return [str(problem) for problem in caught.value.problems]


def test_a_refusal_names_the_row_of_the_file_and_reaches_every_caller() -> None:
    doubt = "which may be 1.234 or 1234: write one of these"
    assert refused(lambda: corpus(b"video;start;end;caption\n;;;\nv;1;1,234;c\n")) == [
        f"t.csv, row 3: end is '1,234', {doubt}"
    ]
    assert refused(lambda: run(b"query_id;video;start;end;score\nq;v;0;1,234;9\n")) == [
        f"t, row 2: end is '1,234', {doubt}"
    ]
    pairs = b"pair_id;query;video_name;similarity;start;end\n1;q;v;1;0;1,234\n"
    [problem] = read_campaign(b"pair_id,worker,relevance\n1,ann,4\n", "raw.csv", pairs, "t.csv", highest=4).problems
    assert str(problem) == f"t.csv, row 2: end is '1,234', {doubt}"


def test_a_table_whose_columns_have_other_names_is_refused_by_them() -> None:
    assert refused(lambda: corpus(b"Video;Beginn;end;caption\nv;1;2;c\n")) == [
        "t.csv, row 1: the header 'Video;Beginn;end;caption' has no 'start': name the columns of the file with "
        "--columns"
    ]


def test_text_in_utf_16_is_read_or_refused_by_its_name() -> None:
    sts = "A dog runs.\tA dog is running.\t4.8\nA dog runs.\tTwo cats sleep.\t0.2\n\t\t\n"
    assert len(read_sts(sts.encode("utf-16"), "sts.tsv")) == 2
    assert video_map_file(unpack('{"vé": [20, 0]}'.encode("utf-16"), "v.json"), "v.json") == {0: "vé"}
    without = "a.csv: looks like UTF-16 without a byte order mark; save it as UTF-8"
    for codec in ("utf-16-le", "utf-16-be"):
        assert refused(lambda codec=codec: parse(None, "video,start\n".encode(codec), "a.csv")) == [without]
    damaged = "video,start,end,caption\n".encode("utf-16")[:-1]
    assert refused(lambda: parse(None, damaged, "a.csv")) == ["a.csv: is damaged UTF-16 text; save it as UTF-8"]


def test_names_that_differ_in_capitals_alone_are_told_apart_or_refused() -> None:
    table = read_csv(b"Start,start,end\n1,2,3\n", "t.csv", ["start"])
    assert table.columns == {"start": ("2",)}
    assert refused(lambda: read_csv(b"Start,START,end\n1,2,3\n", "t.csv", ["start"])) == [
        "t.csv, row 1: column 'start' occurs 2 times in the header: keep one"
    ]
