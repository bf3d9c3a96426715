"""Run the SQL for videos, moments and published captions.

*Written by* `importing`; *read by* all later stages of a campaign.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from sqlite3 import Row

from backend.campaign.corpus.importing.model import CaptionedMoment, Trouble, VideoTrouble
from backend.core.ids import MomentId
from backend.core.messages import from_stored, to_stored
from backend.media.sources import VideoFacts
from backend.store.engine import Database

WHOLE = "(m.start_s = 0 AND m.end_s >= v.duration_s)"
"""SQL condition: a moment `m` is the whole of its video `v`."""


@dataclass(frozen=True, slots=True)
class CaptionRow:
    """A caption with the id of the moment that it describes."""

    caption_id: int
    moment_id: MomentId
    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a video file, by which the file is found again after it was moved or renamed.

    `size_bytes` is 0 if it is unknown.
    """

    sha256: str
    size_bytes: int
    fps: Fraction


def video_durations(db: Database) -> dict[str, float]:
    """Return the duration of every video in seconds, by the video's name."""
    return dict(db.conn.execute("SELECT name, duration_s FROM video").fetchall())


def external_ids(db: Database) -> dict[str, tuple[str, float, float, str]]:
    """Map the ids that captions have in their published corpora to (video, start_s, end_s, text) of the caption."""
    rows = db.conn.execute(
        "SELECT c.external_id, v.name, m.start_s, m.end_s, c.text FROM caption c "
        "JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "WHERE c.kind = 'published' AND c.external_id IS NOT NULL"
    )
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}


def count_new(
    db: Database, moments: Iterable[CaptionedMoment], new_names: Mapping[str, str] | None = None
) -> tuple[int, int, int]:
    """Return how many of the videos, moments and captions in `moments` the project does not have yet.

    `new_names` maps names of the project's videos to the names that the import will give them.
    """
    new_names = new_names or {}
    spans = {
        (new_names.get(row[0], row[0]), row[1], row[2])
        for row in db.conn.execute("SELECT name, start_s, end_s FROM moment JOIN video USING (video_id)")
    }
    texts = {
        (new_names.get(row[0], row[0]), *row[1:])
        for row in db.conn.execute(
            "SELECT name, start_s, end_s, text FROM caption JOIN moment USING (moment_id) JOIN video USING (video_id) "
            "WHERE kind = 'published'"
        )
    }
    moments = list(moments)
    return (
        len({m.video for m in moments} - {new_names.get(name, name) for name in video_durations(db)}),
        len({(m.video, m.start_s, m.end_s) for m in moments} - spans),
        len({(m.video, m.start_s, m.end_s, m.caption) for m in moments} - texts),
    )


def add_moments(
    db: Database, moments: Iterable[CaptionedMoment], durations: dict[str, float], facts: dict[str, VideoFacts]
) -> tuple[int, int, int]:
    """Insert the moments that the project lacks, with their videos and captions.

    Args:
        db: the database, in a write transaction.
        moments: checked moments.
        durations: the duration in seconds of every video named in `moments`.
        facts: measurements of the videos whose files were found, by name.

    Returns:
        How many videos, moments and captions are new.
    """
    moments = list(moments)
    new = count_new(db, moments)
    db.conn.executemany(
        "INSERT OR IGNORE INTO video (name, duration_s) VALUES (?, ?)",
        ((name, duration_s) for name, duration_s in durations.items()),
    )
    set_video_facts(db, facts)
    video_ids = dict(db.conn.execute("SELECT name, video_id FROM video").fetchall())
    db.conn.executemany(
        "INSERT OR IGNORE INTO moment (video_id, start_s, end_s) VALUES (?, ?, ?)",
        ((video_ids[m.video], m.start_s, m.end_s) for m in moments),
    )
    db.conn.executemany(
        "INSERT OR IGNORE INTO caption (moment_id, text, kind, external_id) "
        "SELECT moment_id, ?, 'published', ? FROM moment WHERE video_id = ? AND start_s = ? AND end_s = ?",
        ((m.caption, m.external_id, video_ids[m.video], m.start_s, m.end_s) for m in moments),
    )
    return new


