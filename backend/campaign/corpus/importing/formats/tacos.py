"""Read TACoS (Regneri et al., 2013), in the JSON of 2D-TAN: videos with sentences whose times are frame numbers."""

from backend.campaign.corpus.importing.model import CorpusFormat, ImportOptions, Parsed
from backend.campaign.corpus.importing.rules import finish
from backend.core.captioned import sentences_of_videos
from backend.core.messages import said
from backend.core.reading import FileLayout


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse `{video.avi: {fps, num_frames, timestamps, sentences}}`, and convert frames to seconds by `fps`.

    The name of a video keeps its extension, although the video file itself may have another extension.

    Raises:
        InputError: the file has problems; the error lists them all.

    >>> text = b'{"s1.avi": {"fps": 20, "num_frames": 900, "timestamps": [[10, 35]], "sentences": ["She cuts."]}}'
    >>> read(text, "test.json", ImportOptions()).moments  # doctest: +NORMALIZE_WHITESPACE
    [CaptionedMoment(video='s1.avi', start_s=0.5, end_s=1.75, caption='She cuts.', row=1, duration_s=45.0,
                     external_id=None, sentence=1)]
    """
    moments, problems, notes = sentences_of_videos(data, file, "num_frames")
    return finish(moments, problems, file, published=True, notes=notes)


FORMAT = CorpusFormat(
    "tacos",
    said("a JSON object of videos with fps, num_frames, timestamps and sentences"),
    lambda sample, options: (
        sample.layout is FileLayout.VIDEOS and {"fps", "num_frames", "timestamps", "sentences"} <= sample.fields
    ),
    read,
)
