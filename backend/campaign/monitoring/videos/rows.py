"""SQL for the states of videos and the pairs that need them, and for removing videos.

The tables are otherwise written by `corpus`.
"""

from collections.abc import Iterable
from fractions import Fraction

from backend.campaign.corpus.importing.model import Trouble
from backend.campaign.corpus.moments import rows as moments
from backend.campaign.monitoring.videos.model import VideoState
from backend.core.ids import MomentId
from backend.core.messages import from_stored
from backend.store import sqlite
from backend.store.engine import Database

_NOT_SHOWN = "k.trouble IN ('missing', 'unreadable', 'changed')"


def states(db: Database, *, wrong: bool = False) -> list[VideoState]:
    """Return every video by name, or only those with a problem if `wrong`."""
    rows = db.conn.execute(
        "WITH pairs AS (SELECT v.video_id, "
        "sum(p.pair_id IS NOT NULL AND coalesce(c.verdict, 'escalated') = 'escalated') AS waiting, "
        "sum(EXISTS (SELECT 1 FROM judgement j WHERE j.pair_id = p.pair_id)) AS judged "
        "FROM video_check v CROSS JOIN moment m USING (video_id) CROSS JOIN pair p USING (moment_id) "
        "LEFT JOIN consensus c USING (pair_id) WHERE v.trouble IS NOT NULL GROUP BY v.video_id) "
        "SELECT v.*, k.*, coalesce(n.waiting, 0) AS waiting, coalesce(n.judged, 0) AS judged FROM video v "
        "LEFT JOIN video_check k USING (video_id) LEFT JOIN pairs n USING (video_id) "
        f"WHERE {'k.trouble IS NOT NULL' if wrong else 'TRUE'} ORDER BY v.name"
    )
    return [
        VideoState(
            video=row["name"],
            path=row["path"],
            duration_s=row["duration_s"],
            fps=Fraction(row["fps_num"], row["fps_den"]) if row["fps_num"] else None,
            width_px=row["width_px"] or 0,
            height_px=row["height_px"] or 0,
            codec=row["codec"] or "",
            has_audio=bool(row["has_audio"]),
            frames=row["frames"] or 0,
            decoded=bool(row["decoded"]),
            trouble=Trouble(row["trouble"]) if row["trouble"] else None,
            message=from_stored(row["message"] or ""),
            waiting=row["waiting"],
            judged=row["judged"],
        )
        for row in rows
    ]


def to_block(db: Database) -> list[tuple[MomentId, str]]:
    """Return (moment_id, reason) of moments that have to be withdrawn, because their video cannot be shown any more.

    Only moments in pairs that are not withdrawn yet are returned.
    """
    rows = db.conn.execute(
        "SELECT DISTINCT m.moment_id, k.message FROM video_check k JOIN moment m USING (video_id) "
        f"JOIN pair p USING (moment_id) WHERE {_NOT_SHOWN} "
        "AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = m.moment_id) ORDER BY 1"
    )
    return [(MomentId(row[0]), from_stored(row[1])) for row in rows]


def to_free(db: Database) -> list[MomentId]:
    """Return the moments that were withdrawn because of their video file, although the video can be shown again."""
    rows = db.conn.execute(
        "SELECT f.moment_id FROM clip_fault f JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        f"JOIN video_check k USING (video_id) WHERE f.found_by = 'file' AND v.path IS NOT NULL "
        f"AND coalesce({_NOT_SHOWN}, 0) = 0 ORDER BY 1"
    )
    return [MomentId(row[0]) for row in rows]


_OWN = ("moment", "shot", "video_check")
"""Tables whose rows are deleted with their video."""


def uses(db: Database) -> dict[str, tuple[int, int]]:
    """Map each video's name to (number of its moments in use, number of other rows that refer to it)."""
    found = {video.name: (video.used, 0) for video in moments.videos(db)}
    for table, column in sqlite.references_to("video"):
        if table not in _OWN:
            for name, count in db.conn.execute(
                f'SELECT v.name, count(*) FROM "{table}" t JOIN video v ON v.video_id = t.{column} GROUP BY 1'
            ):
                found[name] = (found[name][0], found[name][1] + count)
    return found


def remove(db: Database, videos: Iterable[str]) -> None:
    """Delete videos that nothing uses, with their moments and shots."""
    for name in videos:
        row = db.conn.execute("SELECT video_id FROM video WHERE name = ?", [name]).fetchone()
        for table in (*_OWN, "video"):
            db.conn.execute(f"DELETE FROM {table} WHERE video_id = ?", [row[0]])
