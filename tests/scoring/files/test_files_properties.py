"""Readers of truth and runs under random input: the right columns or a refusal, never anything in between."""

import csv
import gzip
import io
import json
import math
from functools import partial
from unicodedata import normalize

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.core.reading import unpack
from backend.core.typed_text import is_visible
from backend.scoring.files import documents, fast, text, words
from backend.scoring.files.formats import run_file, truth_file, video_map_file
from backend.scoring.matching.columns import Run, Spans, Truth

NAMES = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
    .filter(is_visible)
    .map(partial(normalize, "NFC"))  # as every reader gives it
)
KEYS = NAMES.filter(lambda key: key == key.strip())
TIMES = st.floats(0, 1e6, allow_nan=False) | st.integers(0, 10**6)
SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18)
ROWS = st.tuples(NAMES, TIMES, TIMES, SCORES).map(list)
OF_TVR = {"VCMR", "SVMR", "VR", "video2idx"}
"""The keys of TVR's own prediction files: an object with nothing else is one."""
RUNS = st.dictionaries(KEYS, st.lists(ROWS, max_size=4), min_size=1, max_size=5).filter(lambda run: {*run} - OF_TVR)
SECRETS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
WORDS = [
    *words.QUERY,
    *words.VIDEO,
    *words.START,
    *words.END,
    *words.TIMES,
    *words.RELEVANCE,
    *words.SCORE,
    *words.TASKS,
]
WORDS += ["predictions", "relevant_moment", "relevant_windows", "pred_relevant_windows", "VR", "video2idx", "5"]
JSONISH = st.recursive(
    SECRETS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)


def moments(spans: Spans) -> list[tuple[object, ...]]:
    """What the columns say, row by row; ids as text, because not every format tells numbers from text."""
    value = spans.relevance if isinstance(spans, Truth) else spans.score if isinstance(spans, Run) else []
    queries = [str(spans.queries[n]) for n in spans.query]
    videos = [spans.videos[n] for n in spans.video]
    return list(zip(queries, videos, spans.start_s.tolist(), spans.end_s.tolist(), list(value), strict=True))


