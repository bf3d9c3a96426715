"""What changed between two releases of a project, with what leads did in between.

*Reads* release, its files, what leads did. *Writes* nothing.
"""

from datetime import datetime
from pathlib import Path

from backend.campaign.release.export import diffing, keeping
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.rules.diffing import ReleaseDiff, compare
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress
from backend.store.connection import reading


def between(project: Project, before: str, after: str, *, progress: Progress | None = None) -> ReleaseDiff:
    """What changed from one release to another; each is the name of a kept one, or a folder or zip.

    `progress` is called with (what is done, done, all).

    Raises:
        ProjectError: there is no such release, or its zip is gone.
        InputError: one of them cannot be read as a release.
    """
    with reading(project.store) as db:
        names = {one.name for one in releases.all_releases(db)}
    first, second = (
        (keeping.file_of(project, said) if said in names or not Path(said).exists() else Path(said), said)
        for said in (before, after)
    )
    (one, was), (other, now) = diffing.read_both(first, second, progress)
    log: dict[str, list[str]] = {}
    if was and now:
        start, end = sorted(datetime.fromisoformat(at).timestamp() for at in (was, now))
        with reading(project.store) as db:
            # A release tells the second at which something happened, so the acts of that second count for both.
            for pair_id, words in releases.lead_acts(db, start, end + 1):
                log.setdefault(str(pair_id), []).append(words)
    return compare(one, other, log)
