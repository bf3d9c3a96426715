"""Run the SQL for descriptions and their history, the leads' settings for describing, and the describers' guideline."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.campaign.corpus.describing.model import (
    DESCRIPTION_REFUSED,
    DescribeEvent,
    DescribingChoice,
    DescribingGuideline,
    DescriptionStatus,
)
from backend.campaign.setup.people.crediting import WorkTime
from backend.core.ids import AnnotatorId, MomentId, VideoId
from backend.store.engine import Database, insert_returning_id

_NEWEST = "(SELECT max(choice_id) FROM describing_choice)"
CHOSEN_VIDEO = (
    "(c.all_videos OR EXISTS (SELECT 1 FROM describing_video d "
    "WHERE d.choice_id = c.choice_id AND d.video_id = v.video_id))"
)
"""SQL condition: a choice `c` includes a video `v`."""
CHOSEN_PERSON = (
    "(c.everybody OR EXISTS (SELECT 1 FROM describing_person d "
    "WHERE d.choice_id = c.choice_id AND d.annotator_id = :me))"
)
"""SQL condition: a choice `c` includes the person `:me`."""


def current_choice(db: Database) -> DescribingChoice:
    """Return the current settings for describing: who may describe which videos.

    If no lead has made any yet, nobody may describe.
    """
    row = db.conn.execute(
        f"SELECT c.*, a.name FROM describing_choice c LEFT JOIN annotator a ON a.annotator_id = c.chosen_by "
        f"WHERE c.choice_id = {_NEWEST}"
    ).fetchone()
    if row is None:
        return DescribingChoice()
    people = db.conn.execute(
        "SELECT annotator_id FROM describing_person WHERE choice_id = ? ORDER BY annotator_id", [row["choice_id"]]
    ).fetchall()
    videos = db.conn.execute(
        "SELECT name FROM describing_video JOIN video USING (video_id) WHERE choice_id = ? ORDER BY name",
        [row["choice_id"]],
    ).fetchall()
    return DescribingChoice(
        open=bool(row["open"]),
        people=None if row["everybody"] else tuple(AnnotatorId(person_or_video[0]) for person_or_video in people),
        videos=None if row["all_videos"] else tuple(person_or_video[0] for person_or_video in videos),
        per_video=row["per_video"],
        per_minute=row["per_minute"],
        at=row["chosen_at"],
        by=row["name"] or "",
    )


def add_choice(
    db: Database, choice: DescribingChoice, videos: Iterable[VideoId], *, at: float, by: AnnotatorId | None
) -> None:
    """Store new settings for describing, which replace the current ones.

    `videos` are the ids of the videos that `choice` names.
    """
    choice_id = insert_returning_id(
        db,
        "INSERT INTO describing_choice (open, everybody, all_videos, per_video, per_minute, chosen_at, chosen_by) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING choice_id",
        [
            *(int(choice.open), int(choice.people is None), int(choice.videos is None)),
            *(choice.per_video, choice.per_minute, at, by),
        ],
    )
    db.conn.executemany(
        "INSERT INTO describing_person (choice_id, annotator_id) VALUES (?, ?)",
        ((choice_id, person) for person in choice.people or ()),
    )
    db.conn.executemany(
        "INSERT INTO describing_video (choice_id, video_id) VALUES (?, ?)", ((choice_id, video) for video in videos)
    )


def is_open_for(db: Database, me: AnnotatorId) -> bool:
    """Return whether the current settings let this annotator describe videos; a pause is not considered."""
    row = db.conn.execute(
        f"SELECT EXISTS (SELECT 1 FROM describing_choice c WHERE c.choice_id = {_NEWEST} AND c.open "
        f"AND {CHOSEN_PERSON})",
        {"me": me},
    ).fetchone()
    return bool(row[0])


def has_no_pairs(db: Database) -> bool:
    """Return whether the project has no pairs (query and moment) to grade yet."""
    return not db.conn.execute("SELECT EXISTS (SELECT 1 FROM pair)").fetchone()[0]


def was_open_for(db: Database, me: AnnotatorId) -> bool:
    """Return whether the settings let this annotator describe videos now, or did so at any earlier time.

    A browser that was offline may send work from an earlier time.
    """
    row = db.conn.execute(
        f"SELECT EXISTS (SELECT 1 FROM describing_choice c WHERE c.open AND {CHOSEN_PERSON})", {"me": me}
    ).fetchone()
    return bool(row[0])


def first_open_for(db: Database, me: AnnotatorId) -> float | None:
    """Return when this annotator was first allowed to describe, in seconds since 1970; None if they never were."""
    row = db.conn.execute(
        f"SELECT min(c.chosen_at) FROM describing_choice c WHERE c.open AND {CHOSEN_PERSON}", {"me": me}
    ).fetchone()
    return None if row[0] is None else float(row[0])


def ever_chosen(db: Database, me: AnnotatorId, video_id: VideoId) -> bool:
    """Return whether the settings let this annotator describe this video now, or did so at any earlier time."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM describing_choice c, video v WHERE c.open AND v.video_id = :video "
        f"AND {CHOSEN_PERSON} AND {CHOSEN_VIDEO})",
        {"me": me, "video": video_id},
    ).fetchone()
    return bool(row[0])


