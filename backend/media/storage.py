"""Object storage and web servers, and what is wrong with one in words.

obstore, which speaks to S3, Google's storage and web servers, is loaded when the first address is met, and only then.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from backend.core.addresses import Address
from backend.core.errors import StorageUnavailable, VideoUnreadable
from backend.core.messages import said

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_READ = said("read")
_PATIENT: dict[str, int] = {"tries": 3, "tried_s": 20, "connect_s": 10, "silent_s": 30}
_HURRIED: dict[str, int] = {"tries": 1, "tried_s": 3, "connect_s": 2, "silent_s": 5}


@contextmanager
def told(address: Address, done: str = _READ) -> Iterator[None]:
    """Say what is wrong with an address in words, where it is `done`.

    Raises:
        VideoUnreadable: nothing lies there.
        StorageUnavailable: it may not be read, or cannot be reached just now; or the package for it is not installed.
    """
    try:
        from obstore import exceptions
    except ImportError:
        raise StorageUnavailable(
            said(
                "{root} is in object storage, which needs one more package: pip install 'reelrank[storage]'",
                root=address.root,
            )
        ) from None
    try:
        yield
    except (FileNotFoundError, exceptions.NotFoundError):
        raise VideoUnreadable(
            said("{name}: {why}", name=address.name, why=said("nothing lies at {address}", address=address))
        ) from None
    except (PermissionError, exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
        raise StorageUnavailable(
            said(
                "{address} may not be {done} with the keys of this process: set the right ones in its environment, "
                "or have it allowed there",
                address=address,
                done=done,
            )
        ) from None
    except exceptions.NotSupportedError:
        raise StorageUnavailable(
            said(
                "{address} is on a server that does not send parts of files: copy the video to this machine, or to a "
                "server that answers range requests",
                address=address,
            )
        ) from None
    except exceptions.BaseError:  # its own words may hold signed addresses
        raise StorageUnavailable(
            said(
                "{address} cannot be reached: look after the network, and after keys and region in the environment; "
                "then try again",
                address=address,
            )
        ) from None


@cache
def store_at(root: str, *, hurried: bool = False) -> "ObjectStore":
    """A bucket or a server; `hurried` gives up within seconds, for what can be had in another way.

    It is asked within `told`, which says what is wrong.
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
