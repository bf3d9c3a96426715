"""The figures of a file of pools: their numbers against brute force, their pictures by what is in them."""

import csv
import json
import re
from collections import Counter
from itertools import combinations
from math import floor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from backend.campaign.selection.pools import figures
from backend.campaign.selection.pools.building import build
from backend.campaign.selection.pools.files import BuildOutput, read_build
from backend.campaign.selection.pools.model import CaptionedCorpus, PoolOptions
from backend.core.errors import InputError, ProjectError
from backend.scoring.pools.model import PoolMoment
from scored import write_video
from support import NOW, WordEncoder

SAID = {
    "a": ["a man sits down", "a woman opens a door", "a man sits down"],
    "b": ["a man sits down on a sofa", "somebody reads"],
    "c": ["a dog runs", "a cat sits still"],
    "d": ["rain falls", "a man sits down slowly"],
    "e": [],
}
PAIRED = {
    "a#0": (["b", "d"], ["c", "e"]),
    "a#1": ([], ["b", "c", "d", "e"]),
    "a#2": (["b"], ["c", "d", "e"]),
    "b#0": (["a"], ["c", "d", "e"]),
    "b#1": ([], ["a", "c", "d", "e"]),
    "c#0": (["b"], ["e", "d", "a"]),
    "d#0": ([], ["a", "b", "c", "e"]),
}
"""Other positives and negatives of each query; all pools have five videos."""


def pools(folder: Path) -> Path:
    """A file of pools; every sentence lasts two seconds of its video of twelve, the positive ones are the first."""
    found: dict[str, dict[str, Any]] = {}
    for video, sentences in SAID.items():
        rows = [PAIRED.get(f"{video}#{n}", ([], [])) for n in range(len(sentences))]
        found[video] = {
            "duration": 12,
            "timestamps": [[3 * n, 3 * n + 2] for n in range(len(sentences))],
            "sentences": sentences,
            "pos_moments": [[[other, SAID[other][0], [0, 2]] for other in positive] for positive, _ in rows],
            "retrieval_pool": [[video, *positive, *negative] if negative else [] for positive, negative in rows],
        }
    path = folder / "pools.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[figures.FigureReport, Path]:
    """Figures of that file, with video files of three of its videos."""
    folder = tmp_path_factory.mktemp("figures")
    (folder / "videos").mkdir()
    for video in "abc":
        write_video(folder / "videos" / f"{video}.mp4", 12)
    report = figures.write_pool_figures(
        pools(folder), folder / "out", encoder=WordEncoder(), embeddings=folder / "vectors", videos=folder / "videos"
    )
    return report, folder / "out"


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def brute_s_te(text: str, video: str) -> float:
    query, *sentences = WordEncoder().encode([text, *SAID[video]])
    return max(float(query @ sentence) for sentence in sentences)


def test_the_query_with_most_positives_is_shown_and_what_is_missing_is_told(
    drawn: tuple[figures.FigureReport, Path],
) -> None:
    report, out = drawn
    assert (report.query, report.text) == ("a#0", "a man sits down")
    assert report.files == tuple(sorted(out.iterdir()))
    assert {path.name for path in report.files} == {
        *("query.png", "query.svg", "map.png", "map.svg", "map.csv"),
        *("similarity.png", "similarity.svg", "similarity.csv"),
        *("query_pairs.png", "query_pairs.svg", "query_pairs.csv"),
    }
    assert report.notes == ("no picture of d, e: no video file there shows it",)


def test_a_query_is_drawn_with_its_positives_its_nearest_negatives_and_their_strips(
    drawn: tuple[figures.FigureReport, Path],
) -> None:
    _, out = drawn
    drawing = (out / "query.svg").read_text("utf-8")
    heads = {
        kind: re.findall(rf">{kind}: (\w), ([^<]*), s_te ([\d.]+)<", drawing)
        for kind in ("own video", "positive", "negative")
    }
    text = SAID["a"][0]
    assert [(video, where) for video, where, _ in heads["own video"]] == [
        ("a", "0.0 to 2.0 s of 12.0"),
        ("a", "6.0 to 8.0 s of 12.0"),
    ]
    assert heads["positive"] == [(v, "0.0 to 2.0 s of 12.0", f"{brute_s_te(text, v):.2f}") for v in "bd"]
    assert heads["negative"][0] == ("c", "lasts 12.0 s", f"{brute_s_te(text, 'c'):.2f}")
    nearest = max(SAID["c"], key=lambda said: float(np.dot(*WordEncoder().encode([text, said]))))
    assert f"nearest sentence: {nearest}" in drawing
    assert re.findall(r">negative: (\w), lasts 12.0 s<", drawing) == ["e"]  # nothing is said of it
    assert drawing.count("<image ") == 4  # a twice, b, c


