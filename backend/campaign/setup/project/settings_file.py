"""Read and write `reelrank.toml`; what may stand there says `settings.file`."""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.setup.project.places import SETTINGS_FILE
from backend.campaign.setup.project.settings.file import ProjectSettings
from backend.core.errors import InputError, ProjectError
from backend.core.messages import said
from backend.core.undecodable import UNDECODABLE
from backend.store.files import arriving

OLD_BATCH_SIZES = (20, 40)
"""Those that `reelrank.toml` could name."""

BATCH_SIZE = "batch_size"
"""Stood in the file before the database had a row for it."""
MOVED = "# The batch size stands in the database now; `reelrank candidates --batch-size` sets it before lists exist."


def read_settings(folder: Path) -> ProjectSettings:
    """Read and check `reelrank.toml`."""
    path = folder / SETTINGS_FILE
    if BATCH_SIZE in read_toml(path):
        message = said(
            "{batch_size} stands in the database now: take the line out, or run `reelrank migrate {folder}`",
            batch_size=BATCH_SIZE,
            folder=folder,
        )
        raise InputError.single(path, message)
    try:
        return msgspec.toml.decode(path.read_bytes(), type=ProjectSettings)
    except UNDECODABLE as error:
        raise InputError.single(path, str(error)) from error


def old_batch_size(folder: Path) -> int | None:
    """The batch size in a `reelrank.toml` of before it stood in the database; None if it says none.

    Raises:
        InputError: it is no batch size, or the file cannot be read as TOML.
    """
    path = folder / SETTINGS_FILE
    if not path.exists():
        return None
    size: object = read_toml(path).get(BATCH_SIZE)
    if size not in (None, *OLD_BATCH_SIZES):
        raise InputError.single(path, said("{batch_size} is {size}: write 20 or 40", batch_size=BATCH_SIZE, size=size))
    return size if isinstance(size, int) else None


def retire_batch_size(folder: Path) -> None:
    """Put a remark in the place of the batch size in `reelrank.toml`; the database has it now."""
    replace_lines(folder, {BATCH_SIZE: MOVED})


def replace_lines(folder: Path, lines: dict[str, str]) -> None:
    """Write these lines in the place of those that set a key, leaving every other line as the person wrote it."""
    path = folder / SETTINGS_FILE
    there = path.read_text(encoding="utf-8").splitlines()
    for key, line in lines.items():
        places = [n for n, old in enumerate(there) if re.match(rf"{key}\s*=", old)]
        if places:
            there[places[0]] = line
        else:
            there.insert(0, line)
    text = "\n".join(there) + "\n"
    msgspec.toml.decode(text, type=ProjectSettings)  # never write what cannot be read back
    write_whole(path, text)


def read_toml(path: Path) -> dict[str, Any]:
    """What the file says, unchecked.

    Raises:
        ProjectError: it is not there.
        InputError: it cannot be read as TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        hint = said(
            "{parent} has no {settings}: restore it, or run `reelrank init` elsewhere",
            parent=path.parent,
            settings=SETTINGS_FILE,
        )
        raise ProjectError(hint) from error
    except UNDECODABLE as error:
        raise InputError.single(path, str(error)) from error


def write_whole(path: Path, text: str) -> None:
    """Whole or not at all: a server may read the file at this moment, and the power may fail."""
    with arriving(path) as part:
        part.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, part)
