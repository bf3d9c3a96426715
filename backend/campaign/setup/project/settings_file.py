"""`reelrank.toml`: the settings of a project that a person may edit, and that may change any day."""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from backend.campaign.setup.project.model import People
from backend.campaign.setup.project.places import SETTINGS_FILE
from backend.core.addresses import Address, place_of
from backend.core.errors import InputError, ProjectError
from backend.core.saying import said
from backend.core.undecodable import UNDECODABLE
from backend.media.jobs import DEFAULT_CACHE_BYTES, DEFAULT_CONTEXT_S, DEFAULT_HEIGHT_PX, ClipForm
from backend.store.files import arriving

GIB = 1024**3
OLD_BATCH_SIZES = (20, 40)
"""Those that `reelrank.toml` could name."""

TEMPLATE = """\
# Settings of this ReelRank project. Lines may be edited; commands read them anew every time.
name = {name}

# The sentence encoder that chooses candidates: a hub name, a local folder, or "minilm" (works offline).
encoder = {encoder}
# How its vectors are made: "sup" or "unsup" (SimCSE with and without supervision), or "minilm".
encoder_kind = {encoder_kind}
# What it computes in: "fp32", or "bf16", which is faster on many processors and gives slightly other similarities.
encoder_dtype = {encoder_dtype}

# Where the database is: in the file reelrank.db of this folder, or in PostgreSQL (see docs/operations.md).
# database = "postgresql://reelrank@db.example/campaign"

# For how long a pair is kept for the person who has it on the desk.
lease_minutes = 15

# How the clips of moments are made, and kept in cache/clips (may be deleted at any time). Whoever serves the project
# starts the server again after a change; clips made otherwise are cut anew when somebody asks for them.
[clips]
# "mp4" (H.264 and AAC: played everywhere, quickest to cut) or "webm" (VP9 and Opus, free of patents).
format = "mp4"
# Lines of a picture at most; smaller videos stay as they are.
height = 720
# Seconds shown before and after a moment to whoever asks for its context.
context_s = 2
# How many GB of clips are kept at most; those used longest ago go first.
cache_gb = 20
# A bucket of clips that several front ends share, so that each is cut once, and for how many seconds an address lasts
# that sends desks to it; without the second line clips go through the server (see docs/operations.md).
# bucket = "s3://lab/clips"
# signed_s = 60

# What an hour of work is paid, for the page Hours (no line: no pay is computed), and in which currency. A line
# under [pay.rates], such as "Ana" = 12.5, is a rate of one person's own.
[pay]
# hourly_rate = 11
currency = "USD"
[pay.rates]

[rewrite]
# Several people of one caption: "counted" ("two people hug", so that like captions become one query), "joined" ("two
# women hug", and a man and a woman are "two people"), or "apart" ("a woman and another woman hug").
people = "counted"
# A model of flair's that looks for names which rewriting left, such as "ner" ("" for none), and the Python that has
# flair, such as "/home/me/flair/bin/python" ("" for ReelRank's own). See docs/pipeline.md.
ner = ""
ner_python = ""

# Who appears in the videos, and the words that take the place of each name in imprecise queries. `reelrank cast` writes
# a proposal into cast.csv; what stands here goes over it.
[cast]
{cast}"""


BATCH_SIZE = "batch_size"
"""Stood in the file before the database had a row for it."""
MOVED = "# The batch size stands in the database now; `reelrank candidates --batch-size` sets it before lists exist."


class RewriteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How imprecise captions are made."""

    people: People = "counted"
    ner: str = ""
    ner_python: str = ""


Rate = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class PaySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an hour of work is paid; None computes no pay."""

    hourly_rate: Rate | None = None
    currency: str = "USD"
    rates: dict[str, Rate] = {}


class ClipSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How clips are made and kept."""

    format: ClipForm = ClipForm.MP4
    height: Annotated[int, msgspec.Meta(ge=144, le=2160)] = DEFAULT_HEIGHT_PX
    context_s: Annotated[float, msgspec.Meta(gt=0, le=60)] = DEFAULT_CONTEXT_S
    cache_gb: Annotated[float, msgspec.Meta(gt=0, le=1_000_000)] = DEFAULT_CACHE_BYTES / GIB
    bucket: str = ""
    signed_s: Annotated[float, msgspec.Meta(ge=0, le=600)] = 0.0

    def __post_init__(self) -> None:
        """Refuse a bucket that is none, or that takes no files."""
        if self.bucket and (self.shared is None or self.shared.in_web):
            message = said(
                'bucket is "{bucket}": write one that takes files, such as "s3://lab/clips", or no line',
                bucket=self.bucket,
            )
            raise ValueError(message)

    @property
    def shared(self) -> Address | None:
        """Where several front ends share their clips."""
        place = place_of(self.bucket)
        return place if isinstance(place, Address) else None


class ProjectSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `reelrank.toml` may say."""

    name: str
    encoder: str
    encoder_kind: Literal["sup", "unsup", "minilm"]
    encoder_dtype: Literal["fp32", "bf16"] = "fp32"
    lease_minutes: Annotated[float, msgspec.Meta(gt=0, le=10_080)] = 15
    clips: ClipSettings = ClipSettings()
    pay: PaySettings = PaySettings()
    rewrite: RewriteSettings = RewriteSettings()
    cast: dict[str, str] = {}
    database: str = ""


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


def toml_text(text: str) -> str:
    """A TOML basic string (JSON's escapes are a subset of TOML's)."""
    return msgspec.json.encode(text).decode()
