"""A matched run and its qrels: what programs of TREC compute of them are our measures at IoU>=mu of preset `paper`."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from ir_measures import nDCG

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.scored_files import score_files
from backend.scoring.trec import MatchedRun, match_run

K = (1, 3, 10, 20, 40)
GOLDEN = json.loads((Path(__file__).parent / "measures" / "golden" / "trec.json").read_text("utf-8"))
"""`made_by` tells how: an invented truth and run, and what other programs say of them, matched at 0.5."""
MOMENT = st.tuples(st.sampled_from("ab"), st.integers(0, 8), st.integers(1, 8), st.integers(0, 4))
TRUTHS = st.lists(st.lists(MOMENT, min_size=1, max_size=6, unique_by=lambda m: m[:3]), min_size=1, max_size=4)


def compared(truth: Path, run: Path, mu: float, folder: Path, videos: Path | None = None) -> MatchedRun:
    """Read both files with ir_measures and with pytrec_eval, and see that they agree with ours, query by query."""
    found = match_run(truth, run, mu, videos=videos)
    (folder / "q.qrels").write_text(found.qrels)
    (folder / "r.trec").write_text(found.run)
    qrels = list(ir_measures.read_trec_qrels(str(folder / "q.qrels")))
    lines = list(ir_measures.read_trec_run(str(folder / "r.trec")))
    measures = ("ndcg", "bpref", "trec_ap", "trec_recall", "p", "rprec", "rr")
    ours = score_files(truth, [run], k=K, mu=[mu], measures=measures, videos=videos)
    means = ours.summary()["runs"][0]["measures"]
    theirs = ir_measures.calc_aggregate([nDCG @ k for k in K], qrels, lines)
    for k in K:
        assert theirs[nDCG @ k] == pytest.approx(means[f"ndcg@{k},{mu!r}"], abs=1e-9)
    graded: dict[str, dict[str, int]] = {}
    for one in qrels:
        graded.setdefault(one.query_id, {})[one.doc_id] = one.relevance
    ranked: dict[str, dict[str, float]] = {}
    for line in lines:
        ranked.setdefault(line.query_id, {})[line.doc_id] = line.score
    cuts = {"ndcg_cut": "ndcg", "map_cut": "trec_ap", "recall": "trec_recall", "P": "p"}
    asked = {*(f"{name}.{','.join(map(str, K))}" for name in cuts), "bpref", "Rprec", "recip_rank"}
    cut = pytrec_eval.RelevanceEvaluator(graded, asked).evaluate(ranked)
    scored = ours.runs[0]
    same = {f"bpref@{mu!r}": "bpref", f"rprec@{mu!r}": "Rprec", f"rr@{max(K)},{mu!r}": "recip_rank"}
    same |= {f"{measure}@{k},{mu!r}": f"{name}_{k}" for name, measure in cuts.items() for k in K}
    for key, name in same.items():
        values = scored.values[ours.settings.keys.index(key)].tolist()
        mine = {str(ours.queries[query]): value for query, value in zip(scored.query.tolist(), values, strict=True)}
        for query, others in cut.items():
            assert others[name] == pytest.approx(mine[query], abs=1e-9)
    return found


@settings(max_examples=40, deadline=None, phases=[Phase.generate])
@given(truth=TRUTHS, data=st.data())
def test_any_run_scores_the_same(
    truth: list[list[tuple[Any, ...]]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Moments of relevance 0, predictions of one moment twice, queries without predictions or without relevance."""
    folder = tmp_path_factory.mktemp("trec")
    documents = [
        {
            "query_id": n,
            "relevant_moment": [
                {"pair_id": 100 * n + place, "video_name": v, "timestamp": [s, s + d], "relevance": grade}
                for place, (v, s, d, grade) in enumerate(moments)
            ],
        }
        for n, moments in enumerate(truth)
    ]
    (folder / "t.json").write_text(json.dumps(documents))
    answered = data.draw(st.sets(st.sampled_from(range(len(truth))), min_size=1))
    run = {n: [[v, s, s + d, 0.5] for v, s, d, _ in data.draw(st.lists(MOMENT, max_size=8))] for n in answered}
    (folder / "r.json").write_text(json.dumps(run))
    found = compared(folder / "t.json", folder / "r.json", data.draw(st.sampled_from((0.3, 0.5, 1.0))), folder)
    assert found.missing == sum(not run.get(n) for n in range(len(truth)))
    assert found.predictions == sum(map(len, run.values()))


