"""Create and open project folders: `reelrank.toml`, `reelrank.db`, and `cache/`, which may be deleted.

`reelrank.toml` has the settings that may change at any time. The settings that define the campaign are in the database,
such as the batch size and the scale of grades.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from backend.campaign.setup.project import rows
from backend.campaign.setup.project.model import Grading, StoredSettings
from backend.campaign.setup.project.places import DATABASE_FILE, SETTINGS_FILE, remove_leftovers, require_inside
from backend.campaign.setup.project.setting_entries import MOST_CANDIDATES
from backend.campaign.setup.project.settings import GIB, ProjectSettings
from backend.campaign.setup.project.settings_file import (
    ADDRESS_VARIABLE,
    LiveSettings,
    database_address,
    replace_lines,
    require_database,
    write_whole,
    written_address,
)
from backend.campaign.setup.project.settings_text import template, toml_value, with_values
from backend.core.addresses import Address, Place
from backend.core.errors import Overtaken, ProjectError, StoreUnavailable
from backend.core.file_system import make_private_folder, network_file_system
from backend.core.messages import said
from backend.media.jobs import ClipCache, Profile
from backend.media.sources import Source, VideoFacts, place_in, source_at
from backend.store import connection
from backend.store.address import hide_password, without_password
from backend.store.connection import Database, Store, reading, writing
from backend.store.sqlite import fresh

CACHE_FOLDER = "cache"
MAX_CANDIDATES = MOST_CANDIDATES
"""The most candidates of a query, and so of a batch: two batches of 20, or four of 10."""


@dataclass(frozen=True, slots=True)
class Project:
    """An opened project: its folder, settings and database. Threads may share it.

    `live` rereads `reelrank.toml` whenever that file changes. `secret` is random bytes from which the order of each
    annotator's work is derived, so that nobody can predict that order. The secret is read once, because it never
    changes while a project is open. Never show, send or export it.
    """

    folder: Path
    live: LiveSettings
    store: Store
    secret: bytes = field(repr=False)

    @property
    def settings(self) -> ProjectSettings:
        """The current settings in `reelrank.toml`."""
        return self.live.current

    @property
    def name(self) -> str:
        """The name of the project."""
        return self.settings.name

    @property
    def campaign(self) -> StoredSettings:
        """The settings of the campaign, read from the database each time, because another process may change them."""
        with reading(self.store) as db:
            return rows.campaign(db)

    @property
    def is_on_server(self) -> bool:
        """True if the database is on a server; False if it is a file, to which one transaction writes at a time."""
        return connection.is_on_server(self.store)

    @property
    def embeddings(self) -> Path:
        """The folder where embedding vectors are cached."""
        return self.folder / CACHE_FOLDER / "embeddings"

    @property
    def lease_s(self) -> float:
        """The number of seconds for which a pair stays reserved for the annotator to whom it was handed out."""
        return 60 * self.settings.lease_minutes

    @property
    def clips(self) -> ClipCache:
        """The cache of clips: its folder, its size limit, and the format in which clips are cut."""
        own = self.settings.clips
        folder, profile = self.folder / CACHE_FOLDER / "clips", Profile(own.format, own.height)
        return ClipCache(folder, profile, own.context_s, int(own.cache_gb * GIB), own.shared, own.signed_s, self.secret)

    @property
    def network_warning(self) -> str:
        """A sentence of advice if the database is a file on a network file system; "" if it is not."""
        kind = "" if database_address(self.folder) else network_file_system(self.folder)
        return kind and said(
            "The database is on a network file system ({kind}), where SQLite can damage it. Keep the "
            "project on a disk of this machine, or move its database to PostgreSQL with `reelrank "
            "move {folder} postgresql://USER@HOST/NAME`.",
            kind=kind,
            folder=self.folder,
        )

    def stored_path(self, file: Place) -> str:
        """Return the text to store in the database for a file or web address.

        The path of a file inside the project is relative to the project's folder, so that the folder can move.
        """
        if isinstance(file, Address):
            return file.text
        file = file.resolve()
        folder = self.folder.resolve()
        return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)

    def file(self, stored: str) -> Path:
        """Return the path of the file that `stored_path` stored as this text."""
        return self.folder / stored

    def source(self, facts: VideoFacts) -> Source:
        """Return where to read a video from: a file, an address, or a folder of frames with its frame rate."""
        return source_at(place_in(self.folder, facts.path), facts.fps)


def create(
    folder: Path,
    *,
    encoder: str,
    encoder_kind: str,
    name: str = "",
    cast: dict[str, str] | None = None,
    grading: Grading | None = None,
    encoder_dtype: str = "fp32",
) -> Project:
    """Create an empty project in a folder, and open it.

    If a command was killed while it created the same project, and nobody has used that since, this goes on with it.

    Args:
        folder: the folder of the project, which is created if it is missing.
        encoder: the sentence encoder that chooses candidates: a name on the model hub, a folder, or `minilm`.
        encoder_kind: how the encoder makes its vectors: `sup` or `unsup` (SimCSE), or `minilm`.
        name: the name of the project; that of the folder if empty.
        cast: names of characters in captions, and the words that replace them.
        grading: the scale of grades and the guideline; TVR-Ranking's five grades if None.
        encoder_dtype: the number format in which the encoder computes, `fp32` or `bf16`.

    Raises:
        ProjectError: there is a project already, the folder cannot be written, or a link in it leads out of it.
    """
    require_inside(folder)
    remove_leftovers(folder)
    address = database_address(folder)
    text = template().format(
        name=toml_value(name or folder.resolve().name),
        encoder=toml_value(encoder),
        encoder_kind=toml_value(encoder_kind),
        cast="".join(f"{toml_value(key)} = {toml_value(words)}\n" for key, words in (cast or {}).items())
        or '# "Rachel" = "a woman"\n',
    )
    text = with_values(text, {("encoder_dtype",): encoder_dtype})
    if address:
        text = f"database = {toml_value(without_password(address))}\n{text}"
    settings = folder / SETTINGS_FILE
    if settings.is_file() and settings.read_text(encoding="utf-8") == text:
        _go_on(folder, address, grading)
        return open_project(folder)
    _require_no_files(folder)
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ProjectError(
            said("cannot write to {folder}: {strerror}", folder=folder, strerror=error.strerror)
        ) from error
    write_whole(settings, text)
    try:
        _fill(connection.create(folder / DATABASE_FILE, address), grading)
    except BaseException:
        settings.unlink(missing_ok=True)  # else the next try would find half a project
        raise
    return open_project(folder)


def _go_on(folder: Path, address: str, grading: Grading | None) -> None:
    """Complete the database of a project whose settings were written by a command that was killed."""
    try:
        if is_untouched(folder, grading):
            store = connection.open_store(folder / DATABASE_FILE, address)
        else:
            store = connection.create(folder / DATABASE_FILE, address)
    except StoreUnavailable:
        raise
    except ProjectError:
        _require_no_files(folder)
        raise
    _fill(store, grading)


def _fill(store: Store, grading: Grading | None) -> None:
    if grading is not None:
        with writing(store) as db:
            rows.set_grading(db, grading)
    store.close()  # an idle connection would count as use of the database


def is_untouched(folder: Path, *gradings: Grading | None) -> bool:
    """Return whether a folder has a project without any data, such as a killed command leaves.

    Its scale of grades and guideline are the default ones or, if any are given, one of `gradings`.
    """
    try:
        store = connection.open_store(folder / DATABASE_FILE, database_address(folder))
    except ProjectError:
        return False
    try:
        with reading(store) as db, closing(fresh()) as new:
            return rows.is_empty(db) and rows.grading(db) in (rows.grading(new), *gradings)
    finally:
        store.close()


def require_none(folder: Path, *gradings: Grading | None) -> None:
    """Raise an error if a folder contains a project, unless `is_untouched`: `create` goes on with its own.

    Raises:
        ProjectError: the folder contains a project.
    """
    if not is_untouched(folder, *gradings):
        _require_no_files(folder)


def _require_no_files(folder: Path) -> None:
    if (folder / DATABASE_FILE).exists() or (folder / SETTINGS_FILE).exists():
        raise ProjectError(_taken(folder))


def _taken(folder: Path) -> str:
    return said("{folder} is a project already: choose another folder, or go on with this one", folder=folder)


@contextmanager
def filling(project: Project) -> Iterator[Database]:
    """Provide a transaction that fills a newly created project; if it fails, the project's files are deleted.

    Raises:
        Overtaken: another command has filled it meanwhile; nothing is deleted.
    """
    begun = False
    try:
        with writing(project.store) as db:
            if not rows.is_empty(db):
                raise Overtaken(_taken(project.folder))
            begun = True
            yield db
    except BaseException:
        if begun:
            _delete(project)
        raise


@contextmanager
def undone_if_it_fails(project: Project) -> Iterator[None]:
    """Delete a newly created project's files if the `with` block fails, so that creating it can be tried again."""
    try:
        yield
    except BaseException:
        _delete(project)
        raise


