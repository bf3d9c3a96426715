"""Building the models behind `sentence.py`: the only module of the encoders that touches torch.

SimCSE is built by hand. `SentenceTransformer("princeton-nlp/...")` finds no modules.json there and falls back to
mean pooling, which is another function. SimCSE's own tool (princeton-nlp/SimCSE, tool.py, `pooler = "cls"` and
"cls_before_pooler") computes, with `h` the last hidden state of the CLS token and `W`, `b` the checkpoint's pooler:

    supervised:   v = tanh(W h + b), then v / |v|        (transformers calls this `pooler_output`)
    unsupervised: v = h,             then v / |v|
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import transformers.utils.logging as transformers_logging
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import AutoModel

FloatArray = npt.NDArray[np.float32]

BATCH = 64
"""Texts at a time; larger batches are slower on a CPU (measured: 218 a second at 64, 168 at 256)."""


def build(folder: Path, kind: str, tokens: int) -> Callable[[Sequence[str]], FloatArray]:
    """The function from texts to float32 unit vectors `(n, dim)` of the model in `folder`.

    Runs in float32 whatever precision the file has, on a GPU where torch finds one.

    Args:
        folder: A checkpoint with its tokenizer, as transformers saves it.
        kind: "sup" or "unsup" as above, or "minilm": whatever the folder's own modules.json says.
        tokens: Longest input of the SimCSE kinds.

    Raises:
        ValueError: A supervised checkpoint without a trained pooler.
    """
    torch.set_num_threads(min(torch.get_num_threads(), owned_cores()))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with _quiet():
        model = _from_modules_json(folder, device) if kind == "minilm" else _simcse(folder, kind, tokens, device)
    model.eval()

    def encode(texts: Sequence[str]) -> FloatArray:
        vectors = model.encode(list(texts), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)

    return encode


def owned_cores() -> int:
    """Cores this process may run on; more threads than that made encoding three times slower."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _from_modules_json(folder: Path, device: str) -> SentenceTransformer:
    return SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs={"dtype": torch.float32})


def _simcse(folder: Path, kind: str, tokens: int, device: str) -> SentenceTransformer:
    transformer = Transformer(str(folder), max_seq_length=tokens, model_kwargs={"dtype": torch.float32})
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
def _quiet() -> Iterator[None]:
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
