"""A release as one file: the same bytes for the same folder, whenever and wherever it is packed."""

import re
import zipfile
from pathlib import Path
from shutil import copyfileobj

FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the archive: zip knows none before, and a clock must not change it."""


def root_name(name: str, sha256: str) -> str:
    """What the zip of a release, and the folder in it, are called: by what it holds, in letters that any disk takes.

    >>> root_name("My films (2)", "0123456789abcdef")
    'My-films-2-0123456789ab'
    """
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")
    return f"{plain or 'release'}-{sha256[:12]}"


def pack(folder: Path, file: Path, root: str) -> None:
    """Write the files of a folder into a zip, by name, under one folder of its own.

    Args:
        folder: a release; it has no folders in it.
        file: the zip, which is replaced where it is there.
        root: the name of the folder that unpacking it makes.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(f"{root}/{path.name}", FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # rights are told as on Unix, on whichever system it is made
            entry.external_attr = 0o644 << 16
            entry.file_size = path.stat().st_size  # tells a file of more than 4 GiB beforehand
            with path.open("rb") as source, archive.open(entry, "w") as target:
                copyfileobj(source, target, 1 << 20)
