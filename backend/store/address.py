"""Parse and display addresses of PostgreSQL databases, and dump databases with `pg_dump`.

Dumps use PostgreSQL's custom format, which is compressed. They can be restored into the same version of the server or a
newer one. `pg_restore` restores a whole dump or single tables in one transaction. A plain SQL script is not used,
because `psql` would go on after an error. Dumps contain no owners or permissions, so anybody may restore them.
"""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

from backend.core.errors import StoreUnavailable
from backend.core.messages import said
from backend.store.files import NEVER_COPIED

_SHAPE = re.compile(r"postgres(?:ql)?://(?:[^@/]*@)?[^@]*")
_ASKED = re.compile(r"(?i)(password\s*=\s*)('[^']*'|[^\s&]*)")


def is_valid_address(address: str) -> bool:
    """Return whether a text is a PostgreSQL address whose parts, such as user and host, can be told apart.

    Each `@` and `/` in a password has to be written as `%40` and `%2F`.

    >>> is_valid_address("postgresql://reelrank:s%40fe@db.lab/campaign"), is_valid_address("postgresql://reelrank:s@fe@db.lab/campaign")
    (True, False)
    """
    return bool(_SHAPE.fullmatch(address)) and not re.search("%(?![0-9A-Fa-f]{2})", address)


def hide_password(address: str) -> str:
    """Return an address for display, with `***` for its password; the address may be malformed.

    >>> hide_password("postgresql://reelrank:secret@db.lab/campaign")
    'postgresql://reelrank:***@db.lab/campaign'
    >>> hide_password("postgresql://db.lab/campaign?user=reelrank&password=secret")
    'postgresql://db.lab/campaign?user=reelrank&password=***'
    """
    return _ASKED.sub(r"\1***", re.sub(r"^((?:[a-z]+://)?[^:/@?]*):(?!//).*@", r"\1:***@", address))


def password_of(address: str) -> str:
    """Return the password in an address; empty if it has none.

    >>> password_of("postgresql://reelrank:s%40fe@db.lab/campaign"), password_of("postgresql://db.lab/c?password=s%40fe")
    ('s@fe', 's@fe')
    """
    in_query = re.search(r"(?i)[?&]password=([^&]*)", address)
    match = in_query or re.match(r"[a-z]+://[^:/@?]*:([^@]*)@", address)
    return unquote(match[1]) if match else ""


def without_password(address: str) -> str:
    """Return an address without its passwords, for files that the program writes.

    >>> without_password("postgresql://reelrank:secret@db.lab/campaign?password=secret&sslmode=require")
    'postgresql://reelrank@db.lab/campaign?sslmode=require'
    """
    bare = re.sub(r"^([a-z]+://[^:/@?]*):.*@", r"\1@", address)
    return re.sub(r"(?i)(?<=[?&])(ssl)?password=[^&]*&?", "", bare).rstrip("?&")


DUMP_ENDING = ".dump"
"""The suffix of the name of a dump."""
RESTORING = "pg_restore --no-owner --exit-on-error --single-transaction --dbname ADDRESS FILE"
"""The command that restores a dump into an empty database."""


def dump(address: str, part: Path) -> None:
    """Dump a PostgreSQL database into a file, and check that the dump can be read; people may go on working.

    The dump leaves out the campaign's secret and everybody's tokens, which a copy of the project must not share.

    Args:
        address: the database. Its password is passed in the environment, because lists of processes show arguments.
        part: the file to create.

    Raises:
        StoreUnavailable: `pg_dump` or `pg_restore` is not installed, or failed.
    """
    environment = dict(os.environ)
    if password := password_of(address):
        environment["PGPASSWORD"] = password
    # --no-password: never ask for one, because nobody can answer during a nightly backup.
    options = ["--format=custom", "--no-owner", "--no-privileges", "--no-password", f"--file={part}"]
    options += [f"--exclude-table-data={table}" for table in NEVER_COPIED]
    _run(["pg_dump", *options, f"--dbname={without_password(address)}"], address, environment)
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
            address=hide_password(address),
            fault=fault,
        )
