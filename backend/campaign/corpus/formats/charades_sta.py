"""Charades-STA (Gao et al., 2017): lines `VIDEO start end##sentence`, or the JSON that later work made of them."""

import re

from backend.campaign.corpus.format import CorpusFormat
from backend.campaign.corpus.formats import activitynet
from backend.campaign.corpus.model import CaptionedMoment, ImportOptions, Parsed
from backend.campaign.corpus.rules.checks import finish
from backend.campaign.corpus.rules.documents import FileLayout, Sample
from backend.ground.errors import Problem
from backend.ground.text_files import decode_text, number

_LINE = re.compile(r"\s*(\S+)\s+(\S+)\s+(\S+?)\s*##(.*)", re.DOTALL)


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse either form; the original has no durations, which come from the videos or an import before it.

    Raises:
        InputError: with every problem of the file.

    >>> moment = read(b"ABC12 24.3 30.4##person opens a door.", "test.txt", ImportOptions()).moments[0]
    >>> moment.video, moment.start_s, moment.end_s, moment.caption
    ('ABC12', 24.3, 30.4, 'person opens a door.')
    """
    text = decode_text(data, file)
    if text.lstrip()[0] == "{":
        return activitynet.read(data, file, options)
    moments: list[CaptionedMoment] = []
    problems: list[Problem] = []
    for row, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if not (found := _LINE.fullmatch(line)):
            problems.append(Problem(file, row, "it is not of the form VIDEO start end##sentence"))
            continue
        video, start, end, caption = found.groups()
        start_s, end_s = number(start), number(end)
        if start_s is None or end_s is None:
            name, said = ("start", start) if start_s is None else ("end", end)
            problems.append(Problem(file, row, f"{name} is {said!r}, not a number of seconds"))
            continue
        moments.append(CaptionedMoment(video, start_s, end_s, caption.strip(), row))
    return finish(moments, problems, file, published=True)


def _fits(look: Sample, options: ImportOptions) -> bool:
    if look.layout is FileLayout.TEXT:
        return _LINE.fullmatch(look.line) is not None
    return activitynet.sentences_of_videos(look) and not look.key.startswith("v_")


FORMAT = CorpusFormat(
    "charades-sta",
    "lines VIDEO start end##sentence, or a JSON object of videos with duration, timestamps and sentences",
    _fits,
    read,
)
