"""A project is a folder: `reelrank.toml` (settings a person may edit), `reelrank.db`, and `cache/` (disposable).

The file keeps what may change any day. What the campaign is (batch size, scale, rule, seats) stands in the database.
"""

import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from backend.campaign.project import rows
from backend.campaign.project.model import Campaign, Grading, People
from backend.ground.addresses import Address, Place, place_of
from backend.ground.errors import InputError, ProjectError
from backend.media.facts import VideoFacts
from backend.media.jobs import (
    DEFAULT_CACHE_BYTES,
    DEFAULT_CONTEXT_S,
    DEFAULT_HEIGHT_PX,
    ClipCache,
    ClipForm,
    Profile,
)
from backend.media.sources import Source, place_in, source_at
from backend.store import connection
from backend.store.address import shown, understood, without_password
from backend.store.connection import Store, reading, writing
from backend.store.files import arriving

SETTINGS_FILE = "reelrank.toml"
DATABASE_FILE = "reelrank.db"
ADDRESS_VARIABLE = "REELRANK_DATABASE"
CACHE_FOLDER = "cache"
GIB = 1024**3
ADDRESS_FILE = "served-at.txt"
"""The address that the project was served on last, written when a server starts."""
USUAL_ADDRESS = "http://127.0.0.1:8501"
OLD_BATCH_SIZES = (20, 40)
"""Those that `reelrank.toml` could name."""
MAX_CANDIDATES = 40
"""At most this many candidates a query (TVR-Ranking), and so in a batch: two of 20, or four of 10."""

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


Rate = Annotated[float, msgspec.Meta(ge=0)]


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
    cache_gb: Annotated[float, msgspec.Meta(gt=0)] = DEFAULT_CACHE_BYTES / GIB
    bucket: str = ""
    signed_s: Annotated[float, msgspec.Meta(ge=0, le=600)] = 0.0

    def __post_init__(self) -> None:
        """Refuse a bucket that is none, or that takes no files."""
        if self.bucket and (self.shared is None or self.shared.in_web):
            message = f'bucket is "{self.bucket}": write one that takes files, such as "s3://lab/clips", or no line'
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
    lease_minutes: Annotated[float, msgspec.Meta(gt=0)] = 15
    clips: ClipSettings = ClipSettings()
    pay: PaySettings = PaySettings()
    rewrite: RewriteSettings = RewriteSettings()
    cast: dict[str, str] = {}
    database: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """An opened project; may be shared by threads."""

    folder: Path
    settings: ProjectSettings
    store: Store

    @property
    def name(self) -> str:
        """What people call it."""
        return self.settings.name

    @property
    def campaign(self) -> Campaign:
        """What the campaign is, read anew: another process may have written it a moment ago."""
        with reading(self.store) as db:
            return rows.campaign(db)

    @property
    def embeddings(self) -> Path:
        """Where vectors are cached."""
        return self.folder / CACHE_FOLDER / "embeddings"

    @property
    def clips(self) -> ClipCache:
        """Where clips are cached, and how they are made."""
        own = self.settings.clips
        folder, profile = self.folder / CACHE_FOLDER / "clips", Profile(own.format, own.height)
        return ClipCache(folder, profile, own.context_s, int(own.cache_gb * GIB), own.shared, own.signed_s)

    def stored_path(self, file: Place) -> str:
        """How a file's place is written down: relative if inside the project, so that the folder may move."""
        if isinstance(file, Address):
            return file.text
        file = file.resolve()
        folder = self.folder.resolve()
        return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)

    def file(self, stored: str) -> Path:
        """The file behind a stored path."""
        return self.folder / stored

    def source(self, facts: VideoFacts) -> Source:
        """Where a measured video lies: a file, or a folder of frames."""
        return source_at(place_in(self.folder, facts.path), facts.fps)


