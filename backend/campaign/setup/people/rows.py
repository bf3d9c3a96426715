"""SQL for people, their invitations, sessions and pauses (in which they are handed no pairs).

Only hashes of tokens and passwords are stored.
"""

import sqlite3
from typing import NamedTuple

from backend.campaign.nouns import FROM_EXAM, Pause, Person, PersonReview, Role
from backend.core import typed_text as rules
from backend.core.days import midnight
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.store import sqlite
from backend.store.engine import Database, Select, fetch_one, insert_returning_id


def add(db: Database, name: str, role: Role, *, by: AnnotatorId | None, at: float, simulated: bool = False) -> Person:
    """Add a person, who cannot sign in before setting a password.

    No other transaction can write while this one checks the name, so two people cannot get similar names. `simulated`
    marks a person whom the demo made up.

    Raises:
        ProjectError: the name is not allowed (see `rules.person_name`), or somebody has the same or a similar name.
    """
    name = rules.person_name(name)
    if similar := _alike(db, name):
        raise ProjectError(said("there is already somebody named {name}: choose another name", name=similar[0]))
    try:
        number = insert_returning_id(
            db,
            "INSERT INTO annotator (name, role, simulated, created_at, added_by) VALUES (?, ?, ?, ?, ?) "
            "RETURNING annotator_id",
            [name, role.value, int(simulated), at, by],
        )
    except sqlite3.IntegrityError as error:
        raise ProjectError(said("there is already somebody named {name}: choose another name", name=name)) from error
    return Person(AnnotatorId(number), name, role)


def names(db: Database) -> list[str]:
    """Return the names of all people, in the order in which they were added."""
    return [row[0] for row in db.conn.execute("SELECT name FROM annotator ORDER BY annotator_id")]


def _alike(db: Database, name: str) -> list[str]:
    """Return the stored names that equal `name` when case and invisible characters are ignored."""
    return [other for other in names(db) if rules.name_key(other) == rules.name_key(name)]


def by_name(db: Database, name: str) -> tuple[Person, str | None] | None:
    """Return (person, hash of their password) for a name, or None if there is no such person.

    The hash is None if no password is set yet. Case and invisible characters in `name` are ignored. If several stored
    names differ only in these, which earlier releases allowed, `name` must equal one of them exactly.
    """
    same = _alike(db, name)
    spelling = name if name in same else same[0] if len(same) == 1 else None
    row = db.conn.execute("SELECT * FROM annotator WHERE name = ?", [spelling]).fetchone()
    return (_person(row), row["password_hash"]) if row else None


def by_id(db: Database, annotator_id: AnnotatorId) -> Person | None:
    """Return the person with this id; None if there is none."""
    row = db.conn.execute("SELECT * FROM annotator WHERE annotator_id = ?", [annotator_id]).fetchone()
    return _person(row) if row else None


def set_password(db: Database, annotator_id: AnnotatorId, password_hash: str) -> int:
    """Replace the password of a person, end all their sessions, and return how many tokens were revoked with them."""
    db.conn.execute("UPDATE annotator SET password_hash = ? WHERE annotator_id = ?", [password_hash, annotator_id])
    return end_sessions(db, annotator_id).tokens


def set_language(db: Database, annotator_id: AnnotatorId, language: str) -> None:
    """Store the language that a person chose for the app."""
    db.conn.execute("UPDATE annotator SET language = ? WHERE annotator_id = ?", [language, annotator_id])


def language(db: Database, annotator_id: AnnotatorId) -> str | None:
    """Return the language that a person chose; None if they never chose one."""
    row = db.conn.execute("SELECT language FROM annotator WHERE annotator_id = ?", [annotator_id]).fetchone()
    return row[0] if row else None


def suspend(db: Database, annotator_id: AnnotatorId, suspended: bool) -> None:
    """Suspend a person, and end all their sessions and tokens; if `suspended` is False, reinstate the person instead.

    Either way, a person who was archived is no longer archived.
    """
    db.conn.execute(
        "UPDATE annotator SET suspended = ?, archived_at = NULL WHERE annotator_id = ?", [int(suspended), annotator_id]
    )
    if suspended:
        end_sessions(db, annotator_id)


def archive(db: Database, annotator_id: AnnotatorId, *, at: float) -> None:
    """Suspend a person and hide them in lists of people. Their judgements and other work stay."""
    suspend(db, annotator_id, True)
    db.conn.execute("UPDATE annotator SET archived_at = ? WHERE annotator_id = ?", [at, annotator_id])


