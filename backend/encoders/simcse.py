"""Building the models behind `sentence.py`: the only module of the encoders that touches torch.

SimCSE is built by hand. `SentenceTransformer("princeton-nlp/...")` finds no modules.json there and falls back to
mean pooling, which is another function. SimCSE's own tool (princeton-nlp/SimCSE, tool.py, `pooler = "cls"` and
"cls_before_pooler") computes, with `h` the last hidden state of the CLS token and `W`, `b` the checkpoint's pooler:

    supervised:   v = tanh(W h + b), then v / |v|        (transformers calls this `pooler_output`)
    unsupervised: v = h,             then v / |v|
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers.utils.logging as transformers_logging
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import AutoModel

from backend.encoders import openvino

FloatArray = npt.NDArray[np.float32]

BATCH = 64
"""Texts at a time; larger batches are slower on a CPU (measured: 218 a second at 64, 168 at 256)."""


class Model:
    """The function from texts to unit vectors of the model in a folder, on a GPU where torch finds one."""

    def __init__(self, folder: Path, kind: str, tokens: int, dtype: str) -> None:
        """Build the model.

        Args:
            folder: A checkpoint with its tokenizer, as transformers saves it.
            kind: "sup" or "unsup" as above, or "minilm": whatever the folder's own modules.json says.
            tokens: Longest input of the SimCSE kinds.
            dtype: What the transformer computes in, whatever the file has: "fp32" or "bf16". Pooling is always fp32.

        Raises:
            ValueError: A supervised checkpoint without a trained pooler.
        """
        torch.set_num_threads(min(torch.get_num_threads(), owned_cores()))
        device = "cuda" if torch.cuda.is_available() else "cpu"
        precision = {"fp32": torch.float32, "bf16": torch.bfloat16}[dtype]
        with quiet():
            self._model = (
                _from_modules_json(folder, device, precision)
                if kind == "minilm"
                else _simcse(folder, kind, tokens, device, precision)
            )
        self._model.eval()
        self._model[0].register_forward_hook(_in_single_precision)
        self._until_fast = openvino.WORTH_IT if device == "cpu" and dtype == "fp32" and openvino.there() else None

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Float32 unit vectors `(len(texts), dim)`, in the given order, which is also that of the batches."""
        vectors = []
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            vectors.append(self._model.encode(part, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True))
            self._hasten(len(part))
        return np.concatenate(vectors, dtype=np.float32)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, as far as the model reads it."""
        limit = self._model.max_seq_length
        found = self._model.tokenizer(list(texts), truncation=True, max_length=limit, return_attention_mask=False)
        return [len(tokens) for tokens in found["input_ids"]]

    def _hasten(self, encoded: int) -> None:
        """Go on in OpenVINO, where it is installed, once so much was encoded that there is probably much more."""
        if self._until_fast is None:
            return
        self._until_fast -= encoded
        if self._until_fast <= 0:
            self._until_fast = None
            with quiet():
                openvino.replace_transformer(self._model, owned_cores())


def owned_cores() -> int:
    """Cores this process may run on; more threads than that made encoding three times slower."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _in_single_precision(module: torch.nn.Module, inputs: object, features: dict[str, Any]) -> dict[str, Any]:
    return {**features, "token_embeddings": features["token_embeddings"].float()}


def _from_modules_json(folder: Path, device: str, dtype: torch.dtype) -> SentenceTransformer:
    return SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs={"dtype": dtype})


def _simcse(folder: Path, kind: str, tokens: int, device: str, dtype: torch.dtype) -> SentenceTransformer:
    transformer = Transformer(str(folder), max_seq_length=tokens, model_kwargs={"dtype": dtype})
    width = transformer.get_embedding_dimension()
    modules: list[torch.nn.Module] = [transformer, Pooling(width, "cls")]
    if kind == "sup":
        weight, bias = _pooler(folder)
        modules.append(Dense(width, width, activation_function=torch.nn.Tanh(), init_weight=weight, init_bias=bias))
    modules.append(Normalize())
    return SentenceTransformer(modules=modules, device=device)


def _pooler(folder: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of the checkpoint's pooler."""
    # Asked for the report: where a checkpoint lacks a pooler, transformers invents a random one and goes on.
    model, report = AutoModel.from_pretrained(
        str(folder), dtype=torch.float32, local_files_only=True, output_loading_info=True
    )
    missing = [key for key in report["missing_keys"] if "pooler" in key]
    if missing or getattr(model, "pooler", None) is None:
        raise ValueError("the checkpoint has no trained pooler, so it is not supervised SimCSE: try kind 'unsup'")
    return model.pooler.dense.weight.detach(), model.pooler.dense.bias.detach()


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back the model libraries' progress bars and loading reports, and put their settings back."""
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.ERROR)
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # untyped in transformers
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
