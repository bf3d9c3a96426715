"""Whether a front end can serve just now: what a proxy, a container engine or systemd asks before it sends anybody."""

import tempfile
from enum import StrEnum

from backend.campaign.setup.project.folder import Project
from backend.core.errors import StoreUnavailable
from backend.core.private import make_private_folder
from backend.media.jobs import ClipCache
from backend.store.connection import Store, has_our_schema


class Lacking(StrEnum):
    """What keeps a front end from serving; its value is all that a stranger is told."""

    DATABASE = "database"
    """It cannot be read."""
    SCHEMA = "schema"
    """It is of another version than this code, which was not started anew after a migration."""
    CLIPS = "clips"
    """No file can be made in the folder of clips."""


def lacking(project: Project) -> tuple[Lacking, ...]:
    """What is missing, in the order of `Lacking`; nothing where the front end can serve.

    Writes nothing that stays: the file that it tries has no name.
    """
    found = [*_in_database(project.store), *_in_clips(project.clips)]
    return tuple(found)


def _in_database(store: Store) -> list[Lacking]:
    try:
        return [] if has_our_schema(store) else [Lacking.SCHEMA]
    except StoreUnavailable:
        return [Lacking.DATABASE]


def _in_clips(clips: ClipCache) -> list[Lacking]:
    try:
        make_private_folder(clips.folder)
        with tempfile.TemporaryFile(dir=clips.folder) as tried:
            tried.write(b"x" * 4096)  # a full disk takes an empty file
            tried.flush()
    except OSError:
        return [Lacking.CLIPS]
    return []
