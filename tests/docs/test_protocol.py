"""docs/protocol.md tells annotators what the guideline of a new project tells them, word for word."""

from pathlib import Path

from backend.store.schema.m007_campaign import FIRST_SCALE
from backend.store.schema.m014_guideline import FIRST_GUIDELINE

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")


def test_the_page_has_the_questions_of_the_guideline() -> None:
    questions = [(position, title, text) for kind, position, title, text in FIRST_GUIDELINE if kind == "question"]
    assert len(questions) == 3
    for position, title, text in questions:
        assert f"{position}. **{title}** {text}\n" in PAGE


def test_the_page_has_the_grades_of_the_guideline() -> None:
    for grade, label, meaning, detail, _ in FIRST_SCALE:
        assert f"| {grade} | {label} | {meaning} | {detail} |\n" in PAGE


def test_the_page_names_the_three_factors_of_the_paper() -> None:
    """TVR-Ranking, appendix B.1."""
    for factor in ("action match", "visual completeness", "temporal completeness", "within the frame"):
        assert factor in " ".join(PAGE.split())
