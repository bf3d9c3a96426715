"""The scripts of docs/published-systems.md make what `train` reads, from files in the published layouts."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backend.systems.feature_files import open_features
from backend.systems.learning.systems import SYSTEMS

PAGE = (Path(__file__).parents[2] / "docs/published-systems.md").read_text(encoding="utf-8")
SECONDS = {"duration": 12.0, "timestamps": [[0.5, 4.0], [-1, 20]], "sentences": [" She reads. ", "She sits."]}
FRAMES = {"fps": 10, "num_frames": 120, "timestamps": [[5, 40], [0, 200]], "sentences": ["She reads.", "She sits."]}


def run(folder: Path, code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, check=True)


@pytest.mark.parametrize(("video", "grouped"), [(SECONDS, False), (SECONDS, True), (FRAMES, False)])
def test_the_scripts_make_a_release_and_its_features(tmp_path: Path, video: dict[str, object], grouped: bool) -> None:
    h5py = pytest.importorskip("h5py")
    release, features = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "all.json").write_text(json.dumps({"v": video}))
    run(tmp_path, release, "made", "all.json", "all.json", "all.json")
    made = {file.stem: json.loads(file.read_text()) for file in (tmp_path / "made").iterdir()}
    assert made["video_corpus"] == {"v": [12.0, 0]}
    assert [query["query_id"] for query in made["test"]] == ["v#0", "v#1"]
    assert [query["query_id"] for query in made["val"]] == ["val v#0", "val v#1"]
    spans = [query["relevant_moment"][0]["timestamp"] for query in made["train_top01"]]
    assert spans == [[0.5, 4.0], [0.0, 12.0]]
    rows = np.random.default_rng(0).standard_normal((24, 3))
    with h5py.File(tmp_path / "old.hdf5", "w") as file:
        file["v/c3d_features" if grouped else "v"] = rows
    run(tmp_path, features, "old.hdf5", "made/video_corpus.json", "new.h5")
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    with open_features(tmp_path / "new.h5") as opened:
        assert opened.rate == 4.0
        np.testing.assert_allclose(opened.of("v"), np.repeat(unit, 2, axis=0), atol=1e-6)


def test_the_page_has_every_system() -> None:
    assert set(SYSTEMS) <= set(re.findall(r"^\| `([a-z0-9]+)` \|", PAGE, re.MULTILINE))
