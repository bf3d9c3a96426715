"""Read Charades-STA (Gao et al., 2017): lines `VIDEO start end##sentence`, or a JSON version of them.

Later papers published the JSON version, which has the layout of ActivityNet Captions.
"""

from backend.campaign.corpus.importing.formats import activitynet
from backend.campaign.corpus.importing.model import CorpusFormat, ImportOptions, Parsed
from backend.campaign.corpus.importing.rules import finish
from backend.core.captioned import CHARADES_LINE, charades_lines
from backend.core.messages import said
from backend.core.reading import FileLayout, Sample
from backend.core.text_files import decode_text


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse lines `VIDEO start end##sentence`, times in seconds, or the JSON version of Charades-STA.

    The lines have no durations of videos, so these are measured, or come from an earlier import.

    Raises:
        InputError: the file has problems; the error lists them all.

    >>> moment = read(b"ABC12 24.3 30.4##person opens a door.", "test.txt", ImportOptions()).moments[0]
    >>> moment.video, moment.start_s, moment.end_s, moment.caption
    ('ABC12', 24.3, 30.4, 'person opens a door.')
    """
    if decode_text(data, file).lstrip()[0] == "{":
        return activitynet.read(data, file, options)
    moments, problems, _ = charades_lines(data, file)
    return finish(moments, problems, file, published=True)


def _fits(sample: Sample, options: ImportOptions) -> bool:
    if sample.layout is FileLayout.TEXT:
        return CHARADES_LINE.fullmatch(sample.line) is not None
    return activitynet.fits_videos(sample) and not sample.key.startswith("v_")


FORMAT = CorpusFormat(
    "charades-sta",
    said("lines VIDEO start end##sentence, or a JSON object of videos with duration, timestamps and sentences"),
    _fits,
    read,
)
