"""Read TVR (Lei et al., 2020): one JSON object a line, with a type that says whether its sentence needs subtitles."""

from collections import Counter

import msgspec

from backend.campaign.corpus.importing.model import CaptionedMoment, CorpusFormat, ImportOptions, LeftOut, Parsed
from backend.campaign.corpus.importing.rules import check, merge
from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.reading import FileLayout, json_lines

VISUAL = frozenset({"v"})
"""The paper's choice (section 3): sentences that need no subtitles, "v"; the others are "t" and "vt"."""

ALL = "all"


class _Line(msgspec.Struct):
    vid_name: str
    duration: float
    ts: tuple[float, float]
    desc: str
    type: str | None = None
    desc_id: int | str | None = None

    def moment(self, row: int) -> CaptionedMoment:
        id_ = str(self.desc_id) if self.desc_id is not None and str(self.desc_id).strip() else None
        return CaptionedMoment(self.vid_name, *self.ts, self.desc, row, self.duration, id_)


def read(data: bytes, file: str, options: ImportOptions) -> Parsed:
    """Parse TVR's lines: vid_name, duration (s), ts ([start, end] in s), desc, and optionally type and desc_id.

    All lines are checked. Kept are lines without a type and lines whose type is in `options.types`, by default
    `VISUAL`.

    Raises:
        InputError: the file has problems, all listed in the error, or no line is kept.

    >>> line = b'{"vid_name": "a", "duration": 9.5, "ts": [0, 2.5], "desc": "A dog runs.", "type": "v"}'
    >>> read(line, "val.jsonl", ImportOptions()).moments  # doctest: +NORMALIZE_WHITESPACE
    [CaptionedMoment(video='a', start_s=0.0, end_s=2.5, caption='A dog runs.', row=1, duration_s=9.5,
                     external_id=None, sentence=None)]
    """
    types = options.types or VISUAL
    lines, problems = json_lines(_Line, data, file)
    good, _ = check([line.moment(row) for row, line in lines], problems, file)
    other = Counter(
        line.type for _, line in lines if ALL not in types and line.type is not None and line.type not in types
    )
    moments = [moment for moment, (_, line) in zip(good, lines, strict=True) if line.type not in other]
    if not moments:
        message = said(
            "no line is of type {types}; the file has {other}",
            types=", ".join(sorted(types)),
            other=", ".join(sorted(map(str, other))),
        )
        raise InputError.single(file, said("{message}. --type all keeps every line", message=message))
    return merge(
        moments,
        left_out=[
            LeftOut(said("the line is of type {name}", name=name), other[name]) for name in sorted(other, key=str)
        ],
    )


FORMAT = CorpusFormat(
    "tvr",
    said("JSON lines with vid_name, ts and desc"),
    lambda sample, options: sample.layout is FileLayout.LINES and {"vid_name", "ts", "desc"} <= sample.fields,
    read,
    frozenset({"types"}),
)
