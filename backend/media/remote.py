"""Videos in object storage and on web servers, read by ranges: a clip costs what it needs, not the whole file."""

import hashlib
import io
import os
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import av
from av.container import InputContainer

from backend.core.addresses import Address
from backend.core.errors import StorageUnavailable, VideoUnreadable
from backend.core.messages import said
from backend.media.limits import OPENED_AS
from backend.media.sources import NOT_OPENED
from backend.media.storage import store_at, told

BLOCK_BYTES = 256 * 1024
"""Read at once; what decoders ask for next lies mostly in it."""
_BLOCKS = 64
"""Kept of an open video: 16 MB."""


class RemoteFile(io.RawIOBase):
    """An open file at an address; `fetched` counts the bytes that came."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self._address = address
        told = _told_of(address)
        self._size = int(told["size"])
        self.name = _mark_of(told)
        """Names the content, for what is remembered of it."""
        self._at = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self.fetched = 0
        self.failed: Exception | None = None
        """What ended the reading, which a decoder may take for the end of the file."""

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Bytes from the beginning."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go there; nothing is read yet."""
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        """So many bytes, fewer at the end."""
        end = self._size if size is None or size < 0 else min(self._at + size, self._size)
        parts = []
        while self._at < end:
            block, within = divmod(self._at, BLOCK_BYTES)
            part = self._block(block)[within : within + end - self._at]
            parts.append(part)
            self._at += len(part)
        return b"".join(parts)

    def readall(self) -> bytes:
        """The rest."""
        return self.read()

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer; how much came."""
        part = self.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def _block(self, number: int) -> bytes:
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        start = number * BLOCK_BYTES
        length = min(BLOCK_BYTES, self._size - start)
        try:
            with told(self._address):
                data = bytes(store_at(self._address.root).get_range(self._address.key, start=start, length=length))
            if len(data) != length:
                raise VideoUnreadable(
                    said("{name} {why}", name=self._address.name, why=said("changed while it was read: try again"))
                )
        except (StorageUnavailable, VideoUnreadable) as error:
            self.failed = error
            raise
        self.fetched += length
        self._blocks[number] = data
        if len(self._blocks) > _BLOCKS:
            self._blocks.popitem(last=False)
        return data


@contextmanager
def opened_at(address: Address) -> Iterator[InputContainer]:
    """A video as a PyAV container.

    Raises:
        VideoUnreadable: nothing lies there, or no video.
        StorageUnavailable: see `told`; also where the network goes while it is read.
    """
    with RemoteFile(address) as file:
        try:
            with av.open(file, "r", metadata_errors="replace", container_options=OPENED_AS) as container:
                yield container
        except av.FFmpegError:
            raise file.failed or VideoUnreadable(said("{name} {why}", name=address.name, why=NOT_OPENED)) from None
        if file.failed is not None:  # decoders pass over what they cannot read
            raise file.failed


def content_of(address: Address) -> str:
    """The content's name, in hex: a digest of its size and of the mark that the storage gave it, without reading it.

    Raises:
        VideoUnreadable: nothing lies there, or the server marks no contents.
        StorageUnavailable: see `told`.
    """
    return _mark_of(_told_of(address))


def size_at(address: Address) -> int:
    """Bytes of all of it; raises like `content_of`."""
    return int(_told_of(address)["size"])


def listed(folder: Address) -> list[str]:
    """The keys of what lies below, from the folder on, in order: `party/dance.mp4`.

    Raises:
        StorageUnavailable: see `told`.
    """
    try:
        with told(folder):
            start = len(folder.key) + 1 if folder.key else 0
            found = store_at(folder.root).list(prefix=folder.key or None)
            return sorted(str(meta["path"])[start:] for chunk in found for meta in chunk)
    except StorageUnavailable as unlisted:
        try:  # a listing that fails has one error for all causes; a question about one thing tells them apart
            with told(folder):
                store_at(folder.root).head(folder.joined("nothing").key)
        except VideoUnreadable:
            raise StorageUnavailable(
                said(
                    "{folder} cannot be listed: there is no bucket {root}, or the keys of this process do not "
                    "suffice; look after its name, and after keys, region and endpoint in the environment",
                    folder=folder,
                    root=folder.root,
                )
            ) from None
        raise unlisted from None


def whole(address: Address) -> bytes:
    """All of a small file; raises like `content_of`."""
    with told(address):
        return bytes(store_at(address.root).get(address.key).bytes())


def _mark_of(meta: Any) -> str:
    mark = meta["e_tag"] or meta["last_modified"].isoformat()
    return hashlib.sha256(f"at an address\n{meta['size']}\n{mark}\n".encode()).hexdigest()


def _told_of(address: Address) -> Any:
    with told(address):
        return store_at(address.root).head(address.key)