def _delete(project: Project) -> None:
    project.store.close()
    for file in project.folder.glob(f"{DATABASE_FILE}*"):
        file.unlink()
    (project.folder / SETTINGS_FILE).unlink()


def open_project(folder: Path) -> Project:
    """Open the project in a folder.

    Raises:
        ProjectError: the folder has no project, it is unclear which of two databases belongs to it, or a link in it
            leads out of it.
        SchemaOutOfDate: an older or newer version of ReelRank wrote the database.
        InputError: `reelrank.toml` is not valid.
    """
    require_inside(folder)
    address = database_address(folder)
    if not address:
        require_database(folder)
    elif (folder / DATABASE_FILE).exists() and not written_address(folder):
        raise ProjectError(
            said(
                "{folder} has its database in {file}, but {variable} names {address}: unset {variable} "
                "to open the file, or move the database there with `reelrank move {folder} {url}`",
                folder=folder,
                file=DATABASE_FILE,
                variable=ADDRESS_VARIABLE,
                address=hide_password(address),
                url=without_password(address),
            )
        )
    store = connection.open_store(folder / DATABASE_FILE, address)
    return Project(folder, LiveSettings(folder), store, connection.campaign_secret(store))


def set_encoder(project: Project, encoder: str, kind: str, dtype: str) -> Project:
    """Write another sentence encoder into `reelrank.toml`, and return the project opened with it.

    `kind` is `sup`, `unsup` or `minilm`: how the encoder makes its vectors. `dtype` is `fp32` or `bf16`: the number
    format in which it computes.
    """
    settings = {"encoder": encoder, "encoder_kind": kind, "encoder_dtype": dtype}
    lines = {key: f"{key} = {toml_value(value)}" for key, value in settings.items()}
    replace_lines(project.folder, lines)
    return open_project(project.folder)
