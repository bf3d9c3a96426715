"""Code that several pages share. This module joins the script and style files of page elements.

The JavaScript of such an element is one module, joined from files in a given order without a build step. Only the
last file exports. The files share one scope, so only one of them may declare a name.
"""

from collections.abc import Iterable
from pathlib import Path

from backend.campaign.nouns import GRADE_COLOURS

DESK_SCRIPTS = tuple(
    f"../../shared/desk/{name}.js" for name in ("preferences", "kept", "delivery", "outage", "active_time", "frame")
)
"""Scripts in `desk`, which let a page work ahead of the server; paths relative to the folder of a component."""


def joined(folder: Path, names: Iterable[str]) -> str:
    """Return the contents of files in a folder as one text, joined in the given order."""
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def grade_colours() -> str:
    """Return CSS with two variables for each grade: its colour `--grade-3`, and `--on-3` for text on this colour."""
    variables = (f"--grade-{grade}: {back}; --on-{grade}: {ink};" for grade, (back, ink) in enumerate(GRADE_COLOURS))
    return f":root, :host {{ {' '.join(variables)} }}\n"
