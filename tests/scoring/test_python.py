"""`evaluate` and `compare` as a researcher calls them: what may be given, and what comes back."""

import json
import math
import pickle
from pathlib import Path

import pandas as pd
import pytest

from backend.core.errors import InputError
from backend.scoring.scored_files import evaluate_files, score_files
from reelrank import Evaluation, Evaluations, PoolFile, compare, evaluate, to_latex
from scored import write_files

EXAMPLES = Path(__file__).parents[2] / "assets" / "example"
TRUTH = {
    "q1": [
        {"video": "a", "start": 0, "end": 10, "relevance": 4},
        {"video": "b", "start": 5, "end": 9.5, "relevance": 1},
    ],
    "q2": [{"video": "a", "start": 20, "end": 30, "relevance": 2}],
}
RUN = {"q1": [["b", 5, 9, 0.9], ["a", 1, 10, 0.7]], "q2": [["a", 25, 35, 0.2]]}
WORSE = {"q1": [["b", 0, 9, 0.9]], "q2": [["a", 29, 35, 0.2]]}
TRUTH_ROWS = [{"query_id": query, **moment} for query, moments in TRUTH.items() for moment in moments]
RUN_ROWS = [
    {"query_id": query, "rank": rank, "video": video, "start": start, "end": end, "score": score}
    for query, rows in RUN.items()
    for rank, (video, start, end, score) in enumerate(rows, 1)
]


class Columns:
    """A data frame of another library: columns, and values by their names."""

    def __init__(self, rows):
        self.columns = list(rows[0])
        self._rows = rows

    def __getitem__(self, name):
        return (row[name] for row in self._rows)


def published(document, pairs):
    """A file's entries, as decoded, in the words of TVR-Ranking's files."""
    return [
        {
            "query_id": query,
            pairs: [
                {"video_name": row["video"], "timestamp": [row["start"], row["end"]], "model_scores": 1, **row}
                for row in rows
            ],
        }
        for query, rows in document.items()
    ]


def refusal(*given, **asked):
    with pytest.raises(InputError) as refused:
        evaluate(*given, **asked)
    return str(refused.value)


