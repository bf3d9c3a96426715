"""Record where a project is served, and check whether a server process can serve it.

A proxy, a container engine or systemd asks for the check before it sends requests to the process.
"""

import os
import tempfile
from enum import StrEnum
from pathlib import Path

from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import commands_only, in_charge, public
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.settings_file import write_whole
from backend.core.errors import BeingUpgraded, StoreUnavailable
from backend.core.file_system import make_private_folder
from backend.core.locking import is_held, share
from backend.media.jobs import ClipCache
from backend.store.connection import Store, has_our_schema

ADDRESS_FILE = "served-at.txt"
"""The file with the address on which the project was last served, written when a server starts."""
USUAL_ADDRESS = "http://127.0.0.1:8501"


class Lacking(StrEnum):
    """A reason why a server process cannot serve a project.

    The health check shows only the value, such as `database`, because it answers people who have not signed in.
    """

    DATABASE = "database"
    """The database cannot be read."""
    SCHEMA = "schema"
    """The schema is of another version than this code, which was not restarted after a migration."""
    CLIPS = "clips"
    """No file can be created in the folder of clips."""


@public
def missing_for_serving(project: Project) -> tuple[Lacking, ...]:
    """Return the reasons why this server process cannot serve the project; empty if it can.

    The order is that of `Lacking`. To check the folder of clips, a temporary file is written there and deleted.
    """
    return (*_in_database(project.store), *_in_clips(project.clips))


@commands_only
def note_address(project: Project, url: str) -> int:
    """Store the address on which a project is served; commands print it in links, and `served_at` returns it.

    Returns:
        A file descriptor. The project counts as served at this address while it is open, here or in the program that
        replaces this process by `exec`.
    """
    write_whole(project.folder / ADDRESS_FILE, f"{url}\n")
    return share(project.folder / ADDRESS_FILE)


def served_at(folder: Path) -> str:
    """Return the address of the newest server of a project; "" if that server has stopped or there was none."""
    try:
        handle = os.open(folder / ADDRESS_FILE, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return ""
    with open(handle, encoding="utf-8") as file:
        return file.read().strip() if is_held(handle) else ""


@in_charge
def invitation_link(project: Project, by: Lead | Operator, token: str, *, address: str | None = None) -> str:
    """Return the link that an invited person opens; `token` is the one-time token of their invitation.

    `address` is the address of the app. If it is None, the link has the public address from the settings. If that is
    empty too, the link has the address on which the project was last served, or else the usual local address.
    """
    file = project.folder / ADDRESS_FILE
    served = file.read_text(encoding="utf-8").strip() if file.exists() else USUAL_ADDRESS
    return f"{(address or project.settings.public_address or served).rstrip('/')}/session/invitation/{token}"


def _in_database(store: Store) -> list[Lacking]:
    try:
        return [] if has_our_schema(store) else [Lacking.SCHEMA]
    except BeingUpgraded:
        return [Lacking.SCHEMA]
    except StoreUnavailable:
        return [Lacking.DATABASE]


def _in_clips(clips: ClipCache) -> list[Lacking]:
    try:
        make_private_folder(clips.folder)
        with tempfile.TemporaryFile(dir=clips.folder) as file:
            file.write(b"x" * 4096)  # a full disk takes an empty file
            file.flush()
    except OSError:
        return [Lacking.CLIPS]
    return []
