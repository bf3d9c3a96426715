"""Locate the demo's videos, captions and name mapping, which travel with the code."""

from pathlib import Path

import msgspec

MOMENTS = "moments.jsonl"
"""The captions file among the clips, of format jsonl."""

PRACTICE = "practice.csv"
"""The tutorial's practice pairs among the clips."""


class _Cast(msgspec.Struct):
    cast: dict[str, str]


def folder() -> Path:
    """Return where the clips lie: beside this module where a wheel was installed, in `assets/demo` of a checkout."""
    installed = Path(__file__).with_name("clips")  # see [tool.hatch.build.targets.wheel.force-include]
    return installed if installed.is_dir() else Path(__file__).parents[3] / "assets" / "demo"


def cast() -> dict[str, str]:
    """Return the name mapping of the clips: each name with its generic words."""
    return msgspec.toml.decode((folder() / "cast.toml").read_bytes(), type=_Cast).cast
