"""Names of videos are kept in their composed form (NFC), in which every reader gives them."""

from backend.core.typed_text import nfc
from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations


@migrations()
def m043_video_names(db: SqliteDatabase) -> None:
    """Compose the names of videos. One whose composed name another video has keeps its own; `doctor` names both."""
    names = [row[0] for row in db.conn.execute("SELECT name FROM video")]
    db.conn.executemany(
        "UPDATE OR IGNORE video SET name = ? WHERE name = ?",
        [(nfc(name), name) for name in names if nfc(name) != name],
    )