def test_the_strips_are_in_the_picture(drawn: tuple[figures.FigureReport, Path]) -> None:
    _, out = drawn
    picture = cv2.imread(str(out / "query.png"))
    assert picture is not None
    saturation = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)[:, :, 1]
    # Rows of nothing but colour: four strips of 67.5 px at twice the size; bars and letters fill no row.
    assert np.sum(np.mean(saturation > 60, axis=1) > 0.9) == pytest.approx(4 * 135, abs=12)


def test_the_map_has_every_distinct_query_and_its_similarity(drawn: tuple[figures.FigureReport, Path]) -> None:
    _, out = drawn
    rows = {row["query_id"]: row for row in table(out / "map.csv")}
    assert set(rows) == set(PAIRED) - {"a#2"}  # the text of a#0
    vectors = WordEncoder().encode([SAID["a"][0], *(row["text"] for row in rows.values())])
    assert [float(row["similarity"]) for row in rows.values()] == pytest.approx((vectors[1:] @ vectors[0]), abs=1e-4)
    assert {query: row["role"] for query, row in rows.items() if row["role"] != "other"} == {
        **{"a#0": "this query", "b#0": "positive", "d#0": "positive"},
    }
    assert len({(row["x"], row["y"]) for row in rows.values()}) == len(rows)


def test_the_histogram_counts_every_pair_but_those_with_the_own_video(
    drawn: tuple[figures.FigureReport, Path],
) -> None:
    report, out = drawn
    expected: dict[str, list[float]] = {"positive": [], "negative": []}
    for query, (positive, negative) in PAIRED.items():
        text = SAID[query[0]][int(query[2:])]
        expected["positive"] += [brute_s_te(text, video) for video in positive]
        expected["negative"] += [brute_s_te(text, video) for video in negative if SAID[video]]
    rows = table(out / "similarity.csv")
    assert {row["score"] for row in rows} == {"s_te"}
    for kind, values in expected.items():
        mine = [row for row in rows if row["kind"] == kind]
        for row in mine:
            low, high = float(row["low"]), float(row["high"])
            inside = sum(low - 1e-6 <= value < high - 1e-6 or value >= 1 - 1e-6 == high - 1e-6 for value in values)
            assert int(row["pairs"]) == inside, row
            assert float(row["share"]) == pytest.approx(inside / len(values))
        assert sum(int(row["pairs"]) for row in mine) == len(values)
    assert (report.positive_pairs, report.negative_pairs) == tuple(map(len, expected.values()))


def test_every_pair_of_queries_is_counted_once(drawn: tuple[figures.FigureReport, Path]) -> None:
    """a#0 and a#2 have one text and are a pair too: 21 pairs of 7 queries."""
    _, out = drawn
    texts = [SAID[query[0]][int(query[2:])] for query in PAIRED]
    vectors = WordEncoder().encode(texts)
    expected = Counter(min(floor(float(one @ other) * 100 + 1e-4), 99) / 100 for one, other in combinations(vectors, 2))
    rows = table(out / "query_pairs.csv")
    assert {float(row["low"]): int(row["pairs"]) for row in rows} == expected
    assert sum(int(row["pairs"]) for row in rows) == 21
    assert all(float(row["high"]) == pytest.approx(float(row["low"]) + 0.01) for row in rows)
    assert [float(row["share"]) for row in rows] == pytest.approx([int(row["pairs"]) / 21 for row in rows])
    drawing = (out / "query_pairs.svg").read_text("utf-8")
    assert "21 pairs of 7 queries, 1 of them with the same text, by encoder words-64" in drawing


def test_a_query_may_be_named_and_is_drawn_without_video_files(tmp_path: Path) -> None:
    report = figures.write_pool_figures(
        pools(tmp_path), tmp_path / "out", encoder=WordEncoder(), embeddings=tmp_path / "vectors", query="c#0"
    )
    assert (report.query, report.notes) == ("c#0", ())
    drawing = (tmp_path / "out/query.svg").read_text("utf-8")
    assert ">own video: c, 0.0 to 2.0 s of 12.0" in drawing
    assert "<image " not in drawing


