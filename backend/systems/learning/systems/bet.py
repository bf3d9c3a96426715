"""BET, the Bi-Encoder Transformer: a transformer encodes the clips of a video, and two MLPs encode the query.

Source: Yang et al. 2024, "MVMR: A New Framework for Evaluating Faithfulness of Video Moment Retrieval against Multiple
Distractors" (CIKM), appendix B.2, equations 11 to 13. No code of this system is public. With L clips and W tokens:

- (11) H_v = TransformerEnc(clips W_v): one vector of D numbers for each clip.
- (12) h_s, h_e = MLP_s(mean of tokens W_q), MLP_e(mean of tokens W_q): two vectors for a query, by MLPs of 3 layers.
- (13) p_s = sigmoid(r cos(H_v, h_s)), p_e = sigmoid(r cos(H_v, h_e)), for each clip.
- The labels and the loss are those of CET, equations 9 and 10: `boundaries.py`.

As in the paper, the loss of a pair is of its own query and video alone, unless `other_videos` takes more.

What differs from the paper, or is not in it, is the same as for CET (`cet.py`): the frozen text encoder, position
encodings for clips, the inner sizes of the transformer, the number of clips, the score p_s p_e of a span, `weighted`.
Equation 13's p is at least sigmoid(-r), so the loss cannot fall to 0: with r = 10 that is 4.5e-5 for each clip.
"""

from typing import ClassVar, cast

import torch
from msgspec import Struct
from torch import Tensor
from torch.nn.functional import normalize

from backend.systems.learning.field_types import Positive
from backend.systems.learning.system import Encoded, Sizes
from backend.systems.learning.systems.boundaries import BoundarySystem, TransformerOptions, boundary_scores


class BiEncoderOptions(TransformerOptions, frozen=True, forbid_unknown_fields=True):
    """Options of the network: those of `TransformerOptions`, and `scale`, r, which multiplies cosines (equation 13)."""

    scale: Positive = 10.0


class BiEncoder(BoundarySystem):
    """The system `bet`."""

    name: ClassVar[str] = "bet"
    paper: ClassVar[str] = "Yang et al. 2024, MVMR (CIKM): Bi-Encoder Transformer, appendix B.2"
    ModelOptions: ClassVar[type[Struct]] = BiEncoderOptions

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        options = cast(BiEncoderOptions, model)
        super().__init__(sizes, model, loss, outputs=options.hidden)
        self.scale = options.scale

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return `clips`, unit vectors `(videos, clips, D)` by equation 11, and their `mask`."""
        encoded = self.encoder(self.placed(clips), src_key_padding_mask=~mask)
        return {"clips": normalize(encoded, dim=-1), "mask": mask}

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return `start` and `end`, unit vectors `(queries, D)` by equation 12."""
        pooled = self.words(words).masked_fill(~mask[..., None], 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return {"start": normalize(self.start(pooled), dim=-1), "end": normalize(self.end(pooled), dim=-1)}

    def boundary_logits(self, queries: Encoded, videos: Encoded) -> tuple[Tensor, Tensor]:
        """Return r times the cosine of each clip and its pair's query, for the start and the end: equation 13."""
        return self._cosines("bd,bld->bl", queries, videos)

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return p_s(i) p_e(j) of the span from clip i to clip j, `(queries, videos, clips, clips)`, from 0 to 1."""
        return boundary_scores(*self._cosines("qd,vld->qvl", queries, videos), videos["mask"])

    def _cosines(self, pairing: str, queries: Encoded, videos: Encoded) -> tuple[Tensor, Tensor]:
        return (
            self.scale * torch.einsum(pairing, queries["start"], videos["clips"]),
            self.scale * torch.einsum(pairing, queries["end"], videos["clips"]),
        )
