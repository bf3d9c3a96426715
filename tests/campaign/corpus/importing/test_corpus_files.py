"""Annotation files: what is taken, what is noted, what is refused and how it is named."""

import json
from collections.abc import Callable

import pytest

from backend.campaign.corpus.importing.formats import FORMATS, parse
from backend.campaign.corpus.importing.model import CaptionedMoment, ImportOptions, LeftOut, Parsed
from backend.core.errors import InputError


def parse_tvr(data: bytes, file: str, *types: str) -> Parsed:
    return parse("tvr", data, file, ImportOptions(types=frozenset(types or {"all"})))


def parse_csv(data: bytes, file: str) -> Parsed:
    return parse("csv", data, file)


def parse_jsonl(data: bytes, file: str) -> Parsed:
    return parse("jsonl", data, file)


def tvr_line(**changes: object) -> str:
    line = {"vid_name": "v", "duration": 10.0, "ts": [1, 3.5], "desc": "A dog runs.", "type": "v", "desc_id": 7}
    return json.dumps({**line, **changes}, ensure_ascii=False)


def lines(*texts: str) -> bytes:
    return "\n".join(texts).encode()


def problems_of(parser: Callable[[bytes, str], Parsed], data: bytes) -> list[str]:
    with pytest.raises(InputError) as caught:
        parser(data, "f")
    return [str(problem) for problem in caught.value.problems]


def test_the_three_formats_say_the_same_thing() -> None:
    moment = CaptionedMoment("v", 1.0, 3.5, "A dog runs.", 1, 10.0, "7")
    tvr = parse("tvr", tvr_line().encode(), "f")
    plain = {"video": "v", "start": 1, "end": 3.5, "caption": "A dog runs.", "duration": 10, "id": 7}
    jsonl = parse("jsonl", json.dumps(plain).encode(), "f")
    csv = parse("csv", b"caption,video,start,end,duration,id,more\nA dog runs.,v,1,3.5,10,7,x\n", "f")
    assert tvr == Parsed([moment], format="tvr")
    assert jsonl == Parsed([moment], format="jsonl")
    assert csv == Parsed([CaptionedMoment("v", 1.0, 3.5, "A dog runs.", 2, 10.0, "7")], format="csv")


def test_optional_fields_may_be_absent_or_empty() -> None:
    bare = CaptionedMoment("v", 1.0, 2.0, "c", 1)
    assert parse_jsonl(b'{"video": "v", "start": 1, "end": 2, "caption": "c"}', "f").moments == [bare]
    for text in (b"video,start,end,caption\nv,1,2,c\n", b"video,start,end,caption,duration,id\nv,1,2,c,,\n"):
        assert parse_csv(text, "f").moments == [CaptionedMoment("v", 1.0, 2.0, "c", 2)]


def test_unknown_format_names_the_known_ones() -> None:
    assert problems_of(lambda data, file: parse("tvrr", data, file), b"{}") == [
        f"f: unknown format 'tvrr'; known formats: {', '.join(FORMATS)}"
    ]


def test_types_choose_lines_and_keep_those_without_one() -> None:
    data = lines(
        tvr_line(desc_id=1),
        tvr_line(desc_id=2, type="t", desc="x"),
        tvr_line(desc_id=3, type="vt", desc="y"),
        tvr_line(desc_id=4, type="t", desc="z"),
        tvr_line(desc_id=5, type=None, desc="w"),
    )
    found = parse_tvr(data, "f", "v")
    assert [moment.external_id for moment in found.moments] == ["1", "5"]
    assert found.left_out == (LeftOut("the line is of type t", 2), LeftOut("the line is of type vt", 1))
    assert parse("tvr", data, "f") == found, "the paper's choice is what nobody has to ask for"
    assert [moment.external_id for moment in parse_tvr(data, "f", "t", "vt").moments] == ["2", "3", "4", "5"]
    assert len(parse_tvr(data, "f", "all").moments) == len(parse_tvr(data, "f", "v", "all").moments) == 5


def test_a_type_that_nobody_has_is_a_mistake() -> None:
    data = lines(tvr_line(type="t"))
    assert problems_of(lambda data, file: parse_tvr(data, file, "V"), data) == [
        "f: no line is of type V; the file has t. --type all keeps every line"
    ]


