"""Encode sentences, their tokens, and video frames with CLIP (Radford et al. 2021), as vectors that can be compared.

Nothing here imports torch until something has to be encoded. The vectors of a video's frames are cached on disk, one
file for each model, video and frame rate. Vectors of sentences are not cached, because sentences are few and short.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, floor
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from backend.core.errors import EncoderUnavailable
from backend.core.messages import said
from backend.core.progress import Steps
from backend.core.where import HERE, Where
from backend.encoders.cache import keep_array
from backend.encoders.emscore import SentenceVectors
from backend.encoders.sentence import FloatArray, files_sha256, model_folder, one_line
from backend.encoders.vocabulary import longest_first

if TYPE_CHECKING:
    from backend.encoders.models import ClipModel


CLIP_NAME = "sentence-transformers/clip-ViT-B-32"
"""CLIP ViT-B/32, the model of EMScore."""
FOR_POOLS = said("name its folder with --clip, or build from text alone (--visual none)")
FOR_CANDIDATES = said("name its folder with --visual, or choose candidates without frames")

Picture = npt.NDArray[np.uint8]

_AT_ONCE = 64
"""The most pictures in memory at a time, and the number of texts between two calls of a progress callback."""


@dataclass(slots=True)
class Clip:
    """A CLIP model, which is loaded when something is first encoded.

    Attributes:
        name: its folder, or its name on the model hub.
        identity: the name and the hashes of the model's files; models with the same identity return the same vectors.
        where: the processes or machines that encode frames.
    """

    name: str
    identity: str
    _folder: Path
    _advice: str = FOR_POOLS
    where: Where = HERE
    _built: "ClipModel | None" = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name and identity instead of the model: another process loads the model from its own files.

        Unpickling fails if these files have another identity.
        """
        return _load_on_worker, (self.name, self.identity, self._advice)

    def sentences(self, texts: Iterable[str], *, progress: Steps | None = None) -> dict[str, SentenceVectors]:
        """Return for each distinct text its token ids (at most 77) and one vector for each token.

        `progress` is called with (texts done, all distinct texts).

        Raises:
            EncoderUnavailable: the model cannot be built.
        """
        unique = longest_first(self, texts)
        vectors_by_text: dict[str, SentenceVectors] = {}
        for start in range(0, len(unique), _AT_ONCE):
            part = unique[start : start + _AT_ONCE]
            for text, (tokens, vectors) in zip(part, self._model().sentences(part), strict=True):
                vectors_by_text[text] = SentenceVectors(tokens, vectors)
            if progress:
                progress(len(vectors_by_text), len(unique))
        return vectors_by_text

    def frames(
        self, video_sha256: str, per_s: float, pictures: Callable[[], Iterable[Picture]], folder: Path
    ) -> FloatArray:
        """Return unit vectors of the frames of a video, float32 `(frames, dim)`, from disk where they are cached.

        Args:
            video_sha256: hash of the video file, by which its vectors are cached.
            per_s: the rate of `pictures`, in frames a second.
            pictures: yields the frames as RGB arrays; not called if the vectors are cached.
            folder: the cache folder.

        Raises:
            EncoderUnavailable: the model cannot be built.
            ValueError: there are no frames.
        """
        place = folder / hashlib.sha256(self.identity.encode()).hexdigest()[:32] / "frames"
        path = place / f"{video_sha256}-{per_s:g}.npy"
        if (known := _read_cached(path)) is not None:
            return known
        unit_vectors = np.concatenate([self._model().frames(part) for part in _parts(pictures())])
        keep_array(path, unit_vectors)
        return unit_vectors

    def _model(self) -> "ClipModel":
        if self._built is None:
            from backend.encoders.models import ClipModel

            try:
                self._built = ClipModel(self._folder)
            except Exception as error:
                # A damaged or foreign checkpoint surfaces as any of a dozen types of the model libraries.
                raise _unavailable(self.name, one_line(error).rstrip("."), self._advice) from error
        return self._built


