"""Which modules are mutated, and which tests have to notice.

A room is looked at by its own tests and the doctests of its modules, so that a fault is found where it lies and not by
a test that happens to pass through.
"""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Room:
    """Modules below `backend/` (files or folders) and the tests below `tests/` that hold them."""

    code: str
    tests: tuple[str, ...]

    def modules(self, root: Path = ROOT) -> list[str]:
        """The modules that hold functions, as paths from the root, sorted."""
        place = root / "backend" / self.code
        files = [place] if place.is_file() else place.glob("*.py")
        return sorted(str(file.relative_to(root)) for file in files if file.name != "__init__.py")

    def test_files(self, root: Path = ROOT) -> list[str]:
        """The files of its tests, as paths from the root, sorted."""
        places = [root / "tests" / test for test in self.tests]
        files = [file for place in places for file in ([place] if place.is_file() else place.glob("test_*.py"))]
        return sorted(str(file.relative_to(root)) for file in files)


ROOMS = (
    Room("scoring/measures", ("scoring/measures",)),
    Room("scoring/matching/matching.py", ("scoring/matching/test_matching.py", "scoring/measures/test_ndcg.py")),
    Room("scoring/matching/ious.py", ("scoring/matching/test_ious.py",)),
    Room("scoring/matching/found.py", ("scoring/matching/test_found.py",)),
    Room("scoring/matching/columns.py", ("scoring/matching/test_columns.py",)),
    Room("scoring/matching/suppression.py", ("scoring/matching/test_suppression.py",)),
    Room("scoring/matching/discount.py", ("scoring/measures/test_ndcg.py",)),
    Room("scoring/matching/abandonment.py", ("scoring/measures/test_ncxiou.py",)),
    Room("campaign/judging/rules.py", ("campaign/judging/test_rules.py", "campaign/judging/test_rules_properties.py")),
    Room("campaign/batches/rules.py", ("campaign/batches/test_rules.py",)),
    Room("campaign/gold/rules.py", ("campaign/gold/test_rules.py",)),
    Room(
        "campaign/exam/rules",
        (
            "campaign/exam/test_guessing.py",
            "campaign/exam/test_keys.py",
            "campaign/exam/test_outcomes.py",
            "campaign/exam/test_spreading.py",
        ),
    ),
    Room("campaign/candidates/rules/pooling.py", ("campaign/candidates/test_pooling_rules.py",)),
    Room("campaign/candidates/rules/probes.py", ("campaign/candidates/test_probe_rules.py",)),
    Room("campaign/activity/rules.py", ("campaign/activity/test_activity_rules.py",)),
    Room(
        "campaign/pools/rules",
        ("campaign/pools/test_drawing.py", "campaign/pools/test_selecting.py", "campaign/pools/test_thresholds.py"),
    ),
    Room(
        "campaign/queries/rules/drawing.py",
        ("campaign/queries/test_drawing.py", "campaign/queries/test_drawing_properties.py"),
    ),
    Room("campaign/queries/rules/own.py", ("campaign/queries/test_own.py",)),
    Room("campaign/quality/rules/aggregators.py", ("campaign/quality/test_aggregators.py",)),
    Room("campaign/quality/rules/agreement.py", ("campaign/quality/test_agreement.py",)),
    Room("campaign/quality/rules/people.py", ("campaign/quality/test_people_rules.py",)),
    Room("campaign/quality/rules/bootstrap.py", ("campaign/quality/test_bootstrap.py",)),
    Room("campaign/quality/rules/figures.py", ("campaign/quality/test_figures.py",)),
    Room("campaign/quality/rules/intervals.py", ("campaign/quality/test_intervals.py",)),
    Room("campaign/quality/rules/pairs.py", ("campaign/quality/test_pairs.py",)),
    Room("campaign/quality/rules/summary.py", ("campaign/quality/test_summary.py",)),
    Room("campaign/quality/rules/flags.py", ("campaign/quality/test_flag_rules.py",)),
    Room("campaign/quality/rules/flag_words.py", ("campaign/quality/test_flag_words.py",)),
    Room("campaign/quality/rules/pace.py", ("campaign/quality/test_pace.py",)),
    Room("campaign/quality/rules/narrowing.py", ("campaign/quality/test_narrowing.py",)),
    Room("campaign/quality/rules/origins.py", ("campaign/quality/test_narrowing.py",)),
    Room("campaign/quality/rules/columns.py", ("campaign/quality/test_column_rules.py",)),
    Room("campaign/quality/rules/board.py", ("campaign/quality/test_board.py",)),
    Room("campaign/quality/rules/board_tables.py", ("campaign/quality/test_board_tables.py",)),
    Room("campaign/pool_check/rules.py", ("campaign/pool_check/test_rules.py",)),
    Room("campaign/moments/rules.py", ("campaign/moments/test_rules.py",)),
    Room("campaign/hours/rules.py", ("campaign/hours/test_hours_rules.py",)),
    Room("campaign/steering/rules.py", ("campaign/steering/test_steering_rules.py",)),
    Room("campaign/statistics/rules.py", ("campaign/statistics/test_rules.py",)),
    Room("campaign/describing/rules.py", ("campaign/describing/test_rules.py",)),
    Room("campaign/captions/rules/differences.py", ("campaign/captions/test_differences.py",)),
    Room("campaign/captions/rules/proposing.py", ("campaign/captions/test_proposing.py",)),
    Room("campaign/captions/rules/slips.py", ("campaign/captions/test_spelling.py",)),
    Room("campaign/captions/rules/spelling.py", ("campaign/captions/test_spelling.py",)),
    *(
        Room(
            f"campaign/captions/rules/{name}.py",
            (
                "campaign/captions/test_rules.py",
                "campaign/captions/test_rules_properties.py",
                "campaign/captions/test_spelling.py",
                "campaign/captions/test_word_rules.py",
            ),
        )
        for name in ("replacing", "mentions", "names", "joining", "cast", "counting", "text")
    ),
    Room("campaign/release/rules/checks.py", ("campaign/release/test_checks.py",)),
    Room("campaign/release/rules/diffing.py", ("campaign/release/test_diffing_rules.py",)),
    Room("campaign/release/rules/documents.py", ("campaign/release/test_documents.py",)),
    Room("campaign/release/rules/pair_checks.py", ("campaign/release/test_pair_checks.py",)),
    Room("campaign/release/rules/returning.py", ("campaign/release/test_returning.py",)),
    Room("campaign/release/rules/selecting.py", ("campaign/release/test_selecting_rules.py",)),
    Room("campaign/release/statistics/rules.py", ("campaign/release/test_statistics_rules.py",)),
    Room("campaign/review/rules.py", ("campaign/review/test_rules.py",)),
    Room("campaign/serving/rules.py", ("campaign/serving/test_rules.py",)),
    Room("campaign/corpus/rules/checks.py", ("campaign/corpus/test_checks.py", "campaign/corpus/test_corpus_files.py")),
    Room("campaign/corpus/rules/naming.py", ("campaign/corpus/test_naming.py",)),
    Room("campaign/earlier/rules/campaign_files.py", ("campaign/earlier/test_campaign_files.py",)),
    Room("campaign/earlier/rules/raw_annotation.py", ("campaign/earlier/test_raw_annotation.py",)),
    Room("campaign/explore/rules.py", ("campaign/explore/test_rules.py",)),
    Room("campaign/guideline/rules.py", ("campaign/guideline/test_rules.py",)),
    Room("campaign/project/rules.py", ("campaign/project/test_rules.py",)),
)