@pytest.mark.long
def test_real_runs_score_the_same(shared: Path, tmp_path: Path) -> None:
    """500 validation queries of two published baselines, against moments near what they predict."""
    folder = shared / "data" / "tvr_ranking"
    videos = folder / "video_name_duration_id.json"
    names = {index: name for name, (_, index) in json.loads(videos.read_text()).items()}
    rng = random.Random(5)
    run = folder / "runs" / "ReLoCLNet_top_40_val.json"
    rows = []
    for query in json.loads(run.read_text()):
        for video, start, end, _ in rng.sample(query["predictions"], 20):
            late = rng.uniform(0, (end - start) / 2)
            rows.append((query["query_id"], names[video], start + late, end + late, rng.randrange(5), len(rows)))
    with (tmp_path / "truth.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_id", "video", "start", "end", "relevance", "pair_id"])
        writer.writerows(rows)
    found = compared(tmp_path / "truth.csv", run, 0.5, tmp_path, videos)
    assert (found.queries, found.missing) == (500, 0)
    assert found.taken > 1000


def golden(options: dict[str, Any], measures: list[str]) -> dict[str, list[float]]:
    """Return the values of the golden truth and run, for each key the queries in order."""
    truth = [[dict(zip(("video", "start", "end", "relevance"), m, strict=True)) for m in ms] for ms in GOLDEN["truth"]]
    run = [[[*one, 0] for one in of_query] for of_query in GOLDEN["run"]]
    found = evaluate(dict(enumerate(truth)), dict(enumerate(run)), mu=[0.5], measures=measures, **options)
    return {key: [found.per_query[query][key] for query in range(len(truth))] for key in found.mean}


def test_values_are_those_of_ir_measures() -> None:
    """ERR and RBP are in no trec_eval; ir_measures takes them from other programs."""
    found = golden({}, list(GOLDEN["each"]))
    for key, expected in GOLDEN["each"].items():
        assert found[key] == pytest.approx(expected, abs=6e-6 if key.startswith("err") else 1e-9)
    other = golden({"persistence": 0.5, "min_relevance": 2}, ["rbp@1000,0.5"])["rbp@1000,0.5"]
    assert other == pytest.approx(GOLDEN["rbp@1000,0.5 with persistence 0.5, relevant from 2"], abs=1e-9)


def test_relevances_above_4_are_matched_and_fractions_refused(tmp_path: Path) -> None:
    for relevance in (10, 0.5):
        moment = {"video_name": "v", "timestamp": [0, 9], "relevance": relevance}
        (tmp_path / f"{relevance}.json").write_text(json.dumps([{"query_id": 1, "relevant_moment": [moment]}]))
    (tmp_path / "r.json").write_text('{"1": [["v", 0, 9, 1]]}')
    assert match_run(tmp_path / "10.json", tmp_path / "r.json", 0.5).qrels == "1 0 1-1 10\n"
    with pytest.raises(InputError, match="query 1, moment 1: TREC files have whole relevances alone"):
        match_run(tmp_path / "0.5.json", tmp_path / "r.json", 0.5)


def test_ids_that_a_line_of_trec_cannot_hold_are_refused(tmp_path: Path) -> None:
    moment = {"video_name": "v", "timestamp": [0, 9], "relevance": 1}
    (tmp_path / "r.json").write_text('{"q 1": [["v", 0, 9, 1]]}')
    truth = [{"query_id": "q 1", "relevant_moment": [{**moment, "pair_id": 7}]}]
    (tmp_path / "t.json").write_text(json.dumps(truth))
    with pytest.raises(InputError, match="query 'q 1': TREC ids cannot contain blanks"):
        match_run(tmp_path / "t.json", tmp_path / "r.json", 0.5)
    truth[0]["relevant_moment"].append({**moment, "timestamp": [3, 4], "pair_id": 7})
    (tmp_path / "t.json").write_text(json.dumps(truth))
    with pytest.raises(InputError, match="row 1: query q 1, moment 2: duplicate pair 7: keep one"):
        match_run(tmp_path / "t.json", tmp_path / "r.json", 0.5)
