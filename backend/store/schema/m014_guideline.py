"""Store how mean grades are rounded, and the guideline's texts, which were in the code before."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# A mean of x.5 becomes x + 1 or x.
ROUNDING = (
    "ALTER TABLE campaign ADD COLUMN rounding TEXT NOT NULL DEFAULT 'half_up' CHECK (rounding IN ('half_up', "
    "'half_down'))"
)
GUIDELINE = """
-- What annotators ask themselves at every pair, and what they keep in mind; a reminder has no title.
CREATE TABLE guideline (
  kind          TEXT NOT NULL CHECK (kind IN ('question', 'reminder')),
  position      INTEGER NOT NULL CHECK (position >= 1),
  title         TEXT NOT NULL CHECK ((kind = 'reminder') = (title = '')),
  text          TEXT NOT NULL CHECK (trim(text) <> ''),
  PRIMARY KEY (kind, position)
) STRICT
"""
FIRST_GUIDELINE = (
    ("question", 1, "Do the actions match?", "Compare what people do with what the query says they do."),
    (
        *("question", 2, "Can you see it all?"),
        "The action should be in the picture, large and clear enough to follow.",
    ),
    ("question", 3, "Is it all in the clip?", "From its beginning to its end, and with little else around it."),
    (
        *("reminder", 1, ""),
        "A person alone is like a stop word: that somebody is there makes no clip relevant.",
    ),
    ("reminder", 2, "", "It is fine if nothing is relevant. A query may have no good clip at all."),
    ("reminder", 3, "", "Judge each clip by itself, not against the one before it."),
)
"""TVR-Ranking's guideline, with the texts that annotators read."""


@migrations()
def m014_guideline(db: SqliteDatabase) -> None:
    """Store how mean grades are rounded, and the guideline's texts beside the grades."""
    db.conn.execute(ROUNDING)
    run(db, GUIDELINE)
    db.conn.executemany("INSERT INTO guideline VALUES (?, ?, ?, ?)", FIRST_GUIDELINE)
