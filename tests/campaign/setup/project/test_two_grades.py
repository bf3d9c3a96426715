"""A campaign of two grades, from the first to the scores: nothing in the code counts to five, or says within one."""

import json
from collections import Counter
from pathlib import Path

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.rules import decide
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.nouns import Rounding, Verdict
from backend.campaign.qualification.guideline.versions import reword_guideline
from backend.campaign.release.earlier.raw_agreement import summarise_raw
from backend.campaign.release.export.freezing import export_release
from backend.campaign.setup.project import scale_file
from backend.store.connection import writing
from support import NOW, PARTLY, Judging, have_read

LATER = NOW + 15 * 60.0 + 1
# By hand: two that differ are a disagreement; of four, one lowest and one highest are dropped: three to one carries.
CASES: tuple[tuple[tuple[int, ...], Verdict, int | None], ...] = (
    ((0, 0), Verdict.CONSENSUS, 0),
    ((1, 1), Verdict.CONSENSUS, 1),
    ((0, 1, 1, 1), Verdict.CONSENSUS, 1),
    ((1, 0, 0, 0), Verdict.CONSENSUS, 0),
    ((0, 1, 0, 1), Verdict.DISCARDED, None),
    ((1, 0), Verdict.ESCALATED, None),
)


@pytest.fixture
def two(judging: Judging) -> Judging:
    reword_guideline(judging.project, judging.lead, scale_file.load_scale("matches"), "two are enough", now=NOW)
    have_read(judging.project)
    return judging


def settle(judging: Judging) -> Counter[int | None]:
    """Every pair graded as the cases say; how many pairs have each relevance."""
    wanted: Counter[int | None] = Counter()
    for nth, pair in enumerate(judging.pairs()):
        grades, verdict, relevance = CASES[nth % len(CASES)]
        for who, grade in enumerate(grades):
            assert judging.grade(who, pair.pair, grade).status == "saved"
        assert (judging.state(pair.pair).verdict, judging.state(pair.pair).relevance) == (verdict, relevance)
        wanted[relevance] += 1
    return wanted


def test_two_different_grades_are_a_disagreement(two: Judging) -> None:
    settle(two)
    assert two.grade(0, two.pairs()[0].pair, 2).message == "2 is not a grade: grades are 0 to 1"
    assert doctor(two.project, now=LATER).findings == ()


def test_my_work_counts_two_grades_and_equal_ones_as_agreement(two: Judging) -> None:
    settle(two)
    found = my_work(two.project, two.annotators[0], now=LATER)
    first = Counter(CASES[nth % len(CASES)][0][0] for nth in range(len(two.pairs())))
    assert found.grades == (first[0], first[1])
    assert found.agreement is not None
    assert found.agreement.tolerance == 0
    assert found.agreement.within == found.agreement.equal
    assert 0 < found.agreement.equal < 1, "the first grade was outvoted in two of six cases"


def test_a_release_says_what_its_grades_mean_and_its_raw_file_is_settled_alike(two: Judging, tmp_path: Path) -> None:
    wanted = settle(two)
    export_release(two.project, two.lead, tmp_path / "release", PARTLY, now=LATER)
    card = " ".join((tmp_path / "release" / "README.md").read_text().split())
    assert f"| relevance 0 / 1 | {wanted[0]} / {wanted[1]} |" in card
    assert "relevance 0 (does not match) to 1 (matches)" in card
    assert "Two grades that are equal are a consensus on their mean, rounded half up." in card
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest["scale"] == [{"grade": 0, "label": "Does not match"}, {"grade": 1, "label": "Matches"}]
    assert (manifest["tolerance"], manifest["rounding"]) == (0, "half_up")
    raw = tmp_path / "release" / "raw_annotation.csv"
    found = summarise_raw(raw, scale="matches")
    assert found["relevance"] == {"0": wanted[0], "1": wanted[1]}
    assert found["discarded"] + found["undecided"]["two"] == wanted[None]
    assert found["undefined"]["within_one_agreement"] == "with two grades, any two are within one"
    assert summarise_raw(raw)["undecided"]["two"] == 0, "TVR-Ranking's tolerance would call any two agreed"


@pytest.mark.parametrize(
    ("grades", "up", "down"), [((2, 3), 3, 2), ((3, 3), 3, 3), ((0, 4, 1, 2), 2, 1), ((0, 1), 1, 0)]
)
def test_a_mean_between_two_grades_becomes_what_the_campaign_says(grades: tuple[int, ...], up: int, down: int) -> None:
    assert decide(grades, 1, Rounding.HALF_UP).relevance == up
    assert decide(grades, 1, Rounding.HALF_DOWN).relevance == down


def test_a_campaign_that_rounds_down_stores_what_it_says(judging: Judging) -> None:
    with writing(judging.project.store) as db:
        db.conn.execute("UPDATE campaign SET rounding = 'half_down'")
    pair = judging.pairs()[0].pair
    judging.grade(0, pair, 2)
    judging.grade(1, pair, 3)
    assert judging.state(pair).relevance == 2
    assert doctor(judging.project, now=LATER).findings == ()
