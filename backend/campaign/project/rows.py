"""The row that says what the campaign is, and its scale."""

from backend.campaign.nouns import GradeMeaning, Scale
from backend.campaign.project.model import Campaign, ExamSettings, GoldSettings
from backend.store.engine import Database


def campaign(db: Database) -> Campaign:
    """What the campaign is just now; another process may have written it a moment ago."""
    row = db.conn.execute(
        "SELECT batch_size, tolerance, rule_version, seats, further_seats, exam_queries, exam_pairs, exam_most_missed, "
        "gold, gold_share, example_query FROM campaign"
    ).fetchone()
    return Campaign(
        batch_size=row[0],
        scale=scale(db),
        tolerance=row[1],
        rule_version=row[2],
        seats=row[3],
        further_seats=row[4],
        exam=ExamSettings(row[5], row[6], row[7]),
        gold=GoldSettings(bool(row[8]), row[9]),
        example_query=row[10],
    )


def scale(db: Database) -> Scale:
    """The grades that people may give."""
    rows = db.conn.execute("SELECT grade, label, meaning, detail, example FROM scale ORDER BY grade")
    return Scale(tuple(GradeMeaning(*row) for row in rows))


def set_batch_size(db: Database, size: int) -> None:
    """Hand out so many candidates of a query together; the schema knows 1 to 40."""
    db.conn.execute("UPDATE campaign SET batch_size = ?", [size])
