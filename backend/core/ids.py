"""Names of things: what one row is called by another, and by a browser; hashes that need a secret."""

from typing import NewType

VideoId = NewType("VideoId", int)
MomentId = NewType("MomentId", int)
QueryId = NewType("QueryId", int)
BatchId = NewType("BatchId", int)
PairId = NewType("PairId", int)
AnnotatorId = NewType("AnnotatorId", int)
PairKey = NewType("PairKey", str)
"""The opaque name of a pair in a browser: random, so it tells nothing about query, moment, rank or order."""


def keyed_digest(secret: bytes, *of: object) -> str:
    """Return HMAC-SHA256 of these values in hex; begin them with a word for the use, so that two uses never meet.

    >>> keyed_digest(b"s", "clip", 1) == keyed_digest(b"s", "clip", 1) != keyed_digest(b"t", "clip", 1)
    True
    """
    import hmac  # OpenSSL, which whoever names things does without

    return hmac.digest(secret, "\n".join(map(str, of)).encode(), "sha256").hex()
