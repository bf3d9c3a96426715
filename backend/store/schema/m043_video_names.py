"""Normalise stored names of videos to composed Unicode (NFC), as every reader of files returns them."""

from backend.core.typed_text import nfc
from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations


@migrations()
def m043_video_names(db: SqliteDatabase) -> None:
    """Normalise the names of videos to composed Unicode (NFC).

    A name stays if another video already has its normalised form.

    `reelrank doctor` reports two names that differ only in this way.
    """
    names = [row[0] for row in db.conn.execute("SELECT name FROM video")]
    db.conn.executemany(
        "UPDATE OR IGNORE video SET name = ? WHERE name = ?",
        [(nfc(name), name) for name in names if nfc(name) != name],
    )