def add_spans(
    db: Database, spans: Iterable[tuple[str, float, float]], origin: str
) -> dict[tuple[str, float, float], MomentId]:
    """Insert moments without captions where the project lacks them; return the ids of all given moments by span.

    Args:
        db: the database, in a write transaction.
        spans: (video, start_s, end_s) in videos of the project.
        origin: where the moments come from, such as `imported`, as the table stores it.
    """
    spans = list(spans)
    video_ids = dict(db.conn.execute("SELECT name, video_id FROM video").fetchall())
    db.conn.executemany(
        "INSERT OR IGNORE INTO moment (video_id, start_s, end_s, origin) VALUES (?, ?, ?, ?)",
        ((video_ids[video], start_s, end_s, origin) for video, start_s, end_s in spans),
    )
    find = "SELECT moment_id FROM moment WHERE video_id = ? AND start_s = ? AND end_s = ?"
    return {span: MomentId(db.conn.execute(find, [video_ids[span[0]], *span[1:]]).fetchone()[0]) for span in spans}


def known_videos(db: Database) -> dict[str, str | None]:
    """Map the name of every video to the sha256 of its file; None if its file was never measured."""
    return dict(db.conn.execute("SELECT name, sha256 FROM video").fetchall())


def unannotated_videos(db: Database) -> list[str]:
    """Return the sorted names of videos that have a file but no moment from an annotation file."""
    rows = db.conn.execute(
        "SELECT name FROM video v WHERE path IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM moment m WHERE m.video_id = v.video_id AND m.origin = 'imported') ORDER BY name"
    )
    return [row[0] for row in rows]


def video_rows(db: Database) -> list[tuple[object, ...]]:
    """Return everything that is stored about videos, to compare it before and after an act."""
    return [tuple(row) for row in db.conn.execute("SELECT * FROM video LEFT JOIN video_check USING (video_id)")]


def rename_videos(db: Database, new_names: Mapping[str, str]) -> None:
    """Rename videos; `new_names` maps old names to new ones."""
    db.conn.executemany("UPDATE video SET name = ? WHERE name = ?", [(new, old) for old, new in new_names.items()])


def add_videos(db: Database, facts: dict[str, VideoFacts]) -> None:
    """Insert the videos that the project lacks, and store the measurements of all given videos, by name."""
    db.conn.executemany(
        "INSERT OR IGNORE INTO video (name, duration_s) VALUES (?, ?)",
        ((name, f.duration_s) for name, f in facts.items()),
    )
    set_video_facts(db, facts)


def set_video_facts(db: Database, facts: dict[str, VideoFacts]) -> None:
    """Store where the files of videos lie, and their measurements."""
    db.conn.executemany(
        "UPDATE video SET path = ?, duration_s = ?, fps_num = ?, fps_den = ?, width_px = ?, height_px = ?, "
        "has_audio = ?, sha256 = ? WHERE name = ?",
        (
            (
                *(f.path, f.duration_s, f.fps.numerator, f.fps.denominator, f.width_px, f.height_px),
                *(int(f.has_audio), f.sha256, name),
            )
            for name, f in facts.items()
        ),
    )
    db.conn.executemany(
        "INSERT INTO video_check (video_id, codec, frames, size_bytes, decoded, trouble, message) "
        "SELECT video_id, ?, ?, ?, ?, ?, ? FROM video WHERE name = ? ON CONFLICT (video_id) DO UPDATE SET "
        "codec = excluded.codec, frames = excluded.frames, size_bytes = excluded.size_bytes, "
        "decoded = excluded.decoded, trouble = excluded.trouble, message = excluded.message",
        (
            (
                *(f.codec, f.frames, f.size_bytes, int(f.decoded)),
                *(Trouble.DAMAGED.value if f.damage else None, f.damage, name),
            )
            for name, f in facts.items()
        ),
    )


def set_troubles(db: Database, troubles: Iterable[VideoTrouble]) -> None:
    """Store the current problems of videos; measurements made before are kept."""
    db.conn.executemany(
        "INSERT INTO video_check (video_id, trouble, message) SELECT video_id, ?, ? FROM video WHERE name = ? "
        "ON CONFLICT (video_id) DO UPDATE SET trouble = excluded.trouble, message = excluded.message",
        ((trouble.trouble.value, to_stored(trouble.message), trouble.video) for trouble in troubles),
    )


def contents(db: Database) -> dict[str, Content]:
    """Map the name of every video that was ever measured to the content of its file."""
    rows = db.conn.execute(
        "SELECT name, sha256, coalesce(size_bytes, 0), coalesce(fps_num, 1), coalesce(fps_den, 1) "
        "FROM video LEFT JOIN video_check USING (video_id) WHERE sha256 IS NOT NULL"
    )
    return {row[0]: Content(row[1], row[2], Fraction(row[3], row[4])) for row in rows}


