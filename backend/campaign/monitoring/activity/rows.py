"""SQL for the activity log: events and judgements, the newest first, and the last change of each setting."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from backend.campaign.monitoring.activity.model import USUAL, ActivityEntry, ActivityFilter
from backend.campaign.monitoring.activity.rules import event_words, grade_words, kinds_of
from backend.campaign.setup.serving.settings_changes import SETTING_CHANGED
from backend.core.events import Event, EventGroup
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.store.engine import Database, like_pattern

_FEW = 20_000
"""Up to this many entries are sorted. Among more, it is faster to go back in time until a page is full."""
_SPAN = "v.name, '' || round(m.start_s, 2), '' || round(m.end_s, 2)"
_PAIR = said("“{text}”, {video}, {start} to {end} s")
_ABOUT = {
    "pair": (
        f"SELECT p.pair_id, q.query_id, q.text, {_SPAN} FROM pair p JOIN query q USING (query_id) "
        "JOIN moment m USING (moment_id) JOIN video v USING (video_id) WHERE p.pair_id IN ",
        _PAIR,
    ),
    "query": ("SELECT query_id, query_id, text, NULL, NULL, NULL FROM query WHERE query_id IN ", "“{text}”"),
    "annotator": (
        "SELECT annotator_id, NULL, name, NULL, NULL, NULL FROM annotator WHERE annotator_id IN ",
        "{text}",
    ),
    "moment": (
        f"SELECT m.moment_id, NULL, NULL, {_SPAN} FROM moment m JOIN video v USING (video_id) WHERE m.moment_id IN ",
        said("{video}, {start} to {end} s"),
    ),
}
"""For each kind of subject: SQL for its number, query, text, video, start and end; and the words that show them."""
_ABOUT_TEXT = """subject IN (
  SELECT 'pair:' || p.pair_id FROM pair p JOIN query q USING (query_id) WHERE q.text LIKE :text ESCAPE '!'
  UNION ALL SELECT 'query:' || query_id FROM query WHERE text LIKE :text ESCAPE '!'
  UNION ALL SELECT 'annotator:' || annotator_id FROM annotator WHERE name LIKE :text ESCAPE '!')"""
_GRADES = (
    "FROM judgement j JOIN annotator a USING (annotator_id) JOIN pair p ON p.pair_id = j.pair_id "
    "JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id)"
)


def count(db: Database, activity_filter: ActivityFilter) -> int:
    """Count the entries of the activity log that match a filter."""
    if activity_filter.group is EventGroup.GRADES:
        where, values = _grades_where(activity_filter)
        # Without a text to search, the tables around the judgements are not needed.
        source = _GRADES if activity_filter.text else "FROM judgement j"
        sql = f"SELECT count(*) {source} WHERE {where}"
    else:
        where, values = _events_where(activity_filter)
        sql = f"SELECT count(*) FROM event WHERE {where}"
    return int(db.conn.execute(sql, values).fetchone()[0])


def entries(db: Database, activity_filter: ActivityFilter, *, first: int, most: int) -> list[ActivityEntry]:
    """Return at most `most` entries of the log that match a filter, the newest first.

    The first `first` of the matching entries are skipped.
    """
    if activity_filter.group is EventGroup.GRADES:
        return _grades(db, activity_filter, first, most)
    where, values = _events_where(activity_filter)
    by_kind = "" if count(db, activity_filter) <= _FEW else "+"
    rows = db.conn.execute(
        f"SELECT e.event_id, e.at, a.name, e.kind, e.subject, e.payload FROM (SELECT * FROM event WHERE "
        f"{where.replace('kind IN', f'{by_kind}kind IN')} ORDER BY event_id DESC LIMIT :most OFFSET :first) e "
        "LEFT JOIN annotator a ON a.annotator_id = e.actor ORDER BY e.event_id DESC",
        values | {"most": most, "first": first},
    ).fetchall()
    about = _about(db, [row[4] for row in rows])
    return [
        ActivityEntry(
            row[0], row[1], row[2], row[3], event_words(row[3], json.loads(row[5])), *about.get(row[4], ("", None))
        )
        for row in rows
    ]


def people(db: Database) -> list[str]:
    """Return the names of all annotators and leads, leads first."""
    rows = db.conn.execute("SELECT name FROM annotator ORDER BY role = 'lead' DESC, name")
    return [row[0] for row in rows]


def newest(db: Database, kinds: Sequence[Event]) -> tuple[float, str | None] | None:
    """Return (time, person) of the last event of these kinds; None if there was none.

    The time is in seconds since 1970. The person is None if a command or a rule of the program caused the event.
    """
    row = db.conn.execute(
        "SELECT e.at, a.name FROM event e LEFT JOIN annotator a ON a.annotator_id = e.actor "
        f"WHERE e.kind IN ({_marks(kinds)}) ORDER BY e.event_id DESC LIMIT 1",
        [event.kind for event in kinds],
    ).fetchone()
    return (row[0], row[1]) if row else None


def newest_change(db: Database, keys: Sequence[str]) -> tuple[float, str | None] | None:
    """Return (time, person) of the last change of these settings on a page; None if no page ever changed them.

    `keys` are the keys of the settings. The time is in seconds since 1970. The person is None if nobody is recorded.
    """
    row = db.conn.execute(
        "SELECT e.at, a.name FROM event e LEFT JOIN annotator a ON a.annotator_id = e.actor "
        f"WHERE e.kind = ? AND e.subject IN ({', '.join('?' * len(keys))}) ORDER BY e.event_id DESC LIMIT 1",
        [SETTING_CHANGED.kind, *(f"setting:{key}" for key in keys)],
    ).fetchone()
    return (row[0], row[1]) if row else None


def _events_where(activity_filter: ActivityFilter) -> tuple[str, dict[str, Any]]:
    kinds = [
        kind for group in ([activity_filter.group] if activity_filter.group else USUAL) for kind in kinds_of(group)
    ]
    values: dict[str, Any] = {f"kind{n}": kind for n, kind in enumerate(kinds)}
    parts = [f"kind IN ({', '.join(f':{name}' for name in values)})"]
    if activity_filter.by:
        parts.append("actor = (SELECT annotator_id FROM annotator WHERE name = :by)")
        values["by"] = activity_filter.by
    if activity_filter.text:
        parts.append(f"(payload LIKE :text ESCAPE '!' OR {_ABOUT_TEXT})")
        values["text"] = like_pattern(activity_filter.text)
    return _add_period(parts, values, activity_filter, "at")


def _grades_where(activity_filter: ActivityFilter) -> tuple[str, dict[str, Any]]:
    parts, values = ["TRUE"], dict[str, Any]()
    if activity_filter.by:
        parts.append("j.annotator_id = (SELECT annotator_id FROM annotator WHERE name = :by)")
        values["by"] = activity_filter.by
    if activity_filter.text:
        parts.append("(q.text LIKE :text ESCAPE '!' OR v.name LIKE :text ESCAPE '!')")
        values["text"] = like_pattern(activity_filter.text)
    return _add_period(parts, values, activity_filter, "j.graded_at")


def _add_period(
    parts: list[str], values: dict[str, Any], activity_filter: ActivityFilter, at: str
) -> tuple[str, dict[str, Any]]:
    if activity_filter.since is not None:
        parts.append(f"{at} >= :since")
        values["since"] = activity_filter.since
    if activity_filter.until is not None:
        parts.append(f"{at} < :until")
        values["until"] = activity_filter.until
    return " AND ".join(parts), values


def _grades(db: Database, activity_filter: ActivityFilter, first: int, most: int) -> list[ActivityEntry]:
    where, values = _grades_where(activity_filter)
    rows = db.conn.execute(
        "SELECT j.judgement_id, j.graded_at, a.name, j.grade, j.revision, j.simulated, j.imported, q.query_id, q.text, "
        f"{_SPAN} {_GRADES} WHERE {where} ORDER BY j.judgement_id DESC LIMIT :most OFFSET :first",
        values | {"most": most, "first": first},
    )
    return [
        ActivityEntry(
            row[0],
            row[1],
            row[2],
            "grade",
            grade_words(row[3], corrected=row[4] != 1, simulated=row[5], imported=row[6]),
            _subject_words(_PAIR, row[8:]),
            QueryId(row[7]),
        )
        for row in rows
    ]


def _about(db: Database, subjects: Iterable[str]) -> dict[str, tuple[str, QueryId | None]]:
    """Map subjects of events, such as `pair:17`, to their descriptions in words and the queries that they belong to.

    The query is None for a person, or for a moment. Subjects that are not found are left out.
    """
    ids: dict[str, set[int]] = {}
    for subject in subjects:
        subject_kind, _, number = subject.partition(":")
        if subject_kind in _ABOUT and number.isdecimal():
            ids.setdefault(subject_kind, set()).add(int(number))
    return {
        f"{subject_kind}:{row[0]}": (_subject_words(words, row[2:]), None if row[1] is None else QueryId(row[1]))
        for subject_kind, numbers in ids.items()
        for sql, words in [_ABOUT[subject_kind]]
        for row in db.conn.execute(f"{sql} ({_marks(numbers)})", [*numbers])
    }


def _subject_words(words: str, values: Sequence[str | None]) -> str:
    placeholders: dict[str, Any] = dict(zip(("text", "video", "start", "end"), values, strict=True))
    return said(words, **placeholders)


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)
