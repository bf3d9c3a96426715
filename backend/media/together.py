"""Cut many clips ahead: those of one video from one decoding where that saves any, many videos side by side.

A clip by itself is decoded from a key frame before it. Where that key frame lies before the end of what is being
decoded already, going on costs fewer frames than beginning again: only then moments share a decoding.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile
from pathlib import Path

from backend.ground import processes
from backend.ground.errors import VideoUnreadable
from backend.ground.progress import Steps
from backend.media.clips import with_room
from backend.media.cut import CutSpan, cut_together, decoding_starts_s
from backend.media.jobs import ClipJob, CutAhead, held_bytes, is_cut
from backend.media.probe import require_unchanged
from backend.media.report import CutReport

Told = tuple[ClipJob, CutReport | VideoUnreadable]
"""What became of a clip."""

MOST = 12
"""Clips of one decoding: each encoder that is open takes memory, and what is done is seen sooner."""
APART_S = 30.0
"""Moments further apart than any key frames are not looked at together."""


@dataclass(slots=True)
class _Room:
    """How many bytes the cache may still take."""

    left: int


def cut_ahead(jobs: Sequence[ClipJob], *, workers: int, progress: Steps | None = None) -> CutAhead:
    """Cut all clips of one cache that are not there, the first ones first; may be stopped and begun again.

    Nothing that is there makes room for another: when the cache has its size the rest is left.

    Args:
        jobs: in the order in which they are wanted.
        workers: processes that cut.
        progress: called with (clips done, all that are to be cut).

    Raises:
        NoRoom: the disk is full. What was cut until then stays.
    """
    wanted = {job.path: job for job in jobs}  # two videos of one content share their clips
    missing = [job for job in wanted.values() if not is_cut(job)]
    done = CutAhead(there=len(wanted) - len(missing))
    if not missing:
        return done
    report = progress or (lambda done, total: None)
    cache = missing[0].cache
    room = _Room(cache.max_bytes - held_bytes(cache))
    for found in _results(takewhile(lambda _: room.left > 0, _units(missing)), workers):
        done = _with(done, found)
        room.left -= sum(job.path.stat().st_size for job, told in found if isinstance(told, CutReport))
        report(done.cut + len(done.failed), len(missing))
    return replace(done, left=len(missing) - done.cut - len(done.failed))


def _results(units: Iterator[list[ClipJob]], workers: int) -> Iterator[list[Told]]:
    """What became of the clips of each unit; the next ones are asked for as the ones before are done."""
    if workers == 1:
        yield from map(_cut, units)
        return
    pool = processes.pool(workers)
    try:
        running = {pool.submit(_cut, unit) for unit in islice(units, 2 * workers)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            yield from [future.result() for future in finished]
            running |= {pool.submit(_cut, unit) for unit in islice(units, len(finished))}
    finally:
        pool.shutdown(cancel_futures=True)  # clips under way are finished


def groups(source_spans: Sequence[CutSpan], starts_s: Sequence[float]) -> list[list[CutSpan]]:
    """Which moments of one video share a decoding: as few frames as can be are decoded.

    Args:
        source_spans: moments, by their beginning.
        starts_s: where the decoding of each would begin by itself, in seconds.
    """
    found: list[list[CutSpan]] = []
    ends_s = 0.0
    for one, starts in zip(source_spans, starts_s, strict=True):
        if found and starts < ends_s and len(found[-1]) < MOST:
            found[-1].append(one)
            ends_s = max(ends_s, one.end_s)
        else:
            found.append([one])
            ends_s = one.end_s
    return found


def _with(done: CutAhead, found: Sequence[Told]) -> CutAhead:
    failed = [(job, str(told)) for job, told in found if not isinstance(told, CutReport)]
    warned = [(job, "; ".join(told.warnings)) for job, told in found if isinstance(told, CutReport) and told.warnings]
    return replace(
        done,
        cut=done.cut + len(found) - len(failed),
        failed=(*done.failed, *failed),
        warned=(*done.warned, *warned),
    )


def _units(jobs: Sequence[ClipJob]) -> Iterator[list[ClipJob]]:
    """The clips in small parts, each of one video and near one another, led by the clip that is wanted first."""
    near: dict[ClipJob, list[ClipJob]] = {}
    by_source: dict[object, list[ClipJob]] = defaultdict(list)
    for job in jobs:
        by_source[job.identity].append(job)
    for of_one in by_source.values():
        part: list[ClipJob] = []
        ends_s = 0.0
        for job in sorted(of_one, key=lambda job: (job.start_s, job.end_s)):
            if not part or len(part) == MOST or job.start_s > ends_s + APART_S:
                part, ends_s = [], 0.0
            part.append(job)
            ends_s = max(ends_s, job.end_s)
            near[job] = part
    begun: set[ClipJob] = set()
    for job in jobs:
        if job not in begun:
            begun.update(near[job])
            yield near[job]


def _cut(jobs: list[ClipJob]) -> list[Told]:
    """Runs in a worker: the clips of one video, by their beginning.

    No lock is held: somebody at a desk who asks for one of them is not kept waiting for all. Cut twice, both are the
    same, and the later takes the earlier's place.
    """
    by_path: dict[Path, ClipJob] = {job.path: job for job in jobs}
    spans = [CutSpan(job.start_s, job.end_s, job.path) for job in jobs]
    source, cache = jobs[0].source, jobs[0].cache
    try:
        require_unchanged(source, jobs[0].identity)
        starts_s = [float(start_s) for start_s in decoding_starts_s(source, spans)]
    except VideoUnreadable as error:
        return [(job, error) for job in jobs]
    found: list[Told] = []
    for group in groups(spans, starts_s):
        cache.folder.mkdir(parents=True, exist_ok=True)
        told = with_room(cache, partial(cut_together, source, group, cache.profile))
        found += [(by_path[span.out], one) for span, one in zip(group, told, strict=True)]
    return found
