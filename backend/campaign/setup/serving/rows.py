"""SQL for failed sign-ins, background jobs, and drafts (what people typed before their session ended).

A counter of failed sign-ins belongs to a name or a network address, for example. It is stored with this kind (`name`
or `address`) and a hash of the name or address.
"""

from collections.abc import Iterable, Mapping

import msgspec

from backend.campaign.setup.serving.model import (
    A_COMMAND,
    Failures,
    Job,
    JobKind,
    JobOutcome,
    JobState,
    OutcomeTable,
    Typed,
)
from backend.core.ids import AnnotatorId
from backend.core.messages import from_stored, to_stored
from backend.store.engine import Database


def forget_failures(db: Database, kept_s: float, *, now: float) -> None:
    """Delete counters of failed sign-ins whose last failure was `kept_s` seconds ago or earlier.

    If the clock was set back since a failure, the failure counts as one of now. If it was set back by more than
    `kept_s`, the counter is deleted. `now` is in seconds since 1970.
    """
    db.conn.execute("DELETE FROM sign_in_attempt WHERE abs(last_at - ?) >= ?", [now, kept_s])
    db.conn.execute("UPDATE sign_in_attempt SET last_at = :now WHERE last_at > :now", {"now": now})


def failures(db: Database, who: Mapping[str, str]) -> dict[str, Failures]:
    """Return the failed sign-ins that each counter has, by kind of counter; counters without failures are left out.

    `who` maps each kind of counter, such as `name` or `address`, to the hash of that name or address.
    """
    counters = {}
    for kind, digest in who.items():
        row = db.conn.execute(
            "SELECT failures, last_at FROM sign_in_attempt WHERE kind = ? AND who = ?", [kind, digest]
        ).fetchone()
        if row is not None:
            counters[kind] = Failures(row[0], row[1])
    return counters


def add_failure(db: Database, kind: str, who: str, *, at: float) -> None:
    """Add one failed sign-in to a counter.

    `kind` is, for example, `name` or `address`, and `who` the hash of that name or address.
    """
    db.conn.execute(
        "INSERT INTO sign_in_attempt (kind, who, failures, last_at) VALUES (?, ?, 1, ?) ON CONFLICT (kind, who) "
        "DO UPDATE SET failures = sign_in_attempt.failures + 1, last_at = excluded.last_at",
        [kind, who, at],
    )


def drop_failures(db: Database, kind: str, who: str) -> None:
    """Reset a counter of failed sign-ins to zero.

    `kind` is, for example, `name` or `address`, and `who` the hash of that name or address.
    """
    db.conn.execute("DELETE FROM sign_in_attempt WHERE kind = ? AND who = ?", [kind, who])


def take_failure_back(db: Database, kind: str, who: str) -> None:
    """Subtract one from a counter of failed sign-ins, because an attempt that it counted has succeeded.

    `kind` is, for example, `name` or `address`, and `who` the hash of that name or address.
    """
    db.conn.execute("DELETE FROM sign_in_attempt WHERE kind = ? AND who = ? AND failures = 1", [kind, who])
    db.conn.execute("UPDATE sign_in_attempt SET failures = failures - 1 WHERE kind = ? AND who = ?", [kind, who])


def keep_draft(db: Database, person: AnnotatorId, place: str, typed: Mapping[str, Typed], *, at: float) -> None:
    """Store what a person had typed on a page when their session ended; it replaces an older draft of the same page.

    `place` is the path of the page, and `typed` maps the fields to their values.
    """
    plain = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in typed.items()}
    db.conn.execute(
        "INSERT INTO draft (annotator_id, place, typed, kept_at) VALUES (?, ?, ?, ?) ON CONFLICT (annotator_id, place) "
        "DO UPDATE SET typed = excluded.typed, kept_at = excluded.kept_at",
        [person, place, msgspec.json.encode(plain).decode(), at],
    )


def has_draft(db: Database, person: AnnotatorId, place: str) -> bool:
    """Return whether a draft is stored of what a person had typed on the page with the path `place`, however old."""
    cursor = db.conn.execute("SELECT 1 FROM draft WHERE annotator_id = ? AND place = ?", [person, place])
    return cursor.fetchone() is not None


