"""Parse and display addresses of PostgreSQL databases, and dump databases with `pg_dump`.

Dumps are of the custom format, which PostgreSQL's tools restore into the same version of the server or a newer one. It
is compressed, `pg_restore` takes all of it or single tables from it, and as one transaction; a plain script would be
run by `psql` for better or worse. No owner and no rights: it may be restored by anybody.
"""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

from backend.core.errors import StoreUnavailable
from backend.core.messages import said
from backend.store.files import SECRET_TABLE

_SHAPE = re.compile(r"postgres(?:ql)?://(?:[^@/]*@)?[^@]*")
_ASKED = re.compile(r"(?i)(password\s*=\s*)('[^']*'|[^\s&]*)")


def understood(address: str) -> bool:
    """Whether a server is asked with what the person means: every `@` and `/` of a password is spelt as `%40`, `%2F`.

    >>> understood("postgresql://reelrank:s%40fe@db.lab/campaign"), understood("postgresql://reelrank:s@fe@db.lab/campaign")
    (True, False)
    """
    return bool(_SHAPE.fullmatch(address)) and not re.search("%(?![0-9A-Fa-f]{2})", address)


def shown(address: str) -> str:
    """An address, or what was meant to be one, without its password.

    >>> shown("postgresql://reelrank:secret@db.lab/campaign")
    'postgresql://reelrank:***@db.lab/campaign'
    >>> shown("postgresql://db.lab/campaign?user=reelrank&password=secret")
    'postgresql://db.lab/campaign?user=reelrank&password=***'
    """
    return _ASKED.sub(r"\1***", re.sub(r"^((?:[a-z]+://)?[^:/@?]*):(?!//).*@", r"\1:***@", address))


def password_of(address: str) -> str:
    """The password in an address; empty where it has none.

    >>> password_of("postgresql://reelrank:s%40fe@db.lab/campaign"), password_of("postgresql://db.lab/c?password=s%40fe")
    ('s@fe', 's@fe')
    """
    asked = re.search(r"(?i)[?&]password=([^&]*)", address)
    found = asked or re.match(r"[a-z]+://[^:/@?]*:([^@]*)@", address)
    return unquote(found[1]) if found else ""


def without_password(address: str) -> str:
    """An address as it may be written into a file that its person did not write it into.

    >>> without_password("postgresql://reelrank:secret@db.lab/campaign?password=secret&sslmode=require")
    'postgresql://reelrank@db.lab/campaign?sslmode=require'
    """
    bare = re.sub(r"^([a-z]+://[^:/@?]*):.*@", r"\1@", address)
    return re.sub(r"(?i)(?<=[?&])(ssl)?password=[^&]*&?", "", bare).rstrip("?&")


DUMP_ENDING = ".dump"
"""What the name of such a backup ends with."""
RESTORING = "pg_restore --no-owner --exit-on-error --single-transaction --dbname ADDRESS FILE"
"""How one comes back, into an empty database."""


def dump(address: str, part: Path) -> None:
    """All of a database but the campaign's secret, as it is at this instant, while people work; then the file is read.

    Args:
        address: where it is; its password goes to the program by the environment, where no list of processes shows it.
        part: the file to make.

    Raises:
        StoreUnavailable: there is no `pg_dump`, or it could not do it.
    """
    environment = dict(os.environ)
    if password := password_of(address):
        environment["PGPASSWORD"] = password
    # It never asks: a backup at night has nobody to answer.
    asked = ["--format=custom", "--no-owner", "--no-privileges", "--no-password", f"--file={part}"]
    _run(
        ["pg_dump", *asked, f"--exclude-table-data={SECRET_TABLE}", f"--dbname={without_password(address)}"],
        address,
        environment,
    )
    _run(["pg_restore", "--file=/dev/null", str(part)], address, environment)


def _run(command: list[str], address: str, environment: dict[str, str]) -> None:
    program = command[0]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise StoreUnavailable.said(
            "{program} is not on the PATH, and nothing was written. Install PostgreSQL's client programs, "
            "of the server's version or newer (Debian: postgresql-client), or name a file that ends with "
            ".db",
            program=program,
        ) from error
    if done.returncode:
        fault = " ".join(done.stderr.split()) or said("code {returncode}", returncode=done.returncode)
        raise StoreUnavailable.said(
            "{program} could not make a backup of {address} ({fault}), and nothing was written. It must "
            "be of the server's version or newer, and be allowed to sign in. A file that ends with .db "
            "needs no such program.",
            program=program,
            address=shown(address),
            fault=fault,
        )
