"""Formats found by name: each has an example, is recognised by what is in a file, and says what it can not read."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from backend.campaign.corpus.importing import formats
from backend.campaign.corpus.importing.formats import FORMATS, parse
from backend.campaign.corpus.importing.model import CaptionedMoment, ImportOptions, LeftOut, Parsed
from backend.core.errors import InputError

ROOT = Path(__file__).parents[5]
EXAMPLES = ROOT / "assets" / "example" / "corpora"


def refusal(act: Callable[[], Parsed]) -> list[str]:
    with pytest.raises(InputError) as caught:
        act()
    return [str(problem) for problem in caught.value.problems]


def read(name: str | None, document: object, **options: object) -> Parsed:
    return parse(name, json.dumps(document).encode(), "f", ImportOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_an_example_that_is_recognised_as_it(name: str) -> None:
    (example,) = EXAMPLES.glob(f"{name}.*")
    found = parse(None, example.read_bytes(), example.name)
    assert found.format == name
    assert found == parse(name, example.read_bytes(), example.name)


def test_each_example_is_of_a_format() -> None:
    assert {example.stem for example in EXAMPLES.iterdir()} == FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_told_of_in_the_docs(name: str) -> None:
    assert f"| `{name}` |" in (ROOT / "docs/importing.md").read_text()


NEW = """
from backend.campaign.corpus.importing.model import CorpusFormat
from backend.campaign.corpus.importing.model import CaptionedMoment
from backend.campaign.corpus.importing.rules import finish

def read(data, file, options):
    video, start, end, caption = data.decode().strip().split("|")
    return finish([CaptionedMoment(video, float(start), float(end), caption, 1)], [], file)

