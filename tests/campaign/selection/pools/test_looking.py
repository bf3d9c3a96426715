"""Pools with the second filter: what is looked at, what passes, and what cannot be shown."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from backend.campaign.selection.pools.building import build
from backend.campaign.selection.pools.corpora import encode_corpus, find_video_files
from backend.campaign.selection.pools.model import CaptionedCorpus, PoolOptions
from backend.campaign.selection.pools.rules import Sentences, draw_negative
from backend.core.errors import InputError
from backend.encoders.emscore import FrameVectors, SentenceVectors, idf, score
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.model import PoolMoment
from support import NOW, WordEncoder

VIDEOS = 24
BRIGHT, DARK = 200, 50


class Brightness:
    """In the place of CLIP: the vector of a picture and of the word "bright" or "dark" is an angle."""

    identity = "brightness"

    def __init__(self) -> None:
        self.seen = 0

    def sentences(self, texts: list[str], *, progress: object = None) -> dict[str, SentenceVectors]:
        found = {}
        for text in texts:
            angle = 0.2 if "bright" in text else 1.2
            vectors = np.array([[np.cos(a), np.sin(a)] for a in (0.6, angle, angle)], dtype=np.float32)
            found[text] = SentenceVectors((0, 1 if "bright" in text else 2, 9), vectors)
        return found

    def frames(self, video_sha256: str, per_s: float, pictures: Any, folder: Path) -> np.ndarray:
        self.seen += 1
        angles = [0.2 if picture.mean() > 128 else 1.2 for picture in pictures()]
        return np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every other video is bright, the others are dark; one second each."""
    folder = tmp_path_factory.mktemp("videos")
    for n in range(VIDEOS):
        with av.open(str(folder / f"v{n:02d}.mkv"), "w") as container:
            stream = container.add_stream("ffv1", rate=4)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            planes = np.full((72, 64), 128, dtype=np.uint8)
            planes[:48] = DARK if n % 2 else BRIGHT
            for _ in range(4):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(planes, format="yuv420p")))
            container.mux(stream.encode())
    return folder


def corpus() -> CaptionedCorpus:
    """Half of the videos say `bright room`, whatever they look like; the others something dark that is their own."""
    moments = {}
    for n in range(VIDEOS):
        text = "bright room" if n < VIDEOS // 2 else f"dark word{n} other{n} third{n}"
        moments[f"v{n:02d}"] = [PoolMoment(f"v{n:02d}", 0.0, 1.0, text)]
    return CaptionedCorpus("corpus", "as published", moments, dict.fromkeys(moments, 1.0))


def test_positives_look_alike_and_negatives_unlike(videos: Path, tmp_path: Path) -> None:
    said, clip = corpus(), Brightness()
    files = find_video_files(videos, said)
    looking = encode_corpus(said, files, clip, tmp_path, per_s=2)  # type: ignore[arg-type]  # stands in for CLIP
    assert clip.seen == VIDEOS
    assert looking.identity == "brightness frames=2/s"
    report = build(
        said,
        WordEncoder(),
        tmp_path / "out",
        PoolOptions(pool=6, positives=4, seed=2),
        embeddings=tmp_path / "embeddings",
        visual=looking,
        now=NOW,
    )
    assert report.visual == "brightness frames=2/s"
    assert report.bounds is not None
    # The bound of positives: every query and its own video, half of them bright, by the formulas themselves.
    bright, dark = (np.array([[np.cos(a), np.sin(a)]] * 2, dtype=np.float32) for a in (0.2, 1.2))
    texts = [moments[0].sentence for moments in said.moments.values()]
    vectors = clip.sentences(texts)
    weights = idf(vectors[text].tokens for text in texts)
    frames = FrameVectors.of([bright if n % 2 == 0 else dark for n in range(VIDEOS)])
    s_tv = np.array([score(vectors[text], frames, weights).full_f for text in texts])
    assert report.bounds.positive == pytest.approx(s_tv.diagonal().mean(), abs=1e-6)
    # The bound of negatives: every pair whose only sentence is negative by its text, repeated queries counted again.
    words = WordEncoder().encode(texts)
    assert report.bounds.negative == pytest.approx(s_tv[words @ words.T <= 0.5].mean(), abs=1e-6)
    pools = read_pools(tmp_path / "out/pools.json")
    assert pools.queries
    for query in pools.queries:
        row = s_tv[int(query.own.video[1:])]
        for video in query.positive_videos[1:]:
            assert row[int(video[1:])] >= report.bounds.positive - 1e-6
            assert int(video[1:]) % 2 == 0  # the text of all twelve is the same, but only bright ones look like it
        for video in query.negatives:
            assert row[int(video[1:])] <= report.bounds.negative + 1e-6
    assert any(len(query.positive_videos) == 4 for query in pools.queries)
    for pair in csv.DictReader(io.StringIO((tmp_path / "out/pairs.csv").read_text("utf-8"))):
        expected = s_tv[int(pair["query_id"][1:3]), int(pair["video"][1:])]
        assert float(pair["s_tv"]) == pytest.approx(expected, abs=2e-6)
    told = json.loads((tmp_path / "out/manifest.json").read_bytes())
    assert told["bounds"] == {"positive": report.bounds.positive, "negative": report.bounds.negative}


def test_as_published_one_drawn_negative_of_each_query_gives_the_bound(tmp_path: Path) -> None:
    """The published code averages EMScores of one text-negative video a query, drawn at random."""
    said = corpus()

    class Numbered:
        """An EMScore that is the number of the video, whatever the text."""

        identity = "numbered"

        def scorer(self, text: str) -> Any:
            def emscore(videos: np.ndarray, *, weighted: bool) -> np.ndarray:
                return videos / VIDEOS

            return emscore

    options = PoolOptions(pool=3, positives=2, seed=2, as_published=True)
    sentences = Sentences(list(said.moments.items()), options.seed)
    vectors = WordEncoder().encode([moment.sentence for moment in sentences.moments])
    drawn = [
        draw_negative(own, s_te, sentences, options) for own, s_te in enumerate((vectors @ vectors.T).astype(float))
    ]
    report = build(
        said, WordEncoder(), tmp_path / "out", options, embeddings=tmp_path / "e", visual=Numbered(), now=NOW
    )
    assert report.bounds is not None
    assert report.bounds.negative == pytest.approx(np.mean([video / VIDEOS for video in drawn if video is not None]))
    assert report.bounds.positive == pytest.approx(np.mean(np.arange(VIDEOS) / VIDEOS))
    told = json.loads((tmp_path / "out/manifest.json").read_bytes())
    assert any("one drawn" in departure for departure in told["as_published"])


def test_every_video_without_a_file_or_a_picture_is_named(videos: Path, tmp_path: Path) -> None:
    said = corpus()
    with pytest.raises(InputError) as refusal:
        find_video_files(tmp_path, said)
    assert len(refusal.value.problems) == VIDEOS
    files = find_video_files(videos, said)
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video at all")
    files |= {"v03": broken, "v07": broken}
    with pytest.raises(InputError, match=r"video v03: broken\.mp4 is not a video file") as refusal:
        encode_corpus(said, files, Brightness(), tmp_path, per_s=1)  # type: ignore[arg-type]  # stands in for CLIP
    assert len(refusal.value.problems) == 2
