"""Run the SQL for the lead's list of descriptions, for decisions on them, and for the progress of describing.

The database searches, sorts and pages the list.
"""

import sqlite3
from collections import Counter

from backend.campaign.corpus.describing.model import (
    DescriberFigures,
    DescriptionAct,
    DescriptionFilter,
    DescriptionLine,
    DescriptionSort,
    DescriptionStatus,
)
from backend.campaign.corpus.describing.rows.descriptions import CHOSEN_VIDEO
from backend.campaign.corpus.moments import rows as moments
from backend.campaign.corpus.moments.model import Origin
from backend.core.days import within_a_day
from backend.core.ids import AnnotatorId, MomentId, VideoId
from backend.store.engine import Database, like_pattern

_FROM = (
    "description d JOIN video v USING (video_id) JOIN annotator a USING (annotator_id) "
    "LEFT JOIN caption c ON c.caption_id = d.caption_id"
)
_SORTED_BY = {
    DescriptionSort.AGE: "d.description_id",
    DescriptionSort.SENTENCE: "coalesce(c.text, d.sentence) COLLATE NOCASE",
    DescriptionSort.VIDEO: "v.name COLLATE NOCASE {}, d.start_s",
    DescriptionSort.AUTHOR: "a.name",
}


def counts(db: Database) -> dict[DescriptionStatus, int]:
    """Return how many descriptions have each status."""
    by_status = dict(db.conn.execute("SELECT status, count(*) FROM description GROUP BY status").fetchall())
    return {status: by_status.get(status, 0) for status in DescriptionStatus}


def current_counts(db: Database) -> dict[str, int]:
    """Return how many descriptions have each status; withdrawn ones and statuses without descriptions are left out."""
    by_status = counts(db)
    return {
        status.value: by_status[status] for status in DescriptionStatus if by_status[status] and status != "withdrawn"
    }


def count(db: Database, filter_: DescriptionFilter) -> int:
    """Count the descriptions that a filter matches."""
    where, values = _where(filter_)
    number: int = db.conn.execute(f"SELECT count(*) FROM {_FROM} WHERE {where}", values).fetchone()[0]
    return number


def page(db: Database, filter_: DescriptionFilter, first: int, most: int) -> list[DescriptionLine]:
    """Return at most `most` descriptions that a filter matches, in the filter's order; skip the first `first`."""
    where, values = _where(filter_)
    rows = db.conn.execute(
        f"SELECT d.description_key, v.name, d.start_s, d.end_s, coalesce(c.text, d.sentence), a.name, d.status "
        f"FROM {_FROM} WHERE {where} ORDER BY {_order(filter_)} LIMIT :most OFFSET :first",
        {**values, "most": most, "first": first},
    )
    return [DescriptionLine(row[0], row[1], row[2], row[3], row[4], row[5], DescriptionStatus(row[6])) for row in rows]


def keys(db: Database, filter_: DescriptionFilter) -> list[str]:
    """Return the keys of all descriptions that a filter matches, in the filter's order."""
    where, values = _where(filter_)
    rows = db.conn.execute(f"SELECT d.description_key FROM {_FROM} WHERE {where} ORDER BY {_order(filter_)}", values)
    return [row[0] for row in rows]


def last_act(db: Database, description_id: int) -> tuple[DescriptionAct, str, float]:
    """Return (last action on a description, name of the person, time in seconds since 1970)."""
    row = db.conn.execute(
        "SELECT x.kind, a.name, x.at FROM description_act x JOIN annotator a ON a.annotator_id = x.person_id "
        "WHERE x.description_id = ? ORDER BY x.act_id DESC LIMIT 1",
        [description_id],
    ).fetchone()
    return DescriptionAct(row[0]), row[1], row[2]


def written_at(db: Database, description_id: int) -> float:
    """Return when the author wrote the newest version of a description, in seconds since 1970."""
    row = db.conn.execute(
        "SELECT at FROM description_act WHERE description_id = ? AND kind = 'written' ORDER BY act_id DESC LIMIT 1",
        [description_id],
    ).fetchone()
    return float(row[0])


def caption_text(db: Database, caption_id: int) -> str:
    """Return the text of a caption."""
    return str(db.conn.execute("SELECT text FROM caption WHERE caption_id = ?", [caption_id]).fetchone()[0])