_OF_AN_ACCOUNT = ("invitation", "session", "known_browser", "draft", "personal_token")
"""Tables that belong to a person's account, and record nothing that they did."""


def is_on_record(db: Database, annotator_id: AnnotatorId) -> bool:
    """Return whether a person appears in a table that records what people did, such as judgements or events.

    Tables that only belong to the person's account, such as sessions, are not searched.
    """
    return any(
        db.conn.execute(f'SELECT 1 FROM "{table}" WHERE {column} = ? LIMIT 1', [annotator_id]).fetchone()
        for table, column in sqlite.references_to("annotator")
        if table not in _OF_AN_ACCOUNT
    )


def remove(db: Database, annotator_id: AnnotatorId) -> None:
    """Delete a person and their account. They must have done no recorded work (see `is_on_record`)."""
    for table in (*_OF_AN_ACCOUNT, "annotator"):
        db.conn.execute(f"DELETE FROM {table} WHERE annotator_id = ?", [annotator_id])


def add_invitation(db: Database, annotator_id: AnnotatorId, token_hash: str, *, until: float) -> None:
    """Store a one-time link with which a person can set a password until `until`, in seconds since 1970."""
    db.conn.execute(
        "INSERT INTO invitation (token_hash, annotator_id, expires_at) VALUES (?, ?, ?)",
        [token_hash, annotator_id, until],
    )


def invited(db: Database, token_hash: str, *, now: float, length_s: float) -> Person | None:
    """Return the person whom an invitation is for; None if it is used, expired or unknown.

    It was made for `length_s` seconds. It has expired too if it was made later than `length_s` from now: then the clock
    was set back.
    """
    row = db.conn.execute(
        "SELECT a.* FROM invitation i JOIN annotator a USING (annotator_id) "
        "WHERE i.token_hash = ? AND i.used_at IS NULL AND i.expires_at > ? AND i.expires_at <= ?",
        [token_hash, now, now + 2 * length_s],
    ).fetchone()
    return _person(row) if row else None


def use_invitation(db: Database, token_hash: str, *, at: float) -> None:
    """Mark the invitation with this token hash as used."""
    db.conn.execute("UPDATE invitation SET used_at = ? WHERE token_hash = ?", [at, token_hash])


def void_invitations(db: Database, annotator_id: AnnotatorId, *, at: float) -> int:
    """Mark every unused invitation of a person as used, and return how many of them had not expired."""
    valid: int = db.conn.execute(
        "SELECT count(*) FROM invitation WHERE annotator_id = ? AND used_at IS NULL AND expires_at > ?",
        [annotator_id, at],
    ).fetchone()[0]
    db.conn.execute("UPDATE invitation SET used_at = ? WHERE annotator_id = ? AND used_at IS NULL", [at, annotator_id])
    return valid


def bind_identity(db: Database, issuer: str, subject: str, annotator_id: AnnotatorId, *, at: float) -> None:
    """Let a person sign in with an account of an identity provider. Nobody else can then sign in with that account.

    `issuer` names the provider, and `subject` is the account's id there. If the account was linked to another person,
    that link is replaced.
    """
    db.conn.execute(
        "INSERT INTO identity (issuer, subject, annotator_id, bound_at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET annotator_id = excluded.annotator_id, bound_at = excluded.bound_at",
        [issuer, subject, annotator_id, at],
    )


def by_identity(db: Database, issuer: str, subject: str) -> Person | None:
    """Return the person linked to an account of an identity provider; None if nobody is.

    `issuer` names the provider, and `subject` is the account's id there.
    """
    row = db.conn.execute(
        "SELECT a.* FROM identity i JOIN annotator a USING (annotator_id) WHERE i.issuer = ? AND i.subject = ?",
        [issuer, subject],
    ).fetchone()
    return _person(row) if row else None


_GOES_ON = "s.expires_at > :now AND s.created_at <= :now + s.expires_at - s.created_at"


def add_session(db: Database, annotator_id: AnnotatorId, token_hash: str, *, at: float, until: float) -> None:
    """Add a session for a person, and delete all sessions that are over (see `by_session`)."""
    db.conn.execute(f"DELETE FROM session AS s WHERE NOT ({_GOES_ON})", {"now": at})
    db.conn.execute(
        "INSERT INTO session (token_hash, annotator_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
        [token_hash, annotator_id, at, until],
    )


