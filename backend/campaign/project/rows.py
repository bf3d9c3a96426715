"""The row that says what the campaign is, and its scale."""

from backend.campaign.nouns import GradeMeaning, Rounding, Scale
from backend.campaign.project.model import Campaign, ExamSettings, GoldSettings, Grading, Question
from backend.store.engine import Database


def campaign(db: Database) -> Campaign:
    """What the campaign is just now; another process may have written it a moment ago."""
    row = db.conn.execute(
        "SELECT batch_size, rule_version, seats, further_seats, exam_queries, exam_pairs, exam_most_missed, gold, "
        "gold_share FROM campaign"
    ).fetchone()
    return Campaign(
        batch_size=row[0],
        grading=grading(db),
        rule_version=row[1],
        seats=row[2],
        further_seats=row[3],
        exam=ExamSettings(row[4], row[5], row[6]),
        gold=GoldSettings(bool(row[7]), row[8]),
    )


def grading(db: Database) -> Grading:
    """By what people grade in this campaign."""
    tolerance, rounding, example_query = db.conn.execute(
        "SELECT tolerance, rounding, example_query FROM campaign"
    ).fetchone()
    texts = db.conn.execute("SELECT kind, title, text FROM guideline ORDER BY position").fetchall()
    return Grading(
        scale(db),
        tolerance,
        Rounding(rounding),
        example_query,
        tuple(Question(title, text) for kind, title, text in texts if kind == "question"),
        tuple(text for kind, _, text in texts if kind == "reminder"),
    )


def set_grading(db: Database, new: Grading) -> None:
    """Grade by something else from now on; the database refuses it once somebody has graded."""
    db.conn.execute("DELETE FROM scale")
    db.conn.executemany(
        "INSERT INTO scale (grade, label, meaning, detail, example) VALUES (?, ?, ?, ?, ?)",
        ((one.grade, one.label, one.meaning, one.detail, one.example) for one in new.scale.meanings),
    )
    db.conn.execute(
        "UPDATE campaign SET tolerance = ?, rounding = ?, example_query = ?",
        [new.tolerance, new.rounding.value, new.example_query],
    )
    db.conn.execute("DELETE FROM guideline")
    asked = [("question", n, one.title, one.text) for n, one in enumerate(new.questions, start=1)]
    reminded = [("reminder", n, "", text) for n, text in enumerate(new.reminders, start=1)]
    db.conn.executemany("INSERT INTO guideline (kind, position, title, text) VALUES (?, ?, ?, ?)", asked + reminded)


def scale(db: Database) -> Scale:
    """The grades that people may give."""
    rows = db.conn.execute("SELECT grade, label, meaning, detail, example FROM scale ORDER BY grade")
    return Scale(tuple(GradeMeaning(*row) for row in rows))


def set_batch_size(db: Database, size: int) -> None:
    """Hand out so many candidates of a query together; the schema knows 1 to 40."""
    db.conn.execute("UPDATE campaign SET batch_size = ?", [size])
