"""Every way in which a video can be wrong, at import and when its clip is cut: one table of words for both.

The files are broken here on purpose; which frames are left is known from how they were written.
"""

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project
from backend.core.errors import VideoUnreadable
from backend.media.together import cut
from numbered_videos import Picture, contents, number_of, write_source
from support import NOW

FPS = Fraction(25)


def noise(number: int) -> Picture:
    return np.random.default_rng(number).integers(0, 255, (48, 64, 3), dtype=np.uint8)


def packets_of(path: Path) -> list[tuple[int, int]]:
    """Where each frame lies in the file, and its size, by time."""
    with av.open(str(path)) as container:
        return [
            (p.pos, p.size) for p in sorted(container.demux(video=0), key=lambda p: p.pts or 0) if p.pts is not None
        ]


def front_indexed(path: Path, source: Path) -> Path:
    """The same video with its index before the pictures, so that a copy which broke off can be opened."""
    with av.open(str(source)) as old, av.open(str(path), "w", options={"movflags": "+faststart"}) as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                new.mux(packet)
    return path


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of broken videos, each 4 s of 25 frames a second before it broke, and of odd ones that are well."""
    folder = tmp_path_factory.mktemp("broken")
    whole = write_source(folder / "whole.mp4", range(100), 1 / FPS, noise, options={"bf": "0", "g": "10"})
    data = whole.read_bytes()
    index = data.index(b"moov") - 4
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "text.mp4").write_text("<html>404 Not Found</html>")
    (folder / "no_index.mp4").write_bytes(data[:index])
    (folder / "bad_index.mp4").write_bytes(data[: index + 8] + b"\xff" * (len(data) - index - 8))
    damaged = bytearray(data)
    for at, size in packets_of(whole)[52:55]:
        damaged[at : at + size] = bytes(size)
    (folder / "damaged.mp4").write_bytes(damaged)
    front = front_indexed(folder / "front.mp4", whole)
    at, size = packets_of(front)[49]
    (folder / "cut_off.mp4").write_bytes(front.read_bytes()[: at + size])
    front.unlink()
    with av.open(str(folder / "sound.mp4"), "w") as out:
        stream = out.add_stream("aac", rate=16_000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 16_000), dtype=np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16_000
        out.mux([*stream.encode(frame), *stream.encode(None)])
    write_source(folder / "mpeg4.avi", range(100), 1 / FPS, codec="mpeg4", options={"bf": "0"})
    return folder


UNREADABLE = {
    "empty": "empty.mp4 is not a video file",
    "text": "text.mp4 is not a video file",
    "no_index": "no_index.mp4 is incomplete (its index is missing): copy it again",
    "bad_index": "bad_index.mp4 has a damaged index",
    "sound": "sound.mp4 holds sound but no picture",
}
DAMAGED = {
    "damaged": "damaged near 2.1 s: 97 of 100 frames",
    "cut_off": "ends at 2.0 s instead of 4.0 s: copy it again",
}


def written(tmp_path: Path, *moments: tuple[str, float, float]) -> Path:
    file = tmp_path / "moments.jsonl"
    rows = [{"video": v, "start": start, "end": end, "caption": "A dog.", "duration": 4.0} for v, start, end in moments]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def test_at_import(project: Project, broken: Path, tmp_path: Path) -> None:
    names = ["absent", *UNREADABLE, *DAMAGED, "whole", "mpeg4"]
    file = written(tmp_path, *((name, 1.0, 1.8) for name in names), ("cut_off", 3.0, 3.5), ("whole", 3.5, 4.5))
    report = import_corpus(project, OPERATOR, file, videos=broken, now=NOW)
    assert {one.video: one.message for one in report.troubles} == {
        "absent": f"absent: no video file in {broken}",
        **UNREADABLE,
        **DAMAGED,
    }
    assert {one.video for one in report.troubles if one.trouble == "damaged"} == DAMAGED.keys()
    # The moment after the end of what is left of a video cannot be shown; the others are all there.
    assert [(left.why, left.count) for left in report.left_out] == [("the start is after the end of the video", 1)]
    assert (report.videos, report.moments) == (10, 11)
    assert any(
        "end up to 1 s after their measured video, whose clips stop at its end: 1" in note for note in report.notes
    )


@pytest.mark.parametrize(("name", "message"), [("absent", "absent.mp4: no video file in "), *UNREADABLE.items()])
def test_when_a_clip_is_cut_and_nothing_can_be_shown(broken: Path, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(VideoUnreadable) as refusal:
        cut(broken / f"{name}.mp4", 1.0, 1.8, tmp_path / "clip.mp4")
    assert str(refusal.value).startswith(message)
    assert not (tmp_path / "clip.mp4").exists()


def test_when_a_clip_is_cut_from_what_is_left(broken: Path, tmp_path: Path) -> None:
    out = tmp_path / "clip.mp4"
    report = cut(broken / "damaged.mp4", 1.2, 3.2, out)
    assert report.warnings == ("damaged near 2.1 s: 47 of 50 frames",)
    assert len(contents(out)[1]) == report.frames >= 47
    assert cut(broken / "damaged.mp4", 2.4, 3.2, out).warnings == ()
    with pytest.raises(VideoUnreadable, match=r"^cut_off\.mp4 ends at 2\.0 s, before the moment 3\.0-3\.5 s begins$"):
        cut(broken / "cut_off.mp4", 3.0, 3.5, out)
    late = cut(broken / "whole.mp4", 3.6, 4.5, out)
    assert (late.frames, late.warnings) == (10, ("the video ends at 4.0 s, before the end of the moment at 4.5 s",))
    assert cut(broken / "mpeg4.avi", 1.0, 1.4, out).warnings == ()
    assert [number_of(picture) for picture in contents(out)[1]] == list(range(25, 35))