class TestGiven:
    def test_objects_entries_frames_and_files_give_the_same_values(self, tmp_path):
        expected = evaluate(TRUTH, RUN)
        assert 0 < expected.mean["ndcg@10,0.5"] < 1
        (tmp_path / "truth.json").write_text(json.dumps(published(TRUTH, "relevant_moment")), "utf-8")
        (tmp_path / "run.json").write_text(json.dumps(RUN), "utf-8")
        truths = [
            published(TRUTH, "relevant_moment"),
            tuple(TRUTH_ROWS),
            pd.DataFrame(TRUTH_ROWS),
            pd.DataFrame(TRUTH_ROWS).rename(columns={"query_id": "qid", "video": "vid", "start": "st"}),
            Columns(TRUTH_ROWS),
            tmp_path / "truth.json",
            str(tmp_path / "truth.json"),
        ]
        runs = [
            RUN_ROWS,
            pd.DataFrame(RUN_ROWS).sample(frac=1, random_state=2).sort_values("query_id", kind="stable"),
            Columns([{**row, "timestamp": (row.pop("start"), row.pop("end"))} for row in map(dict, RUN_ROWS)]),
            [{"query_id": query, "predictions": rows} for query, rows in RUN.items()],
            tmp_path / "run.json",
            str(tmp_path / "run.json"),
        ]
        for truth in truths:
            assert evaluate(truth, RUN) == expected
        for run in runs:
            assert evaluate(TRUTH, run) == expected

    def test_a_frame_is_in_the_order_of_its_ranks_and_of_its_rows_without_them(self):
        frame = pd.DataFrame(RUN_ROWS).iloc[::-1]
        assert evaluate(TRUTH, frame)["per_query"] == evaluate(TRUTH, RUN)["per_query"]
        backwards = {"q2": RUN["q2"], "q1": RUN["q1"][::-1]}
        assert evaluate(TRUTH, frame.drop(columns="rank")) == evaluate(TRUTH, backwards)

    def test_videos_by_index_are_named_by_a_map(self, tmp_path):
        numbered = {query: [[{"a": 7, "b": 9}[row[0]], *row[1:]] for row in rows] for query, rows in RUN.items()}
        names = {"a": [40.0, 7], "b": [12.5, 9]}
        (tmp_path / "videos.json").write_text(json.dumps(names), "utf-8")
        for videos in (names, tmp_path / "videos.json"):
            assert evaluate(TRUTH, numbered, videos=videos) == evaluate(TRUTH, RUN)

    def test_one_cut_off_one_threshold_and_one_measure_need_no_list(self):
        many = evaluate(TRUTH, RUN, k=[10], mu=[0.5], theta=[0.3], measures=["ndcg", "recall"])
        one = [evaluate(TRUTH, RUN, k=10, mu=0.5, theta=0.3, measures=name).mean for name in ("ndcg", "recall")]
        assert one[0] | one[1] == many.mean
        assert len(many.mean) == 2

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"k": "10"}, "k: '10' is text; write k=10 or k=[10, 20]"),
            ({"mu": "0.5"}, "mu: '0.5' is text; write mu=0.5 or mu=[0.3, 0.5]"),
            ({"theta": "all"}, "theta: 'all' is text; write theta=0.5 or theta=[0.3, 0.5]"),
            ({"k": 2.5}, "k: 2.5 is not a whole number"),
            ({"measures": "gmap"}, "measures: 'gmap' is not one of "),
            ({"benchmark": "mine"}, "benchmark: 'mine' is not one of "),
            (
                {"benchmark": "charades-sta", "k": 5},
                "benchmark: charades-sta sets its own measures, K, mu",
            ),
        ],
    )
    def test_what_cannot_be_asked_says_what_to_write(self, asked, message):
        assert refusal(TRUTH, RUN, **asked).startswith(message)

    @pytest.mark.parametrize(
        ("truth", "run", "message"),
        [
            (7, RUN, "truth: is of type int; give the path of a file, {query: [moment, ...]}, or a data frame"),
            (None, RUN, "truth: is missing: give a truth or pools"),
            (TRUTH, {1.5}, "run: is of type set; give the path of a file, {query: [[video, start, end, score], ...]}"),
            (TRUTH, '{"q1": [}', "run, row 1: is not JSON: Expecting value (column 9)"),
            (TRUTH, "none.json", "none.json: cannot be read"),
            (
                pd.DataFrame({"query_id": ["q1"], "vid": ["a"], "start": [0]}),
                RUN,
                "truth: has no column 'end'; its columns",
            ),
            (
                pd.DataFrame(TRUTH_ROWS),
                pd.DataFrame(RUN_ROWS).assign(rank=1),
                "run, row 2: rank 1 of query q1 was already given in row 1",
            ),
            (
                TRUTH,
                pd.DataFrame(RUN_ROWS).assign(rank="first"),
                "run: has str in its column 'rank', not whole numbers",
            ),
            (TRUTH, pd.DataFrame(RUN_ROWS).assign(score=None), "run, row 1: query q1, moment 1: score is "),
        ],
    )
    def test_what_is_no_truth_and_no_run_is_told(self, truth, run, message):
        assert refusal(truth, run).startswith(message)


