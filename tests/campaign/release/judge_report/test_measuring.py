"""The judge report over a real project: which pairs it compares, and how it orders the project's runs."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.monitoring.model_judge.model import Judge
from backend.campaign.monitoring.model_judge.unfolding import unfold_model_grades
from backend.campaign.nouns import OPERATOR, Person, Role, Verdict
from backend.campaign.release.board.kept_runs import add_run
from backend.campaign.release.judge_report.measuring import differences_csv, judge_of, judge_report
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.model import PairReview, ReviewList
from backend.campaign.review.status import review_page
from backend.campaign.setup.people import accounts as people
from backend.core.errors import NotAllowed, ProjectError
from backend.scoring.evaluate import evaluate
from model_grades import JUDGE, says
from postgres import SQLITE_FIRST
from support import NOW, Judging


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both."""
    return str(request.param)


@pytest.fixture
def max_(judging: Judging) -> Person:
    """Another lead."""
    return people.add(judging.project.store, OPERATOR, "Max", Role.LEAD, now=NOW)


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """All pairs but the last two with two grades, half of which are one apart."""
    for number, pair in enumerate(judging.pairs()[:-2]):
        judging.grade(0, pair.pair, number * 7 % 5)
        judging.grade(1, pair.pair, min(number * 7 % 5 + number % 2, 4))
    return judging


def near(pair: PairReview, number: int) -> int:
    """What the model of these tests says of a settled pair."""
    assert pair.relevance is not None
    return max(pair.relevance - number % 4, 0)


def a_run(judging: Judging, name: str, seed: int, folder: Path, queries: list[int] | None = None) -> None:
    rng = np.random.default_rng(seed)
    run: dict[str, list[list[object]]] = {}
    for pair in judging.pairs():
        if queries is None or pair.query_id in queries:
            run.setdefault(str(pair.query_id), []).append([pair.video, pair.start_s, pair.end_s, float(rng.random())])
    for rows in run.values():
        rows.sort(key=lambda row: -float(str(row[3])))
    file = folder / f"{name}.json"
    file.write_text(json.dumps(run))
    add_run(judging.project, OPERATOR, file, now=NOW)


def test_it_compares_settled_pairs_that_no_lead_decided_with_the_model_open(settled: Judging) -> None:
    pairs = settled.pairs()
    says(
        settled.project,
        {pair.pair_id: near(pair, n) if pair.relevance is not None else 3 for n, pair in enumerate(pairs)},
    )
    adjudicate(settled.project, settled.lead, pairs[0].pair, 2, "Looked again.", now=NOW + 1)
    unfold_model_grades(settled.project, settled.lead, pairs[1].pair, now=NOW + 2)
    adjudicate(settled.project, settled.lead, pairs[1].pair, 2, "The model is right.", now=NOW + 3)
    unfold_model_grades(settled.project, settled.lead, pairs[2].pair, now=NOW + 4)
    report = judge_report(settled.project, OPERATOR, JUDGE, splits=2, resamples=20)
    assert (report.pairs, report.queries) == (57, 3)
    assert report.left_out == {"unsettled": 2, "model_seen": 1}
    counted = [pair for number, pair in enumerate(settled.pairs()[:-2]) if number != 1]
    said = {pair.pair_id: near(pair, n) for n, pair in enumerate(pairs[:-2])}
    same = sum(said[pair.pair_id] == pair.relevance for pair in counted)
    assert report.figures["equal"].value == pytest.approx(same / 57)
    agreed = [pair.relevance if pair.verdict is Verdict.ADJUDICATED else pair.mean for pair in counted]
    bias = [said[pair.pair_id] - one for pair, one in zip(counted, agreed, strict=True)]
    assert report.figures["bias"].value == pytest.approx(np.mean(bias))
    assert sum(map(sum, report.confusion)) == 57


def test_a_decision_says_whether_its_lead_had_opened_what_the_model_said(settled: Judging, max_: Person) -> None:
    first, second = (pair.pair for pair in settled.pairs()[:2])
    says(settled.project, {pair.pair_id: 0 for pair in settled.pairs()[:2]})
    unfold_model_grades(settled.project, max_, first, now=NOW)
    for pair in (first, second):
        adjudicate(settled.project, settled.lead, pair, 3, "I see it.", now=NOW + 1)
    seen = len(settled.state(first).acts)
    adjudicate(settled.project, max_, first, 1, "I saw the model's.", seen=seen, now=NOW + 2)
    rows = settled.project.store.db.conn.execute(
        "SELECT payload ->> 'relevance', payload ->> 'model_seen' FROM event WHERE kind = 'adjudicated' "
        "ORDER BY event_id"
    )
    assert [(int(relevance), bool(seen)) for relevance, seen in rows] == [(3, False), (3, False), (1, True)]
    assert judge_report(settled.project, OPERATOR, JUDGE, resamples=2).left_out == {"model_seen": 1}