def load_clip(name: str, advice: str = FOR_POOLS) -> Clip:
    """Return a CLIP model from a folder or from the model hub, after finding and hashing its files.

    Args:
        name: the folder, or the model's name on the hub.
        advice: the end of the error message, which tells the user what to do if the model is unavailable.

    Raises:
        EncoderUnavailable: its files cannot be found or downloaded. Encoding raises it too, if the model cannot be
            built.
    """
    files = {"allow_patterns": ["*.json", "*.txt", "*.safetensors", "*pytorch_model*.bin"]}
    folder = model_folder(
        name, lambda snapshot: bool(_weights(snapshot)), [files], lambda why: _unavailable(name, why, advice)
    )
    weights = _weights(folder)
    if not weights:
        why = said("{folder} holds no weights (.safetensors, or pytorch_model.bin)", folder=folder.name)
        raise _unavailable(name, why, advice)
    texts = sorted(path for path in folder.rglob("*") if path.suffix in {".json", ".txt"})
    label = folder.resolve().name if Path(name).expanduser().is_dir() else name
    identity = f"{label} kind=clip weights={files_sha256(weights)} files={files_sha256(texts)[:12]}"
    return Clip(name, identity, folder, advice)


def _load_on_worker(name: str, identity: str, advice: str) -> Clip:
    clip = load_clip(name, advice)
    if clip.identity != identity:
        fault = said("{host} has another model of this name: install the same on all machines", host=gethostname())
        raise _unavailable(name, fault, advice)
    return clip


def _weights(folder: Path) -> list[Path]:
    """Return the files with a model's weights, in a folder and its subfolders.

    They are the safetensors files, or the pickled files if there are none.
    """
    return sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))


def _unavailable(name: str, reason: str, advice: str) -> EncoderUnavailable:
    return EncoderUnavailable.said("CLIP model {name!r}: {reason}; {advice}", name=name, reason=reason, advice=advice)


def _read_cached(path: Path) -> FloatArray | None:
    """Return the cached vectors in a file; None if it is missing or damaged."""
    try:
        vectors: FloatArray = np.load(path, allow_pickle=False)
    except (OSError, EOFError, ValueError):
        return None
    return vectors if vectors.ndim == 2 and vectors.dtype == np.float32 and len(vectors) else None


def _parts(pictures: Iterable[Picture]) -> Iterator[Sequence[Picture]]:
    rest = iter(pictures)
    while part := list(islice(rest, _AT_ONCE)):
        yield part


def of_span(frames: FloatArray, start_s: float, end_s: float, per_s: float) -> FloatArray:
    """Return one unit vector for the span from `start_s` to `end_s` of a video, float32 `(dim,)`.

    It is the mean of the vectors of the frames in the span, scaled to length 1. `frames`, `(frames, dim)`, holds the
    vectors of the whole video: row i is the frame at `(i + 0.5) / per_s` seconds. If the span contains no such time,
    the frame nearest to the middle of the span is used.

    >>> two = np.eye(2, dtype=np.float32)  # the frames at 0.25 s and at 0.75 s
    >>> [of_span(two, start_s, end_s, 2.0).tolist() for start_s, end_s in ((0.0, 0.5), (0.3, 0.4), (5.0, 6.0))]
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> [round(float(x), 4) for x in of_span(two, 0.0, 1.0, 2.0)]
    [0.7071, 0.7071]
    """
    first, after = ceil(start_s * per_s - 0.5), ceil(end_s * per_s - 0.5)
    part = frames[max(0, first) : max(0, after)]
    if len(part) == 0:
        nearest = floor((start_s + end_s) / 2 * per_s)
        part = frames[min(nearest, len(frames) - 1)][np.newaxis]
    mean = part.mean(axis=0, dtype=np.float64)
    unit: FloatArray = (mean / max(float(np.linalg.norm(mean)), np.finfo(np.float64).tiny)).astype(np.float32)
    return unit
