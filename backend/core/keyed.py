"""Hashes that nobody can compute without a secret."""

import hmac


def keyed_digest(secret: bytes, *of: object) -> str:
    """Return HMAC-SHA256 of these values in hex; begin them with a word for the use, so that two uses never meet.

    >>> keyed_digest(b"s", "clip", 1) == keyed_digest(b"s", "clip", 1) != keyed_digest(b"t", "clip", 1)
    True
    """
    return hmac.digest(secret, "\n".join(map(str, of)).encode(), "sha256").hex()