def test_unfolding_is_recorded_once_and_only_where_a_model_graded(settled: Judging) -> None:
    pair, other = settled.pairs()[:2]
    says(settled.project, {pair.pair_id: 4, other.pair_id: None})
    for at in (NOW, NOW + 1):
        (grade,) = unfold_model_grades(settled.project, settled.lead, pair.pair, now=at)
        assert (grade.grade, grade.reason, grade.judge) == (4, "A man sits.", JUDGE)
    assert unfold_model_grades(settled.project, settled.lead, other.pair, now=NOW) == []
    rows = settled.project.store.db.conn.execute("SELECT subject, at, payload FROM event WHERE kind = 'model_seen'")
    assert [(row[0], row[1], json.loads(row[2])) for row in rows] == [
        (f"pair:{pair.pair_id}", NOW, {"models": ["eye-1"]})
    ]
    with pytest.raises(NotAllowed):
        unfold_model_grades(settled.project, settled.annotators[0], pair.pair, now=NOW)


def test_orders_are_those_of_evaluations_by_each_truth(settled: Judging, tmp_path: Path) -> None:
    from scipy import stats

    pairs = settled.pairs()[:-2]
    says(settled.project, {pair.pair_id: near(pair, n) for n, pair in enumerate(pairs)})
    for seed in range(4):
        a_run(settled, f"run{seed}", seed, tmp_path)
    a_run(settled, "caption", 9, tmp_path)
    (tmp_path / "elsewhere.json").write_text(json.dumps({"9999": [["v0", 0, 1, 1]]}))
    add_run(settled.project, OPERATOR, tmp_path / "elsewhere.json", now=NOW)
    report = judge_report(settled.project, OPERATOR, JUDGE, splits=3, resamples=30)
    assert (report.runs, report.order_queries) == (tuple(f"run{seed}" for seed in range(4)), 3)
    assert set(report.runs_left_out) == {"caption", "elsewhere"}
    means = []
    for relevances in ([pair.relevance for pair in pairs], [near(pair, n) for n, pair in enumerate(pairs)]):
        truth: dict[str, list[dict[str, object]]] = {}
        for pair, relevance in zip(pairs, relevances, strict=True):
            moment = {"video": pair.video, "start": pair.start_s, "end": pair.end_s, "relevance": relevance}
            truth.setdefault(str(pair.query_id), []).append(moment)
        files = [json.loads((tmp_path / f"run{seed}.json").read_text()) for seed in range(4)]
        means.append([evaluate(truth, run)["mean"] for run in files])
    assert [order.change.key for order in report.orders] == list(means[0][0])
    for order in report.orders:
        columns = np.round([[run[order.change.key] for run in by] for by in means], 10)
        found = np.nan if order.change.tau is None else order.change.tau
        assert found == pytest.approx(stats.kendalltau(*columns).statistic, nan_ok=True)
        for spread in (order.half, order.people):
            assert spread is None or -1 <= spread.low <= spread.mean <= spread.high <= 1
    assert any(order.people is not None for order in report.orders)


def test_people_who_agree_on_everything_are_a_ceiling_of_one(judging: Judging, tmp_path: Path) -> None:
    for number, pair in enumerate(judging.pairs()):
        judging.grade(0, pair.pair, number % 5)
        judging.grade(1, pair.pair, number % 5)
    says(judging.project, {pair.pair_id: pair.relevance for pair in judging.pairs()})
    for seed in range(3):
        a_run(judging, f"run{seed}", seed, tmp_path)
    report = judge_report(judging.project, OPERATOR, JUDGE, split="val", splits=2, resamples=10)
    assert (report.pairs, report.queries, report.order_queries) == (40, 2, 2)
    assert report.figures["kappa_quadratic_people"].value == 1
    assert report.figures["alpha_change"].value == 0
    for order in report.orders:
        if order.change.tau is not None:
            assert (order.change.tau, order.change.swap) == (1, None)
            assert order.people is not None
            assert (order.people.low, order.people.high) == (1, 1)


