"""The row of a dataset, with pools and without, by hand and by the paper; random pools against all draws."""

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.selection.pools.statistics import CorpusStatistics, random_pools, read_dataset
from backend.core.errors import InputError, ProjectError
from backend.scoring.pools.statistics import PoolStatistics


class Cosines:
    """An encoder whose texts are angles in degrees, so that the cosines of texts are those of their differences."""

    identity = "angles"
    dim = 2

    def encode(self, texts: Sequence[str], *, progress: object = None) -> np.ndarray:
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    def vocabulary(self) -> frozenset[str]:
        return frozenset()


ANGLES = {"a": ["0", "90"], "b": ["10", "200"], "c": ["95"], "d": ["5", "270"], "e": ["100"]}


def corpus(tmp_path: Path, *, pools: dict[str, list[list[str]]] | None = None) -> Path:
    document: dict[str, dict[str, object]] = {
        name: {"duration": 20, "timestamps": [[0, 4], [5, 11]][: len(texts)], "sentences": texts}
        for name, texts in ANGLES.items()
    }
    for name, entry in document.items():
        if pools is not None:
            count = len(ANGLES[name])
            entry |= {"pos_moments": [[]] * count, "retrieval_pool": pools.get(name, [[]] * count)}
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps(document))
    return path


def test_an_annotation_file_has_one_positive_and_no_pool(tmp_path: Path) -> None:
    entry = {
        "duration": 9,
        "timestamps": [[0, 4], [4, 9], [0, 4]],
        "sentences": ["He  sits.", "She runs fast.", "He  sits."],
    }
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps({"a": entry, "b": {"duration": 12, "timestamps": [[1, 3]], "sentences": ["A dog."]}}))
    expected = CorpusStatistics(
        **{"queries": 3, "videos": 2, "moment_s": (4 + 5 + 2) / 3, "video_s": 10.5, "positives": 1, "words": 7 / 3},
        **{"most_positives": 1, "pool": 1, "repeats": 1, "keeps_repeats": False, "left_out": ()},
    )
    assert read_dataset(path, format="activitynet").statistics == expected
    kept = read_dataset(path, format="activitynet", keep_repeats=True)
    assert (kept.statistics.queries, kept.statistics.moment_s, kept.statistics.words) == (4, 15 / 4, 9 / 4)
    assert [moment.sentence for moment in kept.moments["a"]] == ["He  sits.", "She runs fast.", "He  sits."]


def test_a_query_with_several_moments_counts_once(tmp_path: Path) -> None:
    line = {"qid": 1, "query": "A dog runs.", "vid": "v", "duration": 150, "relevant_windows": [[0, 4], [10, 20]]}
    (tmp_path / "val.jsonl").write_text(json.dumps(line))
    row = read_dataset(tmp_path / "val.jsonl").statistics
    assert (row.queries, row.moment_s, row.words) == (1, 7, 3)


@pytest.mark.parametrize(
    ("file", "row"),
    [  # as printed in the paper's Table 1; its TACoS has 4,083 queries, but the means of these 4,001
        ("charades_sta/charades_test.json", (3720, 1334, "7.83", "29.48", "6.24")),
        ("activitynet/test.json", (17031, 4885, "40.25", "118.20", "12.02")),
        ("tacos/test.json", (4001, 25, "31.87", "367.15", "8.53")),
    ],
)
def test_published_annotations_give_the_row_of_the_paper(shared: Path, file: str, row: tuple[object, ...]) -> None:
    found = read_dataset(shared / "data" / file, keep_repeats=True).statistics
    means = (f"{mean:.2f}" for mean in (found.moment_s, found.video_s, found.words))
    assert (found.queries, found.videos, *means) == row
    assert (found.positives, found.most_positives, found.pool) == (1, 1, 1)


def test_repeats_are_left_out_as_import_does(shared: Path) -> None:
    found = read_dataset(shared / "data/tacos/test.json").statistics
    assert isinstance(found, CorpusStatistics)
    assert (found.queries, found.repeats, f"{found.moment_s:.2f}") == (3429, 572, "34.38")


def test_random_pools_have_as_many_false_negatives_as_all_draws(tmp_path: Path) -> None:
    pools = {"a": [["a", "b", "c"], ["a", "b"]], "b": [["b", "c", "e"], []], "c": [["c", "d", "e"]]}
    dataset = read_dataset(corpus(tmp_path, pools=pools))
    assert isinstance(dataset.statistics, PoolStatistics)
    found = random_pools(dataset, t_pos=0.98, encoder=Cosines(), embeddings=tmp_path / "embeddings")
    # cos 10 degrees is .985 and cos 15 degrees .966. The pool of a#1 is short and b#1 has none: neither counts.
    matching = {"a": {"b", "d"}, "b": {"a", "d"}, "c": {"a", "e"}}
    chances = []
    for own, positives in matching.items():
        draws = list(combinations(sorted(ANGLES.keys() - {own}), 2))
        chances.append(sum(bool(positives & {*draw}) for draw in draws) / len(draws))
    assert (found.pool, found.t_pos, found.encoder, found.matching) == (3, 0.98, "angles", 2)
    assert found.false_negatives == pytest.approx(sum(chances) / 3, abs=1e-12)


def test_without_pools_every_sentence_is_a_query_and_the_size_is_given(tmp_path: Path) -> None:
    dataset = read_dataset(corpus(tmp_path), format="activitynet")
    found = random_pools(dataset, t_pos=0.98, pool=5, encoder=Cosines(), embeddings=tmp_path / "embeddings")
    # All other videos are drawn. Only the sentences 200 and 270 have none.
    assert found.false_negatives == 6 / 8
    with pytest.raises(ProjectError, match="from 2 to 5 videos here, not 1: give --pool N"):
        random_pools(dataset, encoder=Cosines(), embeddings=tmp_path / "embeddings")
    with pytest.raises(ProjectError, match="not 6"):
        random_pools(dataset, pool=6, encoder=Cosines(), embeddings=tmp_path / "embeddings")


def test_a_file_of_pools_is_known_by_any_video_and_has_its_repeats(tmp_path: Path) -> None:
    path = corpus(tmp_path, pools={"a": [["a", "b"], ["a", "c"]]})
    with pytest.raises(InputError, match="is a file of pools, which has every sentence"):
        read_dataset(path, keep_repeats=True)
    document = json.loads(path.read_text())
    del document["a"]["retrieval_pool"]
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="video a: has no list `retrieval_pool`"):
        read_dataset(path)
    assert isinstance(read_dataset(path, format="activitynet").statistics, CorpusStatistics)
