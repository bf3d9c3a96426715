"""A project is a folder: `reelrank.toml` (settings a person may edit), `reelrank.db`, and `cache/` (disposable)."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from backend.ground.errors import InputError, ProjectError
from backend.store import connection
from backend.store.connection import Store

SETTINGS_FILE = "reelrank.toml"
DATABASE_FILE = "reelrank.db"
MAX_CANDIDATES = 40
"""At most this many candidates a query (TVR-Ranking): one batch of 40, or two of 20."""

TEMPLATE = """\
# Settings of this ReelRank project. Lines may be edited; commands read them anew every time.
name = {name}

# The sentence encoder that chooses candidates: a hub name, a local folder, or "minilm" (works offline).
encoder = {encoder}
# How its vectors are made: "sup" or "unsup" (SimCSE with and without supervision), or "minilm".
encoder_kind = {encoder_kind}

# How many candidates of a query are judged together: 20 (a second batch of 20 may follow) or 40.
batch_size = 20

# For how long a pair is kept for the person who has it on the desk.
lease_minutes = 15

# Who appears in the videos, and the words that take the place of each name in imprecise queries.
[cast]
{cast}"""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `reelrank.toml` may say."""

    name: str
    encoder: str
    encoder_kind: Literal["sup", "unsup", "minilm"]
    batch_size: Literal[20, 40] = 20
    lease_minutes: Annotated[float, msgspec.Meta(gt=0)] = 15
    cast: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Project:
    """An opened project; may be shared by threads."""

    folder: Path
    settings: Settings
    store: Store

    @property
    def name(self) -> str:
        """What people call it."""
        return self.settings.name

    @property
    def embeddings(self) -> Path:
        """Where vectors are cached."""
        return self.folder / "cache" / "embeddings"

    @property
    def clips(self) -> Path:
        """Where clips are cached."""
        return self.folder / "cache" / "clips"

    def stored_path(self, file: Path) -> str:
        """How a file's place is written down: relative if inside the project, so that the folder may move."""
        file = file.resolve()
        folder = self.folder.resolve()
        return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)

    def file(self, stored: str) -> Path:
        """The file behind a stored path."""
        return self.folder / stored


def create(folder: Path, *, encoder: str, encoder_kind: str, cast: dict[str, str] | None = None) -> Project:
    """A new, empty project.

    Raises:
        ProjectError: there is one already, or the folder cannot be written.
    """
    if (folder / DATABASE_FILE).exists() or (folder / SETTINGS_FILE).exists():
        raise ProjectError(f"{folder} is a project already: choose another folder, or go on with this one")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SETTINGS_FILE).write_text(
            TEMPLATE.format(
                name=_toml(folder.resolve().name),
                encoder=_toml(encoder),
                encoder_kind=_toml(encoder_kind),
                cast="".join(f"{_toml(name)} = {_toml(words)}\n" for name, words in (cast or {}).items())
                or '# "Rachel" = "a woman"\n',
            ),
            encoding="utf-8",
        )
    except OSError as error:
        raise ProjectError(f"cannot write to {folder}: {error.strerror}") from error
    try:
        connection.create(folder / DATABASE_FILE).close()  # an idle connection counts as use
    except BaseException:
        (folder / SETTINGS_FILE).unlink(missing_ok=True)  # else the next try would find half a project
        raise
    return open_project(folder)


def open_project(folder: Path) -> Project:
    """Open a project folder.

    Raises:
        ProjectError: not a project.
        SchemaOutOfDate: made by an older or newer version.
        InputError: `reelrank.toml` says something that is not understood.
    """
    store = connection.open_store(folder / DATABASE_FILE)
    return Project(folder, read_settings(folder), store)


def read_settings(folder: Path) -> Settings:
    """Read and check `reelrank.toml`."""
    path = folder / SETTINGS_FILE
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Settings)
    except FileNotFoundError as error:
        raise ProjectError(f"{folder} has no {SETTINGS_FILE}: restore it, or run `reelrank init` elsewhere") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError.single(path, str(error)) from error


def set_encoder(project: Project, encoder: str, kind: str) -> Project:
    """Write another encoder into `reelrank.toml`."""
    return _set(project, {"encoder": _toml(encoder), "encoder_kind": _toml(kind)})


def set_batch_size(project: Project, batch_size: int) -> Project:
    """Write another batch size into `reelrank.toml`."""
    return _set(project, {"batch_size": str(batch_size)})


def _set(project: Project, values: dict[str, str]) -> Project:
    """Change top-level lines of `reelrank.toml`, leaving every other line as the person wrote it."""
    path = project.folder / SETTINGS_FILE
    lines = path.read_text(encoding="utf-8").splitlines()
    for key, value in values.items():
        line = f"{key} = {value}"
        places = [n for n, old in enumerate(lines) if re.match(rf"{key}\s*=", old)]
        if places:
            lines[places[0]] = line
        else:
            lines.insert(0, line)
    text = "\n".join(lines) + "\n"
    msgspec.toml.decode(text, type=Settings)  # never write what cannot be read back
    path.write_text(text, encoding="utf-8")
    return open_project(project.folder)


def _toml(text: str) -> str:
    """A TOML basic string (JSON's escapes are a subset of TOML's)."""
    return msgspec.json.encode(text).decode()
