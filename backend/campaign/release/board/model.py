"""List entries for the ground truths and runs that a project stores, and the events about them."""

from dataclasses import dataclass

from backend.core.events import Event, EventGroup
from backend.core.messages import said


@dataclass(frozen=True, slots=True)
class Kept:
    """One entry in the list of ground truths or runs that a project stores.

    `file` and `sha256` describe the file that was added. `added_at` is in seconds since 1970. `added_by` is the name of
    the person; None if it was added on the command line. An `upper_bound` is a run that uses knowledge which no
    competing system has, such as the captions of the moments.
    """

    name: str
    file: str
    sha256: str
    added_at: float
    added_by: str | None
    queries: int
    moments: int
    upper_bound: bool = False


TRUTH_ADDED = Event("truth_added", EventGroup.RESULTS, said("added the ground truth {name}: {queries} queries"))
"""name, file, sha256, queries, moments"""
TRUTH_REMOVED = Event("truth_removed", EventGroup.RESULTS, said("removed the ground truth {name}"))
"""name, file, sha256"""
RUN_ADDED = Event("run_added", EventGroup.RESULTS, said("added the run {name}: {queries} queries"))
"""name, file, sha256, queries, moments; videos: the SHA-256 of the map that named its videos; upper_bound, if marked"""
RUN_REMOVED = Event("run_removed", EventGroup.RESULTS, said("removed the run {name}"))
"""name, file, sha256"""