def by_session(db: Database, token_hash: str, *, now: float) -> Person | None:
    """Return the person whose session has this token hash; None if it is over, or the person is suspended.

    A session is over too if it begins later than its length from now: then the clock was set back.
    """
    row = db.conn.execute(
        "SELECT a.* FROM session s JOIN annotator a USING (annotator_id) "
        f"WHERE s.token_hash = :hash AND a.suspended = 0 AND {_GOES_ON}",
        {"hash": token_hash, "now": now},
    ).fetchone()
    return _person(row) if row else None


def end_session(db: Database, token_hash: str) -> None:
    """Delete the session with this token hash."""
    db.conn.execute("DELETE FROM session WHERE token_hash = ?", [token_hash])


def knows_browser(db: Database, annotator_id: AnnotatorId, browser_hash: str, length_s: float, *, now: float) -> bool:
    """Return whether a person signed in with this browser less than `length_s` seconds ago.

    A sign-in counts as old too if it is later than `length_s` from now: then the clock was set back.
    """
    row = db.conn.execute(
        "SELECT 1 FROM known_browser WHERE browser_hash = ? AND abs(known_at - ?) < ? AND annotator_id = ?",
        [browser_hash, now, length_s, annotator_id],
    ).fetchone()
    return row is not None


def rename_browser(db: Database, old_hash: str, new_hash: str) -> None:
    """Replace the hash of a browser's cookie by that of a new cookie, for everybody who signed in with that browser."""
    db.conn.execute("UPDATE known_browser SET browser_hash = ? WHERE browser_hash = ?", [new_hash, old_hash])


def add_browser(db: Database, annotator_id: AnnotatorId, browser_hash: str, *, at: float, most: int) -> None:
    """Record that a person signed in with a browser, and forget all but the `most` newest of their browsers.

    Those from later than now are the oldest: they are from before the clock was set back.
    """
    db.conn.execute(
        "INSERT INTO known_browser (browser_hash, annotator_id, known_at) VALUES (?, ?, ?) "
        "ON CONFLICT (browser_hash, annotator_id) DO UPDATE SET known_at = excluded.known_at",
        [browser_hash, annotator_id, at],
    )
    db.conn.execute(
        "DELETE FROM known_browser WHERE annotator_id = :me AND browser_hash NOT IN (SELECT browser_hash "
        "FROM known_browser WHERE annotator_id = :me ORDER BY known_at > :now, known_at DESC LIMIT :most)",
        {"me": annotator_id, "now": at, "most": most},
    )


class Ended(NamedTuple):
    """How many sessions and personal tokens of a person were deleted."""

    sessions: int
    tokens: int


def end_sessions(db: Database, annotator_id: AnnotatorId) -> Ended:
    """Delete all sessions, known browsers and personal tokens of a person."""
    db.conn.execute("DELETE FROM known_browser WHERE annotator_id = ?", [annotator_id])
    return Ended(
        sessions=db.conn.execute("DELETE FROM session WHERE annotator_id = ?", [annotator_id]).rowcount,
        tokens=db.conn.execute("DELETE FROM personal_token WHERE annotator_id = ?", [annotator_id]).rowcount,
    )


def begin_pause(db: Database, annotator_id: AnnotatorId, by: AnnotatorId | None, reason: str, *, at: float) -> None:
    """Start a pause, in which a person is handed no pairs.

    The database refuses a second pause of the same person before the first has ended.
    """
    db.conn.execute(
        "INSERT INTO pause (annotator_id, paused_at, paused_by, reason) VALUES (?, ?, ?, ?)",
        [annotator_id, at, by, reason],
    )


def end_pause(db: Database, annotator_id: AnnotatorId, by: AnnotatorId, *, at: float) -> None:
    """End a person's current pause, if there is one."""
    db.conn.execute(
        "UPDATE pause SET ended_at = ?, ended_by = ? WHERE annotator_id = ? AND ended_at IS NULL",
        [at, by, annotator_id],
    )


def standing_pause(db: Database, annotator_id: AnnotatorId) -> Pause | None:
    """Return a person's current pause, in which they are handed no pairs; None if they are not paused."""
    return standing_pauses(db, annotator_id).get(annotator_id)


def standing_pauses(db: Database, annotator_id: AnnotatorId | None = None) -> dict[AnnotatorId, Pause]:
    """Return the current pauses by person, of everybody or of one person; a paused person is handed no pairs."""
    rows = db.conn.execute(
        "SELECT p.annotator_id, p.paused_at, a.name, p.reason FROM pause p LEFT JOIN annotator a "
        "ON a.annotator_id = p.paused_by WHERE p.ended_at IS NULL AND p.annotator_id = coalesce(?, p.annotator_id)",
        [annotator_id],
    )
    return {AnnotatorId(row[0]): Pause(row[1], row[2], row[3]) for row in rows}