def test_lines_of_other_types_are_checked_too() -> None:
    data = lines(tvr_line(), tvr_line(type="t", ts=[3, 3], desc_id=8))
    assert problems_of(lambda data, file: parse_tvr(data, file, "v"), data) == [
        "f, row 2: end 3.0 is not after start 3.0"
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ts": [3, 2]}, "end 2.0 is not after start 3.0"),
        ({"ts": [1]}, "Expected `array` of length 2 in field `ts`"),
        ({"ts": [1, "2"]}, "Expected `float`, got `str` in field `ts[1]`"),
        ({"duration": None}, "Expected `float`, got `null` in field `duration`"),
        ({"desc": 5}, "Expected `str`, got `int` in field `desc`"),
        ({"ts": [1, float("inf")]}, "not valid JSON: JSON is malformed: invalid character (byte 46)"),
        ({"ts": [1, float("nan")]}, "not valid JSON: JSON is malformed: invalid character (byte 46)"),
    ],
)
def test_a_bad_line_is_refused_by_row(changes: dict[str, object], expected: str) -> None:
    assert problems_of(parse_tvr, lines("", tvr_line(desc_id=1), tvr_line(**{"desc_id": 2, **changes})))[-1:] == [
        f"f, row 3: {expected}"
    ]


@pytest.mark.parametrize("name", ["vid_name", "duration", "ts", "desc"])
def test_a_missing_field_is_named(name: str) -> None:
    line = json.loads(tvr_line())
    del line[name]
    assert problems_of(parse_tvr, json.dumps(line).encode()) == [f"f, row 1: Object missing required field `{name}`"]


def test_seconds_have_one_name() -> None:
    line = b'{"video": "v", "start_s": 1, "end_s": 2, "caption": "c"}'
    assert problems_of(parse_jsonl, line) == ["f, row 1: Object missing required field `start`"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("v,nan,2,c,", "start is 'nan', not a number of seconds"),
        ("v,1,inf,c,", "end is 'inf', not a number of seconds"),
        ("v,1_0,20,c,", "start is '1_0', not a number of seconds"),
        ("v,0:01,2,c,", "start is '0:01', not a number of seconds"),
        ("v,,2,c,", "start is '', not a number of seconds"),
        ("v,1,2,c,ten", "duration is 'ten', not a number of seconds"),
        ("v,1,2,c", "4 columns where the header has 5"),
    ],
)
def test_csv_cells_must_be_numbers(row: str, expected: str) -> None:
    data = f"video,start,end,caption,duration\nv,1,2,fine,\n{row}\n".encode()
    assert problems_of(parse_csv, data) == [f"f, row 3: {expected}"]


@pytest.mark.parametrize("parser", [parse_tvr, parse_jsonl, parse_csv])
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b" \n\r\n\t\n"])
def test_an_empty_file_is_refused(parser: Callable[[bytes, str], Parsed], data: bytes) -> None:
    assert problems_of(parser, data) == ["f: the file is empty"]


@pytest.mark.parametrize("parser", [parse_tvr, parse_jsonl, parse_csv])
def test_bytes_that_are_not_utf8_are_named(parser: Callable[[bytes, str], Parsed]) -> None:
    assert problems_of(parser, b"\nab\xfc") == [
        "f, row 2: the byte at offset 3 (0xfc) is not UTF-8; save the file as UTF-8"
    ]


def test_mark_line_ends_and_blank_lines_do_not_matter() -> None:
    data = b"\xef\xbb\xbf" + tvr_line().encode() + b"\r\n\r\n" + tvr_line(desc="b\u2028c", desc_id=8).encode()
    assert [moment.row for moment in parse_tvr(data, "f").moments] == [1, 3]


def test_rows_of_cells_with_line_breaks_are_where_they_start() -> None:
    data = b'video,start,end,caption\nv,1,2,"a\nb"\nv,1,2,c\n'
    assert [moment.row for moment in parse_csv(data, "f").moments] == [2, 4]


@pytest.mark.parametrize(
    "line",
    [
        '{"video": "v", "start": 0, "end": 1, "caption": "c", "x": ' + "[" * 100_000,
        '{"video": "v", "start": 0, "end": 1, "caption": "c", "id": ' + "9" * 5_000 + "}",
        '{"video": "v", "start": 0, "end": 1e400, "caption": "c"}',
        '{"video": "\\ud800", "start": 0, "end": 1, "caption": "c"}',
        '[{"video": "v"}]',
        "null",
    ],
    ids=["deep", "long-id", "huge", "half-a-character", "list", "null"],
)
def test_hostile_lines_are_refused(line: str) -> None:
    assert problems_of(parse_jsonl, line.encode())[0].startswith("f, row 1: ")
