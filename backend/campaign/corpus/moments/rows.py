"""Run the SQL for moments and for the detected shots of videos.

*Written by* `proposing` and `editing`; *read by* the pages for leads, the page for describing videos, and the selection
of candidates.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from backend.campaign.corpus.moments.model import MomentRow, Origin, VideoMoments
from backend.core.ids import MomentId
from backend.store import sqlite
from backend.store.engine import Database

Span = tuple[float, float]


def shots(db: Database, video: str) -> list[Span]:
    """Return the detected shots of a video in order of time; empty if none were detected yet."""
    rows = db.conn.execute(
        "SELECT s.start_s, s.end_s FROM shot s JOIN video v USING (video_id) WHERE v.name = ? ORDER BY s.start_s",
        [video],
    )
    return [(row[0], row[1]) for row in rows]


def detectors(db: Database) -> dict[str, str]:
    """Map the name of each video with stored shots to the text that tells how they were detected; see `set_shots`."""
    return dict(db.conn.execute("SELECT v.name, min(s.detector) FROM shot s JOIN video v USING (video_id) GROUP BY 1"))


def set_shots(db: Database, video: str, spans: Sequence[Span], detector: str) -> None:
    """Store the detected shots of a video, replacing earlier ones.

    `detector` is a text that names the detector's version and the video's content.
    """
    video_id = db.conn.execute("SELECT video_id FROM video WHERE name = ?", [video]).fetchone()[0]
    db.conn.execute("DELETE FROM shot WHERE video_id = ?", [video_id])
    db.conn.executemany(
        "INSERT INTO shot (video_id, start_s, end_s, detector) VALUES (?, ?, ?, ?)",
        ((video_id, *span, detector) for span in spans),
    )


def propose(db: Database, origin: Origin, spans: Mapping[str, Sequence[Span]]) -> tuple[int, int, int]:
    """Replace the moments of a kind (shots or windows) in the given videos by new spans, but keep those in use.

    `spans` maps each video's name to the new (start, end) in seconds.

    Returns:
        How many moments are new, how many were removed, and how many were kept because something uses them.
    """
    existing = db.conn.execute(
        f"SELECT v.name, m.moment_id, m.start_s, m.end_s, {_used_sql()} FROM moment m JOIN video v USING (video_id) "
        "WHERE m.origin = ?",
        [origin.value],
    ).fetchall()
    proposed = {video: set(spans_of_video) for video, spans_of_video in spans.items()}
    dropped = [row for row in existing if row[0] in proposed and (row[2], row[3]) not in proposed[row[0]]]
    free = [MomentId(row[1]) for row in dropped if not row[4]]
    delete(db, free)
    new = sum(add(db, video, spans_of_video, origin) for video, spans_of_video in spans.items())
    return new, len(free), len(dropped) - len(free)


def add(db: Database, video: str, spans: Iterable[Span], origin: Origin) -> int:
    """Insert a moment for each span of a video that has none yet; return the number of moments inserted."""
    return db.conn.executemany(
        "INSERT OR IGNORE INTO moment (video_id, start_s, end_s, origin) "
        "SELECT video_id, ?, ?, ? FROM video WHERE name = ?",
        ((*span, origin.value, video) for span in spans),
    ).rowcount


def delete(db: Database, moments: Sequence[MomentId]) -> None:
    """Delete these moments; the caller makes sure that nothing uses them."""
    db.conn.executemany("DELETE FROM moment WHERE moment_id = ?", ((moment,) for moment in moments))


def of_video(db: Database, video: str) -> list[MomentRow]:
    """Return all moments of a video, in order of time."""
    return _rows(db, "v.name = ?", [video])


def by_ids(db: Database, moments: Sequence[MomentId]) -> list[MomentRow]:
    """Return the moments with these ids, sorted by video and time; ids of no moment are skipped."""
    moment_rows = []
    for moment in dict.fromkeys(moments):
        moment_rows += _rows(db, "m.moment_id = ?", [moment])
    return sorted(moment_rows, key=lambda row: (row.video, row.start_s, row.end_s))


def all_moments(db: Database) -> list[MomentRow]:
    """Return all moments of the project, sorted by video and time."""
    return _rows(db, "1", [])


def videos(db: Database) -> list[VideoMoments]:
    """Return every video with its numbers of moments and shots, sorted by name."""
    video_rows = db.conn.execute(
        "SELECT v.name, v.duration_s, v.path IS NOT NULL, (SELECT count(*) FROM shot s WHERE s.video_id = v.video_id), "
        "v.video_id FROM video v ORDER BY v.name"
    ).fetchall()
    counted: dict[int, dict[Origin, int]] = {}
    used: dict[int, int] = {}
    for video_id, origin, count, in_use in db.conn.execute(
        f"SELECT m.video_id, m.origin, count(*), sum({_used_sql()}) FROM moment m GROUP BY 1, 2"
    ):
        counted.setdefault(video_id, {})[Origin(origin)] = count
        used[video_id] = used.get(video_id, 0) + in_use
    return [
        VideoMoments(row[0], row[1], bool(row[2]), row[3] or None, counted.get(row[4], {}), used.get(row[4], 0))
        for row in video_rows
    ]


def _rows(db: Database, where: str, values: Sequence[object]) -> list[MomentRow]:
    rows = db.conn.execute(
        f"SELECT m.moment_id, v.name, m.start_s, m.end_s, m.origin, "
        "(SELECT count(*) FROM caption c WHERE c.moment_id = m.moment_id AND c.kind = 'published'), "
        "(SELECT count(*) FROM pair p WHERE p.moment_id = m.moment_id), "
        f"{_used_sql()} FROM moment m JOIN video v USING (video_id) WHERE {where} ORDER BY v.name, m.start_s, m.end_s",
        list(values),
    )
    return [
        MomentRow(MomentId(row[0]), row[1], row[2], row[3], Origin(row[4]), row[5], row[6], bool(row[7]))
        for row in rows
    ]


@cache
def _used_sql() -> str:
    """Return an SQL condition that holds for a row `m` of the table `moment` if another table refers to it."""
    # These subqueries are not correlated, so each runs only once, with or without an index.
    users = (
        f"m.moment_id IN (SELECT {column} FROM {table} WHERE {column} IS NOT NULL)"
        for table, column in sqlite.references_to("moment")
    )
    return f"({' OR '.join(users)})"
