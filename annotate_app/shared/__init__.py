"""Code that several pages share. This module builds their components.

A component's JavaScript is one module made of files, joined in a given order (no build step): only the last one
exports. They share one scope, so a name may be declared in one file only.
"""

from collections.abc import Iterable
from pathlib import Path

from backend.campaign.nouns import GRADE_COLOURS

DESK_SCRIPTS = tuple(
    f"../../shared/desk/{name}.js" for name in ("preferences", "kept", "delivery", "outage", "active_time", "frame")
)
"""The scripts of `desk`, which work ahead of the server, as seen from the folder of a component."""


def joined(folder: Path, names: Iterable[str]) -> str:
    """The files of a component, in this order, as one text."""
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def grade_colours() -> str:
    """Return the colours of grades as CSS variables: `--grade-3` and, for text on it, `--on-3`."""
    named = (f"--grade-{grade}: {back}; --on-{grade}: {ink};" for grade, (back, ink) in enumerate(GRADE_COLOURS))
    return f":root, :host {{ {' '.join(named)} }}\n"