def test_too_few_runs_are_told_and_the_grades_are_measured_all_the_same(settled: Judging, tmp_path: Path) -> None:
    says(settled.project, {pair.pair_id: 1 for pair in settled.pairs()})
    a_run(settled, "alone", 1, tmp_path)
    report = judge_report(settled.project, OPERATOR, JUDGE, splits=1, resamples=2)
    assert (report.orders, report.runs) == ((), ("alone",))
    assert "fewer than two runs" in report.no_orders
    assert report.figures["equal"].value is not None


def test_runs_of_different_queries_are_not_ordered(settled: Judging, tmp_path: Path) -> None:
    says(settled.project, {pair.pair_id: 1 for pair in settled.pairs()})
    queries = sorted({pair.query_id for pair in settled.pairs()})
    a_run(settled, "one", 1, tmp_path, queries=queries[:1])
    a_run(settled, "other", 1, tmp_path, queries=queries[1:])
    report = judge_report(settled.project, OPERATOR, JUDGE, splits=1, resamples=2)
    assert (report.orders, report.order_queries) == ((), 0)
    assert "no query is answered by every run" in report.no_orders


def test_the_judge_asked_last_is_measured_unless_another_is_named(settled: Judging) -> None:
    with pytest.raises(ProjectError, match="no model has graded pairs of this project"):
        judge_of(settled.project, OPERATOR)
    pair = settled.pairs()[0].pair_id
    says(settled.project, {pair: 1})
    says(settled.project, {pair: 2}, Judge("eye-1", "judge-2"), at=NOW + 1)
    says(settled.project, {pair: 3}, Judge("eye-2", "judge-1"), at=NOW + 2)
    assert judge_of(settled.project, OPERATOR) == Judge("eye-2", "judge-1")
    assert judge_of(settled.project, OPERATOR, "eye-1") == Judge("eye-1", "judge-2")
    assert judge_of(settled.project, OPERATOR, prompt="judge-2") == Judge("eye-1", "judge-2")
    with pytest.raises(ProjectError, match=r"no grades of model eye-3.*eye-1 judge-2"):
        judge_of(settled.project, OPERATOR, "eye-3")


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        ({"split": "dev"}, "'dev' is no split"),
        ({"runs": ["none"]}, "the project has no run none"),
        ({"splits": 0}, "at least one split"),
        ({"split": "train"}, "nothing to compare yet"),
    ],
)
def test_what_cannot_be_measured_is_refused(settled: Judging, asked: dict[str, object], refusal: str) -> None:
    says(settled.project, {pair.pair_id: 1 for pair in settled.pairs()})
    with pytest.raises(ProjectError, match=refusal):
        judge_report(settled.project, OPERATOR, JUDGE, **asked)  # type: ignore[arg-type]
    with pytest.raises(NotAllowed):
        judge_report(settled.project, settled.annotators[0], JUDGE)


def test_pairs_that_differ_come_in_the_order_in_which_a_look_pays_most(judging: Judging) -> None:
    pairs = judging.pairs()[:6]
    # For each pair: the grades of two people, and that of the model. Grades 2 and 3 make the relevance 3.
    told = [((4, 4), 0), ((2, 3), 0), ((3, 3), 0), ((3, 3), 1), ((1, 1), 2), ((0, 0), 2)]
    for pair, (grades, _) in zip(pairs, told, strict=True):
        for who, grade in enumerate(grades):
            judging.grade(who, pair.pair, grade)
    says(judging.project, {pair.pair_id: model for pair, (_, model) in zip(pairs, told, strict=True)})
    page = review_page(judging.project, OPERATOR, ReviewList.MODEL)
    assert [row.pair for row in page.rows] == [pairs[n].pair for n in (0, 1, 2, 3, 5)]
    rows = list(csv.reader(io.StringIO(differences_csv(judging.project, OPERATOR))))
    assert rows[0] == ["page", "query", "video", "start_s", "end_s", "grades", "relevance"]
    assert [row[0] for row in rows[1:]] == [f"/disputes?show=model&case={row.pair}" for row in page.rows]
    adjudicate(judging.project, judging.lead, pairs[0].pair, 4, "People are right.", now=NOW)
    assert pairs[0].pair not in {row.pair for row in review_page(judging.project, OPERATOR, ReviewList.MODEL).rows}
