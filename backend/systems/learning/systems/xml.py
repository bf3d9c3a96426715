"""XML, Cross-modal Moment Localization: late interaction of query tokens with clips, in frames and in subtitles.

Paper: Lei et al. 2020, "TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval", ECCV, section 4. `two_streams`
has the equations, the public code, and what differs from it. XML's layers:

- Tokens: input, one self-attention, modular attention.
- Clips: input and one self-attention give the encoding r by which videos are scored. The cross encoding and a second
  self-attention give the encoding for spans. Without subtitles, a third self-attention takes the place of the cross
  encoding, as in the published code without it.

Loss of pair i of a query and a moment, with its similarity w_i (TVR-Ranking, C.1):

    w_i (0.01 span_i + video_i)

`losses.span_loss` and `losses.hinge_loss` have the parts.

TVR-Ranking describes a contrastive loss for the videos of XML, with a mask of positives in its numerator. XML's loss is
a hinge, which has no numerator: there, a positive is never a negative. With the option `video = "nce"`, the described
loss takes the place of the hinge: `losses.nce_loss` of the cosines. Its temperature is ours. No code of it is public.

Left out: the choices of the published code for other encoders (LSTM, CNN), for a start and an end without filters or
with filters for each stream, for queries without modular attention, and for the features of a clip's time (TEF).
"""

from typing import ClassVar, Literal

from msgspec import Struct
from torch import Tensor

from backend.systems.learning.field_types import Positive
from backend.systems.learning.losses import nce_loss
from backend.systems.learning.system import Batch, Presets, Rivals
from backend.systems.learning.two_streams import StreamLoss, StreamOptions, TwoStreams, published_presets


class XMLLoss(StreamLoss, frozen=True, forbid_unknown_fields=True):
    """Options of the losses of XML; see `StreamLoss`.

    Attributes:
        video: the loss for the choice of the video: XML's (`hinge`), or that of TVR-Ranking's description (`nce`). Its
            weight is `hinge` in either case.
        temperature: by which `nce` divides cosines.
    """

    video: Literal["hinge", "nce"] = "hinge"
    temperature: Positive = 0.1


class XML(TwoStreams):
    """The system `xml`."""

    name: ClassVar[str] = "xml"
    paper: ClassVar[str] = "Lei et al. 2020, TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval, ECCV"
    ModelOptions: ClassVar[type[Struct]] = StreamOptions
    LossOptions: ClassVar[type[Struct]] = XMLLoss
    presets: ClassVar[Presets] = published_presets({"video": "nce"})
    word_layers: ClassVar[int] = 1
    clip_layers: ClassVar[tuple[int, int]] = (3, 2)
    retrieval: ClassVar[int] = 0
    loss: XMLLoss

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return `loss`, and its parts `span` and `video`; drawn negatives are not used."""
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        videos = self.encode_videos(batch.clips, batch.mask)
        scores, positives = self.video_scores(queries, videos), self.positives(batch)
        if self.loss.video == "nce":
            video = nce_loss(scores, positives, self.loss.temperature)
        else:
            video = self.hinge_losses(scores, positives)
        span = self.span_losses(batch, queries["streams"], videos["location"])
        return self.total(batch, {"span": (self.loss.span, span), "video": (self.loss.hinge, video)})