class TestEvaluation:
    def test_it_is_a_dict_that_json_and_pickle_keep(self):
        result = evaluate(TRUTH, RUN)
        assert isinstance(result, Evaluation)
        assert set(result) == {"mean", "per_query"}
        assert result["mean"] is result.mean
        assert json.loads(json.dumps(result)) == result
        again = pickle.loads(pickle.dumps(result))
        assert again == result
        assert repr(again) == repr(result)

    def test_its_frame_has_a_row_a_query(self):
        result = evaluate(TRUTH, RUN)
        frame = result.to_frame()
        assert frame.index.name == "query"
        assert frame.to_dict(orient="index") == result.per_query
        assert frame.mean().to_dict() == pytest.approx(result.mean, abs=1e-15)

    def test_printed_it_is_a_value_a_measure_in_ten_lines(self):
        run = {"q1": [["elsewhere", 0, 1, 0.1], ["elsewhere", 2, 3, 0.9]], "q2": []}
        lines = repr(evaluate(TRUTH, run, order="file", missing="skip")).splitlines()
        assert len(lines) <= 10
        head = "run: 1 of 2 queries answered, the others are left out, preset paper, missing=skip"
        assert lines[:2] == [head, "  ndcg@20,0.5       0.0000"]
        assert lines[-1].startswith("  warning: run: the scores of 1 query are not in falling order")
        assert lines[-1].endswith("(and 1 more in .warnings)")
        nothing = evaluate({"q": TRUTH["q2"]}, {}, missing="skip")
        assert len(repr(nothing).splitlines()) <= 10
        assert "run & 0" in nothing.to_latex(), "though no query counts"

    def test_its_latex_is_that_of_the_command(self, tmp_path):
        truth, (good, *_) = write_files(tmp_path)
        result = evaluate(truth, good)
        assert result.to_latex() == to_latex(evaluate(truth, good, measures=["ndcg"]).summary)
        assert result.to_latex(wide=True).startswith(r"\begin{table*}")
        assert "AxIoU" in result.to_latex(everything=True)
        assert "AxIoU" in evaluate(truth, good, measures=["axiou"]).to_latex()
        assert evaluate(truth, good).summary == evaluate_files(truth, [good])


class TestCompare:
    def test_it_is_an_evaluation_for_each_run(self):
        both = compare(TRUTH, {"mine": RUN, "theirs": WORSE})
        assert isinstance(both, Evaluations)
        assert list(both) == ["mine", "theirs"]
        assert both["mine"] == evaluate(TRUTH, RUN)
        assert dict(both)["theirs"] == evaluate(TRUTH, WORSE)
        with pytest.raises(KeyError):
            both["ours"]

    def test_its_frames_have_a_row_a_run_or_a_row_a_run_and_query(self):
        both = compare(TRUTH, {"mine": RUN, "theirs": WORSE})
        assert both.to_frame().to_dict(orient="index") == {name: one.mean for name, one in both.items()}
        rows = both.to_frame(per_query=True)
        assert rows.index.names == ["run", "query"]
        assert rows.loc["theirs"].to_dict(orient="index") == both["theirs"].per_query

    def test_files_are_named_and_compared_as_by_the_command(self, tmp_path):
        truth, runs = write_files(tmp_path)
        found = compare(truth, runs, k=5, baseline="poor", resamples=200, seed=3)
        assert list(found) == [path.stem for path in runs]
        board = score_files(truth, runs, k=[5])
        assert found.summary | {"runs": None} == found.summary | board.summary() | {"runs": None}
        one = found.summary["runs"][0]
        assert one["comparison"]["ndcg@5,0.5"]["difference"] == pytest.approx(
            found["good"].mean["ndcg@5,0.5"] - found["poor"].mean["ndcg@5,0.5"], abs=0.1
        )
        assert r"\dagger" in found.to_latex()
        assert "intervals" not in compare(truth, runs, k=5).summary["runs"][0]

    def test_printed_it_is_a_row_a_run(self):
        lines = repr(compare(TRUTH, {f"run {n}": RUN for n in range(9)}, measures=["ndcg", "axiou"])).splitlines()
        assert len(lines) == 9
        assert lines[0] == "9 runs, 2 queries, preset paper"
        assert lines[1].split() == ["ndcg@20,0.5", "axiou@20"]
        assert lines[2].startswith("run 0")
        assert lines[-2] == "  and 4 more"

    def test_printed_it_says_how_many_queries_each_run_answers(self):
        runs = {f"run {n}": RUN for n in range(9)} | {"run 1": {"q1": RUN["q1"][::-1]}}
        lines = repr(compare(TRUTH, runs, measures="ndcg")).splitlines()
        assert len(lines) == 10
        assert lines[1].split() == ["ndcg@20,0.5", "answered"]
        assert [line[-6:] for line in lines[2:5]] == ["2 of 2", "1 of 2", "2 of 2"]
        assert lines[-1].startswith("  warning: run 1: the scores of 1 query are not in falling order")

    @pytest.mark.parametrize(
        ("runs", "message"),
        [
            ({}, "runs: are none; give {name: run}, or a list of paths"),
            ([], "runs: are none; give"),
            ("run.json", "runs: are of type str; give"),
            ([RUN], "runs: are not paths; give"),
            (RUN, "runs: 'q1' holds the predictions of one query, not a run; give"),
        ],
    )
    def test_what_are_no_runs_is_told(self, runs, message):
        with pytest.raises(InputError) as refused:
            compare(TRUTH, runs)
        assert str(refused.value).startswith(message)

    def test_a_misspelt_option_and_a_baseline_that_is_no_run_are_refused(self):
        with pytest.raises(InputError, match="ks: no such option; there are gain"):
            compare(TRUTH, {"mine": RUN}, ks=5)
        with pytest.raises(InputError, match="baseline: 'theirs' is not one of mine"):
            compare(TRUTH, {"mine": RUN}, baseline="theirs")


