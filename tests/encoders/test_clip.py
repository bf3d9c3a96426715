"""CLIP as transformers and sentence-transformers compute it, on a tiny random model made here."""

import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import transformers
from typer.testing import CliRunner

from backend.campaign.corpus.moments.model import ByWindows
from backend.campaign.corpus.moments.proposing import propose_moments
from backend.campaign.monitoring.videos.check import register_videos
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.selection.queries.model import OwnFile
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.cli import app
from backend.core.errors import EncoderUnavailable
from backend.encoders.clip import Clip, load_clip, of_span
from backend.media.frames import frames_at
from numbered_videos import write_source
from support import NOW
from tiny_clip import write_clip

TEXTS = ["a man sits", "he runs", "a man sits", "x" * 200]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("models") / "tiny-clip")


@pytest.fixture(scope="module")
def clip(folder: Path) -> Clip:
    return load_clip(str(folder))


def pictures(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(8)
    return [rng.integers(0, 255, (40, 56, 3), dtype=np.uint8) for _ in range(count)]


def test_frames_and_sentences_are_those_of_sentence_transformers(folder: Path, clip: Clip, tmp_path: Path) -> None:
    from PIL import Image
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    shown = pictures(70)  # more than a batch
    expected = model.encode([Image.fromarray(picture) for picture in shown], normalize_embeddings=True)
    found = clip.frames("0" * 64, 1, lambda: iter(shown), tmp_path)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    whole = model.encode(TEXTS, normalize_embeddings=True)
    for text, vector in zip(TEXTS, whole, strict=True):
        np.testing.assert_allclose(clip.sentences(TEXTS)[text].vectors[-1], vector, atol=1e-5)


def test_tokens_are_the_projected_states_of_the_text_model(folder: Path, clip: Clip) -> None:
    """One text at a time, without padding: what `encode_text(..., local=True)` of EMScore's CLIP gives."""
    import torch

    model = transformers.CLIPModel.from_pretrained(folder).eval()
    tokenizer = transformers.CLIPTokenizer.from_pretrained(folder)
    found = clip.sentences(TEXTS)
    assert list(found) != TEXTS
    assert set(found) == set(TEXTS)
    for text, sentence in found.items():
        inputs = tokenizer(text, truncation=True, return_tensors="pt")
        with torch.no_grad():
            states = model.text_projection(model.text_model(**inputs).last_hidden_state)[0]
        expected = (states / states.norm(dim=-1, keepdim=True)).numpy()
        assert list(sentence.tokens) == inputs["input_ids"][0].tolist()
        np.testing.assert_allclose(sentence.vectors, expected, atol=1e-5)
    assert len(found["x" * 200].tokens) == 77
    assert found["he runs"].tokens[0] == 52
    assert found["he runs"].tokens[-1] == 53  # start and end


def test_a_folder_of_sentence_transformers_is_the_same_model(folder: Path, clip: Clip, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(str(folder), device="cpu").save(str(tmp_path / "saved"))
    other = load_clip(str(tmp_path / "saved"))
    for text, sentence in clip.sentences(TEXTS).items():
        np.testing.assert_allclose(other.sentences([text])[text].vectors, sentence.vectors, atol=1e-5)


def test_frames_are_encoded_once_a_video_rate_and_model(clip: Clip, tmp_path: Path) -> None:
    asked: list[float] = []

    def frames(rate: float, video: str = "a" * 64, by: Clip = clip) -> np.ndarray:
        def give() -> list[np.ndarray]:
            asked.append(rate)
            return pictures(3)

        return by.frames(video, rate, give, tmp_path)

    first = frames(1)
    np.testing.assert_array_equal(frames(1), first)
    assert asked == [1]
    frames(0.5)
    frames(1, video="b" * 64)
    assert asked == [1, 0.5, 1]
    kept = sorted(tmp_path.rglob("*.npy"))
    assert len(kept) == 3
    kept[0].write_bytes(kept[0].read_bytes()[:-5])  # damaged: encoded again
    for rate, video in ((1, "a" * 64), (0.5, "a" * 64), (1, "b" * 64)):
        frames(rate, video)
    assert len(asked) == 4
    frames(1, by=Clip(clip.name, "another", clip._folder))
    assert len(asked) == 5


def test_the_identity_follows_from_the_files(folder: Path, clip: Clip, tmp_path: Path) -> None:
    import shutil

    assert clip.identity.startswith("tiny-clip kind=clip weights=")
    copy = shutil.copytree(folder, tmp_path / "copy" / "tiny-clip")
    assert load_clip(str(copy)).identity == clip.identity
    (copy / "processor_config.json").write_text((copy / "processor_config.json").read_text() + "\n")
    assert load_clip(str(copy)).identity != clip.identity


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("./nowhere", "there is no such folder"),
        ("nobody/such-a-clip", "not available from the model hub"),
        ("empty", "holds no weights"),
    ],
)
def test_what_cannot_be_had_is_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EncoderUnavailable, match=message) as refusal:
        load_clip(str(tmp_path / name) if name == "empty" else name)
    assert "--visual none" in str(refusal.value)


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"]))
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    transformers.BertModel(transformers.BertConfig(vocab_size=6, **sizes)).save_pretrained(tmp_path)
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    with pytest.raises(EncoderUnavailable, match="not a CLIP model"):
        load_clip(str(tmp_path)).sentences(["a"])


