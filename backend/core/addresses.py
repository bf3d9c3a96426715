"""Addresses of files in object storage or on a web server: tell them from paths, split and join them.

An address contains no secret, because keys come from the environment. Addresses may therefore appear in files, lists
and messages.
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from backend.core.errors import InputError
from backend.core.messages import said

SCHEMES = ("s3", "gs", "https", "http")
"""The schemes of addresses; an address with `file` becomes a path of this machine."""


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """The address of a file or folder on another machine, such as `s3://bucket/videos/dog.mp4`."""

    text: str

    def __str__(self) -> str:
        """Return the address as people write it."""
        return self.text

    @property
    def name(self) -> str:
        """The last part, such as `dog.mp4`."""
        return self.text.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> "Address":
        """The address of the folder above, such as `s3://bucket/videos`."""
        return Address(self.text.rstrip("/").rpartition("/")[0])

    @property
    def root(self) -> str:
        """The bucket or the server, such as `s3://bucket`."""
        parts = urlsplit(self.text)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def key(self) -> str:
        """The path within the root, such as `videos/dog.mp4`."""
        key = self.text[len(self.root) :].strip("/")
        return unquote(key) if self.in_web else key

    @property
    def in_web(self) -> bool:
        """Whether the address is on a web server, which cannot list its files."""
        return self.text.startswith(("https://", "http://"))

    def joined(self, key: str) -> "Address":
        """Return the address of a path below this one."""
        return Address(f"{self.text.rstrip('/')}/{key}")


Place = Path | Address
"""A path of this machine, or an address."""


def place_of(written: str) -> Place:
    """Return the path or address that a person wrote.

    >>> place_of("s3://lab/videos")
    Address(text='s3://lab/videos')
    >>> place_of("file:///srv/my%20videos").as_posix()
    '/srv/my videos'

    Raises:
        InputError: the address contains a secret, has no bucket or server, or has an unknown scheme.
    """
    scheme, mark, rest = written.partition("://")
    if not mark:
        return Path(written)
    if scheme == "file":
        return Path(unquote(urlsplit(written).path))
    bare = f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"  # without a possible password or signature
    if scheme not in SCHEMES:
        raise InputError.single(
            bare, said("is not a supported address: addresses begin with {schemes} or file", schemes=", ".join(SCHEMES))
        )
    parts = urlsplit(written)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError.single(
            bare,
            said(
                "must not contain a user, a password or a question mark, because the project stores it. Put "
                "keys in the environment (see docs/video-files.md)"
            ),
        )
    if not parts.netloc:
        raise InputError.single(bare, said("has no bucket or server: add its name"))
    return Address(written.rstrip("/"))