def reviews(db: Database, now: float) -> list[PersonReview]:
    """Return everybody in the project, each with the number of pairs they graded and the time of their last grade.

    The number of pairs is given in all and for today.

    Args:
        db: the database.
        now: seconds since 1970; today is the day of this time.
    """
    paused = standing_pauses(db)
    # Each count reads one range of an index. All seats of a person are judged except those they hold.
    rows = db.conn.execute(
        """
        SELECT a.*,
          (SELECT count(*) FROM seat s WHERE s.annotator_id = a.annotator_id AND s.repeat = 0)
            - (SELECT count(*) FROM seat s WHERE s.annotator_id = a.annotator_id AND s.lease_until IS NOT NULL)
            AS judgements,
          (SELECT max(graded_at) FROM judgement j WHERE j.annotator_id = a.annotator_id) AS last_at,
          (SELECT count(*) FROM judgement j WHERE j.annotator_id = a.annotator_id AND j.revision = 1 AND j.graded_at
             >= :midnight) AS today,
          (SELECT count(*) FROM skip k WHERE k.annotator_id = a.annotator_id AND k.lifted_at IS NULL) AS skips
        FROM annotator a ORDER BY a.role DESC, a.name
        """,
        {"midnight": midnight(now)},
    )
    return [
        PersonReview(
            person=_person(row),
            has_password=row["password_hash"] is not None,
            judgements=row["judgements"],
            last_at=row["last_at"],
            today=row["today"],
            skips=row["skips"],
            pause=paused.get(AnnotatorId(row["annotator_id"])),
            is_archived=row["archived_at"] is not None,
        )
        for row in rows
    ]


def _person(row: sqlite3.Row) -> Person:
    return Person(AnnotatorId(row["annotator_id"]), row["name"], Role(row["role"]), bool(row["suspended"]))


# Working time is in several tables. Simulated and imported judgements keep the times they came with. An exam answer
# that became a judgement has its time in the exam. CROSS JOIN makes SQLite go from a person's few attempts to answers.
_CREDITED = f"""
  SELECT graded_at AS at, active_ms FROM judgement WHERE annotator_id = :me AND graded_at > :since AND graded_at <= :now
    AND simulated = 0 AND imported = 0 AND event_key NOT LIKE '{FROM_EXAM}%'
  UNION ALL SELECT graded_at, active_ms FROM gold_answer
    WHERE annotator_id = :me AND graded_at > :since AND graded_at <= :now
  UNION ALL SELECT n.answered_at, n.active_ms FROM exam_attempt t CROSS JOIN exam_answer n USING (attempt_id)
    WHERE t.annotator_id = :me AND n.answered_at > :since AND n.answered_at <= :now
  UNION ALL SELECT at, active_ms FROM description_act
    WHERE person_id = :me AND at > :since AND at <= :now AND active_ms IS NOT NULL
"""


def credited_since(db: Database, me: AnnotatorId, instant: float, *, now: float) -> int:
    """Return how much working time was credited to a person after an instant and until `now`, in milliseconds.

    Both are in seconds since 1970. Times after `now` were stored before the clock was set back.
    """
    return fetch_one(db, credited_select(me, instant, now=now))


def credited_select(me: AnnotatorId, instant: float, *, now: float) -> Select[int]:
    """Select how much working time was credited to a person after an instant and until `now`; see `credited_since`."""
    sql = f"SELECT coalesce(sum(active_ms), 0) AS credited FROM ({_CREDITED}) AS e"
    return Select(sql, {"me": me, "since": instant, "now": now}, lambda rows: int(rows[0][0]))


def last_credited(db: Database, me: AnnotatorId, *, now: float) -> float | None:
    """Return when a person's newest grade, answer or work on a description until `now` was stored.

    Both are in seconds since 1970. The result is None if there is none.
    """
    row = db.conn.execute(
        "SELECT max(at) FROM (SELECT max(graded_at) AS at FROM judgement "
        "WHERE annotator_id = :me AND graded_at <= :now "
        "UNION ALL SELECT max(graded_at) FROM gold_answer WHERE annotator_id = :me AND graded_at <= :now "
        "UNION ALL SELECT max(n.answered_at) FROM exam_attempt t CROSS JOIN exam_answer n USING (attempt_id) "
        "WHERE t.annotator_id = :me AND n.answered_at <= :now "
        "UNION ALL SELECT max(at) FROM description_act WHERE person_id = :me AND at <= :now) AS e",
        {"me": me, "now": now},
    ).fetchone()
    return None if row[0] is None else float(row[0])
