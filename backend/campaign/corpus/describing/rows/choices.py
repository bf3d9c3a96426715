"""Store and read what leads choose about describing, and the versions of its guideline."""

from collections.abc import Iterable

from backend.campaign.corpus.describing.model import DescribingChoice, DescribingGuideline
from backend.core.ids import AnnotatorId, VideoId
from backend.store.engine import Database, added

_NEWEST = "(SELECT max(choice_id) FROM describing_choice)"
CHOSEN_VIDEO = (
    "(c.all_videos OR EXISTS (SELECT 1 FROM describing_video d "
    "WHERE d.choice_id = c.choice_id AND d.video_id = v.video_id))"
)
"""Whether a choice `c` is about a video `v`, for use in a statement."""
CHOSEN_PERSON = (
    "(c.everybody OR EXISTS (SELECT 1 FROM describing_person d "
    "WHERE d.choice_id = c.choice_id AND d.annotator_id = :me))"
)
"""Whether a choice `c` is about the person `:me`."""


def standing(db: Database) -> DescribingChoice:
    """What was chosen last; closed if nobody ever chose."""
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
        people=None if row["everybody"] else tuple(AnnotatorId(found[0]) for found in people),
        videos=None if row["all_videos"] else tuple(found[0] for found in videos),
        per_video=row["per_video"],
        per_minute=row["per_minute"],
        at=row["chosen_at"],
        by=row["name"] or "",
    )


def add(
    db: Database, chosen: DescribingChoice, videos: Iterable[VideoId], *, at: float, by: AnnotatorId | None
) -> None:
    """Let this be the choice from now on; `videos` are those that it names."""
    choice_id = added(
        db,
        "INSERT INTO describing_choice (open, everybody, all_videos, per_video, per_minute, chosen_at, chosen_by) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING choice_id",
        [
            *(int(chosen.open), int(chosen.people is None), int(chosen.videos is None)),
            *(chosen.per_video, chosen.per_minute, at, by),
        ],
    )
    db.conn.executemany(
        "INSERT INTO describing_person (choice_id, annotator_id) VALUES (?, ?)",
        ((choice_id, person) for person in chosen.people or ()),
    )
    db.conn.executemany(
        "INSERT INTO describing_video (choice_id, video_id) VALUES (?, ?)", ((choice_id, video) for video in videos)
    )


def is_open_for(db: Database, me: AnnotatorId) -> bool:
    """Whether this person may describe now."""
    row = db.conn.execute(
        f"SELECT EXISTS (SELECT 1 FROM describing_choice c WHERE c.choice_id = {_NEWEST} AND c.open "
        f"AND {CHOSEN_PERSON})",
        {"me": me},
    ).fetchone()
    return bool(row[0])


def is_all_there_is(db: Database) -> bool:
    """Whether no pair was handed out yet, so that there is nothing to grade."""
    return not db.conn.execute("SELECT EXISTS (SELECT 1 FROM pair)").fetchone()[0]


def was_open_for(db: Database, me: AnnotatorId) -> bool:
    """Whether this person may describe, or ever might: what they wrote then may still be under way."""
    row = db.conn.execute(
        f"SELECT EXISTS (SELECT 1 FROM describing_choice c WHERE c.open AND {CHOSEN_PERSON})", {"me": me}
    ).fetchone()
    return bool(row[0])


def first_open_for(db: Database, me: AnnotatorId) -> float | None:
    """When this person could describe for the first time, in seconds since 1970; None if they never could."""
    row = db.conn.execute(
        f"SELECT min(c.chosen_at) FROM describing_choice c WHERE c.open AND {CHOSEN_PERSON}", {"me": me}
    ).fetchone()
    return None if row[0] is None else float(row[0])


def ever_chosen(db: Database, me: AnnotatorId, video_id: VideoId) -> bool:
    """Whether this person may describe this video, or ever might."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM describing_choice c, video v WHERE c.open AND v.video_id = :video "
        f"AND {CHOSEN_PERSON} AND {CHOSEN_VIDEO})",
        {"me": me, "video": video_id},
    ).fetchone()
    return bool(row[0])


def videos_named(db: Database, names: Iterable[str]) -> dict[str, VideoId]:
    """The videos of these names that there are."""
    known = dict(db.conn.execute("SELECT name, video_id FROM video").fetchall())
    return {name: VideoId(known[name]) for name in names if name in known}


def guideline(db: Database, me: AnnotatorId | None = None) -> DescribingGuideline:
    """The newest version, and whether this person was shown it."""
    row = db.conn.execute(
        "SELECT g.version, g.text, g.reason, g.since, a.name, EXISTS (SELECT 1 FROM describing_seen s "
        "WHERE s.version = g.version AND s.annotator_id = ?) FROM describing_guideline g "
        "LEFT JOIN annotator a ON a.annotator_id = g.lead_id ORDER BY g.version DESC LIMIT 1",
        [me],
    ).fetchone()
    return DescribingGuideline(row[0], row[1], row[2], bool(row[5]), row[3], row[4] or "")


def add_guideline(db: Database, text: str, reason: str, *, at: float, by: AnnotatorId | None) -> int:
    """Let describers be told this from now on; the number of the version."""
    return added(
        db,
        "INSERT INTO describing_guideline (version, text, reason, since, lead_id) "
        "SELECT max(version) + 1, ?, ?, ?, ? FROM describing_guideline RETURNING version",
        [text, reason, at, by],
    )


def note_seen(db: Database, me: AnnotatorId, version: int, *, at: float) -> None:
    """Somebody was shown a version; the first time stays."""
    db.conn.execute(
        "INSERT OR IGNORE INTO describing_seen (annotator_id, version, seen_at) VALUES (?, ?, ?)", [me, version, at]
    )
