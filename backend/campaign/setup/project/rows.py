"""SQL for the settings of the campaign, its scale of grades, and the versions of the guideline."""

from collections.abc import Callable

import msgspec

from backend.campaign.nouns import GradeMeaning, Rounding, Scale
from backend.campaign.setup.project.model import (
    ExamSettings,
    GoldSettings,
    Grading,
    GuidelineVersion,
    Question,
    StoredSettings,
    Terms,
)
from backend.core.ids import AnnotatorId
from backend.store.engine import Database, Select, fetch_one


def campaign(db: Database) -> StoredSettings:
    """Return the settings of the campaign, read anew at each call, because another process may change them."""
    row = db.conn.execute(
        "SELECT batch_size, rule_version, seats, further_seats, exam_queries, exam_pairs, exam_most_missed, tutorial "
        "FROM campaign"
    ).fetchone()
    return StoredSettings(
        batch_size=row[0],
        grading=grading(db),
        rule_version=row[1],
        seats=row[2],
        further_seats=row[3],
        exam=ExamSettings(row[4], row[5], row[6]),
        gold=gold(db),
        tutorial=bool(row[7]),
    )


def rule(db: Database) -> tuple[str, int, Rounding]:
    """Return the rule that turns a pair's grades into a verdict, as (version of the rule, tolerance, rounding).

    The tolerance is how far two grades may differ and still agree. The rounding is for a mean halfway between two
    grades.
    """
    return fetch_one(db, rule_select())


def rule_select() -> Select[tuple[str, int, Rounding]]:
    """Select the rule that turns a pair's grades into a verdict; see `rule`."""
    sql = "SELECT rule_version, tolerance, rounding FROM campaign"
    return Select(sql, {}, lambda rows: (rows[0][0], rows[0][1], Rounding(rows[0][2])))


def gold(db: Database) -> GoldSettings:
    """Return the settings of gold questions: pairs with known grades, hidden in annotators' work."""
    return fetch_one(db, gold_select())


def gold_select() -> Select[GoldSettings]:
    """Select the settings of gold questions: pairs with known grades, hidden in annotators' work."""
    sql = "SELECT gold, gold_share, gold_window, gold_fewest, gold_warn, gold_pause FROM campaign"
    return Select(sql, {}, lambda rows: GoldSettings(bool(rows[0][0]), *rows[0][1:]))


def set_gold(db: Database, new: GoldSettings) -> None:
    """Store the settings of gold questions: pairs with known grades, hidden in annotators' work."""
    db.conn.execute(
        "UPDATE campaign SET gold = ?, gold_share = ?, gold_window = ?, gold_fewest = ?, gold_warn = ?, gold_pause = ?",
        [new.on, new.share, new.window, new.fewest, new.warn, new.pause],
    )


def gold_key(db: Database) -> str:
    """Return the random key from which each annotator's order of gold questions is derived; empty if none is set.

    A gold question is a pair with a known grade, hidden in annotators' work.
    """
    key: str = db.conn.execute("SELECT gold_key FROM campaign").fetchone()[0]
    return key


def set_gold_key(db: Database, key: str) -> None:
    """Store the random key from which each annotator's order of gold questions is derived.

    A gold question is a pair with a known grade, hidden in annotators' work.
    """
    db.conn.execute("UPDATE campaign SET gold_key = ?", [key])


def grading(db: Database) -> Grading:
    """Return the scale of grades, the rules for combining grades, and the guideline of this campaign."""
    tolerance, rounding, example_query = db.conn.execute(
        "SELECT tolerance, rounding, example_query FROM campaign"
    ).fetchone()
    texts = db.conn.execute("SELECT kind, title, text FROM guideline ORDER BY position").fetchall()
    words = db.conn.execute("SELECT words FROM guideline_version ORDER BY version DESC LIMIT 1").fetchone()[0]
    return Grading(
        scale(db),
        tolerance,
        Rounding(rounding),
        example_query,
        tuple(Question(title, text) for kind, title, text in texts if kind == "question"),
        tuple(text for kind, _, text in texts if kind == "reminder"),
        _decoded(words).translations,
    )