def videos_named(db: Database, names: Iterable[str]) -> dict[str, VideoId]:
    """Return the ids of the videos with these names, by name; names of no video are left out."""
    known = dict(db.conn.execute("SELECT name, video_id FROM video").fetchall())
    return {name: VideoId(known[name]) for name in names if name in known}


def guideline(db: Database, me: AnnotatorId | None = None) -> DescribingGuideline:
    """Return the newest version of the guideline for describers, and whether `me` was shown it."""
    row = db.conn.execute(
        "SELECT g.version, g.text, g.reason, g.since, a.name, EXISTS (SELECT 1 FROM describing_seen s "
        "WHERE s.version = g.version AND s.annotator_id = ?) FROM describing_guideline g "
        "LEFT JOIN annotator a ON a.annotator_id = g.lead_id ORDER BY g.version DESC LIMIT 1",
        [me],
    ).fetchone()
    return DescribingGuideline(row[0], row[1], row[2], bool(row[5]), row[3], row[4] or "")


def add_guideline(db: Database, text: str, reason: str, *, at: float, by: AnnotatorId | None) -> int:
    """Store a new version of the guideline for describers, and return its number."""
    return insert_returning_id(
        db,
        "INSERT INTO describing_guideline (version, text, reason, since, lead_id) "
        "SELECT max(version) + 1, ?, ?, ?, ? FROM describing_guideline RETURNING version",
        [text, reason, at, by],
    )


def note_seen(db: Database, me: AnnotatorId, version: int, *, at: float) -> None:
    """Record that an annotator was shown a version of the guideline for describers; only the first time is kept."""
    db.conn.execute(
        "INSERT OR IGNORE INTO describing_seen (annotator_id, version, seen_at) VALUES (?, ?, ?)", [me, version, at]
    )


_COLUMNS = (
    "d.description_id, d.description_key AS key, d.video_id, v.name AS video, v.duration_s, d.annotator_id, "
    "a.name AS author, d.status, d.revision, d.start_s, d.end_s, d.sentence, d.moment_id, d.caption_id, d.made_moment, "
    "d.made_caption, CASE d.status WHEN 'returned' THEN (SELECT x.words FROM description_act x "
    "WHERE x.description_id = d.description_id AND x.kind = 'returned' ORDER BY x.act_id DESC LIMIT 1) ELSE '' END "
    "AS words"
)
_FROM = "description d JOIN video v USING (video_id) JOIN annotator a USING (annotator_id)"


