"""What is told of a clip that was cut, or of a moment that cannot be."""

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from backend.core.errors import InputError
from backend.core.messages import said
from backend.media.decode import FrameSpan, PictureStream, frame_interval_s
from backend.media.sources import Source


@dataclass(frozen=True, slots=True)
class CutReport:
    """What is in a clip: `duration_s` from the first frame to where the last stops being shown.

    `warnings` are findings about the source for the person in charge; empty where all is well.
    """

    frames: int
    duration_s: float
    warnings: tuple[str, ...]


def require_span(source: Source, start_s: float, end_s: float) -> None:
    """Refuse what is no moment: an empty, negative or infinite span of `source`.

    Raises:
        InputError: it is one of these.
    """
    if not (isfinite(start_s) and isfinite(end_s) and 0 <= start_s < end_s):
        raise InputError.single(
            source.name,
            said("a moment from {start_s} to {end_s} s is not a span of time", start_s=start_s, end_s=end_s),
        )


def why_empty(span: FrameSpan, name: str, start_s: float, end_s: float) -> str:
    """Why no frame of the moment can be shown; `span` was read to its end."""
    if span.expected:
        return said(
            "{name} is damaged: none of the {expected} frames of the moment {start_s}-{end_s} s can be shown",
            name=name,
            expected=span.expected,
            start_s=start_s,
            end_s=end_s,
        )
    return said(
        "{name} ends at {ends_s:.1f} s; the moment {start_s}-{end_s} s lies after it",
        name=name,
        ends_s=float(span.ends_s),
        start_s=start_s,
        end_s=end_s,
    )


def warnings(span: FrameSpan, stream: PictureStream, end_s: float) -> tuple[str, ...]:
    """What the person in charge should know of a moment that ends at `end_s`; `span` was read to its end."""
    found = []
    if span.damage is not None:
        found.append(span.damage)
    # Annotations round: less than a whole missing frame is not worth a word.
    if Fraction(end_s) - span.ends_s >= frame_interval_s(stream):
        found.append(
            said(
                "the video ends at {ends_s:.1f} s, before the moment does at {end_s} s",
                ends_s=float(span.ends_s),
                end_s=end_s,
            )
        )
    return tuple(found)
