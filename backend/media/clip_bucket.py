"""Share clips in a bucket between several server processes, so that each clip is cut only once.

Each server process keeps its own folder of clips. A clip that is not in the folder is copied from the bucket; if the
bucket lacks it, it is cut and copied to the bucket. If the bucket is unreachable, clips are cut locally. The trouble is
noted for leads, and the bucket is not asked again for a while.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar, cast

from backend.core.errors import StorageUnavailable, VideoUnreadable
from backend.core.file_system import make_private, make_private_folder
from backend.core.leftovers import part_of
from backend.core.messages import from_stored, joined, said, to_stored
from backend.media.jobs import MEDIA_TYPES, ClipCache, ClipJob
from backend.media.remote import explain_errors, store_at

if TYPE_CHECKING:
    from obstore.store import ObjectStore, S3Store

Given = TypeVar("Given")

AWAY_S = 30.0
"""Seconds before a bucket that failed is asked again; meanwhile clips are cut, so that nobody waits for it."""
_KEPT = "private, no-cache"
"""The caching rule for browsers that load a clip from the bucket; front ends send the same."""


class Doing(StrEnum):
    """Kinds of access to a bucket; each can fail alone, because keys may allow only one of them."""

    READING = "reading"
    WRITING = "writing"


def brought(job: ClipJob, now: float) -> bool:
    """Copy a clip from the bucket into its folder; return whether the bucket had it."""

    def bring(store: "ObjectStore", key: str) -> bool:
        part = part_of(job.path)
        try:
            with part.open("wb") as file:
                for chunk in store.get(key).stream():
                    file.write(chunk)
            make_private(part)
            part.replace(job.path)
        finally:
            part.unlink(missing_ok=True)
        return True

    return _request(job.cache, job.path.name, Doing.READING, bring, now) or False


def has(job: ClipJob, now: float) -> bool:
    """Return whether a clip need not be cut, because the bucket has it.

    If browsers do not load clips from the bucket, this also copies the clip to its folder.
    """
    if job.cache.signed_s:
        return signed(job, now) is not None
    return brought(job, now)


def stored(job: ClipJob, now: float) -> bool:
    """Copy a clip from its folder into the bucket; return whether that succeeded."""
    attributes = {"Content-Type": MEDIA_TYPES[job.path.suffix], "Cache-Control": _KEPT}

    def store(bucket: "ObjectStore", key: str) -> bool:
        bucket.put(key, job.path, attributes=attributes)
        return True

    return _request(job.cache, job.path.name, Doing.WRITING, store, now) or False


def signed(job: ClipJob, now: float) -> str | None:
    """Return a temporary address from which a browser can load the clip; None if the bucket lacks it or cannot be used.

    The address is valid for `signed_s` seconds, a setting; if that is 0, the result is None. It consists of the bucket,
    the clip's name (a keyed hash) and the signature.
    """

    def sign(store: "ObjectStore", key: str) -> str:
        import obstore

        store.head(key)
        return obstore.sign(cast("S3Store", store), "GET", key, timedelta(seconds=job.cache.signed_s))

    return _request(job.cache, job.path.name, Doing.READING, sign, now) if job.cache.signed_s else None


def lacking(cache: ClipCache, jobs: Iterable[ClipJob], now: float) -> list[ClipJob]:
    """Return the clips that are not in the bucket, by listing it once; none if the bucket cannot be listed."""

    def names(store: "ObjectStore", key: str) -> set[str]:
        return {PurePosixPath(meta["path"]).name for chunk in store.list(prefix=key or None) for meta in chunk}

    stored_names = _request(cache, "", Doing.READING, names, now)
    missing = [] if stored_names is None else [job for job in jobs if job.path.name not in stored_names]
    if stored_names is not None and not missing:
        _note(cache, Doing.WRITING).unlink(
            missing_ok=True
        )  # an earlier failure to write is settled: every clip is in the bucket
    return missing


def check_now(cache: ClipCache, now: float) -> None:
    """Check now whether the bucket can be read, even if it failed lately; `troubles` returns the result."""
    _note(cache, Doing.READING).unlink(missing_ok=True)
    _request(
        cache, "", Doing.READING, lambda store, key: next(iter(store.list(prefix=key or None)), None), now, at_once=True
    )


def troubles(cache: ClipCache) -> list[str]:
    """Return messages about the bucket's last failures, for leads; makes no request."""
    if cache.bucket is None:
        return []
    messages = []
    for doing, meaning in _MEANINGS.items():
        with suppress(FileNotFoundError):
            messages.append(joined(" ", [from_stored(_note(cache, doing).read_text(encoding="utf-8")), meaning]))
    return messages


_DONE = {Doing.READING: said("read"), Doing.WRITING: said("written")}
_MEANINGS = {
    Doing.READING: said("Until it can be read, each front end cuts its own clips; nobody waits longer because of it."),
    Doing.WRITING: said(
        "Clips that were cut in the meantime are only in the folder of the front end that cut them. "
        "Once the bucket can be written, copy them there with `reelrank clips DIR`."
    ),
}


def _request(
    cache: ClipCache,
    name: str,
    doing: Doing,
    ask: Callable[["ObjectStore", str], Given],
    now: float,
    *,
    at_once: bool = False,
) -> Given | None:
    """Send a request to the bucket: return `ask(client, path)` for the file `name`, or None if the request fails.

    The result is also None if the bucket lacks the file, or no bucket is set. After a failure, no request is sent for a
    while, unless `at_once` is True. `doing` says whether the request reads or writes, for the message about a failure.
    """
    if cache.bucket is None or (not at_once and _is_away(cache, now)):
        return None
    try:
        with explain_errors(cache.bucket, _DONE[doing]):
            result = ask(store_at(cache.bucket.root, hurried=True), cache.bucket.joined(name).key)
    except VideoUnreadable:
        if doing is Doing.READING and name:
            _note(cache, doing).unlink(missing_ok=True)  # the bucket works; it only has no such clip
        else:
            _write(cache, doing, said("There is no bucket {root}.", root=cache.bucket.root), now)
        return None
    except StorageUnavailable as error:
        _write(cache, doing, said("{error}.", error=error), now)
        return None
    _note(cache, doing).unlink(missing_ok=True)
    return result


def _is_away(cache: ClipCache, now: float) -> bool:
    for doing in Doing:
        with suppress(FileNotFoundError):
            if abs(now - _note(cache, doing).stat().st_mtime) < AWAY_S:  # clocks may be set back
                return True
    return False


def _note(cache: ClipCache, doing: Doing) -> Path:
    """Return the path of a file for the message about the bucket's last failure; reading and writing have one each.

    The file is beside the folder of clips.
    """
    return cache.folder.with_name(f"{cache.folder.name}-bucket-{doing}.txt")


def _write(cache: ClipCache, doing: Doing, message: str, now: float) -> None:
    note = _note(cache, doing)
    part = part_of(note)
    with suppress(OSError):  # a full disk is reported elsewhere
        make_private_folder(note.parent)
        part.write_text(to_stored(message), encoding="utf-8")
        make_private(part)
        os.utime(part, (now, now))
        part.replace(note)