def test_naming_a_model_loads_no_torch(folder: Path) -> None:
    load = f"from backend.encoders.clip import load_clip; load_clip({str(folder)!r})"
    code = f"import sys; {load}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_candidates_are_those_that_sentence_transformers_would_find(folder: Path, tmp_path: Path) -> None:
    """Frames in the middle of every half second, their mean for each moment of 2 s, cosine with the whole sentence."""
    from PIL import Image
    from sentence_transformers import SentenceTransformer

    videos = tmp_path / "videos"
    videos.mkdir()
    for seed, name in enumerate("ab"):
        rng = np.random.default_rng(seed)
        shown = [np.repeat(rng.integers(0, 255, (3, 4, 3), dtype=np.uint8), 16, 0).repeat(16, 1) for _ in range(40)]
        write_source(videos / f"{name}.mp4", range(40), Fraction(1, 10), lambda frame, shown=shown: shown[frame])
    project = init_project(tmp_path / "project", encoder="minilm")
    register_videos(project, OPERATOR, videos, now=NOW)
    propose_moments(project, OPERATOR, ByWindows((2.0,), 0.5), now=NOW)  # three of each video
    draw_queries(project, OPERATOR, own=OwnFile(b"he runs\na man sits\n", "own.txt", Split.VAL), now=NOW)
    done = CliRunner().invoke(app, ["candidates", str(project.folder), "--visual", str(folder), "--no-captions"])
    assert done.exit_code == 0, done.output
    assert "Frames: tiny-clip kind=clip" in done.output

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    sentence = {text: model.encode([text], normalize_embeddings=True)[0] for text in ("he runs", "a man sits")}
    vectors = {}
    for name in "ab":
        frames = [Image.fromarray(picture) for picture in frames_at(videos / f"{name}.mp4", 2)]
        vectors[name] = model.encode(frames, normalize_embeddings=True)
    found = project.store.db.conn.execute(
        "SELECT q.text, v.name, f.start_s, f.end_s, f.score, f.rank FROM candidate_source f "
        "JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id)"
    ).fetchall()
    assert len(found) == 2 * 2 * 3
    for text, name, start_s, end_s, score, _ in found:
        seen = [one for place, one in enumerate(vectors[name]) if start_s <= 0.25 + 0.5 * place < end_s]
        mean = np.mean(seen, axis=0)
        assert score == pytest.approx(float(sentence[text] @ mean / np.linalg.norm(mean)), abs=1e-5)
    for text in ("he runs", "a man sits"):
        ours = [score for own, *_, score, _ in sorted(found, key=lambda row: row[5]) if own == text]
        assert ours == sorted(ours, reverse=True)


def mean_by_hand(frames: np.ndarray, instants: Sequence[float], start_s: float, end_s: float) -> np.ndarray:
    mean = np.mean([frame for frame, at in zip(frames, instants, strict=True) if start_s <= at < end_s], axis=0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize(("start_s", "end_s"), [(0, 5), (0.25, 0.75), (0.26, 1.3), (1.2, 4.9), (4.5, 9.0)])
def test_a_span_is_the_mean_of_the_frames_that_it_shows(start_s: float, end_s: float) -> None:
    frames = np.random.default_rng(3).normal(size=(10, 8)).astype(np.float32)
    frames /= np.linalg.norm(frames, axis=1, keepdims=True)
    instants = [0.25 + 0.5 * number for number in range(10)]
    np.testing.assert_allclose(
        of_span(frames, start_s, end_s, 2.0), mean_by_hand(frames, instants, start_s, end_s), atol=1e-6
    )
