"""The addresses of the pages, and where on its host the app lies.

The guard knows the addresses before any page is loaded, and by them what leads nowhere. Inside the app a path begins at
the app: "/grade". `full_path` makes of it what a browser needs where the app lies below a path of its host.
"""

from contextvars import ContextVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from annotate_app.pages import PAGES

BASE_PATH_HEADER = "X-Forwarded-Prefix"
"""Tells a script run the base path. `BasePath` sets it on every request it passes on, and drops any other."""
_base: ContextVar[str | None] = ContextVar("base_path", default=None)

SIGN_IN_PATH = "/session/sign-in"
HEALTH_PATH, READY_PATH = "/healthz", "/readyz"
"""What programs ask that look after a server; see `annotate_app.server.health`."""
PAGE_PATHS = frozenset(f"/{page.address}" for page in PAGES)
OPEN_PREFIXES = ("/session/", "/static/")
"""Streamlit's own scripts, fonts and signs of life, and the sign-in: the same bytes for everybody."""
OPEN_PATHS = frozenset(
    {
        *("/_stcore/health", "/_stcore/host-config", "/favicon.png", "/favicon.ico", "/manifest.json"),
        # Streamlit's way to an identity provider and back; without one in its secrets both lead to the front page.
        *("/auth/login", "/oauth2callback"),
        *(HEALTH_PATH, READY_PATH),
    }
)
CLIP_PREFIXES = ("/clips/", "/examples/", "/practice/", "/describe/videos/", "/moments.mp4", "/moments.webp")
MACHINE_PREFIXES = (
    *("/desk/", "/lead/", "/rewriting/", "/describe/", *CLIP_PREFIXES),
    *("/_stcore/", "/media/", "/component/", "/app/"),
)
"""What scripts and <video> ask for, and nobody types into an address bar."""


def use_base_path(base: str) -> None:
    """Set the base path of all addresses that this request makes."""
    _base.set(base)


def base_path() -> str:
    """Return the path of its host that the app lies below, such as "/annotate"; an empty text for the whole host."""
    base = _base.get()
    if base is None:
        base = ""
        if get_script_run_ctx(suppress_warning=True) is not None:
            base = st.context.headers.get(BASE_PATH_HEADER, "")
            use_base_path(base)  # a script run has a thread of its own
    return base


def full_path(path: str) -> str:
    """Return a path of the app, such as "/grade", as a browser asks for it: "/annotate/grade"."""
    return base_path() + path


def is_own_path(path: str) -> bool:
    """Return whether a path begins like one of the app, so that it is no base path: nobody could tell the two apart.

    >>> is_own_path("/clips"), is_own_path("/my-work/lab"), is_own_path("/annotate")
    (True, True, False)
    """
    own = (*PAGE_PATHS, *OPEN_PREFIXES, *OPEN_PATHS, *MACHINE_PREFIXES)
    return path.split("/")[1:2] in [one.split("/")[1:2] for one in own]


def path_within(base: str, path: str) -> str:
    """Take the base path off a path, if it has it.

    >>> path_within("/annotate", "/annotate/grade"), path_within("/annotate", "/annotate"), path_within("/a", "/ab")
    ('/grade', '/', '/ab')
    """
    if base and (path == base or path.startswith(f"{base}/")):
        return path[len(base) :] or "/"
    return path
