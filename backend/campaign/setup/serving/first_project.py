"""Create a project and its first lead in the browser.

`reelrank serve` in an empty folder prints a one-time link to the page that does this.

*Reads* nothing. *Writes* the folder of a new project, its first lead and their session, and the server's address.
"""

import os
from pathlib import Path

from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import hash_password, sign_in
from backend.campaign.setup.project import scale_file
from backend.campaign.setup.project.folder import create, undone_if_it_fails
from backend.campaign.setup.project.places import SETTINGS_FILE, is_project
from backend.campaign.setup.project.settings_file import write_whole
from backend.campaign.setup.project.settings_text import with_values
from backend.campaign.setup.serving.server import note_address
from backend.core.errors import Overtaken, ProjectError
from backend.core.file_system import make_private_folder
from backend.core.locking import is_free, locked
from backend.core.messages import said
from backend.core.text_files import control_fault
from backend.core.typed_text import is_visible, person_name
from backend.encoders import sentence

LOCK_FILE = "reelrank.first.lock"
"""The lock file that is held in the folder while a project is created in it."""
ENCODERS = (sentence.DEFAULT_NAME, sentence.MINILM)
LONGEST_NAME = 80
"""The most characters of a project's name."""


def may_begin(folder: Path) -> bool:
    """Return whether a folder is missing or empty, so that a project can be made in it from the browser."""
    return not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir()))


def require_writable(folder: Path) -> None:
    """Raise an error if this process cannot create a project in a folder.

    Raises:
        ProjectError: the folder cannot be written. If it is missing, the nearest existing folder above it is checked.
    """
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        raise ProjectError(
            said("cannot write to {folder}: choose another folder, or change its permissions", folder=existing)
        )


def is_complete(folder: Path) -> bool:
    """Return whether a folder contains a finished project, and not one that is still being created."""
    return is_project(folder) and is_free(folder / LOCK_FILE) is not False


def scales() -> list[str]:
    """Return the names of the scales of grades that a new project may have; "" stands for TVR-Ranking's scale."""
    return ["", *scale_file.scale_names()]


def create_first_project(
    folder: Path,
    address: str,
    *,
    name: str,
    scale: str,
    encoder: str,
    lead: str,
    password: str,
    public_address: str = "",
    now: float,
) -> str:
    """Create a project with its first lead, and return a session token for the lead. A failure leaves nothing behind.

    Args:
        folder: the folder of the project, missing or empty.
        address: the address on which the server listens.
        name: the name of the project.
        scale: one of `scales()`.
        encoder: one of `ENCODERS`.
        lead: the name of the first lead.
        password: the password of the first lead.
        public_address: the address at which people open the app, to be used in links; empty if it is `address`.
        now: seconds since 1970.

    Raises:
        Overtaken: somebody else created the project in the meantime.
        ProjectError: a value is refused, or the folder cannot be written.
    """
    if not is_visible(name) or len(name) > LONGEST_NAME or control_fault(name):
        raise ProjectError(said("the name of a project needs 1 to {most} visible characters", most=LONGEST_NAME))
    if scale not in scales() or encoder not in ENCODERS:
        raise ProjectError(said("choose a scale and an encoder from the lists"))
    person_name(lead)
    hash_password(password, lead)  # refuses one that is too weak before anything is made
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ProjectError(
            said("cannot write to {folder}: {strerror}", folder=folder, strerror=error.strerror)
        ) from error
    with locked(folder / LOCK_FILE):
        if is_project(folder):
            raise Overtaken(said("this project was set up already"))
        if other_files := sorted(entry.name for entry in folder.iterdir() if entry.name != LOCK_FILE):
            raise ProjectError(
                said(
                    "{folder} has other files, such as {file}: start with an empty one",
                    folder=folder,
                    file=other_files[0],
                )
            )
        spec, grading = sentence.resolve(encoder), scale_file.load_scale(scale) if scale else None
        project = create(folder, encoder=spec.name, encoder_kind=spec.kind, name=name, grading=grading)
        with undone_if_it_fails(project):
            if public_address:
                settings = folder / SETTINGS_FILE
                text = settings.read_text(encoding="utf-8")
                write_whole(settings, with_values(text, {("public_address",): public_address}))
            add_person_with_password(project, OPERATOR, lead, Role.LEAD, password, now=now)
            token = sign_in(project, lead, password, now=now)
            note_address(project, address)  # held until this process ends
        project.store.close()
    return token