FORMAT = CorpusFormat("piped", "one line with bars", lambda look, options: look.line.count("|") == 3, read)
"""


def test_a_file_in_the_folder_is_all_that_a_new_format_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "piped.py").write_text(NEW)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "backend.campaign.corpus.importing.formats.piped", raising=False)
    monkeypatch.setattr(formats, "FORMATS", formats.find_formats())
    found = parse(None, b"a|1|2|A dog runs.\n", "f")
    assert found == Parsed([CaptionedMoment("a", 1.0, 2.0, "A dog runs.", 1)], format="piped")


MOMENTS = {
    # Worked out by hand from the files in assets/example/corpora and the descriptions of the formats by their authors.
    "activitynet": [
        ("v_aBcDeFgHiJk", 0.0, 12.3, 42.5, "A woman walks into a kitchen."),
        ("v_aBcDeFgHiJk", 10.1, 30.0, 42.5, "She fills a kettle and switches it on."),
        ("v_0-1_2-3_4-5", 1.5, 20.4, 20.0, "Two men carry a table across a yard."),
    ],
    "charades-sta": [
        ("AB12C", 0.0, 6.4, None, "a person opens the door."),
        ("AB12C", 5.1, 14.0, None, "person puts a bag on the chair."),
    ],
    "csv": [
        ("kitchen", 1.0, 4.5, 14.0, "Mara pours tea into a cup."),
        ("hall", 0.5, 3.0, 12.0, "A man, late, runs down the stairs."),
    ],
    "didemo": [
        ("12345678@N00_1234567890_abcdef0123.mov", 20.0, 25.0, 30.0, "the dog leaves the picture"),
        ("87654321@N00_9876543210_3210fedcba.avi", 0.0, 10.0, 25.0, "a child waves at the camera"),
    ],
    "jsonl": [
        ("kitchen", 1.0, 4.5, 14.0, "Mara pours tea into a cup."),
        ("hall", 0.5, 3.0, 12.0, "A man runs down the stairs."),
    ],
    "qvhighlights": [
        ("aBcDeFgHiJk_60.0_210.0", 12.0, 16.0, 150.0, "A woman pours tea into a cup."),
        ("aBcDeFgHiJk_60.0_210.0", 50.0, 52.0, 150.0, "A woman pours tea into a cup."),
        ("0-1_2-3_4-5_0.0_150.0", 0.0, 4.0, 126.0, "A dog jumps over a low wall."),
    ],
    "tacos": [
        ("s01-d02.avi", 1.0, 5.0, 30.0, "She takes a knife out of the drawer."),
        ("s01-d02.avi", 5.5, 14.0, 30.0, "She cuts the bread."),
    ],
    "tvr": [("some_show_s01e02_clip_03", 3.2, 9.8, 61.5, "Mara opens the window.")],
}
LEFT_OUT = {
    "activitynet": (LeftOut("the end is not after the start", 1, ("video v_aBcDeFgHiJk, sentence 3",)),),
    "charades-sta": (LeftOut("the end is not after the start", 1, ("row 3",)),),
    "qvhighlights": (LeftOut("the query has no windows", 1, ("row 3",)),),
    "tvr": (LeftOut("the line is of type t", 1), LeftOut("the line is of type vt", 1)),
}


@pytest.mark.parametrize("name", FORMATS)
def test_what_the_examples_hold(name: str) -> None:
    (example,) = EXAMPLES.glob(f"{name}.*")
    found = parse(name, example.read_bytes(), example.name)
    assert [(m.video, m.start_s, m.end_s, m.duration_s, m.caption) for m in found.moments] == MOMENTS[name]
    assert found.left_out == LEFT_OUT.get(name, ())
    assert found.merged == (name == "tacos")


VIDEOS = {"one": {"duration": 9.0, "timestamps": [[0, 2]], "sentences": ["A dog runs."]}}


def test_a_form_that_two_corpora_share_must_be_named() -> None:
    assert refusal(lambda: read(None, VIDEOS)) == [
        "f: this may be activitynet or charades-sta: say which with --format"
    ]
    assert read("activitynet", VIDEOS).moments == read("charades-sta", VIDEOS).moments
    assert read(None, {"v_one": VIDEOS["one"]}).format == "activitynet"
    assert read(None, {"3MSZA": VIDEOS["one"]}).format == "charades-sta"


@pytest.mark.parametrize(
    "data", [b"{}", b"[]", b"[1, 2]", b'{"a": 1}', b"some words", b"{broken", b"[broken", b'"text"', b'{"a": {}}']
)
def test_what_is_not_recognised_is_refused_with_what_was_tried(data: bytes) -> None:
    (message,) = refusal(lambda: parse(None, data, "f"))
    assert message.startswith("f: its format is not recognised. Tried: activitynet (a JSON object of videos")
    assert all(f"{one.name} ({one.entry})" in message for one in FORMATS.values())
    assert "--format" in message


def test_a_broken_first_line_does_not_hide_the_format() -> None:
    line = (EXAMPLES / "tvr.jsonl").read_text()
    assert refusal(lambda: parse(None, ("{oops\n" + line).encode(), "f"))[0].startswith("f, row 1: not valid JSON")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_is_recognised_by_its_header_whatever_ends_its_lines(end: str) -> None:
    assert len(parse(None, end.join(["video,start,end,caption", "a,1,2,b", "a,3,4,c"]).encode(), "f").moments) == 2


def test_a_document_over_many_lines_is_recognised_too() -> None:
    pretty = json.dumps({"v_one": VIDEOS["one"]}, indent=2).encode()
    assert parse(None, b"\xef\xbb\xbf" + pretty, "f").moments == read(None, {"v_one": VIDEOS["one"]}).moments


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("csv", {"types": frozenset({"v"})}, "f: --type works only with tvr: this file is csv"),
        ("tvr", {"columns": {"start": "a"}}, "f: --columns works only with csv and jsonl: this file is tvr"),
        (
            "csv",
            {"columns": {"begin": "a"}},
            "f: --columns: begin is not one of video, start, end, caption, duration, id",
        ),
    ],
)
def test_an_option_that_means_nothing_here_is_refused(name: str, options: dict[str, object], message: str) -> None:
    (example,) = EXAMPLES.glob(f"{name}.*")
    assert refusal(lambda: parse(name, example.read_bytes(), "f", ImportOptions(**options))) == [message]  # type: ignore[arg-type]


def test_columns_may_be_called_anything() -> None:
    called = ImportOptions(columns={"video": "clip", "start": "begin", "end": "finish", "id": "nr"})
    csv = b"clip,begin,finish,caption,nr,video\na,1,3,A dog runs.,x,other\n"
    line = b'{"clip": "a", "begin": 1, "finish": 3, "caption": "A dog runs.", "nr": "x", "video": 5}'
    moment = CaptionedMoment("a", 1.0, 3.0, "A dog runs.", 2, None, "x")
    assert parse(None, csv, "f", called) == Parsed([moment], format="csv")
    assert parse(None, line, "f", called) == Parsed([replace(moment, row=1)], format="jsonl")
    assert refusal(lambda: parse("jsonl", b'{"clip": "a"}', "f", called)) == [
        "f, row 1: Object missing required field `begin`"
    ]
    assert refusal(lambda: parse("csv", csv.replace(b"1,3", b"x,3"), "f", called)) == [
        "f, row 2: begin is 'x', not a number of seconds"
    ]


def test_all_problems_of_a_document_are_named_by_video_and_sentence() -> None:
    document = {
        "a": {"duration": 9, "timestamps": [[0, "2"], [3, 4], [1]], "sentences": ["x", 7, "z"]},
        "b": {"duration": 9, "timestamps": [[0, 2]], "sentences": []},
        "c": {"timestamps": [], "sentences": []},
        "d": {"duration": 0, "timestamps": [[0, 2], [0, 3]], "sentences": ["x", "y"]},
        "e": [],
    }
    assert refusal(lambda: read("activitynet", document)) == [
        "f: video c: Object missing required field `duration`",
        "f: video e: Expected `object`, got `array`",
        "f: video a, sentence 1: Expected `float`, got `str` in field `[1]`",
        "f: video a, sentence 2: Expected `str`, got `int`",
        "f: video a, sentence 3: Expected `array` of length 2",
        "f: video b: 1 timestamps for 0 sentences",
        "f: video d, sentence 1: duration 0.0 is not above 0",
    ]


def test_a_video_that_stands_twice_is_refused_not_half_read() -> None:
    text = json.dumps(VIDEOS)
    twice = (text[:-1] + ", " + text[1:]).encode()
    assert refusal(lambda: parse("activitynet", twice, "f")) == ["f: 'one' occurs twice in one object"]


def test_a_video_that_stands_twice_among_many_is_found_at_once() -> None:
    entries = ", ".join(f'"v{n}": {json.dumps(VIDEOS["one"])}' for n in [*range(100_000), 7])
    began = time.process_time()
    message = refusal(lambda: parse("activitynet", f"{{{entries}}}".encode(), "f"))
    assert message == ["f: 'v7' occurs twice in one object"]
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("AB12C 0.0 6.4 a person opens the door.", "it does not have the form VIDEO start end##sentence"),
        ("AB12C 0.0##a person opens the door.", "it does not have the form VIDEO start end##sentence"),
        ("AB12C zero 6.4##a person opens the door.", "start is 'zero', not a number of seconds"),
        ("AB12C 0 inf##a person opens the door.", "end is 'inf', not a number of seconds"),
    ],
)
def test_a_bad_line_of_charades_is_named(line: str, message: str) -> None:
    data = f"AB12C 1 2##fine\r\n\r\n{line}\r\n".encode()
    assert refusal(lambda: parse("charades-sta", data, "f")) == [f"f, row 3: {message}"]


def test_a_sentence_of_charades_may_hold_the_mark_of_its_lines() -> None:
    assert parse(None, b"AB12C 1 2## a sign says ##1. ", "f").moments[0].caption == "a sign says ##1."


def entry(**change: object) -> dict[str, object]:
    return {"annotation_id": 1, "description": "a dog", "video": "v", "times": [[0, 0]], "num_segments": 6, **change}


@pytest.mark.parametrize(
    ("times", "start_s", "end_s"),
    [
        ([[3, 3]], 15, 20),  # the two examples of the authors' own page
        ([[1, 4]], 5, 25),
        ([[5, 5], [0, 0], [5, 5]], 25, 30),
        ([[2, 2], [1, 1], [1, 1], [2, 2]], 10, 15),
    ],
)
def test_segments_of_didemo_include_both_ends_and_the_most_frequent_span_counts(
    times: list[list[int]], start_s: float, end_s: float
) -> None:
    (moment,) = read(None, [entry(times=times)]).moments
    assert (moment.start_s, moment.end_s, moment.duration_s) == (start_s, end_s, 30)


def test_didemo_says_how_often_people_differed() -> None:
    found = read(None, [entry(times=[[0, 0], [1, 1]]), entry(annotation_id=2, times=[[1, 1], [1, 1]])])
    assert found.notes[0].startswith("people marked different spans for 1 of 2 descriptions; the most frequent span")


def test_bad_entries_of_didemo_are_all_named() -> None:
    document = [entry(times=[]), entry(annotation_id=2, times=[[0]]), entry(annotation_id=3, video=7), 5]
    assert refusal(lambda: read("didemo", document)) == [
        "f, row 1: has no annotated time: `times` is empty",
        "f, row 2: Expected `array` of length 2 in field `times[0]`",
        "f, row 3: Expected `str`, got `int` in field `video`",
        "f, row 4: Expected `object`, got `int`",
    ]


def test_the_test_file_of_qvhighlights_has_nothing_to_import() -> None:
    line = b'{"qid": 13, "query": "A train leaves.", "duration": 150, "vid": "v"}\n'
    assert refusal(lambda: parse(None, line * 2, "f")) == [
        "f: no line has relevant_windows: this is the test file, published without answers"
    ]


def test_windows_of_one_query_have_ids_of_their_own() -> None:
    (example,) = EXAMPLES.glob("qvhighlights.*")
    assert [moment.external_id for moment in parse(None, example.read_bytes(), "f").moments] == ["11/1", "11/2", "12"]
