"""What a truth file, and the folder of a release, give to a system."""

import json
import shutil
from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.systems.baseline_runs import read_task
from backend.systems.model import KnownMoment

VAL = Path(__file__).parents[2] / "assets" / "example" / "val.json"


def entry(query: int, text: str, *moments: tuple[str, float, float, float, str]) -> dict[str, object]:
    """An entry as a release writes it."""
    told = [
        {"video_name": v, "timestamp": [start, end], "duration": lasts, "caption": caption, "relevance": 3}
        for v, start, end, lasts, caption in moments
    ]
    return {"query_id": query, "query": text, "relevant_moment": told}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    folder.mkdir()
    pour, wave = ("v1", 1.0, 4.0, 30.0, "She pours tea."), ("v2", 0.0, 2.5, 20.0, "")
    training = entry(7, "A man reads.", ("v3", 5.0, 9.0, 40.0, "A man reads."))
    for moment in training["relevant_moment"]:
        moment["similarity"] = moment.pop("relevance")
    for name, entries in {
        "val": [entry(1, "A woman pours tea.", pour, wave)],
        "test": [entry(2, "Somebody waves.", wave, pour)],
        "train_top01": [training, {**training, "query_id": 8}],
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(entries))
    (folder / "video_corpus.json").write_text(json.dumps({"v1": [30.0, 0], "v2": [20.0, 1], "v3": [40.0, 2]}))
    return folder


def test_a_truth_gives_queries_their_videos_and_the_captions_of_its_moments(release: Path) -> None:
    task = read_task(release / "val.json")
    assert task.queries == {"1": "A woman pours tea."}
    assert task.durations == {"v1": 30.0, "v2": 20.0}
    assert task.captions == (KnownMoment("v1", 1.0, 4.0, "She pours tea."),)
    assert task.training == ()


def test_a_map_and_a_training_file_add_to_it(release: Path) -> None:
    task = read_task(release / "val.json", videos=release / "video_corpus.json", training=release / "train_top01.json")
    assert task.durations == {"v1": 30.0, "v2": 20.0, "v3": 40.0}
    assert task.training == (KnownMoment("v3", 5.0, 9.0),), "both queries were given the same moment"
    assert task.training_durations["v3"] == 40.0


def test_a_release_has_all_of_it(release: Path) -> None:
    task = read_task(release)
    assert task.queries == {"1": "A woman pours tea.", "2": "Somebody waves."}
    assert set(task.durations) == {"v1", "v2", "v3"}
    assert task.training == (KnownMoment("v3", 5.0, 9.0),)
    assert list(read_task(release, split="test").queries) == ["2"]


def test_training_moments_come_from_any_annotation_file(release: Path, tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    lines = [{"qid": 5, "query": "x", "vid": "w", "duration": 150, "relevant_windows": [[10, 20], [30, 44]]}]
    file.write_text("\n".join(map(json.dumps, lines)))
    task = read_task(release / "val.json", training=file)
    assert task.training == (KnownMoment("w", 10, 20), KnownMoment("w", 30, 44))
    assert task.training_durations["w"] == 150


def test_a_training_set_with_a_broken_moment_is_refused_by_its_row(release: Path) -> None:
    file = release / "train_top01.json"
    entries = json.loads(file.read_text())
    del entries[1]["relevant_moment"][0]["timestamp"]
    file.write_text(json.dumps(entries))
    with pytest.raises(InputError, match=r"train_top01\.json, row 2: query 8, moment 1: has no `timestamp`"):
        read_task(release)


def test_files_are_found_by_the_names_of_videos(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "videos"
    (folder / "below").mkdir(parents=True)
    for place in ("v1.mp4", "below/v3.webm"):
        (folder / place).touch()
    task = read_task(release, folder=folder)
    assert task.files == {"v1": folder / "v1.mp4", "v3": folder / "below" / "v3.webm"}


def test_what_is_no_truth_and_no_release_is_refused(release: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a release: it has neither val\.json nor test\.json"):
        read_task(tmp_path)
    (release / "test.json").unlink()
    with pytest.raises(InputError, match=r"has no test\.json; it has val\.json"):
        read_task(release, split="test")
    with pytest.raises(InputError, match="nowhere: cannot be read: No such file"):
        read_task(tmp_path / "nowhere", split="val")
    with pytest.raises(InputError, match="is a single truth, which has no splits"):
        read_task(release / "val.json", split="val")
    with pytest.raises(InputError, match="cannot be read"):
        read_task(tmp_path / "gone.json")


def test_every_video_has_to_last_a_known_time(tmp_path: Path) -> None:
    file = tmp_path / "val.csv"
    shutil.copy(VAL.with_suffix(".csv"), file)
    with pytest.raises(InputError, match=r"val\.csv: does not say how long video \S+ lasts: name a map"):
        read_task(file)
