"""An index for what every rewriting does."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations

# Without it, each rewrite that is replaced costs a look at every caption: a quarter of a minute at 8,000 captions, and
# a hundred times that at 80,000.
SOURCE = "CREATE INDEX caption_source ON caption (source_caption_id)"


@migrations()
def m013_caption_source(db: SqliteDatabase) -> None:
    """The rewrites of a caption, found at once."""
    db.conn.execute(SOURCE)