def moments_within(
    db: Database, video_id: VideoId, span: tuple[float, float]
) -> list[tuple[MomentId, float, float, str]]:
    """Return the moments that overlap a span of a video, in order of time.

    Each is (id, start in s, end in s, all its published captions joined by ` / `).
    """
    rows = db.conn.execute(
        "SELECT m.moment_id, m.start_s, m.end_s, coalesce(group_concat(c.text, ' / '), '') FROM moment m "
        "LEFT JOIN caption c ON c.moment_id = m.moment_id AND c.kind = 'published' "
        "WHERE m.video_id = ? AND m.start_s < ? AND m.end_s > ? GROUP BY m.moment_id ORDER BY m.start_s, m.end_s",
        [video_id, span[1], span[0]],
    )
    return [(MomentId(row[0]), row[1], row[2], row[3]) for row in rows]


def per_video(db: Database) -> list[tuple[float, int]]:
    """Return (duration in s, number of descriptions) of each video that the current settings let people describe.

    Withdrawn descriptions do not count. Videos without a known file are left out.
    """
    rows = db.conn.execute(
        "SELECT v.duration_s, count(d.description_id) FROM describing_choice c, video v "
        "LEFT JOIN description d ON d.video_id = v.video_id AND d.status <> 'withdrawn' "
        "WHERE c.choice_id = (SELECT max(choice_id) FROM describing_choice) AND v.path IS NOT NULL "
        f"AND {CHOSEN_VIDEO} GROUP BY v.video_id"
    )
    return [(row[0], row[1]) for row in rows]


def figures(db: Database) -> list[DescriberFigures]:
    """Return how many descriptions each annotator wrote, by status, and the time spent on them, sorted by name."""
    rows = db.conn.execute(
        "SELECT a.annotator_id, a.name, sum(d.status = 'waiting'), sum(d.status = 'returned'), "
        "sum(d.status = 'accepted') FROM description d JOIN annotator a USING (annotator_id) "
        "GROUP BY a.annotator_id ORDER BY a.name"
    ).fetchall()
    days = db.conn.execute(
        "SELECT person_id, sum(active_ms), date(at, 'unixepoch', 'localtime') AS day FROM description_act "
        "WHERE active_ms IS NOT NULL GROUP BY person_id, day"
    )
    time_ms: Counter[int] = Counter()
    for person, day_ms, _ in days:
        time_ms[person] += within_a_day(int(day_ms))[0]
    return [DescriberFigures(*(r[1], r[2], r[3], r[4]), active_h=time_ms[r[0]] / 3_600_000) for r in rows]


def _where(filter_: DescriptionFilter) -> tuple[str, dict[str, object]]:
    conditions = ["d.status = :status" if filter_.status else "d.status <> 'withdrawn'"]
    values: dict[str, object] = {"status": filter_.status} if filter_.status else {}
    columns = ("d.sentence", "coalesce(c.text, '')", "v.name", "a.name")
    for nth, word in enumerate(filter_.text.split()):
        values[f"word{nth}"] = like_pattern(word)
        places = (f"{column} LIKE :word{nth} ESCAPE '!'" for column in columns)
        conditions.append(f"({' OR '.join(places)})")
    return " AND ".join(conditions), values


def _order(filter_: DescriptionFilter) -> str:
    direction = "DESC" if filter_.down else "ASC"
    column = _SORTED_BY[filter_.sort]
    return f"{column.format(direction) if '{}' in column else column} {direction}, d.description_id {direction}"


def moment_at(db: Database, video: str, span: tuple[float, float]) -> tuple[MomentId, bool]:
    """Return (id, whether it is new) of the moment with exactly this span of a video; add it if there is none."""
    new = moments.add(db, video, [span], Origin.DESCRIBED)
    row = db.conn.execute(
        "SELECT moment_id FROM moment JOIN video USING (video_id) WHERE name = ? AND start_s = ? AND end_s = ?",
        [video, *span],
    ).fetchone()
    return MomentId(row[0]), new == 1


def moment_of(db: Database, moment_id: MomentId) -> tuple[VideoId, float, float] | None:
    """Return (id of the video, start, end) of a moment, in seconds; None if there is no such moment."""
    row = db.conn.execute("SELECT video_id, start_s, end_s FROM moment WHERE moment_id = ?", [moment_id]).fetchone()
    return (VideoId(row[0]), row[1], row[2]) if row else None


