"""List the modules for mutation tests, each with the tests that have to notice faults in it.

Modules are tried only with these tests and their own doctests. So a fault has to be noticed where it is, not by a
distant test that happens to use the code.
"""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Room:
    """A group of modules with the tests that have to notice faults in them.

    Attributes:
        code: the module, or the folder of modules, as a path below `backend/`.
        tests: the test files or folders, as paths below `tests/`.
    """

    code: str
    tests: tuple[str, ...]

    def modules(self, root: Path = ROOT) -> list[str]:
        """Return the modules, as sorted paths from `root`, without `__init__.py`."""
        place = root / "backend" / self.code
        files = [place] if place.is_file() else place.glob("*.py")
        return sorted(str(file.relative_to(root)) for file in files if file.name != "__init__.py")

    def test_files(self, root: Path = ROOT) -> list[str]:
        """Return the test files, as sorted paths from `root`."""
        places = [root / "tests" / test for test in self.tests]
        files = [file for place in places for file in ([place] if place.is_file() else place.glob("test_*.py"))]
        return sorted(str(file.relative_to(root)) for file in files)


ROOMS = (
    Room("scoring/measures", ("scoring/measures",)),
    Room(
        "scoring/matching/greedy.py",
        ("scoring/matching/test_greedy.py", "scoring/matching/test_ious.py", "scoring/measures/test_ndcg.py"),
    ),
    Room("scoring/matching/found.py", ("scoring/matching/test_found.py",)),
    Room("scoring/matching/columns.py", ("scoring/matching/test_columns.py",)),
    Room("scoring/matching/suppression.py", ("scoring/matching/test_suppression.py",)),
    Room("scoring/matching/discount.py", ("scoring/measures/test_ndcg.py", "scoring/measures/test_ncxiou.py")),
    Room(
        "campaign/judging/rules.py",
        (
            "campaign/judging/test_rules.py",
            "campaign/judging/test_rules_properties.py",
            "campaign/judging/test_pace.py",
        ),
    ),
    Room("campaign/selection/batches/model.py", ("campaign/selection/batches/test_rules.py",)),
    Room(
        "campaign/qualification/answers/rules.py",
        ("campaign/qualification/exam/test_outcomes.py", "campaign/qualification/gold/test_rules.py"),
    ),
    Room("campaign/qualification/gold/rules.py", ("campaign/qualification/gold/test_rules.py",)),
    Room(
        "campaign/qualification/exam/rules",
        (
            "campaign/qualification/exam/test_guessing.py",
            "campaign/qualification/exam/test_answer_key.py",
            "campaign/qualification/exam/test_outcomes.py",
            "campaign/qualification/exam/test_spreading.py",
        ),
    ),
    Room(
        "campaign/selection/candidates/model.py",
        ("campaign/selection/candidates/test_pooling_rules.py", "campaign/selection/candidates/test_probe_rules.py"),
    ),
    Room("campaign/monitoring/activity/rules.py", ("campaign/monitoring/activity/test_activity_rules.py",)),
    Room("core/events.py", ("core/test_events.py", "campaign/monitoring/activity/test_activity_rules.py")),
    Room(
        "campaign/selection/pools/rules.py",
        (
            "campaign/selection/pools/test_drawing.py",
            "campaign/selection/pools/test_selecting.py",
            "campaign/selection/pools/test_thresholds.py",
        ),
    ),
    Room(
        "campaign/selection/queries/rules.py",
        (
            "campaign/selection/queries/test_drawing.py",
            "campaign/selection/queries/test_drawing_properties.py",
            "campaign/selection/queries/test_own.py",
        ),
    ),
    Room("campaign/monitoring/quality/rules/aggregators.py", ("campaign/monitoring/quality/test_aggregators.py",)),
    Room("scoring/statistics/agreement.py", ("scoring/statistics/test_agreement.py",)),
    Room(
        "campaign/monitoring/quality/rules/people.py",
        ("campaign/monitoring/quality/test_people_rules.py", "campaign/monitoring/quality/test_intervals.py"),
    ),
    Room("scoring/statistics/bootstrap.py", ("scoring/statistics/test_bootstrap.py",)),
    Room(
        "campaign/monitoring/quality/rules/figures.py",
        ("campaign/monitoring/quality/test_figures.py", "campaign/monitoring/quality/test_summary.py"),
    ),
    Room(
        "campaign/monitoring/quality/rules/pairs.py",
        ("campaign/monitoring/quality/test_pairs.py", "campaign/monitoring/quality/test_column_rules.py"),
    ),
    Room("campaign/monitoring/quality/rules/flags.py", ("campaign/monitoring/quality/test_flag_rules.py",)),
    Room("campaign/monitoring/quality/rules/flag_words.py", ("campaign/monitoring/quality/test_flag_words.py",)),
    Room(
        "campaign/monitoring/quality/rules/board.py",
        ("campaign/monitoring/quality/test_origins.py", "campaign/monitoring/quality/test_board.py"),
    ),
    Room("campaign/monitoring/quality/rules/board_tables.py", ("campaign/monitoring/quality/test_board_tables.py",)),
    Room("campaign/selection/pools/model.py", ("campaign/selection/pools/test_sampling.py",)),
    Room("campaign/corpus/moments/model.py", ("campaign/corpus/moments/test_rules.py",)),
    Room("campaign/monitoring/hours/rules.py", ("campaign/monitoring/hours/test_hours_rules.py",)),
    Room("campaign/monitoring/progress/rules.py", ("campaign/monitoring/progress/test_progress_rules.py",)),
    Room("campaign/release/judge_report/rules.py", ("campaign/release/judge_report/test_judge_rules.py",)),
    Room("campaign/release/statistics/rules.py", ("campaign/release/statistics/test_rules.py",)),
    Room("campaign/corpus/describing/rules.py", ("campaign/corpus/describing/test_rules.py",)),
    Room("campaign/corpus/captions/rules/comparing.py", ("campaign/corpus/captions/test_differences.py",)),
    Room("campaign/corpus/captions/rules/proposing.py", ("campaign/corpus/captions/test_proposing.py",)),
    Room("campaign/corpus/captions/rules/slips.py", ("campaign/corpus/captions/test_spelling.py",)),
    *(
        Room(
            f"campaign/corpus/captions/rules/{name}.py",
            (
                "campaign/corpus/captions/test_rules.py",
                "campaign/corpus/captions/test_rules_properties.py",
                "campaign/corpus/captions/test_spelling.py",
                "campaign/corpus/captions/test_word_rules.py",
            ),
        )
        for name in ("grouping", "replacing", "names", "spelling")
    ),
    Room("campaign/release/export/rules/checks.py", ("campaign/release/export/test_checks.py",)),
    Room("campaign/release/export/rules/diffing.py", ("campaign/release/export/test_diffing_rules.py",)),
    Room(
        "campaign/release/export/rules/documents.py",
        ("campaign/release/export/test_documents.py", "campaign/release/export/test_selecting_rules.py"),
    ),
    Room("campaign/release/export/rules/pair_checks.py", ("campaign/release/export/test_pair_checks.py",)),
    Room("campaign/release/export/rules/returning.py", ("campaign/release/export/test_returning.py",)),
    Room("campaign/release/export/rules/statistics.py", ("campaign/release/export/test_statistics_rules.py",)),
    Room("campaign/review/rules.py", ("campaign/review/test_rules.py",)),
    Room("campaign/setup/serving/rules.py", ("campaign/setup/serving/test_rules.py",)),
    Room(
        "campaign/corpus/importing/rules.py",
        (
            "campaign/corpus/importing/test_checks.py",
            "campaign/corpus/importing/test_corpus_files.py",
            "campaign/corpus/importing/test_naming.py",
        ),
    ),
    Room("campaign/release/earlier/rules/campaign_files.py", ("campaign/release/earlier/test_campaign_files.py",)),
    Room("campaign/release/earlier/rules/raw_annotation.py", ("campaign/release/earlier/test_raw_annotation.py",)),
    *(
        Room(f"campaign/release/replay/rules/{name}.py", ("campaign/release/replay/test_policies.py",))
        for name in ("outcome", "truth")
    ),
    Room("campaign/monitoring/explore/rules.py", ("campaign/monitoring/explore/test_rules.py",)),
    Room("campaign/qualification/guideline/rules.py", ("campaign/qualification/guideline/test_rules.py",)),
    Room("campaign/setup/project/model.py", ("campaign/setup/project/test_rules.py",)),
)
