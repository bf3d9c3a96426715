"""`reelrank agreement`: the figures of the published file, a project and its release, what is refused."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import list_queries
from cli.conftest import Run
from support import NOW, PARTLY, Judging


@pytest.mark.long
def test_the_published_grades_give_the_published_figures(reelrank: Run, shared: Path) -> None:
    raw = shared / "data/tvr_ranking/raw_annotation.csv"
    expected = json.loads((shared / "golden/stats.json").read_text())["real_agreement"]
    code, out, err = reelrank("agreement", raw, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    figures = found["figures"]
    assert figures["alpha_ordinal"]["value"] == pytest.approx(expected["alpha_ordinal_all_ratings"], abs=1e-9)
    assert figures["alpha_nominal"]["value"] == pytest.approx(expected["alpha_nominal_all"], abs=1e-9)
    assert figures["alpha_interval"]["value"] == pytest.approx(expected["alpha_interval_all"], abs=1e-9)
    once = figures["alpha_ordinal_first_per_annotator"]["value"]
    assert once == pytest.approx(expected["alpha_ordinal_first_per_worker"], abs=1e-9)
    assert figures["alpha_ordinal_first_round"]["value"] is None
    assert figures["alpha_ordinal_first_round"]["reason"] == "the file does not say which of four grades came first"
    assert figures["share_settled_by_two"]["value"] == pytest.approx(0.8194, abs=5e-5)
    assert figures["share_rounded"]["value"] == pytest.approx(0.51, abs=5e-3)
    # Every pair has two grades or more, so each is in the map of lowest and highest grades.
    lowest_highest = np.array(found["lowest_highest"])
    assert lowest_highest.sum() == 96_483
    # Figure 5a has 0.01 for a lowest grade of 0 and a highest of 4: a share of 0.0068, not one pair in ten thousand.
    assert (lowest_highest[0, 4], round(lowest_highest[0, 4] / 96_483, 2)) == (655, 0.01)
    assert lowest_highest.trace() + lowest_highest.trace(1) == 80_500  # "the majority" differ by at most 1
    assert sum(person["grades"] for person in found["people"]) == 227_808
    whole = dict.fromkeys(("by_two", "by_four", "adjudicated", "discarded", "waiting"), 0)
    whole |= {key: found["settled"][0][key] for key in whole}
    assert (whole["by_two"] + whole["by_four"], whole["discarded"], whole["waiting"]) == (94_442, 2_041, 0)

    # What `consensus` has too, it has by the same keys.
    consensus = json.loads(reelrank("consensus", raw, "--json")[1])
    assert {key: found[key] for key in consensus} == consensus
    assert (consensus["rows"], consensus["annotators"], consensus["pairs"]) == (227_808, 21, 96_483)
    assert list(consensus["relevance"].values()) == [5929, 19245, 30056, 24439, 14773]
    assert (consensus["consensus"], consensus["discarded"]) == (94_442, 2_041)
    assert consensus["alpha_ordinal"] == pytest.approx(0.6149846647249602, abs=1e-9)


@pytest.fixture
def graded(judging: Judging) -> Judging:
    """One or two grades for all pairs but the last, near what a rule of thumb of the pair's number says."""
    rng = np.random.default_rng(3)
    for number, pair in enumerate(judging.pairs()[:-1]):
        for who in rng.permutation(4)[: 1 if number % 7 == 0 else 2]:
            judging.grade(int(who), pair.pair, int(np.clip(number % 5 + rng.integers(-1, 2), 0, 4)))
    return judging


def test_a_project_and_its_released_grades_give_the_same(reelrank: Run, graded: Judging, tmp_path: Path) -> None:
    export_release(graded.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)
    (raw,) = (tmp_path / "release").glob("raw_annotation*.csv")
    of_project = json.loads(reelrank("agreement", graded.project.folder, "--json")[1])
    of_file = json.loads(reelrank("agreement", raw, "--json")[1])
    names = {row["worker"] for row in csv.DictReader(raw.read_text(encoding="utf-8").splitlines())}
    assert len(of_project["people"]) == len(names)
    assert of_project["figures"]["alpha_ordinal_first_round"]["value"] is not None
    for key in ("rows", "pairs", "relevance", "undecided", "figures", "lowest_highest", "histogram"):
        assert of_project[key] == of_file[key], key
    assert [part["part"] for part in of_project["settled"]] == ["all", "val", "test"]


