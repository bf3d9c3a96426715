"""The demo corpus: exact captions about playable files."""

import re
from functools import cache

from backend.campaign import demo
from backend.campaign.corpus.importing.formats import parse
from backend.campaign.corpus.importing.model import CaptionedMoment
from backend.media.probe import probe

NOT_NAMES = {"The", "He", "She", "They", "A"}


@cache
def captioned_moments() -> list[CaptionedMoment]:
    return parse("jsonl", (demo.clip_folder() / demo.MOMENTS).read_bytes(), demo.MOMENTS).moments


def test_corpus_is_large_enough() -> None:
    videos = {path.stem for path in demo.clip_folder().glob("*.mp4")}
    assert len(videos) >= 12
    assert len(captioned_moments()) >= 60
    assert {moment.video for moment in captioned_moments()} == videos


def test_files_are_small_silent_and_as_long_as_the_captions_say() -> None:
    """A checkout and a wheel carry them: 4 MB together, none over 2."""
    files = sorted(demo.clip_folder().iterdir())
    assert {path.suffix for path in files} == {".mp4", ".jsonl", ".toml", ".csv"}
    assert sum(path.stat().st_size for path in files) < 4_200_000
    assert max(path.stat().st_size for path in files) < 2_000_000
    lengths = {moment.video: moment.duration_s for moment in captioned_moments()}
    for path in demo.clip_folder().glob("*.mp4"):
        facts = probe(path)
        assert (facts.width_px, facts.height_px, facts.fps, facts.has_audio) == (640, 360, 25, False)
        assert facts.duration_s == lengths[path.stem]
        assert 10 <= facts.duration_s <= 26
        content = path.read_bytes()
        assert content.index(b"moov") < content.index(b"mdat")


def test_moments_lie_inside_their_videos() -> None:
    for moment in captioned_moments():
        assert moment.duration_s is not None
        assert 0 <= moment.start_s < moment.end_s <= moment.duration_s, moment
        assert moment.end_s - moment.start_s >= 1.0, moment


def test_captions_name_the_cast_and_nobody_else() -> None:
    for moment in captioned_moments():
        capitalised = set(re.findall(r"\b[A-Z][a-z]+\b", moment.caption)) - NOT_NAMES
        assert capitalised, moment.caption
        assert capitalised <= set(demo.cast()), moment.caption
        assert moment.caption.endswith("."), moment.caption


def test_different_people_do_the_same_things() -> None:
    cast = demo.cast()
    names = re.compile(r"\b(" + "|".join(cast) + r")\b")
    nameless: dict[str, set[str]] = {}
    for moment in captioned_moments():
        text = names.sub(lambda found: cast[found[0]], moment.caption)
        nameless.setdefault(text, set()).add(moment.video)
    assert sum(len(videos) > 1 for videos in nameless.values()) >= 4


def test_some_moments_contain_others() -> None:
    moments = captioned_moments()
    inside = [
        (long, short)
        for long in moments
        for short in moments
        if long is not short
        and long.video == short.video
        and long.start_s <= short.start_s
        and short.end_s <= long.end_s
        and short.end_s - short.start_s < 0.7 * (long.end_s - long.start_s)
    ]
    assert len(inside) >= 10
