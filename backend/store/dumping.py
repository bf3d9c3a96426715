"""Dumps by PostgreSQL's own `pg_dump`: what its tools restore, into the same version of the server or a newer one.

The custom format: it is compressed, `pg_restore` takes all of it or single tables from it, and as one transaction;
a plain script would be run by `psql` for better or worse. No owner and no rights: it may be restored by anybody.
"""

import os
import subprocess
from pathlib import Path

from backend.core.errors import StoreUnavailable
from backend.core.messages import said
from backend.store.address import password_of, shown, without_password
from backend.store.secret import TABLE

ENDING = ".dump"
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
        ["pg_dump", *asked, f"--exclude-table-data={TABLE}", f"--dbname={without_password(address)}"],
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
        raise StoreUnavailable(
            said(
                "{program} is not on the PATH: install PostgreSQL's client programs, of the server's version or "
                "newer (Debian: postgresql-client), or name a file that ends with .db, which ReelRank writes by "
                "itself. Nothing was written.",
                program=program,
            )
        ) from error
    if done.returncode:
        fault = " ".join(done.stderr.split()) or said("code {returncode}", returncode=done.returncode)
        raise StoreUnavailable(
            said(
                "{program} could not make a backup of {address} ({fault}): it has to be of the server's version or "
                "newer, and to be let in. A file that ends with .db is written without it. Nothing was written.",
                program=program,
                address=shown(address),
                fault=fault,
            )
        )