class TestWarnings:
    def test_queries_without_predictions_are_told_whatever_happens_to_them(self):
        lacking = "run has no predictions for 1 of 2 queries, which {}: q2"
        for missing, told in (("zero", "count 0"), ("skip", "are left out")):
            found = evaluate(TRUTH, {"q1": RUN["q1"][1:]}, missing=missing)
            assert found.warnings == (lacking.format(told),)
            assert f"1 of 2 queries answered, the others {told}" in repr(found)
        both = compare(TRUTH, {"run": {"q1": RUN["q1"][1:]}, "all": RUN})
        assert lacking.format("count 0") in both.warnings

    def test_predictions_that_are_left_out_and_scores_that_are_no_numbers_are_told(self):
        run = {"q1": [["b", 9, 5, 0.9], ["a", 1, 10, math.nan]], "q2": [["a", 25, 35, 0.2]]}
        found = evaluate(TRUTH, run, invalid="skip").warnings
        assert found[0].startswith("run: 1 impossible moments were left out; the first: run, row 1: query q1, moment 1")
        assert found[1] == "run: the score of 1 prediction is not a number; file order was used"
        two = evaluate(TRUTH, {"q1": [["a", 1, 10, math.nan]] * 2, "q2": run["q2"]}).warnings
        assert two == ("run: the scores of 2 predictions are not numbers; file order was used",)
        assert refusal(TRUTH, {**run, "q1": run["q1"][1:]}, order="score").endswith("the score is not a number")

    def test_a_query_that_does_not_count_is_told(self):
        found = evaluate({**TRUTH, "q3": []}, {**RUN, "q3": RUN["q2"]}, no_relevant="skip")
        assert repr(found).startswith("run: 2 of 3 queries count, preset paper")
        assert found.warnings == ("truth: queries without relevant moment were left out: q3",)


