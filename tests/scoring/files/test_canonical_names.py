"""Names of videos and query ids that are canonically equal are one name, whichever form each file writes.

The forms are spelt out by code point, after the Unicode charts.
"""

import json

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.files.documents import parse_video_map
from backend.scoring.files.formats import run_file, truth_file, video_map_file
from backend.scoring.pools.files import parse_pools

FORMS = [
    ("caf\u00e9", "cafe\u0301"),
    ("\ud55c\uad6d", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
    ("\u00c4rger", "A\u0308rger"),
    ("\u30ac", "\u30ab\u3099"),
    ("\u1e69", "s\u0307\u0323"),  # marks in another order than the canonical one
    ("\u00c5", "\u212b"),  # a single character with a canonical equal: the sign for angstrom
]


def encoded(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


@pytest.mark.parametrize(("composed", "other"), FORMS)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_run_in_one_form_meets_a_truth_in_the_other(composed: str, other: str, swapped: bool) -> None:
    first, second = (other, composed) if swapped else (composed, other)
    truth = [{"query_id": first, "relevant_moment": [{"video_name": first, "timestamp": [0, 9], "relevance": 3}]}]
    run = {second: [[second, 0, 9, 0.5]]}
    found = evaluate(truth, run, measures="ndcg@10,0.5")
    assert found.mean["ndcg@10,0.5"] == 1
    read = run_file(encoded(run), "run.json")
    assert (read.queries, read.videos) == ((composed,), (composed,))
    assert truth_file(encoded(truth), "truth.json").videos == (composed,)


@pytest.mark.parametrize(
    ("content", "file"),
    [
        (encoded({"q": [["cafe\u0301", 0, 9, 1], ["caf\u00e9", 2, 4, 0.5]]}), "run.json"),
        (encoded([{"qid": "q", "predictions": [["cafe\u0301", 0, 9, 1], ["caf\u00e9", 2, 4, 0.5]]}]), "run.json"),
        ("query_id,video,start,end,score\nq,cafe\u0301,0,9,1\nq,caf\u00e9,2,4,.5\n".encode(), "run.csv"),
        (b'{"q": [["cafe\\u0301", 0, 9, 1], ["caf\\u00e9", 2, 4, 0.5]]}', "run.json"),
    ],
)
def test_both_forms_in_one_run_are_one_video(content: bytes, file: str) -> None:
    run = run_file(content, file)
    assert (run.videos, run.video.tolist()) == (("caf\u00e9",), [0, 0])


def test_moments_of_one_query_may_name_it_in_both_forms() -> None:
    moment = {"video": "v", "start": 0, "end": 2, "relevance": 3}
    lines = b"\n".join(encoded({"query_id": form, **moment}) for form in FORMS[0])
    table = "query_id,video,start,end,relevance\ncafe\u0301,v,0,2,1\ncaf\u00e9,v,6,7,1\n".encode()
    for truth in (truth_file(lines, "t.jsonl"), truth_file(table, "t.csv")):
        assert (truth.queries, len(truth.start_s)) == (("caf\u00e9",), 2)


def test_a_query_given_in_both_forms_is_refused_as_given_twice() -> None:
    with pytest.raises(InputError, match=r"row 2: query .* was already given in row 1"):
        run_file(encoded({"caf\u00e9": [["v", 0, 9, 1]], "cafe\u0301": [["v", 2, 4, 1]]}), "run.json")


def test_a_video_map_names_videos_of_the_other_form_and_refuses_two_of_one_name() -> None:
    videos = video_map_file(encoded({"cafe\u0301": [9.5, 7], "v": [3, 8]}), "map.json")
    assert videos == {7: "caf\u00e9", 8: "v"}
    assert run_file(b'{"q": [[7, 0, 9, 1]]}', "run.json", videos).videos == ("caf\u00e9",)
    assert parse_video_map({"train": {"cafe\u0301": [9.5, 7]}, "val": {"caf\u00e9": [9.5, 7]}}, "m") == {7: "caf\u00e9"}
    with pytest.raises(InputError, match="row 2: video 'caf\u00e9' was already given in row 1"):
        video_map_file(encoded({"cafe\u0301": [9.5, 7], "caf\u00e9": [3, 8]}), "map.json")


def test_what_lines_say_beside_their_moments_meets_their_normalised_names() -> None:
    line = {"vid_name": "cafe\u0301", "duration": 9.5, "ts": [1, 3], "desc": "x", "type": "v", "desc_id": "e\u0301"}
    truth = truth_file(encoded(line) + b"\n", "t.jsonl")
    assert (truth.queries, truth.types, truth.durations) == (("\u00e9",), ("v",), {"caf\u00e9": 9.5})
    corpus = {"cafe\u0301": {"duration": 9.5, "timestamps": [[1, 3]], "sentences": ["A dog."]}}
    sentences = truth_file(encoded(corpus), "t.json")
    assert (sentences.queries, sentences.durations) == (("caf\u00e9#0",), {"caf\u00e9": 9.5})


def test_pools_name_their_videos_in_either_form() -> None:
    one = {"duration": 9, "timestamps": [[1, 3]], "sentences": ["A dog."]}
    pools = parse_pools(
        encoded(
            {
                "cafe\u0301": {
                    **one,
                    "pos_moments": [[["\u00e9", "A dog.", [1, 3]]]],
                    "retrieval_pool": [["caf\u00e9", "e\u0301"]],
                },
                "e\u0301": {**one, "pos_moments": [[]], "retrieval_pool": [[]]},
            }
        ),
        "pools.json",
    )
    assert (pools.queries[0].query_id, pools.queries[0].videos) == ("caf\u00e9#0", ("caf\u00e9", "\u00e9"))
    assert pools.queries[0].positive_videos == ("caf\u00e9", "\u00e9")
    with pytest.raises(InputError, match="was already given in row 1"):
        parse_pools(
            encoded({name: {**one, "pos_moments": [[]], "retrieval_pool": [[]]} for name in FORMS[0]}), "p.json"
        )


@pytest.mark.parametrize("name", ["\u00ad", "\u200b\u3164", " \u2800"], ids=ascii)
def test_names_of_which_nothing_is_visible_are_blank_in_every_form(name: str) -> None:
    tables = (
        f'query_id,video,start,end,score\nq,"{name}",0,9,1\n',
        f'query_id,video,start,end,score\n"{name}",v,0,9,1\n',
    )
    documents = {"q": [[name, 0, 9, 1]]}, {name: [["v", 0, 9, 1]]}
    for content in (*map(str.encode, tables), *map(encoded, documents)):
        with pytest.raises(InputError, match=r"row [12]: .*(is blank|not the name of a video|not a query id)"):
            run_file(content, "run.csv" if content[:1] == b"q" else "run.json")
