"""Build and run the models that turn sentences and pictures into vectors: SimCSE, MiniLM and CLIP.

SimCSE is built by hand. `SentenceTransformer("princeton-nlp/...")` finds no modules.json there and falls back to
mean pooling, which is another function. SimCSE's own tool (princeton-nlp/SimCSE, tool.py, `pooler = "cls"` and
"cls_before_pooler") computes, with `h` the last hidden state of the CLS token and `W`, `b` the checkpoint's pooler:

    supervised:   v = tanh(W h + b), then v / |v|        (transformers calls this `pooler_output`)
    unsupervised: v = h,             then v / |v|

If OpenVINO is installed (`pip install reelrank[fast]`), it computes the transformer. This changes vectors by less than
1e-6, no more than running torch on another processor does. So vectors made with and without OpenVINO may be mixed.

CLIP is loaded by sentence-transformers, which returns only one vector per sentence or picture. EMScore also needs one
per token, so this code calls the underlying model. A token's vector is its last hidden state, normalised by the text
model's last layer and put through the text projection. The end token's vector, which represents the sentence, is
computed the same way (github.com/ShiYaya/emscore: `encode_text(..., local=True)`).
"""

import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
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
from transformers.modeling_outputs import BaseModelOutput

FloatArray = npt.NDArray[np.float32]

BATCH = 64
"""Texts or pictures in a batch; larger batches are slower on a CPU (measured: 218 a second at 64, 168 at 256)."""


class SentenceModel:
    """A sentence model loaded from a folder, which turns texts into unit vectors; on a GPU if torch finds one."""

    def __init__(self, folder: Path, kind: str, tokens: int, dtype: str) -> None:
        """Build the model.

        Args:
            folder: A checkpoint with its tokenizer, as transformers saves it.
            kind: "sup" (supervised SimCSE), "unsup" (unsupervised SimCSE), or "minilm" to follow the folder's
                modules.json.
            tokens: The most tokens that SimCSE reads of a text; "minilm" ignores it.
            dtype: Precision of the transformer, whatever the file has: "fp32" or "bf16". Pooling is always fp32.

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
        self._until_fast = WORTH_IT if device == "cpu" and dtype == "fp32" and has_openvino() else None

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Return unit vectors of the texts, float32 `(len(texts), dim)`, in the given order."""
        vectors = []
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            vectors.append(self._model.encode(part, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True))
            self._hasten(len(part))
        return np.concatenate(vectors, dtype=np.float32)

    def encode_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Return the last hidden states of each text's tokens, float32 `(tokens, dim)`, special tokens included."""
        states = self._model.encode(
            list(texts), batch_size=BATCH, show_progress_bar=False, output_value="token_embeddings"
        )
        return [state.float().cpu().numpy() for state in states]

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, at most the number that the model reads."""
        limit = self._model.max_seq_length
        encoded = self._model.tokenizer(list(texts), truncation=True, max_length=limit, return_attention_mask=False)
        return [len(tokens) for tokens in encoded["input_ids"]]

    def _hasten(self, encoded: int) -> None:
        """Switch to OpenVINO, if installed, after `WORTH_IT` texts; `encoded` is the number of texts just encoded.

        A model that has encoded so many texts is likely to encode many more.
        """
        if self._until_fast is None:
            return
        self._until_fast -= encoded
        if self._until_fast <= 0:
            self._until_fast = None
            with quiet():
                replace_transformer(self._model, owned_cores())


def owned_cores() -> int:
    """Return the number of cores that this process may use.

    More threads than cores make encoding three times slower.
    """
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
    # The loading report is needed because transformers replaces a missing pooler with random weights.
    model, report = AutoModel.from_pretrained(
        str(folder), dtype=torch.float32, local_files_only=True, output_loading_info=True
    )
    missing = [key for key in report["missing_keys"] if "pooler" in key]
    if missing or getattr(model, "pooler", None) is None:
        raise ValueError("the checkpoint has no trained pooler, so it is not supervised SimCSE: try kind 'unsup'")
    return model.pooler.dense.weight.detach(), model.pooler.dense.bias.detach()


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the model libraries' progress bars and loading reports; restore their settings afterwards."""
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


WORTH_IT = 2048
"""Number of texts after which converting the model (one to three seconds) pays off if as many follow."""


def has_openvino() -> bool:
    """Return whether OpenVINO is installed."""
    return importlib.util.find_spec("openvino") is not None