def create(
    folder: Path, *, encoder: str, encoder_kind: str, cast: dict[str, str] | None = None, grading: Grading | None = None
) -> Project:
    """A new, empty project; it has TVR-Ranking's five grades unless others are given.

    Raises:
        ProjectError: there is one already, or the folder cannot be written.
    """
    require_none(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProjectError(f"cannot write to {folder}: {error.strerror}") from error
    text = TEMPLATE.format(
        name=_toml(folder.resolve().name),
        encoder=_toml(encoder),
        encoder_kind=_toml(encoder_kind),
        encoder_dtype=_toml("fp32"),
        cast="".join(f"{_toml(name)} = {_toml(words)}\n" for name, words in (cast or {}).items())
        or '# "Rachel" = "a woman"\n',
    )
    _write(folder / SETTINGS_FILE, text)
    try:
        address = database_address(folder)
        store = connection.create(folder / DATABASE_FILE, address)
        set_database(folder, address)
        if grading is not None:
            with writing(store) as db:
                rows.set_grading(db, grading)
        store.close()  # an idle connection counts as use
    except BaseException:
        (folder / SETTINGS_FILE).unlink(missing_ok=True)  # else the next try would find half a project
        raise
    return open_project(folder)


def require_none(folder: Path) -> None:
    """Refuse a folder that has a project in it.

    Raises:
        ProjectError: it has.
    """
    if (folder / DATABASE_FILE).exists() or (folder / SETTINGS_FILE).exists():
        raise ProjectError(f"{folder} is a project already: choose another folder, or go on with this one")


@contextmanager
def undone_if_it_fails(project: Project) -> Iterator[None]:
    """Fill a project that was made a moment ago; if that fails there is none, and the next try finds its place free."""
    try:
        yield
    except BaseException:
        project.store.close()
        for file in project.folder.glob(f"{DATABASE_FILE}*"):
            file.unlink()
        (project.folder / SETTINGS_FILE).unlink()
        raise


def is_project(folder: Path) -> bool:
    """Whether a folder has a project in it; it may still be one that cannot be opened."""
    if (folder / DATABASE_FILE).exists():
        return True
    return (folder / SETTINGS_FILE).exists()


def open_project(folder: Path) -> Project:
    """Open a project folder.

    Raises:
        ProjectError: not a project, or its database may be in two places.
        SchemaOutOfDate: made by an older or newer version.
        InputError: `reelrank.toml` says something that is not understood.
    """
    address = database_address(folder)
    if not address:
        require_database(folder)
    elif (folder / DATABASE_FILE).exists() and not written_address(folder):
        raise ProjectError(
            f"{folder} has its database in {DATABASE_FILE}, but {ADDRESS_VARIABLE} names {shown(address)}: unset "
            f"{ADDRESS_VARIABLE} to open the file, or bring it there with `reelrank move {folder} "
            f"{without_password(address)}`"
        )
    store = connection.open_store(folder / DATABASE_FILE, address)
    return Project(folder, read_settings(folder), store)


def database_address(folder: Path) -> str:
    """Where a project's database is in PostgreSQL; empty where it is the file in the folder.

    The environment goes before `reelrank.toml`: a password need not stand in a file.

    Raises:
        InputError: what stands there is no address.
    """
    said = os.environ.get(ADDRESS_VARIABLE, "")
    if said:
        require_address(ADDRESS_VARIABLE, said)
    return said or written_address(folder)


def written_address(folder: Path) -> str:
    """What `reelrank.toml` says of where the database is, whatever the environment says."""
    if not (folder / SETTINGS_FILE).exists():
        return ""
    told = str(_read(folder / SETTINGS_FILE).get("database", ""))
    if told:
        require_address(folder / SETTINGS_FILE, told)
    return told


def require_database(folder: Path) -> None:
    """Refuse a folder whose database is neither in it nor at an address that is known.

    Raises:
        ProjectError: it has no database; what it may be, and what to do.
    """
    if (folder / SETTINGS_FILE).exists() and not (folder / DATABASE_FILE).exists():
        raise ProjectError(
            f"{folder} has {SETTINGS_FILE}, but neither {DATABASE_FILE} nor an address of its database: if it is in "
            f'PostgreSQL, set {ADDRESS_VARIABLE}, or write database = "postgresql://user@host/name" at the top of '
            f"{folder / SETTINGS_FILE}; if the file is lost, run `reelrank restore {folder} FILE` with a backup"
        )


def require_file(folder: Path) -> None:
    """Refuse a project whose database is not the file in its folder.

    Raises:
        ProjectError: it is at an address.
    """
    if database_address(folder):
        raise ProjectError(
            f"{folder} has its database in PostgreSQL: bring it back with `reelrank move {folder} file` first"
        )


def require_elsewhere(folder: Path, target: str) -> None:
    """Refuse to bring a database to an address where it is, or where the environment would not look for it.

    Raises:
        ProjectError: it is at an address already, or `REELRANK_DATABASE` names another one.
    """
    said = os.environ.get(ADDRESS_VARIABLE, "")
    there = written_address(folder) or ("" if (folder / DATABASE_FILE).exists() else said)
    if there:
        raise ProjectError(f"{folder} has its database at {shown(there)} already: move it into its file first")
    if said and without_password(said) != without_password(target):
        raise ProjectError(
            f"{ADDRESS_VARIABLE} names {shown(said)}, where every command would look for the database: unset it, or "
            f"move to that address"
        )


def require_address(place: Path | str, said: str) -> None:
    """Refuse what is no address of PostgreSQL.

    Args:
        place: where it was written.
        said: what stands there; its password is not shown.

    Raises:
        InputError: it is none.
    """
    if not said.startswith(("postgresql://", "postgres://")):
        raise InputError.single(
            place,
            f'the database is "{shown(said)}": write an address such as "postgresql://user@host/name", or none for '
            f"the file {DATABASE_FILE} in the folder",
        )
    if not understood(said):
        raise InputError.single(
            place,
            f'the database is "{shown(said)}": in a name or a password write @ as %40, / as %2F, % as %25',
        )


def read_settings(folder: Path) -> ProjectSettings:
    """Read and check `reelrank.toml`."""
    path = folder / SETTINGS_FILE
    if BATCH_SIZE in _read(path):
        message = f"{BATCH_SIZE} stands in the database now: take the line out, or run `reelrank migrate {folder}`"
        raise InputError.single(path, message)
    try:
        return msgspec.toml.decode(path.read_bytes(), type=ProjectSettings)
    except msgspec.DecodeError as error:
        raise InputError.single(path, str(error)) from error


def set_encoder(project: Project, encoder: str, kind: str, dtype: str) -> Project:
    """Write another encoder into `reelrank.toml`."""
    settings = {"encoder": encoder, "encoder_kind": kind, "encoder_dtype": dtype}
    lines = {key: f"{key} = {_toml(value)}" for key, value in settings.items()}
    _replace(project.folder, lines)
    return open_project(project.folder)


def set_database(folder: Path, address: str) -> None:
    """Write into `reelrank.toml` where the database is; empty for the file in the folder.

    A password stays out: only the person writes one into a file. What stands there already and leads to the same
    database stays as it was written.
    """
    bare, there = without_password(address), _read(folder / SETTINGS_FILE).get("database")
    if (address or there is not None) and (there is None or without_password(str(there)) != bare):
        _replace(folder, {"database": f"database = {_toml(bare)}"})


def note_address(project: Project, url: str) -> None:
    """Keep where the project is served, for links that commands print."""
    _write(project.folder / ADDRESS_FILE, f"{url}\n")


def address(project: Project) -> str:
    """Where the project was served last; the usual address if it never was."""
    path = project.folder / ADDRESS_FILE
    return path.read_text(encoding="utf-8").strip() if path.exists() else USUAL_ADDRESS


def old_batch_size(folder: Path) -> int | None:
    """The batch size in a `reelrank.toml` of before it stood in the database; None if it says none.

    Raises:
        InputError: it is no batch size, or the file cannot be read as TOML.
    """
    path = folder / SETTINGS_FILE
    if not path.exists():
        return None
    size: object = _read(path).get(BATCH_SIZE)
    if size not in (None, *OLD_BATCH_SIZES):
        raise InputError.single(path, f"{BATCH_SIZE} is {size}: write 20 or 40")
    return size if isinstance(size, int) else None


def retire_batch_size(folder: Path) -> None:
    """Put a remark in the place of the batch size in `reelrank.toml`; the database has it now."""
    _replace(folder, {BATCH_SIZE: MOVED})


def _replace(folder: Path, lines: dict[str, str]) -> None:
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
    _write(path, text)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        hint = f"{path.parent} has no {SETTINGS_FILE}: restore it, or run `reelrank init` elsewhere"
        raise ProjectError(hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError.single(path, str(error)) from error


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a server may read the file at this moment, and the power may fail."""
    with arriving(path) as part:
        part.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, part)


def _toml(text: str) -> str:
    """A TOML basic string (JSON's escapes are a subset of TOML's)."""
    return msgspec.json.encode(text).decode()