def decoded_contents(db: Database) -> dict[str, str]:
    """Return the damage found in each video that was fully decoded, by the sha256 of its file.

    The text is empty for a file without damage.
    """
    rows = db.conn.execute(
        "SELECT v.sha256, iif(k.trouble = 'damaged', k.message, '') FROM video v JOIN video_check k USING (video_id) "
        "WHERE k.decoded = 1 AND v.sha256 IS NOT NULL AND coalesce(k.trouble, 'damaged') = 'damaged'"
    )
    return {row[0]: from_stored(row[1]) for row in rows}


def is_moment(db: Database, video: str, start_s: float, end_s: float) -> bool:
    """Return whether the project has a moment with exactly this span of a video, in seconds."""
    row = db.conn.execute(
        "SELECT 1 FROM moment JOIN video USING (video_id) WHERE name = ? AND start_s = ? AND end_s = ?",
        [video, start_s, end_s],
    )
    return row.fetchone() is not None


def video_facts(db: Database, name: str) -> VideoFacts | None:
    """Return the measurements of a video, such as frame rate and duration; None if its file is unknown."""
    row = db.conn.execute(f"{_FACTS} AND name = ?", [name]).fetchone()
    return None if row is None else _facts(row)


def facts_of(db: Database, names: Iterable[str]) -> dict[str, VideoFacts]:
    """Return the measurements of these videos by their names, without those whose file is unknown."""
    values = [*names]
    sql = f"{_FACTS} AND name IN ({', '.join('?' * len(values))})"
    return {row["name"]: _facts(row) for row in db.conn.execute(sql, values)} if values else {}


def all_facts(db: Database) -> dict[str, VideoFacts]:
    """Return the measurements of every video whose file is known, by the video's name."""
    return {row["name"]: _facts(row) for row in db.conn.execute(_FACTS)}


_FACTS = "SELECT * FROM video LEFT JOIN video_check USING (video_id) WHERE path IS NOT NULL"


def _facts(row: Row) -> VideoFacts:
    return VideoFacts(
        path=row["path"],
        fps=Fraction(row["fps_num"], row["fps_den"]),
        duration_s=row["duration_s"],
        width_px=row["width_px"],
        height_px=row["height_px"],
        has_audio=bool(row["has_audio"]),
        sha256=row["sha256"],
        codec=row["codec"] or "",
        frames=row["frames"] or 0,
        size_bytes=row["size_bytes"] or 0,
        decoded=bool(row["decoded"]),
        damage=from_stored(row["message"]) if row["trouble"] == Trouble.DAMAGED else "",
    )


def videos_without_file(db: Database) -> list[str]:
    """Return the names of videos whose file is unknown, so that nobody can grade their moments."""
    return [row[0] for row in db.conn.execute("SELECT name FROM video WHERE path IS NULL ORDER BY name")]


def counts(db: Database) -> tuple[int, int, int]:
    """Return the numbers of videos, moments and published captions."""
    row = db.conn.execute(
        "SELECT (SELECT count(*) FROM video), (SELECT count(*) FROM moment), "
        "(SELECT count(*) FROM caption WHERE kind = 'published')"
    ).fetchone()
    return row[0], row[1], row[2]


def origin_counts(db: Database) -> dict[str, int]:
    """Count moments by where they come from, such as `imported`; origins without moments are left out."""
    return dict(db.conn.execute("SELECT origin, count(*) FROM moment GROUP BY origin ORDER BY origin").fetchall())


def published_captions(db: Database) -> list[CaptionRow]:
    """Return every caption as it was published or imported, sorted by id."""
    return captions_where(db, "kind = 'published'")


def captions_where(db: Database, where: str) -> list[CaptionRow]:
    """Return the captions that match an SQL condition on the table of captions, called `c` in it; sorted by id."""
    rows = db.conn.execute(f"SELECT caption_id, moment_id, text FROM caption AS c WHERE {where} ORDER BY caption_id")
    return [CaptionRow(row[0], MomentId(row[1]), row[2]) for row in rows]


@dataclass(frozen=True, slots=True)
class MomentDetails:
    """A moment with the name and duration of its video, for a release; `caption` is None if it has no caption."""

    video: str
    start_s: float
    end_s: float
    duration_s: float
    caption: str | None


def moment_details(db: Database) -> dict[MomentId, MomentDetails]:
    """Return every moment by id, with its first published caption, if any, and the duration of its video."""
    rows = db.conn.execute(
        "SELECT m.moment_id, v.name, m.start_s, m.end_s, v.duration_s, c.text "
        "FROM moment m JOIN video v USING (video_id) "
        "LEFT JOIN caption c ON c.caption_id = (SELECT min(f.caption_id) FROM caption f "
        "WHERE f.moment_id = m.moment_id AND f.kind = 'published') ORDER BY m.moment_id"
    )
    return {MomentId(r[0]): MomentDetails(*r[1:]) for r in rows}