def replace_transformer(model: SentenceTransformer, threads: int) -> None:
    """Replace a model's transformer by one that OpenVINO computes in float32; torch still computes the pooling.

    If OpenVINO cannot convert the transformer, the model stays unchanged, and a warning is issued.
    """
    transformer = model[0]
    inputs = model.preprocess(["a man", "a woman walks to a door"])
    names = ("input_ids", "attention_mask", "token_type_ids")
    example: dict[str, torch.Tensor] = {name: inputs[name] for name in names if name in inputs}
    try:
        transformer.model = _Compiled(transformer.model, example, threads)
    except Exception as error:
        warnings.warn(f"OpenVINO cannot convert this encoder, so torch is used: {error}", stacklevel=2)


class _Compiled(torch.nn.Module):
    """A transformer compiled by OpenVINO, with the interface of the torch module that it replaces."""

    def __init__(self, original: Any, example: Mapping[str, torch.Tensor], threads: int) -> None:
        super().__init__()
        with _without_telemetry():
            import openvino

            with torch.no_grad(), warnings.catch_warnings(action="ignore"):  # the tracer warns about constants
                converted = openvino.convert_model(
                    _LastState(original, list(example)), example_input=(*example.values(),)
                )
        # Otherwise OpenVINO silently uses bf16 where the processor supports it.
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
        compiled = openvino.compile_model(converted, "CPU", hints)
        if compiled.get_property("INFERENCE_PRECISION_HINT") != openvino.Type.f32:
            raise ValueError("it does not compute in float32")
        self.config = original.config
        self._names = list(example)
        self._request = compiled.create_infer_request()

    def forward(self, **inputs: Any) -> BaseModelOutput:
        """Return the last hidden state as a copy, because OpenVINO's next request overwrites its output."""
        outputs = self._request.infer([inputs[name].numpy() for name in self._names], share_inputs=True)
        return BaseModelOutput(last_hidden_state=torch.from_numpy(outputs[0].copy()))


class _LastState(torch.nn.Module):
    """The part of the transformer that OpenVINO converts: from token ids to the last hidden state."""

    def __init__(self, original: Any, names: list[str]) -> None:
        super().__init__()
        self._original = original
        self._names = names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state; `inputs` are in the order of the names given to the constructor."""
        state: torch.Tensor = self._original(**dict(zip(self._names, inputs, strict=True))).last_hidden_state
        return state


@contextmanager
def _without_telemetry() -> Iterator[None]:
    """Keep OpenVINO from importing `openvino_telemetry`, the package that reports conversions to its makers."""
    name = "openvino_telemetry"
    before = sys.modules.get(name)
    sys.modules[name] = None  # type: ignore[assignment]  # Python's own way to make an import fail
    try:
        yield
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


class ClipModel:
    """A CLIP model from a folder that transformers or sentence-transformers saved; on a GPU if torch finds one."""

    def __init__(self, folder: Path) -> None:
        """Build the model.

        Raises:
            ValueError: the folder holds another kind of model.
        """
        torch.set_num_threads(min(torch.get_num_threads(), owned_cores()))
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        with quiet():
            model = SentenceTransformer(str(folder), device=self._device, local_files_only=True)
        model.eval()
        loaded: Any = model[0]
        self._model: Any = getattr(loaded, "model", None)
        self._processor: Any = getattr(loaded, "processor", None)
        if getattr(self._model, "text_projection", None) is None or not hasattr(self._model, "get_image_features"):
            raise ValueError("it is not a CLIP model, which puts text and pictures into one space")

    def frames(self, pictures: Sequence[npt.NDArray[np.uint8]]) -> FloatArray:
        """Return unit vectors of RGB pictures, float32 `(pictures, dim)`."""
        parts = []
        for start in range(0, len(pictures), BATCH):
            inputs = self._processor(images=list(pictures[start : start + BATCH]), return_tensors="pt")
            with torch.inference_mode():
                features = self._model.get_image_features(pixel_values=inputs["pixel_values"].to(self._device))
            parts.append(_unit(features.pooler_output))
        return np.concatenate(parts)

    def sentences(self, texts: Sequence[str]) -> list[tuple[list[int], FloatArray]]:
        """Return for each text its token ids, with start and end token, and a unit vector of each, `(tokens, dim)`."""
        sentences_read = []
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            inputs = self._processor(text=part, padding=True, truncation=True, return_tensors="pt").to(self._device)
            with torch.inference_mode():
                states = self._model.text_model(
                    input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
                ).last_hidden_state
                vectors = _unit(self._model.text_projection(states))
            for row, count in enumerate(inputs["attention_mask"].sum(dim=1).tolist()):
                sentences_read.append((inputs["input_ids"][row, :count].tolist(), vectors[row, :count]))
        return sentences_read


def _unit(vectors: torch.Tensor) -> FloatArray:
    unit: FloatArray = torch.nn.functional.normalize(vectors.float(), dim=-1).cpu().numpy()
    return unit
