"""`reelrank moments`: from a folder of videos alone."""

import json
import shutil
from pathlib import Path

import pytest

from backend.campaign import demo
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.where import Where
from cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    init_project(tmp_path / "project", encoder="minilm").store.close()
    return tmp_path / "project"


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    videos = tmp_path / "videos"
    videos.mkdir()
    shutil.copy(demo.clip_folder() / "rainy_street.mp4", videos / "rain.mp4")
    (videos / "text.mp4").write_text("no video")
    return videos


def test_a_folder_becomes_videos_and_moments_and_what_is_wrong_is_told(
    reelrank: Run, folder: Path, videos: Path
) -> None:
    code, out, err = reelrank("moments", folder, "--videos", videos, "--by", "shots", "--longest", 6)
    assert code == 1
    assert "1 video added from videos. " in out
    assert " moments by shots from 1 shot of 1 video" in out
    assert "1 video with a problem; the rest is done:\ntext.mp4: is not a video file" in err
    (videos / "text.mp4").unlink()
    code, out, err = reelrank("moments", folder, "--by", "windows", "--lengths", "4", "--stride", "1")
    assert (code, err) == (0, "")
    code, out, _ = reelrank("moments", folder)
    assert code == 0
    assert out.splitlines()[0].split() == ["video", "seconds", "shots", "shots", "windows", "used"]
    assert out.splitlines()[1].split()[0] == "rain"
    _, told, _ = reelrank("moments", folder, "--json")
    listed = json.loads(told)["videos"][0]
    assert (listed["shots"], listed["used"], set(listed["moments"])) == (1, 0, {"shots", "windows"})


def test_moments_by_a_file(reelrank: Run, folder: Path, videos: Path, tmp_path: Path) -> None:
    file = tmp_path / "moments.csv"
    file.write_text("video,start,end\nrain,1,3\n")
    assert reelrank("moments", folder, "--from", file) == (
        *(1, "", "reelrank: moments.csv, row 2: the project has no video 'rain'\n"),
    )
    (videos / "text.mp4").unlink()
    code, out, _ = reelrank("moments", folder, "--videos", videos, "--from", file)
    assert code == 0
    assert "moments.csv: 1 moment, 1 of them new." in out
    code, out, _ = reelrank("moments", folder, "--export", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "video,start,end,origin,captions,pairs\nrain,1.0,3.0,imported,0,0\n"
    code, _, err = reelrank("moments", folder, "--only")
    assert code == 2
    assert "--from" in err


def test_an_empty_project_says_what_it_wants(reelrank: Run, folder: Path) -> None:
    assert reelrank("moments", folder)[:2] == (
        0,
        "The project has no videos yet. Add them with --videos FOLDER.\n",
    )
    code, _, err = reelrank("moments", folder, "--by", "shots")
    assert (code, err) == (1, "reelrank: the project has no videos yet: name their folder with --videos\n")


def test_a_cluster_takes_videos_and_finds_their_shots(
    reelrank: Run, on_cluster: Where, videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        shutil.copy(videos / "rain.mp4", videos / f"{name}.mp4")
    with (videos / "second.mp4").open("ab") as file:
        file.write(b"another content")
    monkeypatch.chdir(tmp_path)
    told = {}
    for name, where in (("here", ("--jobs", 1)), ("there", ("--cluster", on_cluster.cluster))):
        init_project(tmp_path / name, encoder="minilm").store.close()
        code, _, err = reelrank("moments", name, "--videos", videos.name, "--by", "shots", *where)
        assert (code, "text.mp4: is not a video file" in err) == (1, True)
        assert reelrank("probe", name, "--decode", *where)[0] == 0
        told[name] = reelrank("moments", name, "--json"), reelrank("probe", name, "--json")
    assert told["there"] == told["here"]
    assert len(json.loads(told["here"][0][1])["videos"]) == 2
