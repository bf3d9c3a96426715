"""Read videos in object storage and on web servers by byte ranges, without downloading whole files.

obstore, which speaks to S3, Google's storage and web servers, is loaded only when the first address is met. PyAV is
loaded only when the first video is opened.
"""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from backend.core.addresses import Address
from backend.core.errors import StorageUnavailable, VideoUnreadable
from backend.core.messages import said
from backend.media.limits import OPENED_AS
from backend.media.sources import NOT_OPENED

if TYPE_CHECKING:
    from av.container import InputContainer
    from obstore.store import ObjectStore

_READ = said("read")
_PATIENT: dict[str, int] = {"tries": 3, "tried_s": 20, "connect_s": 10, "silent_s": 30}
_HURRIED: dict[str, int] = {"tries": 1, "tried_s": 3, "connect_s": 2, "silent_s": 5}


@contextmanager
def explain_errors(address: Address, done: str = _READ) -> Iterator[None]:
    """Turn errors of reading or writing at an address into errors whose text says what failed and why.

    `done` completes a message such as "cannot be read"; its default is "read".

    Raises:
        VideoUnreadable: nothing is at the address.
        StorageUnavailable: access is denied, the address is unreachable, or the package for it is not installed.
    """
    try:
        from obstore import exceptions
    except ImportError:
        raise StorageUnavailable.said(
            "{root} is in object storage, which needs one more package: pip install 'reelrank[storage]'",
            root=address.root,
        ) from None
    try:
        yield
    except (FileNotFoundError, exceptions.NotFoundError):
        raise VideoUnreadable.about(address.name, said("there is nothing at {address}", address=address)) from None
    except (PermissionError, exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
        raise StorageUnavailable.said(
            "{address} cannot be {done} with the keys of this process: set the right keys in its "
            "environment, or grant access there",
            address=address,
            done=done,
        ) from None
    except exceptions.NotSupportedError:
        raise StorageUnavailable.said(
            "{address} is on a server that does not answer range requests: copy the video to this "
            "machine, or to a server that does",
            address=address,
        ) from None
    except exceptions.BaseError:  # the library's message may hold signed addresses
        raise StorageUnavailable.said(
            "{address} cannot be reached: check the network, and the keys and region in the environment, "
            "then try again",
            address=address,
        ) from None


@cache
def store_at(root: str, *, hurried: bool = False) -> "ObjectStore":
    """Return a client for a bucket or a web server; use it within `explain_errors`, so that errors become messages.

    If `hurried`, its requests give up within seconds; use this if the caller can do without the data.
    """
    from obstore.store import from_url

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
    plain = root.startswith("http://") or (root.startswith("s3://") and endpoint.startswith("http://"))
    limits = _HURRIED if hurried else _PATIENT
    return from_url(
        root,
        client_options={
            "allow_http": plain,
            "connect_timeout": timedelta(seconds=limits["connect_s"]),
            "read_timeout": timedelta(seconds=limits["silent_s"]),
            "timeout": timedelta(minutes=10),  # of a whole answer, which may be an hour of video
        },
        retry_config={"max_retries": limits["tries"], "retry_timeout": timedelta(seconds=limits["tried_s"])},
    )


BLOCK_BYTES = 256 * 1024
"""Bytes of one request; they mostly include what a decoder reads next."""
_BLOCKS = 64
"""Blocks cached for an open video: 16 MB."""


class RemoteFile(io.RawIOBase):
    """An open file at an address; `fetched` counts the bytes that were downloaded."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self._address = address
        meta = _head(address)
        self._size = int(meta["size"])
        self.name = _mark_of(meta)
        """Hash that identifies the content in caches."""
        self._at = 0
        self._block = lru_cache(_BLOCKS)(self._fetch)
        self.fetched = 0
        self.failed: Exception | None = None
        """The error that ended the reading; a decoder may take it for the end of the file."""

    def readable(self) -> bool:
        """Return True: the file can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: the position can be set with `seek`."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position for reading, in bytes, and return it; nothing is read."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read bytes into the buffer until it is full or the file ends; return the number of bytes read."""
        begun, end = self._at, min(self._at + len(buffer), self._size)
        while self._at < end:
            block, within = divmod(self._at, BLOCK_BYTES)
            part = self._block(block)[within : within + end - self._at]
            buffer[self._at - begun : self._at - begun + len(part)] = part
            self._at += len(part)
        return self._at - begun

    def _fetch(self, number: int) -> bytes:
        start = number * BLOCK_BYTES
        length = min(BLOCK_BYTES, self._size - start)
        try:
            with explain_errors(self._address):
                data = bytes(store_at(self._address.root).get_range(self._address.key, start=start, length=length))
            if len(data) != length:
                raise VideoUnreadable.named(self._address.name, said("changed while it was read: try again"))
        except (StorageUnavailable, VideoUnreadable) as error:
            self.failed = error
            raise
        self.fetched += length
        return data


@contextmanager
def opened_at(address: Address) -> "Iterator[InputContainer]":
    """Open a video at an address as a PyAV container.

    Raises:
        VideoUnreadable: there is nothing at the address, or no video.
        StorageUnavailable: see `explain_errors`; also if the connection fails while the video is read.
    """
    import av  # not needed for access to a bucket alone

    with RemoteFile(address) as file:
        try:
            with av.open(file, "r", metadata_errors="replace", container_options=OPENED_AS) as container:
                yield container
        except av.FFmpegError:
            raise file.failed or VideoUnreadable.named(address.name, NOT_OPENED) from None
        if file.failed is not None:  # decoders skip what they cannot read
            raise file.failed


def content_of(address: Address) -> str:
    """Return a hash in hex that stands for a video's content, without reading the video.

    It is computed from the size and the entity tag (ETag) that the storage reports, or the time of the last change if
    there is no tag.

    Raises:
        VideoUnreadable: there is nothing at the address.
        StorageUnavailable: see `explain_errors`.
    """
    return _mark_of(_head(address))


def size_at(address: Address) -> int:
    """Return the size of the file at an address, in bytes; raises the same errors as `content_of`."""
    return int(_head(address)["size"])


def listed(folder: Address) -> list[str]:
    """Return the sorted keys below a folder, relative to it, such as `party/dance.mp4`.

    Raises:
        StorageUnavailable: see `explain_errors`.
    """
    try:
        with explain_errors(folder):
            start = len(folder.key) + 1 if folder.key else 0
            chunks = store_at(folder.root).list(prefix=folder.key or None)
            return sorted(str(meta["path"])[start:] for chunk in chunks for meta in chunk)
    except StorageUnavailable as unlisted:
        try:  # a failed listing has one error for all causes; a request for one object tells them apart
            with explain_errors(folder):
                store_at(folder.root).head(folder.joined("nothing").key)
        except VideoUnreadable:
            raise StorageUnavailable.said(
                "{folder} cannot be listed: the bucket {root} does not exist, or the keys of this process do "
                "not allow it. Check its name, and the keys, region and endpoint in the environment",
                folder=folder,
                root=folder.root,
            ) from None
        raise unlisted from None


def whole(address: Address) -> bytes:
    """Return the content of a small file at an address; raises the same errors as `content_of`."""
    with explain_errors(address):
        return bytes(store_at(address.root).get(address.key).bytes())


def _mark_of(meta: Any) -> str:
    mark = meta["e_tag"] or meta["last_modified"].isoformat()
    return hashlib.sha256(f"at an address\n{meta['size']}\n{mark}\n".encode()).hexdigest()


def _head(address: Address) -> Any:
    with explain_errors(address):
        return store_at(address.root).head(address.key)
