"""The annotation files of a corpus: its captions as queries, its moments, its videos.

*Reads* the files. *Writes* nothing.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from backend.campaign.corpus import formats
from backend.campaign.corpus.model import ImportOptions
from backend.campaign.statistics.model import Holdings, Span
from backend.ground.errors import InputError, Problem
from backend.ground.progress import Steps
from backend.ground.reading import bytes_of

SLACK_S = 1.0
"""Seconds by which published durations of one video may differ: they are often rounded."""


def read(
    files: Sequence[Path],
    format: str | None = None,  # noqa: A002 - the word of the public contract
    *,
    types: frozenset[str] | None = None,
    progress: Steps | None = None,
) -> Holdings:
    """Everything that annotation files hold together, counted as `import` would take it.

    Args:
        files: one, or the splits of one corpus.
        format: see `reelrank import`; told from each file if None.
        types: for `tvr`: only lines of these types, see `reelrank import`.
        progress: called with (files read, all files).

    Raises:
        InputError: every problem of the files.
    """
    queries: dict[str, list[str]] = {}
    pairs: Counter[Span] = Counter()
    durations: dict[str, float | None] = {}
    notes: list[str] = []
    problems: list[Problem] = []
    for done, path in enumerate(files, start=1):
        if str(path) in queries:
            raise InputError.single(path, "stands twice among the files: name it once")
        try:
            parsed = formats.parse(format, bytes_of(path), path.name, ImportOptions(types))
        except InputError as refusal:
            problems += refusal.problems
            continue
        queries[str(path)] = [moment.caption for moment in parsed.moments]
        notes += [f"{path.name}: {note}" for note in parsed.notes]
        notes += [f"{path.name}: left out because {left.why}: {left.count:,}" for left in parsed.left_out]
        for moment in parsed.moments:
            pairs[moment.video, moment.start_s, moment.end_s] += 1
            known = durations.setdefault(moment.video, moment.duration_s)
            if known is None:
                durations[moment.video] = moment.duration_s
            elif moment.duration_s is not None and abs(moment.duration_s - known) > SLACK_S:
                problem = f"video {moment.video} lasts {moment.duration_s} s here, but {known} s in another file"
                problems.append(moment.problem(path.name, problem))
        if progress:
            progress(done, len(files))
    if problems:
        raise InputError(problems)
    return Holdings(queries, pairs, durations, tuple(notes))
