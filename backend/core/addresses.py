"""Addresses of what lies in object storage or on a web server: what is one, what is a path, how they are joined.

No address holds a secret: keys come from the environment, so that addresses may stand in files, lists and messages.
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from backend.core.errors import InputError
from backend.core.messages import said

SCHEMES = ("s3", "gs", "https", "http")
"""What addresses may begin with; `file` is a path of this machine."""


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Where something lies that is no file of this machine: `s3://bucket/videos/dog.mp4`."""

    text: str

    def __str__(self) -> str:
        """As people write it."""
        return self.text

    @property
    def name(self) -> str:
        """The last part: `dog.mp4`."""
        return self.text.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> "Address":
        """Where it lies: `s3://bucket/videos`."""
        return Address(self.text.rstrip("/").rpartition("/")[0])

    @property
    def root(self) -> str:
        """The bucket or the server: `s3://bucket`."""
        told = urlsplit(self.text)
        return f"{told.scheme}://{told.netloc}"

    @property
    def key(self) -> str:
        """What lies there, within the root: `videos/dog.mp4`."""
        key = self.text[len(self.root) :].strip("/")
        return unquote(key) if self.in_web else key

    @property
    def in_web(self) -> bool:
        """Whether a web server has it, which does not list what it has."""
        return self.text.startswith(("https://", "http://"))

    def joined(self, key: str) -> "Address":
        """What lies below it."""
        return Address(f"{self.text.rstrip('/')}/{key}")


Place = Path | Address
"""Where something lies: on this machine, or at an address."""


def place_of(written: str) -> Place:
    """The place that a person wrote.

    >>> place_of("s3://lab/videos")
    Address(text='s3://lab/videos')
    >>> place_of("file:///srv/my%20videos").as_posix()
    '/srv/my videos'

    Raises:
        InputError: an address with a secret in it, without a bucket or server, or of a kind not known here.
    """
    scheme, mark, rest = written.partition("://")
    if not mark:
        return Path(written)
    if scheme == "file":
        return Path(unquote(urlsplit(written).path))
    bare = f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"  # without what may be a password or a signature
    if scheme not in SCHEMES:
        raise InputError.single(
            bare, said("is not a supported address: addresses begin with {schemes} or file", schemes=", ".join(SCHEMES))
        )
    told = urlsplit(written)
    if "@" in told.netloc or told.query or told.fragment:
        raise InputError.single(
            bare,
            said(
                "must not contain a user, a password or a question mark, because the project stores it. Put "
                "keys in the environment (see docs/operations.md)"
            ),
        )
    if not told.netloc:
        raise InputError.single(bare, said("has no bucket or server: add its name"))
    return Address(written.rstrip("/"))
