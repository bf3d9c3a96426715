"""Pools of massive-video retrieval on the command line, and their check by people."""

import json
from pathlib import Path

import pytest

import demo_pools
from cli.conftest import Run


@pytest.fixture
def pools(tmp_path: Path) -> Path:
    """Seven sentences of one video, searched in both of the file, six hold in both; the pool of an eighth is short."""
    sentences = [f"Sentence {number}." for number in range(8)]
    spans = [[number, number + 1] for number in range(8)]
    found = {
        "a": {
            "duration": 30,
            "timestamps": spans,
            "sentences": sentences,
            "pos_moments": [[["b", "It is so.", [1, 2]]] if number < 6 else [] for number in range(8)],
            "retrieval_pool": [["a", "b"]] * 7 + [["a"]],
        },
        "b": {"duration": 6, "timestamps": [], "sentences": [], "pos_moments": [], "retrieval_pool": []},
    }
    path = tmp_path / "pools.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_the_row_of_a_file_and_which_queries_are_odd(reelrank: Run, pools: Path) -> None:
    out = reelrank.out("mvmr", "stats", pools)
    rows = {" ".join(row.split()[:-1]): row.split()[-1] for row in out.split("\n\n")[0].splitlines()}
    assert (rows["queries"], rows["videos"], rows["videos per pool"]) == ("7", "2", "2")
    assert rows["positive videos per query, mean, own included"] == "1.857"  # 13 of 7
    assert rows["queries without a distractor"] == "6"
    assert "6 queries have only positive videos" in out
    assert "a#0, a#1, a#2, a#3, a#4 and 1 more" in out
    assert "1 queries" not in out
    assert "1 query has a short pool and is left out:\n  a#7" in out
    assert (rows["length of a query's own moment, mean, s"], rows["length of a video, mean, s"]) == ("1.00", "18.00")
    assert (rows["words per query, mean"], rows["positive videos of a query, at most"]) == ("2.00", "2")
    # Of 2 videos both are in each pool, so the 6 positives of 7 queries are always drawn.
    assert rows["queries with a false negative in a random pool, by the positives here"] == "85.7%"


def test_the_row_of_an_annotation_file_says_how_many_sentences_repeat(reelrank: Run, tmp_path: Path) -> None:
    file = tmp_path / "corpus.csv"
    file.write_text("video,start,end,caption,duration\na,1,3,He sits.,8\na,1,3,He sits.,8\nb,1,4,She runs away.,9\n")
    out = reelrank.out("mvmr", "stats", file)
    assert "queries                                             2" in out
    assert "Note: 1 left out: it repeats another's video, span and text; --keep-repeats counts it." in out
    found = json.loads(reelrank.out("mvmr", "stats", file, "--keep-repeats", "--json"))
    assert (found["queries"], found["words"], found["repeats"]) == (3, 7 / 3, 1)


def test_random_pools_are_counted_with_an_encoder(
    reelrank: Run, pools: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = json.loads(pools.read_text("utf-8"))
    found["b"] |= {"timestamps": [[0, 2]], "sentences": ["Sentence 3."], "pos_moments": [[]], "retrieval_pool": [[]]}
    pools.write_text(json.dumps(found), encoding="utf-8")
    asked = ("mvmr", "stats", pools, "--encoder", "minilm", "--embeddings", tmp_path / "vectors", "--t-pos", 0.999)
    random = json.loads(reelrank.out(*asked, "--json"))["random_pools"]
    assert (random["t_pos"], random["pool"], random["matching"], random["false_negatives"]) == (0.999, 2, 1 / 7, 1 / 7)
    assert "queries with one in a random pool of 2" in reelrank.out(*asked)
    code, _, err = reelrank("mvmr", "stats", pools, "--t-pos", 0.8)
    assert code == 2
    assert "needs an encoder: add --encoder NAME" in err


def test_json_is_json_alone_and_names_every_query(reelrank: Run, pools: Path) -> None:
    out = reelrank.out("mvmr", "stats", pools, "--json")
    found = json.loads(out)
    assert found["without_distractor"] == [f"a#{number}" for number in range(6)]
    assert (found["queries"], found["short"]) == (7, ["a#7"])


def test_a_file_with_a_fault_is_refused_by_query_and_video(reelrank: Run, pools: Path) -> None:
    found = json.loads(pools.read_text("utf-8"))
    found["a"]["retrieval_pool"][3] = ["b", "x"]
    pools.write_text(json.dumps(found), encoding="utf-8")
    assert reelrank.refusal("mvmr", "stats", pools).splitlines() == [
        f"reelrank: {pools}, row 1: query a#3: its own video a is not in its pool",
        f"{pools}, row 1: query a#3: video x of its pool is not in the file",
    ]


def test_figures_tell_the_query_what_is_missing_and_where_they_are(
    reelrank: Run, pools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "videos").mkdir()
    out = reelrank.out(
        *("mvmr", "figures", pools, tmp_path / "figures", "--query", "a#6", "--encoder", "minilm"),
        *("--videos", tmp_path / "videos"),
    )
    lines = out.splitlines()
    assert lines[0] == "Query a#6: Sentence 6."
    # Nothing is said of video b, so nothing is as similar to it as that.
    assert lines[1] == "0 positive and 0 negative pairs of a query and another video."
    assert lines[2] == "Note: no picture of a, b: no video file there shows it"
    assert lines[3:] == [str(path) for path in sorted((tmp_path / "figures").iterdir())]
    assert list((tmp_path / "cache/reelrank/embeddings").rglob("*.npy"))


def test_a_check_is_made_and_reported(reelrank: Run, tmp_path: Path) -> None:
    pools = demo_pools.write(tmp_path / "pools.json")
    folder = tmp_path / "check"
    options = ("--videos", demo_pools.CLIPS, "--queries", 2, "--negatives", 1, "--seed", 5)
    out = reelrank.out("mvmr", "check", pools, folder, *options)
    assert "2 of 3 queries, 2 positives and 2 negatives among 4 videos" in out
    assert "users add" in out
    out = reelrank.out("mvmr", "check-report", folder)
    assert out.splitlines()[0] == "pools.json: 2 of 3 queries, seed 5"
    assert [line.split()[:3] for line in out.splitlines()[3:]] == [
        *(["positives", "0", "0"], ["negatives", "0", "0"], ["together", "0", "0"])
    ]
    _, out, _ = reelrank("mvmr", "check-report", folder, "--json")
    found = json.loads(out)
    assert (found["facts"]["seed"], found["together"]["waiting"], found["together"]["share"]) == (5, 4, None)
    assert "is a project already" in reelrank.refusal("mvmr", "check", pools, folder, *options)


def test_all_negatives_can_be_checked(reelrank: Run, tmp_path: Path) -> None:
    pools = demo_pools.write(tmp_path / "pools.json")
    call = ("mvmr", "check", pools, tmp_path / "check", "--videos", demo_pools.CLIPS, "--negatives")
    for value in ("most", "-1", "2.5"):
        code, _, err = reelrank(*call, value)
        assert code == 2
        assert "is not a number from 0 on, or all" in " ".join(err.replace("│", " ").split())
    assert "3 of 3 queries, 3 positives and 6 negatives" in reelrank.out(*call, "all")


def test_a_project_that_checks_nothing_says_what_would(reelrank: Run, tmp_path: Path) -> None:
    reelrank("init", tmp_path / "p", "--encoder", "minilm")
    assert "is no pool check: create one with `reelrank mvmr check`" in reelrank.refusal(
        "mvmr", "check-report", tmp_path / "p"
    )