@dataclass(frozen=True, slots=True)
class DescriptionRow:
    """A description (a marked moment with its sentence) in its current state.

    `words` is the lead's comment if the lead sent the description back. After acceptance, `moment_id` and `caption_id`
    are what it became, and `made_moment` and `made_caption` say whether they were added for it.
    """

    description_id: int
    key: str
    video_id: VideoId
    video: str
    duration_s: float
    annotator_id: AnnotatorId
    author: str
    status: DescriptionStatus
    revision: int
    start_s: float
    end_s: float
    sentence: str
    moment_id: MomentId | None
    caption_id: int | None
    made_moment: bool
    made_caption: bool
    words: str

    @property
    def span(self) -> tuple[float, float]:
        """The described moment's start and end in seconds; the end itself is excluded."""
        return self.start_s, self.end_s


@dataclass(frozen=True, slots=True)
class DescribableVideo:
    """A video that one annotator may describe, with its numbers of descriptions.

    `written` counts everybody's descriptions, `mine` this person's, and `returned` those that leads sent back to this
    person. Withdrawn ones do not count.
    """

    video_id: VideoId
    name: str
    duration_s: float
    fps: float
    written: int
    mine: int
    returned: int


def _row(row: Mapping[str, Any]) -> DescriptionRow:
    values = dict(row)
    flags = {name: bool(values[name]) for name in ("made_moment", "made_caption")}
    return DescriptionRow(**values | flags | {"status": DescriptionStatus(values["status"])})


def where(db: Database, condition: str, values: Sequence[object], rest: str = "") -> list[DescriptionRow]:
    """Return the descriptions that match an SQL condition.

    The condition may use the aliases `d` (description), `v` (its video) and `a` (its author). The descriptions are
    sorted by age, unless `rest` gives another order.
    """
    rows = db.conn.execute(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE {condition} {rest or 'ORDER BY d.description_id'}", list(values)
    )
    return [_row(row) for row in rows]


def by_key(db: Database, key: str) -> DescriptionRow | None:
    """Return the description with this key; None if there is none."""
    return next(iter(where(db, "d.description_key = ?", [key])), None)


def of_person(db: Database, me: AnnotatorId, videos: Sequence[VideoId]) -> list[DescriptionRow]:
    """Return this annotator's descriptions of these videos, without withdrawn ones."""
    marks = ",".join("?" * len(videos))
    return where(db, f"d.annotator_id = ? AND d.status <> 'withdrawn' AND d.video_id IN ({marks})", [me, *videos])


def returned_to(db: Database, me: AnnotatorId) -> list[DescriptionRow]:
    """Return the descriptions that leads sent back to this annotator."""
    return where(db, "d.annotator_id = ? AND d.status = 'returned'", [me])


def spans_of_others(
    db: Database, me: AnnotatorId, videos: Sequence[VideoId]
) -> list[tuple[VideoId, tuple[float, float]]]:
    """Return (video, (start, end) in seconds) of what other people described in these videos."""
    marks = ",".join("?" * len(videos))
    rows = db.conn.execute(
        "SELECT video_id, start_s, end_s FROM description WHERE annotator_id <> ? AND status <> 'withdrawn' "
        f"AND video_id IN ({marks}) ORDER BY video_id, start_s, end_s",
        [me, *videos],
    )
    return [(VideoId(row[0]), (row[1], row[2])) for row in rows]


def totals(db: Database, me: AnnotatorId) -> tuple[int, int]:
    """Return the numbers of this annotator's descriptions: all but withdrawn ones, and accepted ones."""
    row = db.conn.execute(
        "SELECT count(*), coalesce(sum(status = 'accepted'), 0) FROM description "
        "WHERE annotator_id = ? AND status <> 'withdrawn'",
        [me],
    ).fetchone()
    return row[0], row[1]


