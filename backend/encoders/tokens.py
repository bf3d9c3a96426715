"""Vectors of the tokens of texts, for systems that read a query word by word, and their cache on disk."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from backend.core.errors import EncoderUnavailable
from backend.core.progress import Steps
from backend.encoders.cache import keep_array
from backend.encoders.sentence import Encoder, FloatArray
from backend.encoders.vocabulary import longest_first

_STEP = 256
"""Texts between two calls of a progress callback."""


@runtime_checkable
class TokenEncoder(Protocol):
    """A sentence encoder that also returns a vector for each token of a text."""

    def encode_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Return the vectors of the tokens of each text, float32 `(tokens, dim)`, special tokens included."""
        ...


def encode_tokens(
    encoder: Encoder, texts: Sequence[str], *, progress: Steps | None = None
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return the token vectors of all texts, one text after the other, and where each text begins.

    A token's vector is the last hidden state of the model. The special tokens at both ends count.

    Args:
        encoder: the encoder.
        texts: the texts; the same text may occur several times, and is encoded once.
        progress: called with (texts done, all distinct texts).

    Returns:
        float32 `(tokens, dim)`, and the row of the first token of each text and the number of all tokens, int64
        `(texts + 1,)`.

    Raises:
        EncoderUnavailable: the model cannot be built, or the encoder gives no token vectors.
    """
    if not isinstance(encoder, TokenEncoder):
        raise EncoderUnavailable.said("sentence encoder {name!r} gives no vectors of tokens", name=encoder.identity)
    unique = longest_first(encoder, texts)
    vectors: dict[str, FloatArray] = {}
    for start in range(0, len(unique), _STEP):
        part = unique[start : start + _STEP]
        vectors |= zip(part, encoder.encode_tokens(part), strict=True)
        if progress is not None:
            progress(len(vectors), len(unique))
    starts = np.cumsum([0, *(len(vectors[text]) for text in texts)], dtype=np.int64)
    empty = np.zeros((0, encoder.dim), dtype=np.float32)
    return np.concatenate([empty, *(vectors[text] for text in texts)]), starts


def encode_tokens_cached(
    encoder: Encoder, texts: Sequence[str], folder: Path, *, progress: Steps | None = None
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return the token vectors of `texts`, see `encode_tokens`, from disk if these texts are cached.

    They are cached for all texts together, because one text has many: 23 KB for 15 tokens of 384 numbers.

    Raises:
        EncoderUnavailable: the texts are not cached, and the model cannot be built, or gives no token vectors.
    """
    digest = hashlib.blake2b(digest_size=16)
    for text in (encoder.identity, *texts):
        digest.update(hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest())
    places = [folder / "tokens" / f"{digest.hexdigest()}-{part}.npy" for part in ("starts", "rows")]
    try:
        starts, rows = (np.load(place, allow_pickle=False) for place in places)
        if starts.shape == (len(texts) + 1,) and rows.shape == (starts[-1], encoder.dim):
            return rows, starts
    except (OSError, EOFError, ValueError):
        pass  # missing or damaged
    rows, starts = encode_tokens(encoder, texts, progress=progress)
    keep_array(places[0], starts)
    keep_array(places[1], rows)
    return rows, starts
