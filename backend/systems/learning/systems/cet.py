"""CET, the Cross-Encoder Transformer: one transformer reads a query together with the clips of one video.

Source: Yang et al. 2024, "MVMR: A New Framework for Evaluating Faithfulness of Video Moment Retrieval against Multiple
Distractors" (CIKM), appendix B.2, equations 7 to 10. No code of this system is public. With L clips and W tokens:

- (7) H = TransformerEnc(clips W_v (+) tokens W_q): both are projected to D numbers and joined to L + W rows.
- (8) p_s, p_e = sigmoid(MLP_s(H_1..L)), sigmoid(MLP_e(H_1..L)): one MLP of 3 layers each, for the start and the end.
- (9), (10): `boundaries.py` has the labels and the loss, a binary cross-entropy.

As in the paper, the loss of a pair is of its own query and video alone: the system learns what does not match only from
the other clips of the right video. `other_videos` also takes videos of the batch as negatives.

A cross-encoder has no encodings of a video to keep: `span_scores` runs the transformer once for each pair of a query
and a video, `block` pairs at a time.

What differs from the paper, or is not in it:
- Token vectors come from a frozen sentence encoder of any name. The paper takes DistilBERT's.
- Position encodings (`positions.py`) are added to the clips. Equation 7 shows none, but without them a transformer
  cannot know which clips are neighbours. Tokens have theirs from the text encoder.
- The heads, the inner size, dropout and the place of the normalisation: see `boundaries.transformer`.
- The number of clips of a video: the presets take MMN's for each data set.
- Spans are scored by p_s p_e: see `boundaries.boundary_scores`.
- The loss of a pair can be multiplied by its similarity (`weighted`).
"""

from typing import Annotated, ClassVar, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor

from backend.systems.learning.system import Encoded, Sizes
from backend.systems.learning.systems.boundaries import BoundarySystem, TransformerOptions, boundary_scores


class CrossEncoderOptions(TransformerOptions, frozen=True, forbid_unknown_fields=True):
    """Options of the network: those of `TransformerOptions`, and `block`.

    `block` is how many pairs of a query and a video are encoded at once in prediction. With the default sizes, a pair
    of 64 clips and 32 tokens takes about 3 MB.
    """

    block: Annotated[int, Meta(ge=1, le=1_000_000)] = 64


class CrossEncoder(BoundarySystem):
    """The system `cet`."""

    name: ClassVar[str] = "cet"
    paper: ClassVar[str] = "Yang et al. 2024, MVMR (CIKM): Cross-Encoder Transformer, appendix B.2"
    ModelOptions: ClassVar[type[Struct]] = CrossEncoderOptions

    def __init__(self, sizes: Sizes, model: Struct, loss: Struct) -> None:
        super().__init__(sizes, model, loss, outputs=1)
        self.block = cast(CrossEncoderOptions, model).block

    def encode_videos(self, clips: Tensor, mask: Tensor) -> Encoded:
        """Return `clips`, the projected clips with their positions, `(videos, clips, D)`, and their `mask`."""
        return {"clips": self.placed(clips), "mask": mask}

    def encode_queries(self, words: Tensor, mask: Tensor, sentence: Tensor) -> Encoded:
        """Return `words`, the projected tokens, `(queries, tokens, D)`, and their `mask`."""
        return {"words": self.words(words), "mask": mask}

    def boundary_logits(self, queries: Encoded, videos: Encoded) -> tuple[Tensor, Tensor]:
        """Return logits of the start and the end of each query in its video, each `(pairs, clips)`: equations 7, 8.

        Row i of `queries` and row i of `videos` are a pair.
        """
        rows = torch.cat([videos["clips"], queries["words"]], dim=1)
        padding = ~torch.cat([videos["mask"], queries["mask"]], dim=1)
        clips = self.encoder(rows, src_key_padding_mask=padding)[:, : videos["mask"].shape[1]]
        return self.start(clips).squeeze(-1), self.end(clips).squeeze(-1)

    def span_scores(self, queries: Encoded, videos: Encoded) -> Tensor:
        """Return p_s(i) p_e(j) of the span from clip i to clip j, `(queries, videos, clips, clips)`, from 0 to 1."""
        count, shown, device = len(queries["mask"]), len(videos["mask"]), videos["mask"].device
        blocks = []
        for start in range(0, count * shown, self.block):
            pairs = torch.arange(start, min(start + self.block, count * shown), device=device)
            asked = {name: rows[pairs // shown] for name, rows in queries.items()}
            watched = {name: rows[pairs % shown] for name, rows in videos.items()}
            blocks.append(boundary_scores(*self.boundary_logits(asked, watched), watched["mask"]))
        scores = torch.cat(blocks)
        return scores.view(count, shown, *scores.shape[1:])
