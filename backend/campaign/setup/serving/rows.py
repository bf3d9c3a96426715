"""Store sign-in attempts, the window at each desk, drafts, and the one row of the last job."""

from collections.abc import Mapping

import msgspec

from backend.campaign.setup.serving.model import Failures, LongWork, OutcomeTable, Typed, WorkOutcome, WorkState
from backend.core.ids import AnnotatorId
from backend.core.messages import kept, recalled
from backend.store.engine import Database


def forget_failures(db: Database, *, until: float) -> None:
    """Delete what failed for the last time until then."""
    db.conn.execute("DELETE FROM sign_in_attempt WHERE last_at <= ?", [until])


def failures(db: Database, who: Mapping[str, str]) -> dict[str, Failures]:
    """Return the failures of each counter that has any."""
    found = {}
    for kind, digest in who.items():
        row = db.conn.execute(
            "SELECT failures, last_at FROM sign_in_attempt WHERE kind = ? AND who = ?", [kind, digest]
        ).fetchone()
        if row is not None:
            found[kind] = Failures(row[0], row[1])
    return found


def add_failure(db: Database, kind: str, who: str, *, at: float) -> None:
    """Count one more failure."""
    db.conn.execute(
        "INSERT INTO sign_in_attempt (kind, who, failures, last_at) VALUES (?, ?, 1, ?) ON CONFLICT (kind, who) "
        "DO UPDATE SET failures = sign_in_attempt.failures + 1, last_at = excluded.last_at",
        [kind, who, at],
    )


def drop_failures(db: Database, kind: str, who: str) -> None:
    """Delete all failures of somebody."""
    db.conn.execute("DELETE FROM sign_in_attempt WHERE kind = ? AND who = ?", [kind, who])


def take_failure_back(db: Database, kind: str, who: str) -> None:
    """Count one failure less: that attempt was right."""
    db.conn.execute("DELETE FROM sign_in_attempt WHERE kind = ? AND who = ? AND failures = 1", [kind, who])
    db.conn.execute("UPDATE sign_in_attempt SET failures = failures - 1 WHERE kind = ? AND who = ?", [kind, who])


def window_at_desk(db: Database, person: AnnotatorId) -> str | None:
    """Return the window that took a person's desk last."""
    row = db.conn.execute("SELECT window_key FROM desk_window WHERE annotator_id = ?", [person]).fetchone()
    return str(row["window_key"]) if row else None


def take_desk(db: Database, person: AnnotatorId, window: str, *, at: float) -> None:
    """Let a window have a person's desk from now on."""
    db.conn.execute(
        "INSERT INTO desk_window (annotator_id, window_key, taken_at) VALUES (?, ?, ?) ON CONFLICT (annotator_id) "
        "DO UPDATE SET window_key = excluded.window_key, taken_at = excluded.taken_at",
        [person, window, at],
    )


def keep_draft(db: Database, person: AnnotatorId, place: str, typed: Mapping[str, Typed], *, at: float) -> None:
    """Store a draft; a newer one replaces an older one."""
    plain = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in typed.items()}
    db.conn.execute(
        "INSERT INTO draft (annotator_id, place, typed, kept_at) VALUES (?, ?, ?, ?) ON CONFLICT (annotator_id, place) "
        "DO UPDATE SET typed = excluded.typed, kept_at = excluded.kept_at",
        [person, place, msgspec.json.encode(plain).decode(), at],
    )


def has_draft(db: Database, person: AnnotatorId, place: str) -> bool:
    """Return whether there is a draft, however old."""
    found = db.conn.execute("SELECT 1 FROM draft WHERE annotator_id = ? AND place = ?", [person, place])
    return found.fetchone() is not None


def take_draft(db: Database, person: AnnotatorId, place: str) -> dict[str, Typed]:
    """Return a draft, and delete it."""
    row = db.conn.execute(
        "DELETE FROM draft WHERE annotator_id = ? AND place = ? RETURNING typed", [person, place]
    ).fetchone()
    found = msgspec.json.decode(row["typed"], type=dict[str, str | int | float | list[str]]) if row else {}
    return {key: frozenset(value) if isinstance(value, list) else value for key, value in found.items()}


def forget_drafts(db: Database, *, until: float) -> None:
    """Delete the drafts that were kept until then."""
    db.conn.execute("DELETE FROM draft WHERE kept_at <= ?", [until])


def long_work(db: Database) -> tuple[LongWork, float] | None:
    """Return the job as it was last told of, and when that was; None if there is none."""
    row = db.conn.execute(
        "SELECT w.*, a.name FROM long_work w JOIN annotator a ON a.annotator_id = w.begun_by"
    ).fetchone()
    if row is None:
        return None
    work = LongWork(
        step=row["step"],
        title=recalled(row["title"]),
        by=row["name"],
        began_at=row["began_at"],
        state=WorkState(row["state"]),
        what=recalled(row["what"]),
        done=row["done"],
        total=row["total"],
        refusal=recalled(row["refusal"]),
        outcome=_recalled(msgspec.json.decode(row["outcome"], type=WorkOutcome)),
        asked=msgspec.json.decode(row["asked"], type=dict[str, str]),
    )
    return work, row["heard_at"]


def begin_work(
    db: Database, key: str, by: AnnotatorId, step: str, title: str, asked: Mapping[str, str], *, at: float
) -> None:
    """Replace the last job, which is over, by a new one."""
    remove_work(db)
    db.conn.execute(
        "INSERT INTO long_work (one, work_key, step, title, begun_by, began_at, heard_at, asked) "
        "VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
        [key, step, kept(title), by, at, at, msgspec.json.encode(asked).decode()],
    )


def tell_work(db: Database, key: str, what: str, done: int, total: int, *, at: float) -> None:
    """Note how far a job has come; nothing, if another has taken its place."""
    db.conn.execute(
        "UPDATE long_work SET what = ?, done = ?, total = ?, heard_at = ? WHERE work_key = ?",
        [kept(what), done, total, at, key],
    )


def end_work(db: Database, key: str, state: WorkState, outcome: WorkOutcome, refusal: str, *, at: float) -> None:
    """Note how a job ended; nothing, if another has taken its place."""
    db.conn.execute(
        "UPDATE long_work SET state = ?, outcome = ?, refusal = ?, heard_at = ? WHERE work_key = ?",
        [state.value, msgspec.json.encode(outcome, enc_hook=kept).decode(), kept(refusal), at, key],
    )


def _recalled(outcome: WorkOutcome) -> WorkOutcome:
    """Return an outcome with translatable messages in the place of stored texts."""
    tables = [
        OutcomeTable(list(map(recalled, one.head)), [list(map(recalled, row)) for row in one.rows])
        for one in outcome.tables
    ]
    return WorkOutcome(list(map(recalled, outcome.sentences)), tables)


def remove_work(db: Database) -> None:
    """Delete the job."""
    db.conn.execute("DELETE FROM long_work")
