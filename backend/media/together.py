"""Cut many clips ahead, or one moment into a separate file.

Many videos are cut in parallel. Clips of one video are cut while the video is decoded once, if that saves frames. Cut
alone, a clip is decoded from a key frame before it. Decoding once saves frames if this key frame is earlier than the
point that decoding has reached for the clips before.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from backend.core.addresses import Address
from backend.core.atomic_output import require_room
from backend.core.errors import InputError, VideoUnreadable
from backend.core.file_system import make_private, make_private_folder
from backend.core.parallel import each_unit, run_units
from backend.core.progress import Steps
from backend.core.where import HERE, Where
from backend.media import clip_bucket
from backend.media import cut as scissors
from backend.media.clips import with_room
from backend.media.cut import CutReport, CutSpan, cut_together, decoding_starts_s, require_span
from backend.media.gif import cut_gif
from backend.media.jobs import ClipForm, ClipJob, CutAhead, Profile, held_bytes, is_cut
from backend.media.limits import too_heavy, within_bounds
from backend.media.probe import require_unchanged
from backend.media.sources import paths_of

Told = tuple[ClipJob, CutReport | VideoUnreadable | None]
"""A job and its result: a report, an error, or None if the bucket had the clip."""

MOST = 12
"""The most clips of one decoding, because each open encoder takes memory, and small parts show progress sooner."""
APART_S = 30.0
"""Moments further apart than this (s) never share a decoding; key frames are closer than that."""


@dataclass(slots=True)
class _Room:
    """The number of bytes by which a folder of clips may still grow."""

    left: int


def cut_ahead(jobs: Sequence[ClipJob], where: Where = HERE, *, progress: Steps | None = None) -> CutAhead:
    """Cut all missing clips of one cache, in order; can be interrupted and repeated.

    No existing clip is removed to make room: when the cache has reached its size, no further clip is cut. Clips that
    the shared bucket has are not cut, and clips that it lacks are added to it.

    Args:
        jobs: the clips, most urgent first.
        where: on which machines to cut.
        progress: called with (clips done, all to cut).

    Raises:
        NoRoom: the disk is full. Clips cut before that stay.
        WorkerLost, ClusterUnavailable: see `each_unit`.
    """
    by_path = {job.path: job for job in jobs}  # two videos of one content share their clips
    missing = [job for job in by_path.values() if not is_cut(job)]
    existing = by_path.keys() - {job.path for job in missing}
    done = CutAhead(there=len(existing), stored=_stored([by_path[path] for path in existing]))
    if not missing:
        return done
    report = progress or (lambda done, total: None)
    cache = missing[0].cache
    room = _Room(cache.max_bytes - held_bytes(cache))
    units = takewhile(lambda _: room.left > 0, _units(missing))
    make_private_folder(cache.folder)
    paths = paths_of(job.source for job in missing)
    keep = not any(isinstance(job.source, Address) for job in missing) and cache.bucket is None
    cutting = each_unit(
        _cut, None, units, where, called=_called, sees=paths, fills=[cache.folder], apart=True, kept=keep, lost=_lost
    )
    for _, results in cutting:
        done = _with(done, results)
        room.left -= sum(_size(job) for job, result in results if not isinstance(result, VideoUnreadable))
        report(done.cut + done.shared + len(done.failed), len(missing))
    return replace(done, left=len(missing) - done.cut - done.shared - len(done.failed))


def _stored(jobs: Sequence[ClipJob]) -> int:
    """Copy clips to the shared bucket if it lacks them; return how many were copied.

    The bucket may lack clips, for example because it was unreachable when they were cut.
    """
    if not jobs or jobs[0].cache.bucket is None:
        return 0
    lacking = clip_bucket.lacking(jobs[0].cache, jobs, time.time())
    return sum(clip_bucket.stored(job, time.time()) for job in lacking)


def _size(job: ClipJob) -> int:
    """Return the bytes of a clip; 0 if it is only in the bucket."""
    return job.path.stat().st_size if job.path.exists() else 0


def groups(source_spans: Sequence[CutSpan], starts_s: Sequence[float]) -> list[list[CutSpan]]:
    """Return the moments of one video in groups; each group is decoded in one go, so that few frames are decoded.

    Args:
        source_spans: moments, sorted by start.
        starts_s: where decoding would begin for each of these moments if it were cut alone, in seconds.
    """
    parts: list[list[CutSpan]] = []
    ends_s = 0.0
    for span, starts in zip(source_spans, starts_s, strict=True):
        if parts and starts < ends_s and len(parts[-1]) < MOST:
            parts[-1].append(span)
            ends_s = max(ends_s, span.end_s)
        else:
            parts.append([span])
            ends_s = span.end_s
    return parts


def _called(jobs: list[ClipJob]) -> str:
    """Return a label that names the video and the span of a group of clips, such as `dog.mp4, 12.50-97.00 s`."""
    return f"{jobs[0].source.name}, {jobs[0].start_s:.2f}-{max(job.end_s for job in jobs):.2f} s"


def _with(done: CutAhead, results: Sequence[Told]) -> CutAhead:
    failed = [(job, str(result)) for job, result in results if isinstance(result, VideoUnreadable)]
    shared = sum(result is None for _, result in results)
    warned = [
        (job, "; ".join(result.warnings))
        for job, result in results
        if isinstance(result, CutReport) and result.warnings
    ]
    return replace(
        done,
        shared=done.shared + shared,
        cut=done.cut + len(results) - len(failed) - shared,
        failed=(*done.failed, *failed),
        warned=(*done.warned, *warned),
    )


def _units(jobs: Sequence[ClipJob]) -> Iterator[list[ClipJob]]:
    """Yield small groups of clips that are near each other in one video; groups with urgent clips come first."""
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


def _cut(_: None, jobs: list[ClipJob]) -> list[Told]:
    """Cut clips of one video, sorted by start, in a worker; return (job, result) for each.

    The result is a report, an error, or None for a clip that is in the shared bucket and is therefore not cut.
    """
    shared = [job for job in jobs if clip_bucket.has(job, time.time())]
    own = [job for job in jobs if job not in shared]
    try:
        with within_bounds(jobs[0].source, sum(job.end_s - job.start_s for job in own)):
            results = _cut_here(own)
    except VideoUnreadable as error:
        results = [(job, error) for job in own]
    for job, result in results:
        if isinstance(result, CutReport):
            clip_bucket.stored(job, time.time())
    return [*((job, None) for job in shared), *results]


def _lost(jobs: list[ClipJob], died: str) -> list[Told]:
    error = too_heavy(jobs[0].source, died)
    return [(job, error) for job in jobs]


def _cut_here(jobs: list[ClipJob]) -> list[Told]:
    """Cut clips of one video in this process; return (job, report or error) for each.

    No lock is held, so an annotator who needs one of them does not wait for all. If a clip is cut twice, both are the
    same, and the later one replaces the earlier.
    """
    if not jobs:
        return []
    by_path: dict[Path, ClipJob] = {job.path: job for job in jobs}
    spans = [CutSpan(job.start_s, job.end_s, job.path) for job in jobs]
    source, cache = jobs[0].source, jobs[0].cache
    try:
        require_unchanged(source, jobs[0].identity)
        starts_s = [float(start_s) for start_s in decoding_starts_s(source, spans)]
    except VideoUnreadable as error:
        return [(job, error) for job in jobs]
    results: list[Told] = []
    for group in groups(spans, starts_s):
        reports = with_room(cache, partial(cut_together, source, group, cache.profile))
        for span in group:
            with suppress(
                FileNotFoundError
            ):  # clips that could not be cut are reported; others may have been removed already to make room
                make_private(span.out)
        results += [(by_path[span.out], report) for span, report in zip(group, reports, strict=True)]
    return results


Moment = tuple[Path, float, float]
"""A video, and a span of it in seconds."""

GIF = "gif"
KINDS = (*(str(form) for form in ClipForm), GIF)
_LISTED = ", ".join(f".{kind}" for kind in KINDS[:-1]) + f" or .{KINDS[-1]}"


def cut(source: Path, start_s: float, end_s: float, out: Path) -> CutReport:
    """Write the moment `[start_s, end_s)` to a file; its extension decides the format.

    See `backend.media.cut.cut` for `.mp4` and `.webm`, `backend.media.gif.cut_gif` for `.gif`.

    Raises:
        InputError: the span is invalid, or `out` is a folder, the video itself, or has another extension.
        ProjectError: nothing can be written there.
        VideoUnreadable: nothing can be shown.
    """
    if out.is_dir():
        raise InputError.single(out, "is a folder: name a file")
    kind = out.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise InputError.single(out, f"has no extension of a clip: end its name in {_LISTED}")
    if out.exists() and source.exists() and out.samefile(source):
        raise InputError.single(out, "is the video itself: name another file")
    require_room(out)
    require_span(source, start_s, end_s)
    moment: Moment = (source, start_s, end_s)
    result: CutReport | VideoUnreadable
    (result,) = run_units(_cut_apart, out, [moment], apart=True, lost=lambda moment, died: too_heavy(moment[0], died))
    if isinstance(result, VideoUnreadable):
        raise result
    return result


def _cut_apart(out: Path, moment: Moment) -> CutReport | VideoUnreadable:
    source, start_s, end_s = moment
    with within_bounds(source, end_s - start_s):
        if (kind := out.suffix.lower().removeprefix(".")) == GIF:
            return cut_gif(source, start_s, end_s, out)
        return scissors.cut(source, start_s, end_s, out, Profile(ClipForm(kind)))
