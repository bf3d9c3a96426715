"""Relevances beyond 0-4, and fractions: accepted where the gain is named, in every table."""

import json
import math
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend import cli
from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools
from backend.scoring.report.page import report_page
from backend.scoring.scored_files import file_inputs, score_files
from retrieval import data

TRUTH = {
    "q": [{"video": "v", "start": s, "end": s + 9, "relevance": r} for s, r in ((0, 0.5), (10, 10), (20, 0), (30, 2))],
    "r": [{"video": "v", "start": 0, "end": 9, "relevance": 3}],
}
RUN = {"q": [["v", 0, 9, 3], ["v", 10, 19, 2], ["v", 20, 29, 1]], "r": [["v", 0, 9, 1]]}


def test_the_refusal_names_the_way_out_and_the_gain_opens_it():
    with pytest.raises(InputError, match="name the gain to use any relevance from 0 to 1000"):
        evaluate(TRUTH, RUN)
    for gain, worth in (("linear", float), ("exp2", lambda r: 2.0**r - 1)):
        dcg = worth(0.5) + worth(10) / math.log2(3)
        ideal = worth(10) + worth(2) / math.log2(3) + worth(0.5) / 2
        found = evaluate(TRUTH, RUN, gain=gain, measures=["ndcg@3,0.5"]).per_query["q"]
        assert found["ndcg@3,0.5"] == pytest.approx(dcg / ideal, abs=1e-15)
    for relevance in (-0.5, 1000.5, math.nan):
        bad = {"q": [{"video": "v", "start": 0, "end": 9, "relevance": relevance}]}
        with pytest.raises(InputError, match="is not a number from 0 to 1000"):
            evaluate(bad, RUN, gain="linear", unknown="ignore")


def test_the_lowest_relevance_may_be_any_number_too():
    recalls = {
        least: evaluate(TRUTH, RUN, gain="linear", measures=["moment_recall@3,0.5"], min_relevance=least).per_query["q"]
        for least in (0.5, 1, 10)
    }
    assert [row["moment_recall@3,0.5"] for row in recalls.values()] == [2 / 3, 1 / 2, 1]
    with pytest.raises(InputError, match="min_relevance: 0 is not a number above 0, up to 1000"):
        evaluate(TRUTH, RUN, gain="linear", min_relevance=0)
    with pytest.raises(InputError, match=r"min_relevance: 0.5 is not one of 1, 2, 3, 4"):
        evaluate({}, {}, min_relevance=0.5)


def test_the_highest_grade_of_the_truth_ends_the_scale_of_err():
    found = evaluate(TRUTH, RUN, gain="linear", measures=["err@1,0.5"]).per_query
    assert found["r"]["err@1,0.5"] == (2**3 - 1) / 2**10


@settings(max_examples=40, deadline=None)
@given(data(), st.sampled_from([2.5, 10, 0.125]))
def test_a_scale_of_other_numbers_changes_only_their_names(given_data, factor):
    truth, run = given_data
    scaled = {query: [{**m, "relevance": m["relevance"] * factor} for m in of] for query, of in truth.items()}
    asked = {"measures": ["ndcg", "recall", "trec_ap", "bpref", "judged"], "k": [3], "mu": [0.5], "gain": "linear"}
    usual = evaluate(truth, run, **asked, min_relevance=2).per_query
    for query, values in evaluate(scaled, run, **asked, min_relevance=2 * factor).per_query.items():
        assert values == pytest.approx(usual[query], abs=1e-12)


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, entries in (("truth", TRUTH), ("run", RUN)):
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(entries))
    documents = [{"query_id": query, "relevant_moment": moments} for query, moments in TRUTH.items()]
    paths[0].write_text(json.dumps(documents))
    return paths


def test_every_table_has_these_relevances(files, capsys, monkeypatch):
    truth, run = files
    board = score_files(truth, [run], k=[3], mu=[0.5], gain="linear", min_relevance=0.5)
    summary = board.summary(["relevance", "duration", "show"], errors=True)["runs"][0]
    assert {name: group["queries"] for name, group in summary["by"]["relevance"]["groups"].items()} == {"10": 1, "3": 1}
    grades = summary["errors"]["by_relevance"]
    assert grades["in place"] == {"0.5": 1, "2": 0, "3": 1, "10": 0}
    assert grades["wrong rank"] == {"0.5": 0, "2": 0, "3": 0, "10": 1}
    assert [missed["relevance"] for missed in summary["errors"]["examples"]] == [10, 2]
    (case,) = board.cases([0])
    assert [moment.relevance for moment in case.moments] == [10, 2, 0.5, 0]
    page = report_page(board, file_inputs(truth, [run]), made=datetime(2026, 1, 2, tzinfo=UTC))
    assert "relevance 0.5" in page
    options = ["--option", "gain=linear", "--min-relevance", "0.5", "--by", "relevance", "--errors", "--all"]
    monkeypatch.setattr(sys, "argv", ["reelrank", "evaluate", "--truth", str(truth), "--run", str(run), *options])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code in (0, None)
    assert "0.5" in capsys.readouterr().out


def test_pools_have_them_too():
    own, *others = (PoolMoment("v", m["start"], m["end"], "") for m in TRUTH["q"])
    pools = Pools((PoolQuery("q", "words", own, (own, *others), ("v",)),), {"v": 40.0}, {"v": (own, *others)})
    found = evaluate({"q": TRUTH["q"]}, {"q": RUN["q"]}, pools=pools, gain="linear", measures=["ndcg@3,0.5"])
    assert found.mean == evaluate({"q": TRUTH["q"]}, {"q": RUN["q"]}, gain="linear", measures=["ndcg@3,0.5"]).mean