class TestPlot:
    def test_a_notebook_shows_it_and_it_can_be_saved(self, tmp_path):
        both = compare(TRUTH, {"mine": RUN, "theirs": WORSE})
        for one, charts in ((both, ("by-k", "order", "queries", "iou")), (both["mine"], ("by-k", "iou"))):
            for name in charts:
                chart = one.plot(name)
                picture = chart._repr_svg_()
                assert picture.startswith("<svg")
                assert "preset paper; 2 queries, 3 moments" in picture
                assert chart.title in picture
                assert repr(chart).startswith(f"Chart: {chart.title}. A notebook shows it; .save(")
        chart.save(tmp_path / "chart.png")
        chart.save(str(tmp_path / "chart.svg"))
        assert (tmp_path / "chart.png").read_bytes()[:4] == b"\x89PNG"
        assert (tmp_path / "chart.svg").read_text("utf-8") == chart.svg

    def test_the_measure_can_be_chosen_and_the_first_chart_with_something_to_show_is_the_usual(self):
        both = compare(TRUTH, {"mine": RUN, "theirs": WORSE})
        assert both.plot(key="axiou@20").title == "AxIoU by cut-off"
        assert both.plot().title == "NDCG by cut-off"
        assert evaluate(TRUTH, RUN, k=5).plot().title == "How close the best prediction comes"

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            (("pie",), "plot: 'pie' is not one of by-k, order, queries, iou"),
            (("by-k", "ndcg@7,0.5"), "key: 'ndcg@7,0.5' is not one of ndcg@10,0.3"),
            (("order",), "plot: order has nothing to show for ndcg@20,0.5 of these runs; these have: by-k, iou"),
        ],
    )
    def test_what_cannot_be_drawn_is_told(self, asked, message):
        with pytest.raises(InputError) as refused:
            evaluate(TRUTH, RUN).plot(*asked)
        assert str(refused.value).startswith(message)


class TestGroups:
    def test_means_of_groups_are_those_of_their_queries(self):
        found = evaluate(TRUTH, RUN, by=["relevance", {"kind": {"q1": "x", "q2": "y"}}])
        assert list(found.groups) == ["relevance", "kind"]
        assert found.groups["kind"] == {
            name: {"queries": 1, "measures": found.per_query[query]} for name, query in (("x", "q1"), ("y", "q2"))
        }
        assert found.groups == {by: part["groups"] for by, part in found.summary["runs"][0]["by"].items()}
        frame = found.to_frame(by={"q1": "x", "q2": "x"})
        assert frame.loc["x"].to_dict() == pytest.approx({"queries": 2, **found.mean})
        assert frame.index.name == "group"
        both = compare(TRUTH, {"mine": RUN, "theirs": WORSE}, by="relevance")
        assert both["theirs"].groups == evaluate(TRUTH, WORSE, by="relevance").groups
        assert both.to_frame(by="relevance").loc["mine"].to_dict() == found.to_frame(by="relevance").to_dict()
        assert r"\multicolumn{3}{c}{relevance}" in both.to_latex(), "the end of a head in two lines"

    def test_a_group_of_which_no_query_counts_has_no_mean(self):
        found = evaluate(TRUTH, {"q1": RUN["q1"]}, missing="skip", by={"q1": "x", "q2": "y"})
        assert found.groups["group"]["y"] == {"queries": 0, "measures": {}}
        assert found.to_frame(by={"q1": "x", "q2": "y"}).loc["y", "queries"] == 0


class TestMore:
    def test_a_benchmark_has_the_figures_of_its_evaluator(self):
        truth = {"q1": [{"video": "a", "start": 0, "end": 10, "relevance": 1}]}
        found = evaluate(truth, {"q1": [["a", 0, 5, 0.9], ["a", 0, 9, 0.8]]}, benchmark="charades-sta")
        by_name = {name: value for name, value in found.figures.items() if name.startswith("R")}
        assert set(by_name.values()) == {0.0, 1.0}
        lines = repr(found).splitlines()
        assert len(lines) <= 10
        assert lines[1].split() == ["R@1,", "IoU=0.3", "1.0000"]
        assert evaluate(truth, {"q1": []}).figures == {}

    def test_pools_may_be_given_by_their_path(self):
        pools, run = EXAMPLES / "pools.json", EXAMPLES / "pools_run.json"
        found = evaluate(None, run, pools=pools, k=5, theta=0.5, measures="recall")
        board = score_files(None, [run], pool=PoolFile(pools), k=[5], theta=[0.5], measures=["recall"])
        assert found.mean == board.runs[0].means
