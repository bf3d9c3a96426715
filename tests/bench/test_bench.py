"""What the product costs, each figure beside a peer or a limit measured in the same run: `make bench`.

Prints Markdown tables for docs/performance.md. Never fails on a number; nothing here runs by default.
"""

from pathlib import Path

import av
import pytest

from backend import api
from backend.campaign.demo import clips
from bench.tables import table, timed

pytestmark = pytest.mark.bench


PACKAGES = ("av", "opencv-python-headless")


def test_clips(tmp_path: Path) -> None:
    source = clips.folder() / "bedroom_morning.mp4"

    def decode() -> None:
        with av.open(str(source)) as container:
            container.streams.video[0].thread_count = 1
            for frame in container.decode(video=0):
                if frame.time is not None and frame.time >= 8:
                    break

    cut = timed(lambda: api.cut(source, 0.0, 8.0, tmp_path / "out.mp4"))
    limit = timed(decode)
    table(
        "An 8 s clip of 640x360, 25 frames a second",
        [("cut", f"{cut:.2f} s", ""), ("decoding alone", f"{limit:.2f} s", f"{cut / limit:.1f} times that")],
        PACKAGES,
    )