def lines(rows: list[object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def table(header: list[str], rows: list[list[object]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


def ways(run: dict[str, list[list[object]]]) -> dict[str, str]:
    """A run in every format that can hold it; those with one prediction a line cannot hold a query without any."""
    objects = {
        query: [{"video_name": v, "timestamp": [s, e], "model_scores": c} for v, s, e, c in rows]
        for query, rows in run.items()
    }
    flat = [(query, *row) for query, rows in run.items() for row in rows]
    found = {
        "object": json.dumps(run),
        "indented": json.dumps(run, indent=1, ensure_ascii=False),
        "entries": json.dumps([{"query_id": q, "desc": "x [", "predictions": rows} for q, rows in run.items()]),
        "entry lines": lines([{"desc_id": q, "predictions": rows} for q, rows in run.items()]),
        "objects": json.dumps(objects),
        "entries of objects": json.dumps([{"qid": q, "predictions": rows} for q, rows in objects.items()]),
        "task": json.dumps(
            {
                "video2idx": {v: n for n, v in enumerate(dict.fromkeys(row[1] for row in flat))},
                "SVMR": [],
                "VCMR": [
                    {
                        "desc_id": q,
                        "predictions": [
                            [list(dict.fromkeys(row[1] for row in flat)).index(v), s, e, c] for v, s, e, c in rows
                        ],
                    }
                    for q, rows in run.items()
                ],
            }
        ),
    }
    if flat:
        found |= {
            "generic lines": lines(
                [dict(zip(("qid", "vid", "start", "end", "score"), row, strict=True)) for row in flat]
            ),
            "list of objects": json.dumps(
                [
                    {"query_id": q, "video": v, "start_s": s, "end_s": e, "score": c, "more": [1]}
                    for q, v, s, e, c in flat
                ]
            ),
        }
    # A cell of a table has no white space around it.
    if flat and all(row[1] == row[1].strip() for row in flat):
        found["csv"] = table(["query_id", "video", "start", "end", "score"], [list(row) for row in flat])
    return found


def truth_ways(run: dict[str, list[list[object]]]) -> dict[str, str]:
    """The moments of a run as truth."""
    flat = [(query, *row[:3], n % 5) for query, rows in run.items() for n, row in enumerate(rows)]
    windows = [{"qid": q, "vid": q, "relevant_windows": [row[1:3] for row in rows]} for q, rows in run.items()]
    nested = [
        {
            "query_id": q,
            "relevant_moment": [
                {"video_name": v, "timestamp": [s, e], "caption": "b", "relevance": 3} for v, s, e, _ in rows
            ],
        }
        for q, rows in run.items()
    ]
    found = {"val.json": json.dumps(nested), "windows": lines(windows)}
    if flat:
        found["lines"] = lines(
            [dict(zip(("desc_id", "vid_name", "st", "ed", "rel"), row, strict=True)) for row in flat]
        )
        found["tvr"] = lines([{"desc_id": q, "vid_name": v, "ts": [s, e]} for q, v, s, e, _ in flat])
    return found


@settings(deadline=None, max_examples=50)
@given(RUNS)
@example({"5": [["v", 0, 1, 2]], "6": []})
@example({"a": [["x", 1, 2, 3], ['say "score": [1', 1.5, 2, -3]]})
@example({"VCMR": [["0", 0, 0, 0]], "video2idx": [], "7": [["0", 0, 1, -30]]})
@example({"7": [["0", 0, 1, -30]], "VCMR": []})
def test_a_run_reads_the_same_from_every_format(run: dict[str, list[list[object]]]) -> None:
    expected = [(q, row[0], *map(float, row[1:])) for q, rows in run.items() for row in rows]
    for name, content in ways(run).items():
        found = run_file(content.encode(), "run")
        assert moments(found) == expected, name
        if name in ("object", "entries", "objects", "task", "entry lines"):
            assert [str(query) for query in found.queries] == list(run), name
        assert moments(run_file(unpack(gzip.compress(content.encode()), "run"), "run")) == expected


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(KEYS, st.lists(st.tuples(NAMES, TIMES, TIMES, st.integers(0, 4)), max_size=4), min_size=1))
def test_a_truth_reads_the_same_from_every_format(truth: dict[str, list[tuple[str, float, float, int]]]) -> None:
    expected = [(q, v, float(s), float(e), float(r)) for q, rows in truth.items() for v, s, e, r in rows]
    flat = [(q, *row) for q, rows in truth.items() for row in rows]
    nested = [
        {
            "query_id": q,
            "query": "a [",
            "relevant_moment": [
                {"pair_id": 1, "video_name": v, "timestamp": [s, e], "caption": "b", "relevance": r}
                for v, s, e, r in rows
            ],
        }
        for q, rows in truth.items()
    ]
    found = {"val.json": json.dumps(nested), "indented": json.dumps(nested, indent=2)}
    if flat:
        header = ("query_id", "video_name", "start", "end", "relevance")
        found["lines"] = lines([dict(zip(header, row, strict=True)) for row in flat])
        if all(row[1] == row[1].strip() for row in flat):
            found["csv"] = table(list(header), [list(row) for row in flat])
    for name, content in found.items():
        assert moments(truth_file(content.encode(), "truth")) == expected, name


def read_all(content: bytes) -> None:
    for read in (truth_file, run_file, video_map_file, lambda c, f: run_file(c, f, {0: "a", 1: "b"})):
        found = outcome(read, content)
        if isinstance(found, InputError):
            str(found).encode()
            assert all(problem.file == "file" and problem.message for problem in found.problems)
        elif isinstance(found, Spans):
            assert all(math.isfinite(number) for row in moments(found) for number in row[2:])


def outcome(read, content: bytes) -> object:
    try:
        return read(content, "file")
    except InputError as refused:
        return refused


@settings(deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda t: t.encode("utf-8", "surrogatepass")))
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'{"5": [["v", 0, 1' + b"0" * 5000 + b", 1]]}")
@example(b'{"5": [["v", 0, 1e999, 1]]}')
@example(b'{"\\ud800": [["\\udfff", 0, 1, 1]]}')
@example(b'{"5": [["\\udfff", 0, 1, 1]]}')
@example(b"query_id,video,start,end,score\n\0,\0,1,2,3\n")
@example(b'"query_id')
@example(b"[,")
def test_random_bytes_are_refused_or_read(content: bytes) -> None:
    read_all(content)


@settings(deadline=None, max_examples=200)
@given(JSONISH, st.booleans())
def test_random_documents_are_refused_or_read(document: object, as_lines: bool) -> None:
    content = lines(document) if as_lines and isinstance(document, list) else json.dumps(document)
    read_all(content.encode())


@settings(deadline=None, max_examples=200)
@given(RUNS, st.data())
def test_the_fast_way_never_says_anything_else_than_the_careful_one(run, data: st.DataObject) -> None:
    """Bytes of a valid file removed, doubled or replaced: if the fast way still reads it, so does the careful one."""
    content = data.draw(st.sampled_from([*ways(run).values(), *truth_ways(run).values()])).encode()
    quickly = data.draw(st.sampled_from([fast.truth, lambda content, file, form: fast.run(content, file, form, None)]))
    begin = data.draw(st.integers(0, len(content) - 1))
    end = data.draw(st.integers(begin, min(begin + 30, len(content))))
    middle = data.draw(st.sampled_from([b"", content[begin:end] * 2, b"0", b"NaN", b'"', b"]", b"null", b"1e999"]))
    content = content[:begin] + middle + content[end:]
    read_all(content)
    try:
        content = text.checked(content, "f")
    except InputError:
        return
    form = text.form_of(content, "f")
    quick = None if form is text.Form.CSV else quickly(content, "f", form)
    if quick is not None:
        decoded = text.lines(content, "f") if form is text.Form.LINES else text.document(content, "f")
        careful = (
            documents.parse_truth(decoded, "f") if isinstance(quick, Truth) else documents.parse_run(decoded, "f", None)
        )
        assert moments(quick) == moments(careful)
        assert [str(query) for query in quick.queries] == [str(query) for query in careful.queries]
        assert quick.query_rows == careful.query_rows
        assert quick.row.tolist() == careful.row.tolist()
        assert quick.number.tolist() == careful.number.tolist()


WRONG = st.sampled_from([None, True, "1", [], {}, math.nan, math.inf, -math.inf, 10**400, "NaN"])


@settings(deadline=None)
@given(
    st.lists(st.lists(ROWS, min_size=1, max_size=3), min_size=1, max_size=4),
    st.data(),
    st.sampled_from(["entries", "lines", "object", "flat lines", "csv"]),
)
def test_one_wrong_value_is_refused_with_its_row(run: list[list[list[object]]], data: st.DataObject, way: str) -> None:
    run = [[[f"v{n}", *row[1:]] for n, row in enumerate(rows)] for rows in run]
    query = data.draw(st.integers(0, len(run) - 1))
    number = data.draw(st.integers(0, len(run[query]) - 1))
    place = data.draw(st.integers(1, 3))
    wrong = data.draw(WRONG)
    if way == "csv" and wrong in ("1", "NaN"):
        wrong = "one"
    run[query][number][place] = wrong
    entries = [{"query_id": n, "predictions": rows} for n, rows in enumerate(run)]
    flat = [[n, *row] for n, rows in enumerate(run) for row in rows]
    line = sum(len(rows) for rows in run[:query]) + number + 1
    content, row = {
        "entries": (json.dumps(entries), query + 1),
        "lines": (lines(entries), query + 1),
        "object": (json.dumps({n: rows for n, rows in enumerate(run)}), query + 1),
        "flat lines": (lines([dict(zip(("qid", "vid", "st", "ed", "score"), r, strict=True)) for r in flat]), line),
        "csv": (table(["qid", "vid", "st", "ed", "score"], flat), line + 1),
    }[way]
    with pytest.raises(InputError) as refused:
        run_file(content.encode(), "run")
    (problem,) = refused.value.problems
    assert problem.row == row


@settings(deadline=None, max_examples=50)
@given(RUNS.filter(lambda run: len(run) > 1), st.data())
def test_a_query_given_twice_is_refused_with_its_row(run: dict[str, list[list[object]]], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(run) - 1))
    second = data.draw(st.integers(first + 1, len(run)))
    pairs = list(run.items())
    pairs.insert(second, pairs[first])
    entries = [{"query_id": query, "predictions": rows} for query, rows in pairs]
    mapping = "{" + ", ".join(f"{json.dumps(query)}: {json.dumps(rows)}" for query, rows in pairs) + "}"
    for content in (mapping, json.dumps(entries), lines(entries)):
        with pytest.raises(InputError) as refused:
            run_file(content.encode(), "run")
        (problem,) = refused.value.problems
        assert problem.row == second + 1
        assert problem.message.endswith(f"was already given in row {first + 1}")


@settings(deadline=None)
@given(st.binary(max_size=300), st.data())
def test_packed_bytes_come_back_or_are_refused(content: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(content[:100]) + gzip.compress(content[100:])
    try:
        unpack(content, "f")
    except InputError:
        assume(False)  # it is no text, packed or not
    assert unpack(packed, "f") == content
    cut = data.draw(st.integers(2, len(packed) - 1))
    assert content.startswith(unpacked(packed[:cut]))
    place = data.draw(st.integers(0, len(packed) - 1))
    unpacked(packed[:place] + bytes([packed[place] ^ 0x55]) + packed[place + 1 :])


def unpacked(packed: bytes) -> bytes:
    """Nothing where it is refused, as it may be."""
    try:
        return unpack(packed, "f")
    except InputError as refused:
        message = str(refused)
    assert message.startswith(("f: is ", "f: looks like UTF-16"))
    return b""
