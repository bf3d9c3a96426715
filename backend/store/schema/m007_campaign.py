"""Store the campaign's settings and its scale of grades, which were in the code and in a file before."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

FACTS = """
-- What this campaign is, in one row: every act reads it anew. Two seats a pair, two more after escalation: the rule
-- knows no other numbers yet.
CREATE TABLE campaign (
  campaign_id   INTEGER PRIMARY KEY CHECK (campaign_id = 1),
  batch_size    INTEGER NOT NULL CHECK (batch_size IN (20, 40)),
  tolerance     INTEGER NOT NULL CHECK (tolerance >= 0),
  rule_version  TEXT NOT NULL CHECK (rule_version <> ''),
  seats         INTEGER NOT NULL CHECK (seats = 2),
  further_seats INTEGER NOT NULL CHECK (further_seats = 2),
  exam_queries  INTEGER NOT NULL CHECK (exam_queries >= 1),
  exam_pairs    INTEGER NOT NULL CHECK (exam_pairs >= 1),
  exam_most_missed REAL NOT NULL CHECK (exam_most_missed BETWEEN 0 AND 100),
  gold          INTEGER NOT NULL CHECK (gold IN (0, 1)),
  gold_share    REAL NOT NULL CHECK (gold_share BETWEEN 0 AND 1),
  example_query TEXT NOT NULL
) STRICT;
CREATE TRIGGER campaign_no_delete BEFORE DELETE ON campaign
  BEGIN SELECT RAISE(ABORT, 'a project is one campaign'); END;

-- The grades from 0 on: `label` fits on a button, `meaning` below it, `detail` in the guideline; `example` is what a
-- clip of this grade shows for the campaign's `example_query`. Grades above 4 wait for the other tables' checks.
CREATE TABLE scale (
  grade         INTEGER PRIMARY KEY CHECK (grade BETWEEN 0 AND 4),
  label         TEXT NOT NULL CHECK (trim(label) <> ''),
  meaning       TEXT NOT NULL,
  detail        TEXT NOT NULL,
  example       TEXT NOT NULL
) STRICT
"""
BATCH_SIZE_SHOWN = (
    "SELECT CASE WHEN max(p.rank) > 20 THEN 40 ELSE 20 END FROM pair p JOIN batch b USING (batch_id) WHERE b.number = 1"
)
"""SQL for the batch size of the open batches; 20 if there are none."""
FIRST_CAMPAIGN = f"""
INSERT INTO campaign VALUES (1, ({BATCH_SIZE_SHOWN}), 1, 'tvr-ranking-1', 2, 2, 10, 10, 20.0, 0, 0.05,
  'A woman pours coffee into a red cup.')
"""
FIRST_SCALE = (
    (
        *(0, "Unrelated", "Shows something else", "Nothing that matters in the query can be seen."),
        "A man parks a car.",
    ),
    (
        *(1, "Touches", "Some points, not the main action"),
        "A thing or a place of the query is there, but its main action does not happen.",
        "A red cup stands on a table; nobody pours anything.",
    ),
    (
        *(2, "Partly", "Matches in part, clear gaps"),
        "The action is there in part: much of what is asked for is hidden, missing, or outside the clip.",
        "A woman pours coffee, but into a white mug and mostly out of sight.",
    ),
    (
        *(3, "Well", "Matches, a detail is off"),
        "The action matches; a detail is missing, or the clip holds some footage that does not belong.",
        "She pours coffee into a red cup, then a long chat follows.",
    ),
    (
        *(4, "Exactly", "All of it, and only that"),
        "Every action matches, is easy to see, and the clip covers it from start to end without surplus.",
        "She fills the red cup in full view; the clip begins and ends with the pouring.",
    ),
)
"""TVR-Ranking's grades, with the texts that annotators read."""
GRADED = ("judgement", "adjudication", "exam_answer")


@migrations()
def m007_campaign(db: SqliteDatabase) -> None:
    """Store the campaign's settings and its scale of grades, which were in the code and in a file before."""
    run(db, FACTS)
    db.conn.execute(FIRST_CAMPAIGN)
    db.conn.executemany("INSERT INTO scale VALUES (?, ?, ?, ?, ?)", FIRST_SCALE)
    graded = " OR ".join(f"EXISTS (SELECT 1 FROM {table})" for table in GRADED)
    for action in ("INSERT", "UPDATE", "DELETE"):
        db.conn.execute(
            f"CREATE TRIGGER scale_no_{action.lower()} BEFORE {action} ON scale WHEN {graded} "
            "BEGIN SELECT RAISE(ABORT, 'the scale is fixed once somebody has graded'); END"
        )
