"""Videos that a file calls otherwise: told only where one video alone can be meant."""

import pytest

from backend.campaign.corpus.importing.rules import match_renamed_videos

EXTENSIONS = (".mp4", ".avi")


@pytest.mark.parametrize(
    ("named", "here", "meant"),
    [
        (["dog.MP4"], ["dog"], {"dog": "dog.MP4"}),
        (["dog"], ["dog.avi"], {"dog.avi": "dog"}),
        (["dog.v2"], ["dog"], {}),  # no extension of a video
        (["park"], ["a/park", "b/park"], {}),  # which of them?
        (["b/park"], ["a/park", "b/park.mp4"], {"b/park.mp4": "b/park"}),
        (["dog.mp4", "dog.avi"], ["dog"], {}),  # two names for one video: they are two
        (["c/park"], ["a/park"], {}),  # another folder
        (["dog.v2.mp4"], ["dog.v2"], {"dog.v2": "dog.v2.mp4"}),
        (["park"], ["a/b/park"], {"a/b/park": "park"}),
        (["b/park"], ["a/b/park"], {}),  # the whole of its folders, or none of them
        (["x"], [], {}),
    ],
)
def test_one_video_is_meant_or_none(named: list[str], here: list[str], meant: dict[str, str]) -> None:
    assert match_renamed_videos(named, here, EXTENSIONS) == meant
