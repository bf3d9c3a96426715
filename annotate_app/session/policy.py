"""What a browser may load and run on our pages: the Content-Security-Policy, as narrow as Streamlit works with.

The plain pages under /session/ have a narrower one of their own (see `notice`), which allows no script at all.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

import streamlit

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_ELSEWHERE = "https: http:"
"""Browsers are sent to a bucket for clips; its address is that of whoever runs it."""


@cache
def of_pages(clips_elsewhere: bool) -> str:
    """The policy of everything that has none of its own.

    Scripts come from this server: files of Streamlit, the one line in its page, known by its digest, and our
    components, which Streamlit loads from `blob:` addresses. Styles may stand in a page, because Streamlit writes them
    there. Nothing is fetched from elsewhere, nothing is sent elsewhere, and no other page shows ours in a frame.

    Args:
        clips_elsewhere: whether browsers are sent to a bucket for clips.
    """
    elsewhere = [_ELSEWHERE] * clips_elsewhere
    allowed = {
        "default-src": ["'none'"],
        "script-src": ["'self'", *_digests(), "blob:"],
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "media-src": ["'self'", "blob:", *elsewhere],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'", *elsewhere],
        "worker-src": ["'self'", "blob:"],
        "manifest-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'self'"],
        "object-src": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in allowed.items())


def _digests() -> list[str]:
    """Of the scripts that stand in Streamlit's page, as a policy names them."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in _INLINE.findall(page)]