@pytest.mark.parametrize(
    ("change", "refusal", "said"),
    [
        ({"query": "c#7"}, InputError, r"pools\.json: has no query c#7: a query is called VIDEO#N"),
        ({"videos": Path("no such folder")}, ProjectError, "no such folder is not a folder"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(
    tmp_path: Path, change: dict[str, Any], refusal: type[Exception], said: str
) -> None:
    with pytest.raises(refusal, match=said):
        figures.write_pool_figures(
            pools(tmp_path), tmp_path / "out", encoder=WordEncoder(), embeddings=tmp_path / "vectors", **change
        )
    assert [path.name for path in tmp_path.iterdir()] == ["pools.json"]


def test_few_queries_have_no_map(tmp_path: Path) -> None:
    file = pools(tmp_path)
    found = json.loads(file.read_text("utf-8"))
    for video in "bcd":
        found[video]["retrieval_pool"] = [[] for _ in SAID[video]]
        found[video]["pos_moments"] = [[] for _ in SAID[video]]
    file.write_text(json.dumps(found), encoding="utf-8")
    report = figures.write_pool_figures(file, tmp_path / "out", encoder=WordEncoder(), embeddings=tmp_path / "vectors")
    assert report.notes == ("no map of queries: it needs at least 5 different ones",)
    assert {path.name for path in report.files} == {
        *("query.png", "query.svg", "similarity.png", "similarity.svg", "similarity.csv"),
        *("query_pairs.png", "query_pairs.svg", "query_pairs.csv"),
    }


class Halves:
    """Has seen videos: a fits all texts with 0.4, b with 0.3, every other one with 0.1."""

    identity = "halves"

    def scorer(self, text: str) -> Any:
        def seen(videos: np.ndarray, *, weighted: bool) -> np.ndarray:
            return np.array([(0.4, 0.3, 0.1, 0.1)[video] for video in videos])

        return seen


def built(folder: Path, **visual: Any) -> Path:
    """Pools of what is said of all videos but e, of three videos each."""
    corpus = CaptionedCorpus(
        "said",
        "published",
        {v: [PoolMoment(v, 3 * n, 3 * n + 2, text) for n, text in enumerate(SAID[v])] for v in "abcd"},
        dict.fromkeys("abcd", 12.0),
    )
    options = PoolOptions(pool=3, positives=2, t_pos=0.7, t_neg=0.6)
    build(corpus, WordEncoder(), folder / "pools", options, embeddings=folder / "vectors", now=NOW, **visual)
    return folder / "pools/pools.json"


def test_thresholds_and_s_tv_of_a_build_are_drawn(tmp_path: Path) -> None:
    file = built(tmp_path, visual=Halves())
    figures.write_pool_figures(file, tmp_path / "out", encoder=WordEncoder(), embeddings=tmp_path / "vectors")
    expected = Counter(
        (row["role"], float(row["s_tv"])) for row in table(file.with_name("pairs.csv")) if row["role"] != "own"
    )
    seen = [row for row in table(tmp_path / "out/similarity.csv") if row["score"] == "s_tv"]
    assert {(row["kind"], float(row["low"])): int(row["pairs"]) for row in seen} == expected
    assert {role for role, _ in expected} == {"positive", "negative"}
    bounds = json.loads(file.with_name("manifest.json").read_text("utf-8"))["bounds"]
    drawing = (tmp_path / "out/similarity.svg").read_text("utf-8")
    assert re.findall(r">(t_\w+ [\d.]+|(?:posi|nega)tive [\d.]+)<", drawing) == [
        *("t_neg 0.6", "t_pos 0.7", f"negative {bounds['negative']:.3g}", f"positive {bounds['positive']:.3g}")
    ]


def test_thresholds_of_another_encoder_are_not_drawn(tmp_path: Path) -> None:
    class Another(WordEncoder):
        identity = "another"

    figures.write_pool_figures(
        built(tmp_path), tmp_path / "out", encoder=Another(), embeddings=tmp_path / "other vectors"
    )
    assert "t_pos" not in (tmp_path / "out/similarity.svg").read_text("utf-8")
    assert {row["score"] for row in table(tmp_path / "out/similarity.csv")} == {"s_te"}


def test_what_stands_beside_another_file_says_nothing(tmp_path: Path) -> None:
    file = built(tmp_path)
    assert read_build(file) == BuildOutput("words-64", 0.7, 0.6, None, {})
    file.write_bytes(file.read_bytes() + b"\n")
    assert read_build(file) is None
    assert read_build(pools(tmp_path)) is None


def test_pairs_without_a_number_are_refused_by_row(tmp_path: Path) -> None:
    file = built(tmp_path, visual=Halves())
    pairs = file.with_name("pairs.csv")
    lines = pairs.read_text("utf-8").splitlines()
    lines[2] = lines[2].rpartition(",")[0] + ",much"
    pairs.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError, match=r"pairs\.csv, row 3: 'much' is not a value of s_tv"):
        read_build(file)