def take_draft(db: Database, person: AnnotatorId, place: str) -> dict[str, Typed]:
    """Return what a person had typed on a page when their session ended, by field, and delete this draft.

    `place` is the path of the page. The result is empty if there is no draft.
    """
    row = db.conn.execute(
        "DELETE FROM draft WHERE annotator_id = ? AND place = ? RETURNING typed", [person, place]
    ).fetchone()
    typed = msgspec.json.decode(row["typed"], type=dict[str, str | int | float | list[str]]) if row else {}
    return {key: frozenset(value) if isinstance(value, list) else value for key, value in typed.items()}


def forget_drafts(db: Database, kept_s: float, *, now: float) -> None:
    """Delete drafts that were stored `kept_s` seconds ago or earlier, or before the clock was set back by as much."""
    db.conn.execute("DELETE FROM draft WHERE abs(kept_at - ?) >= ?", [now, kept_s])


def jobs(db: Database) -> list[tuple[Job, float]]:
    """Return (job as it was last reported, time of that report) for all jobs, newest first.

    Times are in seconds since 1970.
    """
    rows = db.conn.execute(
        "SELECT j.*, a.name FROM job j LEFT JOIN annotator a ON a.annotator_id = j.begun_by ORDER BY j.job_id DESC"
    )
    return [
        (
            Job(
                key=row["job_key"],
                kind=JobKind(row["kind"]),
                subject=row["subject"],
                title=from_stored(row["title"]),
                by=row["name"] or A_COMMAND,
                began_at=row["began_at"],
                state=JobState(row["state"]),
                what=from_stored(row["what"]),
                done=row["done"],
                total=row["total"],
                refusal=from_stored(row["refusal"]),
                outcome=_recalled(msgspec.json.decode(row["outcome"], type=JobOutcome)),
                asked=msgspec.json.decode(row["asked"], type=dict[str, str]),
                is_cancelled=row["cancelled_by"] is not None,
            ),
            row["heard_at"],
        )
        for row in rows
    ]


def begin_job(db: Database, job: Job, by: AnnotatorId | None) -> None:
    """Insert a job that starts now; `by` is the lead who started it, None for a command."""
    db.conn.execute(
        "INSERT INTO job (job_key, kind, subject, changes_project, title, begun_by, began_at, heard_at, asked) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            *(job.key, job.kind.value, job.subject, int(job.kind.changes_project), to_stored(job.title), by),
            *(job.began_at, job.began_at, msgspec.json.encode(job.asked).decode()),
        ],
    )


def report_progress(db: Database, key: str, what: str, done: int, total: int, *, at: float) -> None:
    """Update the progress of a job. If the job was deleted meanwhile, nothing happens."""
    db.conn.execute(
        "UPDATE job SET what = ?, done = ?, total = ?, heard_at = ? WHERE job_key = ?",
        [to_stored(what), done, total, at, key],
    )


def cancel_job(db: Database, key: str, by: AnnotatorId) -> bool:
    """Ask a running job to stop. Return False if no job with this key is running."""
    statement = "UPDATE job SET cancelled_by = ? WHERE job_key = ? AND state = 'under way'"
    return db.conn.execute(statement, [by, key]).rowcount > 0


def is_cancelled(db: Database, key: str) -> bool:
    """Return whether a lead asked a job to stop."""
    cursor = db.conn.execute("SELECT 1 FROM job WHERE job_key = ? AND cancelled_by IS NOT NULL", [key])
    return cursor.fetchone() is not None


def end_job(db: Database, key: str, state: JobState, outcome: JobOutcome, refusal: str, *, at: float) -> None:
    """Record how a job ended. If the job was deleted meanwhile, nothing happens."""
    db.conn.execute(
        "UPDATE job SET state = ?, outcome = ?, refusal = ?, heard_at = ? WHERE job_key = ?",
        [state.value, msgspec.json.encode(outcome, enc_hook=to_stored).decode(), to_stored(refusal), at, key],
    )


def remove_jobs(db: Database, keys: Iterable[str]) -> None:
    """Delete the jobs with these keys."""
    db.conn.executemany("DELETE FROM job WHERE job_key = ?", [[key] for key in keys])


def _recalled(outcome: JobOutcome) -> JobOutcome:
    """Return the result of a job with each stored text in it turned back into a translatable message."""
    tables = [
        OutcomeTable(list(map(from_stored, table.head)), [list(map(from_stored, row)) for row in table.rows])
        for table in outcome.tables
    ]
    return JobOutcome(list(map(from_stored, outcome.sentences)), tables)
