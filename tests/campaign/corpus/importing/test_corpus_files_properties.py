"""Annotation files: what is written comes back, and no bytes whatever raise anything but a refusal."""

import csv
import io
import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.corpus.importing.formats import FORMATS, parse
from backend.campaign.corpus.importing.model import CaptionedMoment
from backend.campaign.release.earlier.rules.raw_annotation import read_raw
from backend.core.errors import InputError
from backend.core.typed_text import is_visible

TEXT = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\r\n\x0b\x0c"), min_size=1, max_size=20)
    .filter(is_visible)
    .map(partial(normalize, "NFC"))  # as names of videos are kept
)


@st.composite
def files_of_moments(draw: st.DrawFn, *, with_duration: bool) -> list[CaptionedMoment]:
    """Moments that may stand in one file: consistent durations, distinct ids, no repetition."""
    names = draw(st.lists(TEXT, min_size=1, max_size=4, unique=True))
    durations = {name: draw(st.floats(1, 1e6)) for name in names}
    moments: dict[object, CaptionedMoment] = {}
    for number in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from(names))
        start = draw(st.floats(0, durations[name] / 2))
        end = draw(st.floats(durations[name] * 0.6, durations[name]))
        has_duration = with_duration or draw(st.booleans())
        moment = CaptionedMoment(
            name,
            start,
            end,
            draw(TEXT),
            row=0,
            duration_s=durations[name] if has_duration else None,
            external_id=draw(st.sampled_from([None, f"id {number}", str(number)])),
        )
        moments.setdefault((name, start, end, moment.caption), moment)
    return list(moments.values())


def written_as_tvr(moments: list[CaptionedMoment]) -> bytes:
    rows = [
        {"vid_name": m.video, "duration": m.duration_s, "ts": [m.start_s, m.end_s], "desc": m.caption}
        | ({} if m.external_id is None else {"desc_id": m.external_id})
        for m in moments
    ]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def written_as_jsonl(moments: list[CaptionedMoment]) -> bytes:
    rows = [
        {
            "video": m.video,
            "start": m.start_s,
            "end": m.end_s,
            "caption": m.caption,
            "duration": m.duration_s,
            "id": m.external_id,
        }
        for m in moments
    ]
    return "\n".join(json.dumps(row) for row in rows).encode()


def written_as_csv(moments: list[CaptionedMoment]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["video", "start", "end", "caption", "duration", "id"])
    writer.writerows([m.video, m.start_s, m.end_s, m.caption, m.duration_s, m.external_id] for m in moments)
    return out.getvalue().encode()


def taken(format_name: str, data: bytes) -> list[CaptionedMoment]:
    return [replace(moment, row=0) for moment in parse(format_name, data, "f").moments]


@settings(deadline=None)
@given(files_of_moments(with_duration=True))
def test_tvr_round_trip(moments: list[CaptionedMoment]) -> None:
    assert taken("tvr", written_as_tvr(moments)) == moments


@settings(deadline=None)
@given(files_of_moments(with_duration=False))
def test_generic_round_trips(moments: list[CaptionedMoment]) -> None:
    assert taken("jsonl", written_as_jsonl(moments)) == moments
    assert taken("csv", written_as_csv(moments)) == moments


EXAMPLES = Path(__file__).parents[4] / "assets" / "example" / "corpora"
SAMPLE = {
    **{example.stem: example.read_bytes() for example in EXAMPLES.iterdir()},  # those below are shorter
    "activitynet": b'{"v_1": {"duration": 9, "timestamps": [[0, 2], [3, 9.5]], "sentences": ["c", " d"]}}',
    "charades-sta": b"AB123 0.0 2.5##c\nAB123 3 4##d\n",
    "didemo": b'[{"annotation_id": 1, "description": "c", "video": "v", "times": [[0, 1], [2, 2]], "num_segments": 5}]',
    "qvhighlights": b'{"qid": 1, "query": "c", "vid": "v", "duration": 9, "relevant_windows": [[0, 2], [4, 6]]}\n' * 2,
    "tacos": b'{"v.avi": {"fps": 29.4, "num_frames": 99, "timestamps": [[0, 2], [3, 9]], "sentences": ["c", "d"]}}',
    "tvr": b'{"vid_name": "v", "duration": 9.6, "ts": [0, 2], "desc": "c", "type": "v", "desc_id": 1}\n' * 2,
    "jsonl": b'{"video": "v", "start": 0, "end": 1.5, "caption": "c", "duration": 9, "id": "x"}\n' * 2,
    "csv": b'video,start,end,caption,duration,id\nv,0,1.5,"a, b",9,x\nv,0,1.5,c,,\n',
    "raw": b'pair_id,worker,relevance\np,"a",1\np,b,2\n',
}


@st.composite
def nearly(draw: st.DrawFn, sample: bytes) -> bytes:
    """A valid file with a few bytes replaced, removed or added."""
    data = bytearray(sample)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 3))] = draw(
            st.binary(max_size=3)
            | st.sampled_from([b'"', b",", b"\n", b"-", b"9e999", b"null", b"{", b"[", b"\\u", b"\r"])
        )
    return bytes(data)


@pytest.mark.parametrize("name", [*FORMATS, "raw"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_bytes_raise_anything_but_a_refusal(name: str, data: st.DataObject) -> None:
    content = data.draw(st.binary(max_size=60) | nearly(SAMPLE[name]))
    with suppress(InputError):
        if name == "raw":
            read_raw(content, "f")
        else:
            for moment in parse(data.draw(st.sampled_from([name, None])), content, "f").moments:
                # What is taken is sane, whatever was handed in.
                assert 0 <= moment.start_s < moment.end_s < float("inf")
                assert is_visible(moment.video)
                assert is_visible(moment.caption)


SPAN = st.tuples(st.sampled_from([-1.0, 0.0, 2.0, 5.5, 9.0, 9.5, 11.0]), st.sampled_from([0.0, 2.0, 5.5, 10.0, 10.01]))


@settings(deadline=None)
@given(st.dictionaries(TEXT, st.lists(st.tuples(SPAN, st.sampled_from(["a", " a", "b", " "])), max_size=6), max_size=4))
def test_every_sentence_of_a_published_file_is_taken_merged_or_left_out(
    videos: dict[str, list[tuple[tuple[float, float], str]]],
) -> None:
    document = {
        name: {"duration": 9.0, "timestamps": [span for span, _ in said], "sentences": [text for _, text in said]}
        for name, said in videos.items()
    }
    sentences = [one for said in videos.values() for one in said]
    possible = [one for one in sentences if 0 <= one[0][0] < min(one[0][1], 9) and one[0][1] <= 10 and one[1].strip()]
    data = json.dumps(document).encode()
    if not possible:
        with pytest.raises(InputError):
            parse("activitynet", data, "f")
        return
    found = parse("activitynet", data, "f")
    assert len(found.moments) + found.merged == len(possible)
    assert sum(left.count for left in found.left_out) == len(sentences) - len(possible)
