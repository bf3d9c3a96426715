"""The transformer computed by OpenVINO instead of torch, where that is installed (extra `fast`): the same vectors.

The vectors differ by less than 1e-6, as they do between two processors under torch, so the encoder keeps its identity.
"""

import importlib.util
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from transformers.modeling_outputs import BaseModelOutput

WORTH_IT = 2048
"""Texts after which converting the model (one to three seconds) pays, should as many follow."""


def there() -> bool:
    """Whether OpenVINO is installed."""
    return importlib.util.find_spec("openvino") is not None


def replace_transformer(model: SentenceTransformer, threads: int) -> None:
    """Let OpenVINO compute the transformer of a model in float32; pooling and what follows stay with torch.

    A model that OpenVINO cannot convert stays as it is.
    """
    transformer = model[0]
    inputs = model.preprocess(["a man", "a woman walks to a door"])
    names = ("input_ids", "attention_mask", "token_type_ids")
    example: dict[str, torch.Tensor] = {name: inputs[name] for name in names if name in inputs}
    try:
        transformer.model = _Compiled(transformer.model, example, threads)
    except Exception as error:
        warnings.warn(f"OpenVINO cannot convert this encoder, so torch goes on: {error}", stacklevel=2)


class _Compiled(torch.nn.Module):
    """A transformer in OpenVINO that answers like the one it was made from."""

    def __init__(self, original: Any, example: Mapping[str, torch.Tensor], threads: int) -> None:
        super().__init__()
        with _without_telemetry():
            import openvino

            with torch.no_grad(), warnings.catch_warnings(action="ignore"):  # the tracer's, about constants
                converted = openvino.convert_model(
                    _LastState(original, list(example)), example_input=(*example.values(),)
                )
        # bf16 is what OpenVINO takes by itself where the processor has it, without a word.
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
        compiled = openvino.compile_model(converted, "CPU", hints)
        if compiled.get_property("INFERENCE_PRECISION_HINT") != openvino.Type.f32:
            raise ValueError("it does not compute in float32")
        self.config = original.config
        self._names = list(example)
        self._request = compiled.create_infer_request()

    def forward(self, **inputs: Any) -> BaseModelOutput:
        """The last hidden state, as a copy: the next request overwrites its own."""
        found = self._request.infer([inputs[name].numpy() for name in self._names], share_inputs=True)
        return BaseModelOutput(last_hidden_state=torch.from_numpy(found[0].copy()))


class _LastState(torch.nn.Module):
    """What is converted: from token ids to the last hidden state, nothing else."""

    def __init__(self, original: Any, names: list[str]) -> None:
        super().__init__()
        self._original = original
        self._names = names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """The last hidden state of the named inputs."""
        state: torch.Tensor = self._original(**dict(zip(self._names, inputs, strict=True))).last_hidden_state
        return state


@contextmanager
def _without_telemetry() -> Iterator[None]:
    """Load OpenVINO such that it takes its own stub for the package that reports conversions to its makers."""
    name = "openvino_telemetry"
    before = sys.modules.get(name)
    sys.modules[name] = None  # type: ignore[assignment]  # Python's own way to make an import fail
    try:
        yield
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
