"""`reelrank probe`, and what `reelrank import` says of videos with a problem."""

import json
from fractions import Fraction
from pathlib import Path

from backend.campaign.setup.project.sentence_encoder import init_project
from cli.conftest import Run
from numbered_videos import write_source
from support import Judging


def test_the_commands_tell_it_and_say_so_by_their_code(reelrank: Run, tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", encoder="minilm")
    project.store.close()
    folder = tmp_path / "videos"
    folder.mkdir()
    write_source(folder / "good.mp4", range(50), Fraction(1, 25))
    line = {"start": 0.5, "end": 1.5, "caption": "A dog.", "duration": 2.0}
    file = tmp_path / "moments.jsonl"
    file.write_text("".join(json.dumps({"video": video, **line}) + "\n" for video in ("gone", "good")))
    code, out, err = reelrank("import", project.folder, file, "--videos", folder)
    assert code == 1
    assert "videos 2 2" in " ".join(out.split())
    assert err == f"reelrank: 1 video cannot be shown; the rest was imported:\ngone: gone: no video file in {folder}\n"
    code, out, _ = reelrank("probe", project.folder)
    assert code == 1
    words = " ".join(out.split())
    assert "good " in words
    assert "2.00 s 25 128x48 h264 no" in words
    assert "gone: Put the file back, or choose the folder that it is in now. Use --videos FOLDER" in words
    assert "2 videos, 1 with a problem" in words
    write_source(folder / "gone.mp4", range(40), Fraction(1, 25))
    code, out, _ = reelrank("probe", project.folder, "--json", "--no-decode")
    told = {one["video"]: one for one in json.loads(out)}
    assert code == 0
    assert (told["gone"]["trouble"], told["gone"]["fps"], told["gone"]["frames"]) == (None, "25", 40)
    assert (told["gone"]["decoded"], told["good"]["decoded"]) == (False, True)
    assert "--decode" in reelrank("probe", project.folder, "--no-decode")[1]
    code, _, err = reelrank("probe", project.folder, "--accept", "good")
    assert (code, err) == (1, "reelrank: good: is not a video of the project that has changed\n")
    assert reelrank("probe", project.folder, "--frames-per-s", "many")[0] == 2


def test_videos_that_nothing_uses_are_removed(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    folder = judging.project.folder
    (tmp_path / "videos").mkdir()
    for name, frames in (("good", 50), ("spare", 40)):
        write_source(tmp_path / "videos" / f"{name}.mp4", range(frames), Fraction(1, 25))
    reelrank.out("moments", folder, "--videos", tmp_path / "videos")
    used = judging.pairs()[0].video
    err = reelrank.refusal("videos", "remove", folder, "good", used, "gone")
    assert f"{used}: stays, because captions, queries or grades use" in err
    assert "gone: is not a video of this project" in err
    assert reelrank.out("videos", "remove", folder, "good", "spare").startswith("Removed 2 videos.")
    assert (tmp_path / "videos" / "good.mp4").exists()
    assert "gone: is not" not in reelrank.refusal("videos", "remove", folder, "good")
