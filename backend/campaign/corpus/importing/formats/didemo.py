"""Read DiDeMo (Hendricks et al., 2017): a JSON list of descriptions, each with the times that several people gave.

Times are in segments of 5 s.
"""

from collections import Counter

from backend.campaign.corpus.importing.model import CorpusFormat, ImportOptions, Parsed
from backend.campaign.corpus.importing.rules import finish
from backend.core.captioned import DIDEMO_SEGMENT_S, didemo_entries
from backend.core.messages import said
from backend.core.reading import FileLayout


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse a JSON list of descriptions, each with the spans of a video that several people chose for it.

    An entry has annotation_id, description, video, times ([[first, last], ...] in segments of 5 s) and num_segments.

    A moment includes its first and its last segment: [1, 4] is from 5 s to 25 s. If people gave different spans, the
    moment is the most frequent span. Among equally frequent spans, it is the one that comes first in `times`. The last
    segment of a video ends with the video and may be shorter than 5 s. So the end of a moment may be up to 5 s after
    the measured end of its video.

    Raises:
        InputError: the file has problems; the error lists them all.

    >>> text = b'[{"annotation_id": 3, "description": "a dog", "video": "a.mov", "times": [[0, 0], [1, 4], [1, 4]]}]'
    >>> found = read(text, "val_data.json", ImportOptions()).moments[0]
    >>> found.start_s, found.end_s, found.duration_s
    (5.0, 25.0, 30.0)
    """
    entries, problems = didemo_entries(data, file)
    moments = []
    split = 0
    for row, entry in entries:
        counts = Counter(entry.times)
        split += len(counts) > 1
        (first, last), _ = counts.most_common(1)[0]
        moments.append(entry.moment(row, first, last))
    notes = []
    if split:
        notes.append(
            said(
                "people marked different spans for {split:,} of {n:,} descriptions; the most frequent "
                "span was taken, or the first of several",
                split=split,
                n=len(moments),
            )
        )
    return finish(moments, problems, file, published=True, notes=notes, end_slack_s=DIDEMO_SEGMENT_S)


FORMAT = CorpusFormat(
    "didemo",
    said("a JSON list with annotation_id, description, video and times"),
    lambda sample, options: sample.layout is FileLayout.LIST and {"description", "video", "times"} <= sample.fields,
    read,
)
