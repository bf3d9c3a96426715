"""Building CLIP behind `clip.py`, through sentence-transformers: beside `simcse.py` the only module that touches torch.

SentenceTransformer gives one vector a sentence or picture; EMScore needs one of each token as well, so the model that
it loads is asked itself. A token's vector is its last hidden state, normalised by the text model's last layer and put
through the text projection, as the end token's is, which stands for the sentence (github.com/ShiYaya/emscore does so by
`encode_text(..., local=True)`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sentence_transformers import SentenceTransformer

from backend.encoders.simcse import owned_cores, quiet

FloatArray = npt.NDArray[np.float32]

BATCH = 64
"""Texts or pictures at a time."""


class ClipModel:
    """CLIP of a folder, as transformers or sentence-transformers saves it, on a GPU where torch finds one."""

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
            raise ValueError("it is no CLIP model, which has text and pictures in one space")

    def frames(self, pictures: Sequence[npt.NDArray[np.uint8]]) -> FloatArray:
        """Unit vectors of RGB pictures, float32 `(pictures, dim)`."""
        found = []
        for start in range(0, len(pictures), BATCH):
            inputs = self._processor(images=list(pictures[start : start + BATCH]), return_tensors="pt")
            with torch.inference_mode():
                features = self._model.get_image_features(pixel_values=inputs["pixel_values"].to(self._device))
            found.append(_unit(features.pooler_output))
        return np.concatenate(found)

    def sentences(self, texts: Sequence[str]) -> list[tuple[list[int], FloatArray]]:
        """Of each text its tokens, start and end included, and a unit vector of each, `(tokens, dim)`."""
        found = []
        for start in range(0, len(texts), BATCH):
            part = list(texts[start : start + BATCH])
            inputs = self._processor(text=part, padding=True, truncation=True, return_tensors="pt").to(self._device)
            with torch.inference_mode():
                states = self._model.text_model(
                    input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
                ).last_hidden_state
                vectors = _unit(self._model.text_projection(states))
            for row, count in enumerate(inputs["attention_mask"].sum(dim=1).tolist()):
                found.append((inputs["input_ids"][row, :count].tolist(), vectors[row, :count]))
        return found


def _unit(vectors: torch.Tensor) -> FloatArray:
    found: FloatArray = torch.nn.functional.normalize(vectors.float(), dim=-1).cpu().numpy()
    return found
