"""Show every front end the job that a lead began: begun, told of while it lasts, ended, put away.

A job is what takes longer than a request. The front end at which it begins runs it in a process of its own, and holds a
lock file meanwhile: the system frees it when the front end is killed, so that everybody learns of it in seconds. Each
job is all or nothing in the database: one that is interrupted leaves nothing half-done.

*Reads* and *writes* long_work.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from backend.campaign.nouns import Lead
from backend.campaign.setup.people.permissions import lead_only, public
from backend.campaign.setup.project.folder import CACHE_FOLDER, Project
from backend.campaign.setup.serving import rows, rules
from backend.campaign.setup.serving.model import LongWork, WorkOutcome, WorkState
from backend.core.errors import ProjectError
from backend.core.locking import is_free, locked
from backend.core.messages import said
from backend.store.connection import Database, writing


@lead_only
def begin_work(project: Project, lead: Lead, step: str, title: str, asked: Mapping[str, str], *, now: float) -> str:
    """Note that a job begins, in the place of the last one, and return the key for `tell_work` and `end_work`.

    Args:
        project: the project.
        lead: who asks for it.
        step: the step of the project's setup that it belongs to.
        title: what people read: `Importing moments.jsonl`.
        asked: kept with the job.
        now: seconds since 1970.

    Raises:
        ProjectError: another job is under way, at whichever front end.
    """
    key = secrets.token_urlsafe(12)
    with writing(project.store) as db:
        last = _last_job(project, db, now)
        if last is not None and last.state is WorkState.UNDER_WAY:
            raise ProjectError(
                said(
                    "{title} is under way, begun by {by}: wait until it is done, then try again",
                    title=last.title,
                    by=last.by,
                )
            )
        rows.begin_work(db, key, lead.annotator_id, step, title, asked, at=now)
    return key


@lead_only
def look_at_work(project: Project, lead: Lead, *, now: float) -> LongWork | None:
    """Return the last job as it is now, whichever front end runs it; None if there was none, or it was put away."""
    return _last_job(project, project.store.db, now)


@public
def tell_work(project: Project, key: str, what: str, done: int, total: int, *, now: float) -> None:
    """Say how far a job has come, and that it still runs: at least every 30 s, or it counts as cut short."""
    with writing(project.store) as db:
        rows.tell_work(db, key, what, done, total, at=now)


@public
def end_work(
    project: Project, key: str, state: WorkState, outcome: WorkOutcome, refusal: str = "", *, now: float
) -> None:
    """Say how a job ended. One that everybody took for dead may still say so."""
    with writing(project.store) as db:
        rows.end_work(db, key, state, outcome, refusal, at=now)


@lead_only
def put_work_away(project: Project, lead: Lead, *, now: float) -> None:
    """Show the last job no more; one that is under way stays."""
    with writing(project.store) as db:
        last = _last_job(project, db, now)
        if last is not None and last.state is not WorkState.UNDER_WAY:
            rows.remove_work(db)


@public
@contextmanager
def running(project: Project, key: str) -> Iterator[None]:
    """Hold the lock file of a job while this process runs it, or waits for the process that does."""
    file = _lock_file(project, key)
    file.parent.mkdir(parents=True, exist_ok=True)
    for left in file.parent.glob("job-*.lock"):  # of front ends that were killed: one job runs at a time
        left.unlink(missing_ok=True)
    with locked(file):
        yield


def _lock_file(project: Project, key: str) -> Path:
    return project.folder / CACHE_FOLDER / f"job-{key}.lock"


def _last_job(project: Project, db: Database, now: float) -> LongWork | None:
    last = rows.long_work(db)
    if last is None:
        return None
    job, key, heard_at = last
    free = is_free(_lock_file(project, key)) if now - heard_at > rules.QUIET_S else None
    return rules.as_it_stands(job, heard_at=heard_at, lock_is_free=free, now=now)