def caption_of(db: Database, moment_id: MomentId, text: str) -> tuple[int, bool]:
    """Return (id, whether it is new) of a moment's published caption with this text; add it if there is none."""
    cursor = db.conn.execute(
        "INSERT OR IGNORE INTO caption (moment_id, text, kind) VALUES (?, ?, 'published')", [moment_id, text]
    )
    row = db.conn.execute(
        "SELECT caption_id FROM caption WHERE moment_id = ? AND text = ? AND kind = 'published'", [moment_id, text]
    ).fetchone()
    return row[0], cursor.rowcount == 1


def is_candidate(db: Database, moment_id: MomentId) -> bool:
    """Return whether the moment was chosen as a candidate for a query, so that annotators may have to grade it."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM candidate WHERE moment_id = :id) OR EXISTS (SELECT 1 FROM pair "
        "WHERE moment_id = :id)",
        {"id": moment_id},
    ).fetchone()
    return bool(row[0])


def accept(
    db: Database,
    description_id: int,
    moment: tuple[MomentId, bool],
    caption: tuple[int, bool],
    lead: AnnotatorId,
    *,
    span: tuple[float, float],
    sentence: str,
    at: float,
) -> None:
    """Record that a description was accepted as a caption of a moment.

    `moment` and `caption` are each an id, and whether the moment or caption was newly made for this description.
    """
    db.conn.execute(
        "UPDATE description SET status = 'accepted', moment_id = ?, made_moment = ?, caption_id = ?, made_caption = ? "
        "WHERE description_id = ?",
        [*moment, *caption, description_id],
    )
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at, start_s, end_s, sentence) "
        "VALUES (?, 'accepted', ?, ?, ?, ?, ?)",
        [description_id, lead, at, *span, sentence],
    )


def give_back(db: Database, description_id: int, lead: AnnotatorId, words: str, *, at: float) -> None:
    """Record that a description was sent back to its author with a comment."""
    db.conn.execute("UPDATE description SET status = 'returned' WHERE description_id = ?", [description_id])
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at, words) VALUES (?, 'returned', ?, ?, ?)",
        [description_id, lead, at, words],
    )


def take_back(db: Database, description_id: int, lead: AnnotatorId, *, at: float) -> None:
    """Undo a lead's last decision on a description, so that it needs a decision again."""
    db.conn.execute(
        "UPDATE description SET status = 'waiting', moment_id = NULL, made_moment = 0, caption_id = NULL, "
        "made_caption = 0 WHERE description_id = ?",
        [description_id],
    )
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at) VALUES (?, 'taken_back', ?, ?)",
        [description_id, lead, at],
    )


def drop_caption(db: Database, caption_id: int) -> bool:
    """Delete a caption that was added for a description, unless another description uses it.

    Return False if it could not be deleted because a rewrite or a query refers to it. Return True otherwise, also if
    another description uses it.
    """
    return _pass_on(db, "caption", caption_id) or _drop(db, "caption", caption_id)


def drop_moment(db: Database, moment_id: MomentId) -> bool:
    """Delete a moment that was added for a description, unless another description uses it.

    Return False if it could not be deleted because a caption or another record refers to it. Return True otherwise,
    also if another description uses it.
    """
    return _pass_on(db, "moment", moment_id) or _drop(db, "moment", moment_id)


def _pass_on(db: Database, table: str, row_id: int) -> bool:
    """Make another description the owner of a caption or moment that was added for a description.

    The oldest description that uses the caption or moment becomes its owner. Return False if none uses it. `table` is
    `caption` or `moment`, and `row_id` the id of the caption or moment.
    """
    cursor = db.conn.execute(
        f"UPDATE description SET made_{table} = 1 WHERE description_id = "
        f"(SELECT min(description_id) FROM description WHERE {table}_id = ?)",
        [row_id],
    )
    return cursor.rowcount == 1


def _drop(db: Database, table: str, row_id: int) -> bool:
    try:
        with db.atomic():
            db.conn.execute(f"DELETE FROM {table} WHERE {table}_id = ?", [row_id])
    except sqlite3.IntegrityError:  # another table refers to the row
        return False
    return True
