"""Writes docs/schema.md from the migrations: `make docs`. A test compares the two."""

import tempfile
from pathlib import Path

from backend.core.events import find_events
from backend.store import connection

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"


def page() -> str:
    """The page as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        store = connection.create(Path(folder) / "reelrank.db")
        rows = store.db.conn.execute(
            "SELECT type, name, sql FROM sqlite_master "
            "WHERE sql IS NOT NULL AND name NOT LIKE '%sqlite_%' ORDER BY rowid"
        ).fetchall()
        level = store.schema_level
        store.close()
    parts = [
        "# Tables\n\nGenerated from `backend/store/schema/` by `make docs`; do not edit.\n\n"
        f"Schema level: `{level}`. `judgement`, `adjudication`, `ruling`, `event`, `exam_answer`, `exam_ruling`, "
        "`rewrite_request`, `rewrite_answer`, `practice_answer`, `gold_answer`, `gold_finding`, `note` and its "
        "replies, `terms` and `release` are append-only; `consensus` and `agenda` are derived and may be dropped and "
        "rebuilt; `seat` and `gold_seat` "
        "are where places change hands; a row of `skip`, `example`, `practice` or `declined_batch` changes once, when "
        "it ends, a row of `exam` when its key is there (with its "
        "items), when its answers are used, and when it ends. The explanation of an `exam_item` may be reworded, and "
        "an `exam_attempt` notes when it was handed in and its result read. A row of `kept_truth` or `kept_run` is "
        "never changed, only removed as a whole; a row of `model_grade` goes with its pair. "
        "`campaign` has one row; the grades of `scale` are fixed with the "
        "first one given, their words have versions: a row of `guideline_version` each, never changed, as "
        "those of `batch_rule`. Rows of `personal_token`, `webhook` and "
        "`webhook_delivery` are in no copy of the database. "
        "`sign_in_attempt`, `known_browser`, `desk_window`, `draft` and `job` are what "
        "front ends share of the moment, no record of anything: they may be emptied at any time.\n"
    ]
    for kind in ("table", "view", "index", "trigger"):
        found = [(row["name"], row["sql"]) for row in rows if row["type"] == kind]
        parts.append(f"## {kind.capitalize()}{'es' if kind == 'index' else 's'}\n")
        parts += [f"### {name}\n\n```sql\n{sql}\n```\n" for name, sql in found]
    parts.append("## Events\n\n" + "\n".join(f"- `{kind}`" for kind in find_events()) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
