"""Read ActivityNet Captions (Krishna et al., 2017): a JSON object of videos, each with sentences and their times."""

import re

from backend.campaign.corpus.importing.model import CorpusFormat, ImportOptions, Parsed
from backend.campaign.corpus.importing.rules import finish
from backend.core.captioned import sentences_of_videos
from backend.core.messages import said
from backend.core.reading import FileLayout, Sample


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse `{video: {duration, timestamps, sentences}}`, times in seconds.

    Spaces around a sentence are removed. Some times in the published files are reversed, empty or far outside the
    video; such moments are left out.

    Raises:
        InputError: the file has problems; the error lists them all.

    >>> text = b'{"v_1": {"duration": 9, "timestamps": [[0, 2], [5, 3]], "sentences": ["A dog runs.", " It sits."]}}'
    >>> found = read(text, "val_1.json", ImportOptions())
    >>> found.moments[0].place, found.left_out[0].why
    ('video v_1, sentence 1', 'the end is not after the start')
    """
    moments, problems, notes = sentences_of_videos(data, file)
    return finish(moments, problems, file, published=True, notes=notes)


def fits_videos(sample: Sample) -> bool:
    """Return whether a file has the JSON layout of ActivityNet Captions, which JSON files of Charades-STA have too."""
    return sample.layout is FileLayout.VIDEOS and {"duration", "timestamps", "sentences"} <= sample.fields


CHARADES = re.compile(r"[0-9A-Z]{5}")
"""Pattern of Charades' video names; ActivityNet's are `v_` and eleven characters."""

FORMAT = CorpusFormat(
    "activitynet",
    said("a JSON object of videos called v_..., with duration, timestamps and sentences"),
    lambda sample, options: fits_videos(sample) and not CHARADES.fullmatch(sample.key),
    read,
)
