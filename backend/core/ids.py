"""Types of ids in the database and in browsers, and keyed digests."""

from typing import NewType

VideoId = NewType("VideoId", int)
MomentId = NewType("MomentId", int)
QueryId = NewType("QueryId", int)
BatchId = NewType("BatchId", int)
PairId = NewType("PairId", int)
AnnotatorId = NewType("AnnotatorId", int)
PairKey = NewType("PairKey", str)
"""The opaque name of a pair in a browser. It is random, so it reveals nothing about query, moment, rank or order."""


def keyed_digest(secret: bytes, *values: object) -> str:
    """Return the HMAC-SHA256 of some values in hex; the first value names the use, so that two uses never collide.

    >>> keyed_digest(b"s", "clip", 1) == keyed_digest(b"s", "clip", 1) != keyed_digest(b"t", "clip", 1)
    True
    """
    import hmac  # loads OpenSSL, which users of the ids alone do not need

    return hmac.digest(secret, "\n".join(map(str, values)).encode(), "sha256").hex()
