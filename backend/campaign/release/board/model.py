"""A ground truth or run that a project keeps, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kept:
    """A ground truth or run as a list shows it. `file` and `sha256` are those of the file that was added.

    `added_by` is the name of the person, None if it was added on the command line.
    """

    name: str
    file: str
    sha256: str
    added_at: float
    added_by: str | None
    queries: int
    moments: int