def chosen_videos(db: Database, me: AnnotatorId) -> list[DescribableVideo]:
    """Return the videos that the current settings let people describe, sorted by name, with counts of descriptions.

    The counts are of everybody's descriptions and of those by annotator `me`.

    Videos without a known file are left out.
    """
    rows = db.conn.execute(
        "SELECT v.video_id, v.name, v.duration_s, cast(v.fps_num AS REAL) / v.fps_den, count(d.description_id), "
        "coalesce(sum(d.annotator_id = :me), 0), coalesce(sum(d.annotator_id = :me AND d.status = 'returned'), 0) "
        "FROM describing_choice c, video v "
        "LEFT JOIN description d ON d.video_id = v.video_id AND d.status <> 'withdrawn' "
        "WHERE c.choice_id = (SELECT max(choice_id) FROM describing_choice) AND v.path IS NOT NULL "
        f"AND {CHOSEN_VIDEO} GROUP BY v.video_id ORDER BY v.name",
        {"me": me},
    )
    return [DescribableVideo(VideoId(r[0]), *r[1:]) for r in rows]


def video(db: Database, video_id: VideoId) -> tuple[str, float] | None:
    """Return (name, duration in seconds) of a video; None if there is no such video."""
    row = db.conn.execute("SELECT name, duration_s FROM video WHERE video_id = ?", [video_id]).fetchone()
    return (row[0], row[1]) if row else None


def stored_event(db: Database, key: str) -> tuple[str, AnnotatorId] | None:
    """Return (key of the description, id of its author) of a stored action; None if no action has this key.

    In an action, an annotator writes, changes or withdraws a description. `key` identifies the action.
    """
    row = db.conn.execute(
        "SELECT d.description_key, x.person_id FROM description_act x JOIN description d USING (description_id) "
        "WHERE x.event_key = ?",
        [key],
    ).fetchone()
    return (row[0], AnnotatorId(row[1])) if row else None


def earlier_refusal(db: Database, me: AnnotatorId, key: str) -> str | None:
    """Return why the action with this key was refused when this person sent it before; None if it was not.

    In an action, an annotator writes, changes or withdraws a description.
    """
    row = db.conn.execute(
        "SELECT payload ->> 'why' FROM event WHERE kind = ? AND actor = ? AND payload ->> 'event_key' = ?",
        [DESCRIPTION_REFUSED.kind, me, key],
    ).fetchone()
    return row[0] if row else None


def write(
    db: Database, event: DescribeEvent, sentence: str, video_id: VideoId, me: AnnotatorId, work: WorkTime, *, at: float
) -> int:
    """Store a new description, or a new version of one; return the description's id.

    Args:
        db: the database.
        event: the author's action, with the description's key and times.
        sentence: the sentence to store.
        video_id: the video.
        me: the author.
        work: the time that the author spent on it.
        at: seconds since 1970.
    """
    row = db.conn.execute(
        "INSERT INTO description (description_key, video_id, annotator_id, status, revision, start_s, end_s, sentence) "
        "VALUES (?, ?, ?, 'waiting', 1, ?, ?, ?) ON CONFLICT (description_key) DO UPDATE SET status = 'waiting', "
        "revision = description.revision + 1, start_s = excluded.start_s, end_s = excluded.end_s, "
        "sentence = excluded.sentence RETURNING description_id",
        [event.description, video_id, me, event.start_s, event.end_s, sentence],
    ).fetchone()
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at, start_s, end_s, sentence, elapsed_ms, "
        "active_ms, event_key) VALUES (?, 'written', ?, ?, ?, ?, ?, ?, ?, ?)",
        [*(row[0], me, at, event.start_s, event.end_s, sentence), *(work.elapsed_ms, work.active_ms, event.key)],
    )
    return int(row[0])


def withdraw(db: Database, description_id: int, me: AnnotatorId, event_key: str, *, at: float) -> None:
    """Mark a description as withdrawn by its author `me`; `event_key` identifies the action."""
    db.conn.execute("UPDATE description SET status = 'withdrawn' WHERE description_id = ?", [description_id])
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at, event_key) VALUES (?, 'withdrawn', ?, ?, ?)",
        [description_id, me, at, event_key],
    )