def is_empty(db: Database) -> bool:
    """Return whether nobody has done anything with a project since its tables were made."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM event) OR EXISTS (SELECT 1 FROM annotator) OR EXISTS (SELECT 1 FROM video)"
    ).fetchone()
    return not row[0]


def set_grading(db: Database, new: Grading) -> None:
    """Store the scale and the guideline of a project that is being created.

    The tolerance (how far two grades may differ) and the rounding of means are stored too.
    """
    _replace_grades(db, new)
    _store_texts(db, new)
    db.conn.execute("UPDATE guideline_version SET words = ? WHERE version = 1", [_encoded(new)])


def add_version(db: Database, new: Grading, reason: str, lead: AnnotatorId | None, *, at: float) -> int:
    """Store a new version of the guideline, which applies from now on, and return its number.

    The database refuses a different number of grades once somebody has graded.
    """
    if new.scale.grades == scale(db).grades:
        db.conn.executemany(
            "UPDATE scale SET label = ?, meaning = ?, detail = ?, example = ? WHERE grade = ?",
            (
                (meaning.label, meaning.meaning, meaning.detail, meaning.example, meaning.grade)
                for meaning in new.scale.meanings
            ),
        )
    else:
        _replace_grades(db, new)
    _store_texts(db, new)
    number: int = db.conn.execute(
        "INSERT INTO guideline_version (version, since, lead_id, reason, words) "
        "SELECT max(version) + 1, ?, ?, ?, ? FROM guideline_version RETURNING version",
        [at, lead, reason, _encoded(new)],
    ).fetchone()[0]
    return number


def versions(db: Database) -> list[GuidelineVersion]:
    """Return all versions of the guideline, the first one first."""
    rows = db.conn.execute(
        "SELECT version, since, name, reason, words FROM guideline_version "
        "LEFT JOIN annotator ON annotator_id = lead_id ORDER BY version"
    )
    return [GuidelineVersion(row[0], row[1], row[2], row[3], _decoded(row[4])) for row in rows]


def version(db: Database) -> int:
    """Return the number of the guideline's current version."""
    number: int = db.conn.execute("SELECT max(version) FROM guideline_version").fetchone()[0]
    return number


def has_graded(db: Database) -> bool:
    """Return whether somebody has graded, so that the number of grades can no longer change."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM judgement) OR EXISTS (SELECT 1 FROM adjudication) "
        "OR EXISTS (SELECT 1 FROM exam_answer)"
    ).fetchone()
    return bool(row[0])


def set_tutorial(db: Database, on: bool) -> None:
    """Switch the tutorial for newcomers on or off."""
    db.conn.execute("UPDATE campaign SET tutorial = ?", [int(on)])


def scale(db: Database) -> Scale:
    """Return the grades that annotators may give, with their labels and meanings."""
    return fetch_one(db, scale_select())


def scale_select() -> Select[Scale]:
    """Select the grades that annotators may give, with their labels and meanings."""
    sql = "SELECT grade, label, meaning, detail, example FROM scale ORDER BY grade"
    return Select(sql, {}, lambda rows: Scale(tuple(GradeMeaning(*row) for row in rows)))


def set_batch_size(db: Database, size: int) -> None:
    """Store how many candidates of a query are handed out together; the database accepts 1 to 40."""
    db.conn.execute("UPDATE campaign SET batch_size = ?", [size])


def _replace_grades(db: Database, new: Grading) -> None:
    db.conn.execute("DELETE FROM scale")
    db.conn.executemany(
        "INSERT INTO scale (grade, label, meaning, detail, example) VALUES (?, ?, ?, ?, ?)",
        (
            (meaning.grade, meaning.label, meaning.meaning, meaning.detail, meaning.example)
            for meaning in new.scale.meanings
        ),
    )


def _store_texts(db: Database, new: Grading) -> None:
    """Store all parts of a guideline except its grades: texts, tolerance and rounding."""
    db.conn.execute(
        "UPDATE campaign SET tolerance = ?, rounding = ?, example_query = ?",
        [new.tolerance, new.rounding.value, new.example_query],
    )
    db.conn.execute("DELETE FROM guideline")
    questions = [("question", n, question.title, question.text) for n, question in enumerate(new.questions, start=1)]
    reminded = [("reminder", n, "", text) for n, text in enumerate(new.reminders, start=1)]
    db.conn.executemany("INSERT INTO guideline (kind, position, title, text) VALUES (?, ?, ?, ?)", questions + reminded)


def _encoded(grading: Grading) -> str:
    return msgspec.json.encode(grading).decode()


_decoded: Callable[[str], Grading] = msgspec.json.Decoder(Grading).decode


def add_terms(db: Database, licence: str, citation: str, reason: str, *, at: float, by: AnnotatorId | None) -> None:
    """Store a new licence of releases, and how to cite them."""
    db.conn.execute(
        "INSERT INTO terms (licence, citation, reason, lead_id, set_at) VALUES (?, ?, ?, ?, ?)",
        [licence, citation, reason, by, at],
    )


def terms(db: Database) -> Terms:
    """Return the current licence and citation of releases."""
    row = db.conn.execute(
        "SELECT licence, citation, reason, name, set_at FROM terms LEFT JOIN annotator ON annotator_id = lead_id "
        "ORDER BY terms_id DESC LIMIT 1"
    ).fetchone()
    return Terms(*row) if row else Terms()
