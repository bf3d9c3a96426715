"""What pages share; here, how their components are put together.

A component's JavaScript is one module made of files, joined in a given order (no build step): only the last one
exports. They share one scope, so a name may be declared in one file only.
"""

from collections.abc import Iterable
from pathlib import Path

DESK_SCRIPTS = tuple(
    f"../../shared/desk/{name}.js" for name in ("preferences", "kept", "delivery", "outage", "active_time", "frame")
)
"""The scripts of `desk`, which work ahead of the server, as seen from the folder of a component."""


def joined(folder: Path, names: Iterable[str]) -> str:
    """The files of a component, in this order, as one text."""
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
