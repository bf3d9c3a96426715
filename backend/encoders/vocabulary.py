"""The words that an encoder knows whole, read from its tokenizer's files without loading a model."""

import json
from functools import lru_cache
from pathlib import Path

_WORD_START = "Ġ"  # how byte-level tokenizers mark a space before a token


@lru_cache(maxsize=4)
def words(folder: Path) -> frozenset[str]:
    """Whole words in lower case; empty if the folder has no vocabulary that can be read.

    WordPiece (BERT): tokens without `##`. Byte-level (RoBERTa): tokens that begin a word.
    """
    try:
        if (folder / "vocab.txt").is_file():
            tokens = (folder / "vocab.txt").read_text("utf-8").split("\n")
        elif (folder / "vocab.json").is_file():
            tokens = list(json.loads((folder / "vocab.json").read_text("utf-8")))
        else:
            tokens = list(json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"])
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
    if any(token.startswith(_WORD_START) for token in tokens):
        tokens = [token[len(_WORD_START) :] for token in tokens if token.startswith(_WORD_START)]
    return frozenset(token.lower() for token in tokens if token.isalpha())