def test_a_project_may_be_asked_for_a_part(reelrank: Run, graded: Judging, tmp_path: Path) -> None:
    folder = graded.project.folder
    whole, part = (json.loads(reelrank("agreement", folder, "--json", *more)[1]) for more in ((), ("--split", "test")))
    assert part["settled"][0]["pairs"] == next(one["pairs"] for one in whole["settled"] if one["part"] == "test")
    assert {one["split"] for one in part["queries"]} == {"test"}
    for wrong, said in (
        (("--split", "tset"), "there is no split tset: choose one of val, test"),
        (("--query", "nobody"), "no judged query has the text 'nobody'"),
    ):
        assert said in reelrank.refusal("agreement", folder, *wrong)
    (tmp_path / "raw.csv").write_text("pair_id,worker,relevance\na,1,2\n")
    for usage in (
        (tmp_path / "raw.csv", "--split", "val"),
        (folder, "--from", "March"),
        (folder, "--to", "2026-13-01"),
    ):
        assert reelrank("agreement", *usage)[0] == 2


def test_the_words_hold_every_figure_and_why_one_is_undefined(reelrank: Run, tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("pair_id,worker,relevance\na,1,2\na,2,3\nb,1,0\nb,2,0\n")
    out = reelrank.out("agreement", tmp_path / "raw.csv")
    assert "4 grades by 2 annotators for 2 pairs" in out
    assert "no two annotators share 50 pairs" in " ".join(out.split())
    assert "Pairs settled by two" in out
    assert "-0.500" in out, "the bias of the first annotator, -1 and 0 of two pairs"


def test_a_scale_is_refused_for_a_project(reelrank: Run, judging: Judging) -> None:
    code, _, err = reelrank("agreement", judging.project.folder, "--scale", "matches")
    assert code == 2
    assert "a project has its own scale" in " ".join(err.replace("│", " ").split())


def test_a_project_without_grades_says_so(reelrank: Run, judging: Judging) -> None:
    out = reelrank.out("agreement", judging.project.folder)
    assert "0 grades by 0 annotators for 0 pairs" in out
    assert "no pair has two grades" in " ".join(out.split())


def test_other_ways_are_compared_and_change_nothing(reelrank: Run, graded: Judging, tmp_path: Path) -> None:
    # One pair that a lead decides on, so that there is something else than the rule.
    pair = graded.pairs()[-1].pair
    for who, grade in enumerate([0, 4, 0, 4]):
        graded.grade(who, pair, grade)
    adjudicate(graded.project, graded.lead, pair, 1, "the clip begins later", now=NOW)
    before = [(one.pair, one.relevance) for one in graded.pairs()]
    assert "The rule does not change" in reelrank.out(
        "agreement", graded.project.folder, "--others", tmp_path / "others.csv"
    )
    rows = list(csv.DictReader((tmp_path / "others.csv").read_text(encoding="utf-8").splitlines()))
    (decided,) = [row for row in rows if row["by_lead"] == "1"]
    assert (decided["grades"], decided["final"], decided["mean"], decided["median"]) == ("0 0 4 4", "1", "2", "2")
    assert decided["query"] in {query.query for query in list_queries(graded.project, OPERATOR)}
    assert all(row["final"] != row["mean"] or row["final"] != row["dawid_skene"] for row in rows)
    found = json.loads(reelrank("agreement", graded.project.folder, "--json", "--others", tmp_path / "o.csv")[1])
    assert [one["name"] for one in found["others"]] == ["mean", "median", "dawid_skene"]
    assert [(one.pair, one.relevance) for one in graded.pairs()] == before
