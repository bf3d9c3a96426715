"""The same vectors from OpenVINO, where it is installed: in float32, and without a word to its makers."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

openvino_itself = pytest.importorskip("openvino")

from backend.encoders import models  # noqa: E402  (loads torch)
from backend.encoders.sentence import Encoder, EncoderSpec, load, resolve  # noqa: E402
from encoders.test_encoders import TEXTS, tiny_bert, tiny_roberta  # noqa: E402


def transformer(encoder: Encoder) -> object:
    return encoder._model()._model[0].model  # type: ignore[attr-defined]


def hastened(spec: EncoderSpec, monkeypatch: pytest.MonkeyPatch) -> tuple[Encoder, Encoder]:
    """An encoder under torch, and one that went on in OpenVINO after its first text."""
    monkeypatch.setattr(models, "WORTH_IT", 1)
    fast = load(spec)
    fast.encode(["a man"])
    monkeypatch.setattr(models, "has_openvino", lambda: False)
    return load(spec), fast


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
@pytest.mark.parametrize("kind", ["sup", "unsup"])
def test_simcse_gives_the_same_vectors(
    tmp_path: Path, make: Callable[[Path], Path], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, fast = hastened(resolve(str(make(tmp_path / "model")), kind), monkeypatch)
    np.testing.assert_allclose(fast.encode(TEXTS), plain.encode(TEXTS), atol=1e-5)
    assert isinstance(transformer(fast), models._Compiled)
    assert not isinstance(transformer(plain), models._Compiled)
    assert fast.identity == plain.identity


def test_minilm_gives_the_same_vectors_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, fast = hastened(resolve("minilm"), monkeypatch)
    texts = [" ".join(["a woman walks past a man"] * n) for n in range(1, 70)]
    np.testing.assert_allclose(fast.encode(texts), plain.encode(texts), atol=1e-5)
    compiled = transformer(fast)
    assert isinstance(compiled, models._Compiled)
    precision = compiled._request.get_compiled_model().get_property("INFERENCE_PRECISION_HINT")
    assert precision == openvino_itself.Type.f32


def test_bf16_stays_with_torch_which_computes_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _, asked = hastened(resolve("minilm", dtype="bf16"), monkeypatch)
    assert not isinstance(transformer(asked), models._Compiled)


def test_a_model_that_cannot_be_converted_stays_with_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("no such operation")

    monkeypatch.setattr(openvino_itself, "convert_model", fail)
    with pytest.warns(UserWarning, match="torch is used: no such operation"):
        plain, other = hastened(resolve(str(tiny_bert(tmp_path / "m"))), monkeypatch)
    np.testing.assert_array_equal(other.encode(TEXTS), plain.encode(TEXTS))


def test_a_short_job_does_not_wait_for_the_conversion() -> None:
    encoder = load(resolve("minilm"))
    encoder.encode(["a man"])
    assert not isinstance(transformer(encoder), models._Compiled)


def test_nothing_is_reported_to_anybody() -> None:
    code = (
        "from backend.encoders import models, sentence; models.WORTH_IT = 1;"
        "encoder = sentence.load(sentence.resolve('minilm')); encoder.encode(['a']);"
        "from openvino.tools.ovc import telemetry_utils; print(telemetry_utils.tm.__name__);"
        "import sys; print(isinstance(encoder._model()._model[0].model, models._Compiled))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["openvino.tools.ovc.telemetry_stub", "True"]
    assert done.stderr == ""
