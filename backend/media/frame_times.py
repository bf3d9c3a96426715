"""When the frames of a whole video are shown."""

from fractions import Fraction

from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.media.decode import FrameSpan, Opened, opened, packets, picture_stream, time_of, video_stream
from backend.media.frame_folder import OpenFolder
from backend.media.sources import Source

_NO_END_S = 1e9


def frame_times(source: Source) -> list[float]:
    """The times of all frames that the video announces, from the first one that can be shown; seconds, rising.

    Reads the video once and decodes one picture. Seconds from the start of the video, each rounded once to a double, so
    they mean the very frames that a clip from one of them to another is cut to. A first picture that comes late is
    shown from 0 on.

    Raises:
        VideoUnreadable: it is no video, or none of its frames can be shown.
    """
    with opened(source) as container:
        stream = picture_stream(container, source)
        first = next(iter(FrameSpan(container, stream, 0.0, _NO_END_S)), None)
        first_s = time_of(first.picture, stream) if first is not None else None
    if first is None or first_s is None:
        raise VideoUnreadable(
            said("{name} {why}", name=source.name, why=said("is damaged: none of its frames can be shown"))
        )
    with opened(source) as container:
        later = sorted(time_s for time_s in _announced(container, source) if time_s > first_s)
    return [float(time_s) for time_s in (first.time_s, *later)]


def _announced(container: Opened, source: Source) -> set[Fraction]:
    if isinstance(container, OpenFolder):
        return {place * container.interval_s for place, file in enumerate(container.files) if file is not None}
    found: set[Fraction] = set()
    stream = video_stream(container, source)
    for packet in packets(container, stream):
        time_s = time_of(packet, stream)
        if time_s is not None and not packet.is_discard:
            found.add(time_s)
    return found
