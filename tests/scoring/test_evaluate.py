"""Options, refusals, readers and the object that `reelrank evaluate --json` prints."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import compare, evaluate
from backend.scoring.files.formats import read_run, read_truth, read_videos
from backend.scoring.measures import MEASURES
from backend.scoring.presets import OPTION_VALUES, PRESETS, READERS, settle
from backend.scoring.scored_files import evaluate_files

NAN = math.nan


def moment(start=0, end=10, relevance=4, video="a"):
    return {"video": video, "start": start, "end": end, "relevance": relevance}


def value(truth, run, **options):
    """The one mean at K 2, mu 0.5."""
    return evaluate(truth, run, k=[2], mu=[0.5], **options)["mean"]["ndcg@2,0.5"]


def refusal(truth, run, **options):
    with pytest.raises(InputError) as refused:
        evaluate(truth, run, **options)
    return str(refused.value)


class TestOptions:
    def test_the_two_presets_differ_where_the_paper_and_its_code_do(self):
        truth = {"q": [moment(0, 10, 1), moment(20, 30, 4)], "r": [moment()]}
        run = {"q": [["a", 0, 10, 2], ["a", 20, 25, 1]]}
        # paper: 1, then 4 at IoU exactly .5; r counts 0. tvr-ranking: 1, then nothing; r is left out.
        log3 = math.log2(3)
        assert value(truth, run) == pytest.approx((1 + 4 / log3) / (4 + 1 / log3) / 2, abs=1e-15)
        assert value(truth, run, preset="tvr-ranking") == pytest.approx(1 / (15 + 1 / log3), abs=1e-15)

    def test_a_former_name_of_a_preset_is_accepted_and_not_printed(self):
        assert settle("official", [1], [0.5], {}) == settle("tvr-ranking", [1], [0.5], {})

    @pytest.mark.parametrize(
        ("option", "run", "with_default", "with_option", "why"),
        [
            ({"zero_relevance": "drop"}, {"q": [["a", 0, 10, 1]]}, 0.0, 1.0, "the grade-0 moment is not there"),
            ({"missing": "skip"}, {"q": [["a", 40, 44, 1]]}, 0.5, 1.0, "r is left out"),
        ],
    )
    def test_an_option_overrides_its_preset(self, option, run, with_default, with_option, why):
        truth = {"q": [moment(0, 10, 0), moment(0, 9, 3)]}
        if "missing" in option:
            truth = {"q": [moment(40, 44)], "r": [moment()]}
        assert value(truth, run) == with_default, why
        assert value(truth, run, **option) == with_option, why

    def test_official_takes_an_explicit_missing_zero(self):
        truth, run = {"q": [moment()], "r": [moment()]}, {"q": [["a", 0, 10, 1]]}
        assert value(truth, run, preset="tvr-ranking") == 1.0
        assert value(truth, run, preset="tvr-ranking", missing="zero") == 0.5

    def test_missing_error_lists_the_queries(self):
        text = refusal({"q": [moment()], 7: [moment()]}, {"q": []}, missing="error")
        assert text.splitlines() == [
            "run: query q is missing "
            "(missing=zero lets such queries count 0, missing=skip leaves them out of the mean)",
            "run: query 7 is missing",
        ]

    @pytest.mark.parametrize("none", [[], [["a", 9, 9, 1], ["a", -1, 3, 0.5]]], ids=["empty", "all invalid"])
    @pytest.mark.parametrize("missing", ["zero", "skip", "error"])
    def test_a_query_without_predictions_is_one_that_the_run_does_not_name(self, none, missing):
        truth = {"q": [moment()], "r": [moment()], "s": [moment()]}
        named, absent = {"r": none, "q": [["a", 0, 10, 1]], "s": none}, {"q": [["a", 0, 10, 1]]}
        options = {"missing": missing, "invalid": "skip"}
        if missing == "error":
            assert refusal(truth, named, **options) == refusal(truth, absent, **options)
            return
        found, expected = evaluate(truth, named, **options), evaluate(truth, absent, **options)
        assert found == expected
        assert list(found["per_query"]) == list(expected["per_query"])
        assert found.summary["runs"][0] == expected.summary["runs"][0]
        assert found.summary["runs"][0]["missing"] == ["r", "s"]
        both = compare(truth, {"named": named, "absent": absent}, baseline="absent", **options)
        assert {name: (one.mean, one.per_query) for name, one in both.items()} == dict.fromkeys(
            ("named", "absent"), (expected.mean, expected.per_query)
        )
        assert both.summary["runs"][0]["comparison"]["ndcg@10,0.5"]["difference"] == 0

    def test_the_published_function_counts_an_empty_list_and_leaves_out_who_is_not_named(self):
        truth, run = {"q": [moment()], "r": [moment()], "s": [moment()]}, {"q": [["a", 0, 10, 1]], "r": []}
        found = evaluate(truth, run, preset="tvr-ranking", k=[1], mu=[0.5])
        assert found["per_query"] == {"q": {"ndcg@1,0.5": 1.0}, "r": {"ndcg@1,0.5": 0.0}}
        assert found.warnings[0] == "run has no predictions for 1 of 3 queries, which are left out: s"
        assert found.warnings[1:] == ("run: queries without predictions count 0, as published: r",)
        assert evaluate(truth, run, preset="tvr-ranking", missing="skip")["per_query"].keys() == {"q"}

    def test_unknown_queries_are_refused_or_ignored(self):
        truth, run = {"q": [moment()]}, {"x": [["a", 0, 1, 1]], "q": [["a", 0, 10, 1]], "y": []}
        text = refusal(truth, run)
        assert text.splitlines() == [
            "run, row 1: query x is not in the truth (the option unknown=ignore leaves such queries out)",
            "run, row 3: query y is not in the truth",
        ]
        result = evaluate(truth, run, k=[1], mu=[0.5], measures=["ndcg"], unknown="ignore")
        assert result == {"mean": {"ndcg@1,0.5": 1.0}, "per_query": {"q": {"ndcg@1,0.5": 1.0}}}

    def test_a_run_without_any_query_of_the_truth_is_refused_in_one_sentence(self):
        run = {"x": [["a", 0, 1, 1]], "y": []}
        for missing in ("zero", "error"):
            assert refusal({7: [moment()]}, run, missing=missing) == (
                "run: truth has 0 of this run's 2 query ids, which are those of another split or data set: the run"
                " has 'x', the truth has 7"
            )
        assert evaluate({7: [moment()]}, run, unknown="ignore").mean["axiou@10"] == 0

    def test_query_ids_are_compared_as_text_and_returned_as_the_truth_has_them(self):
        result = evaluate({7: [moment()]}, {"7": [["a", 0, 10, 1]]}, k=[1], measures=["axiou"])
        assert result["per_query"] == {7: {"axiou@1": 1.0}}

    def test_objects_may_be_spelt_as_any_truth_or_run_file_spells_them(self):
        truth, run = {"q": [moment(0, 10, 4), moment(20, 30, 2)]}, {"q": [["a", 20, 30, 2], ["a", 0, 6, 1]]}
        spelt = {"q": [{"video_name": m["video"], "timestamp": (m["start"], m["end"]), **m} for m in truth["q"]]}
        for field in ("video", "start", "end"):
            spelt["q"][0].pop(field)  # the first decides for all
        rows = {"q": [{"vid": v, "ts": [s, e], "score": x} for v, s, e, x in run["q"]]}
        assert evaluate(spelt, rows) == evaluate(truth, run)
        spelt["q"][1].pop("timestamp")
        assert refusal(spelt, rows) == "truth, row 1: query q, moment 2: has no field `timestamp`"

    def test_no_relevant_skip_leaves_out_queries_that_nobody_could_answer(self):
        truth = {"q": [moment()], "none": [moment(relevance=0)], "empty": []}
        run = {"q": [["a", 0, 10, 1]]}
        assert value(truth, run) == pytest.approx(1 / 3)
        assert value(truth, run, no_relevant="skip") == 1.0

    @pytest.mark.parametrize("missing", ["zero", "skip", "error", "published"])
    def test_a_correct_empty_answer_scores_1_and_a_wrong_one_0(self, missing):
        truth = {"found": [moment()], "empty": [], "absent": [], "grade 0": [moment(relevance=0)], "wrong": []}
        hit = ["a", 0, 10, 1]
        run = {"found": [hit], "empty": [], "grade 0": [], "wrong": [hit]}
        scored = evaluate(truth, run, k=[1], measures=["recall@1,0.5"], missing=missing, no_relevant="correct_empty")
        values = {query: row["recall@1,0.5"] for query, row in scored.per_query.items()}
        assert values == {"found": 1, "wrong": 0, "empty": 1, "absent": 1, "grade 0": 1}

    def test_order_by_score_is_stable(self):
        truth = {"q": [moment(0, 10, 4), moment(20, 30, 1)]}
        run = {"q": [["a", 50, 60, 1], ["a", 20, 30, 2], ["a", 0, 10, 2]]}
        log3 = math.log2(3)
        ideal = 4 + 1 / log3
        assert value(truth, run) == pytest.approx((1 / log3) / ideal)
        assert value(truth, run, order="score") == pytest.approx((1 + 4 / log3) / ideal)

    def test_merge_max_keeps_the_higher_relevance_of_equal_moments(self):
        truth = {"q": [moment(relevance=1), moment(relevance=3), moment(20, 30, 2)]}
        run = {"q": [["a", 0, 10, 1], ["a", 20, 30, 1]]}
        assert value(truth, run, duplicates="merge_max") == 1.0
        assert value(truth, run) == pytest.approx((3 + 2 / math.log2(3)) / (3 + 2 / math.log2(3)))
        again = {"q": [["a", 0, 10, 1], ["a", 0, 10, 1]]}
        assert value(truth, again, duplicates="merge_max") == pytest.approx(3 / (3 + 2 / math.log2(3)))

    def test_merging_keeps_file_order_among_ties(self):
        truth = {"q": [moment(5, 10), moment(0, 5), moment(5, 10)]}
        # [0, 10) fits both moments by a half and takes the first of the file; [0, 6) fits only the other.
        run = {"q": [["a", 0, 10, 1], ["a", 0, 6, 1]]}
        assert value(truth, run, duplicates="merge_max") == 1.0

    def test_the_mean_is_that_of_numpy_over_the_queries_in_order(self):
        rng = np.random.default_rng(3)
        truth = {n: [moment(0, 10, 4), moment(20, 30, int(rng.integers(4)))] for n in range(300)}
        run = {n: [["a", 20, 30, 1], ["a", 0, int(rng.integers(1, 10)), 1]] for n in rng.permutation(300)}
        result = evaluate(truth, run)
        for key, mean in result["mean"].items():
            assert mean == np.mean([row[key] for row in result["per_query"].values()])
        assert list(result["per_query"]) == list(run)

    def test_dedupe_gives_the_place_of_a_repeated_prediction_to_the_next(self):
        truth = {"q": [moment(), moment(20, 30, 4)]}
        run = {"q": [["a", 0, 10, 1], ["a", 0, 10, 1], ["a", 20, 30, 1]]}
        assert value(truth, run) < 1.0
        assert value(truth, run, dedupe_predictions=True) == 1.0

    def test_every_option_of_the_presets_has_its_values_listed(self):
        for preset in PRESETS.values():
            for name, allowed in OPTION_VALUES.items():
                assert getattr(preset, name) in allowed
            for name, read in READERS.items():
                assert read(getattr(preset, name)) == getattr(preset, name)
            assert {*OPTION_VALUES, *READERS, "nms"} == set(preset.__dataclass_fields__)  # which is a number, or none

    def test_keys_print_mu_as_the_golden_files_do(self):
        measures = ["recall_gt", "ndcg", "dcg", "recall_gt"]
        keys = evaluate({"q": [moment()]}, {}, k=[10, 1, 10], mu=[1, 0.30, 0.5], theta=[0.7], measures=measures)["mean"]
        assert list(keys) == [
            *("recall_gt@10,0.7", "recall_gt@1,0.7"),
            *(f"ndcg@{k},{mu}" for k in (10, 1) for mu in ("1.0", "0.3", "0.5")),
            *("dcg@10", "dcg@1"),
        ]

    def test_without_any_query_that_counts_there_is_no_mean(self):
        assert evaluate({"q": [moment()]}, {}, missing="skip") == {"mean": {}, "per_query": {}}


NAMED_GAIN = " (name the gain to use any relevance from 0 to 1000, such as 0.5 or 10: gain=linear or gain=exp2)"


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"preset": "best"}, "preset: 'best' is not one of paper, tvr-ranking, axiou"),
            ({"gain": "log"}, "gain: 'log' is not one of linear, exp2"),
            ({"dedupe_predictions": "yes"}, "dedupe_predictions: 'yes' is not one of False, True"),
            ({"k": [0]}, "k: 0 is not at least 1"),
            ({"k": [10**400]}, f"k: {10**400} is more than any list holds"),
            ({"k": [1.5]}, "k: 1.5 is not a whole number"),
            ({"k": []}, "k: give at least one cut-off, such as 10"),
            ({"mu": [0.0]}, "mu: 0.0 is not in (0, 1]"),
            ({"mu": [1.01]}, "mu: 1.01 is not in (0, 1]"),
            ({"mu": [NAN], "invalid": "skip"}, "mu: nan is not in (0, 1]"),
            ({"mu": ["half"]}, "mu: 'half' is not a number"),
            ({"theta": [2]}, "theta: 2.0 is not in (0, 1]"),
            ({"min_relevance": 0}, "min_relevance: 0 is not one of 1, 2, 3, 4"),
            (
                {"measures": ["gmap"]},
                f"measures: 'gmap' is not one of {', '.join(MEASURES)}",
            ),
            (
                {"measures": []},
                f"measures: give at least one of {', '.join(MEASURES)}",
            ),
        ],
    )
    def test_what_cannot_be_computed_is_refused_by_name(self, arguments, message):
        assert refusal({"q": [moment()]}, {}, **arguments) == message

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (moment(5, 5), "end 5.0 is not after start 5.0"),
            (moment(9, 3), "end 3.0 is not after start 9.0"),
            (moment(-1, 3), "start -1.0 is before the video begins"),
            (moment(NAN, 3), "[nan, 3.0] is not two finite times"),
            (moment(0, math.inf), "[0.0, inf] is not two finite times"),
            (moment(relevance=5), f"relevance 5 is not one of 0, 1, 2, 3, 4{NAMED_GAIN}"),
            (moment(relevance=2.5), f"relevance 2.5 is not one of 0, 1, 2, 3, 4{NAMED_GAIN}"),
            (moment(relevance=-1), "relevance -1 is not one of 0, 1, 2, 3, 4"),
            (moment(relevance=NAN), "relevance nan is not one of 0, 1, 2, 3, 4"),
            (moment(relevance=None), "relevance is null, not a number"),
            (moment(relevance=True), "relevance is true or false, not a number"),
            (moment(start="0"), "start is text, not a number"),
            (moment(video=None), "the video is null, not a name or an index"),
            ({"video": "a", "start": 0, "relevance": 1}, "has no field `end`"),
            (["a", 0, 1], "is not an object"),
        ],
    )
    def test_a_bad_truth_moment_is_named(self, bad, message):
        assert refusal({"ok": [], "q": [moment(), bad]}, {}) == f"truth, row 2: query q, moment 2: {message}"

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (["a", 5, 5, 1], "end 5.0 is not after start 5.0 (invalid=zero keeps such predictions at their ranks"),
            (["a", 0, NAN, 1], "[0.0, nan] is not two finite times"),
            (["a", 0, 1], "is not [video, start, end, score]"),
            ("abcd", "is not [video, start, end, score]"),
            (["a", 0, 1, None], "score is null, not a number"),
            ([1.5, 0, 1, 1], "the video is a float, not a name or an index"),
            (["a", 10**400, 1, 1], "int too large to convert to float"),
        ],
    )
    def test_a_bad_prediction_is_named(self, bad, message):
        text = refusal({"q": [moment()]}, {"q": [["a", 0, 10, 1], bad]})
        assert text.startswith(f"run, row 1: query q, moment 2: {message}")

    def test_ids_that_are_one_as_text_are_refused(self):
        assert refusal({7: [], "7": []}, {}) == "truth, row 2: query 7 was already given in row 1"

    def test_a_truth_without_queries_is_refused(self):
        assert refusal({}, {}) == "truth: holds no query"

    def test_ordering_by_a_score_that_is_no_number_is_refused(self):
        truth, run = {"q": [moment()]}, {"q": [["a", 0, 10, NAN]]}
        assert value(truth, run) == 1.0
        assert refusal(truth, run, order="score") == "run, row 1: query q, moment 1: the score is not a number"

    def test_skip_leaves_bad_rows_out_and_lets_any_mu_pass(self):
        truth = {"q": [moment(), moment(relevance=7), moment(3, 2)]}
        run = {"q": [["a", 9, 3, 1], ["a", 0, 10, 1]]}
        assert value(truth, run, invalid="skip") == 1.0  # the reversed prediction does not cost a rank
        assert value(truth, {"q": run["q"]}, invalid="skip", preset="tvr-ranking") == 1.0
        assert evaluate(truth, run, invalid="skip", k=[1], mu=[0], measures=["ndcg"])["mean"] == {"ndcg@1,0.0": 1.0}

    def test_official_keeps_bad_rows_as_the_published_function_does(self):
        truth = {"q": [moment()]}
        run = {"q": [["a", 9, 3, 1], ["a", 0, 10, 1]]}
        assert value(truth, run, preset="tvr-ranking") == pytest.approx(1 / math.log2(3))
        assert "relevance 7" in refusal({"q": [moment(relevance=7)]}, run, preset="tvr-ranking")


def truth_entry(query="q", **changes):
    pair = {"pair_id": 1, "video_name": "a", "timestamp": [0, 10], "duration": 90.0, "relevance": 4}
    return {"query_id": query, "query": "someone acts", "relevant_moment": [pair | changes]}


def write(path: Path, document) -> Path:
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


class TestReaders:
    def test_both_truth_formats_say_the_same(self, tmp_path):
        nested = [truth_entry(5), truth_entry(6), truth_entry(7)]
        nested[0]["relevant_moment"].append(nested[0]["relevant_moment"][0] | {"timestamp": [20.5, 30]})
        nested[2]["relevant_moment"].clear()
        lines = [
            json.dumps({"query_id": e["query_id"], "query": e["query"], **pair})
            for e in (nested[0], nested[1])
            for pair in e["relevant_moment"]
        ]
        # A query's pairs need not stand together, and blank lines are nothing.
        text = "\n".join([lines[0], lines[2], "", lines[1]]) + "\n"
        old, new = read_truth(write(tmp_path / "val.jsonl", text)), read_truth(write(tmp_path / "val.json", nested))
        assert new.queries == (5, 6, 7)
        assert old.queries == (5, 6)
        for truth in (old, new):
            assert truth.start_s.tolist() == [0, 20.5, 0]
            assert truth.query.tolist() == [0, 0, 1]
        assert old.row.tolist() == [1, 4, 2]
        assert new.row.tolist() == [1, 1, 2]

    @pytest.mark.parametrize(
        "document",
        [
            {"5": [["a", 0, 10, 2.5], [1, 3, 4.5, 2]], "6": []},
            [
                {"query_id": 5, "desc": "x", "predictions": [["a", 0, 10, 2.5], ["b", 3, 4.5, 2]]},
                {"desc_id": 6, "predictions": []},
            ],
            {
                "5": [
                    {"video_name": "a", "timestamp": [0, 10], "model_scores": 2.5},
                    {"video_name": "b", "timestamp": [3, 4.5], "model_scores": 2},
                ],
                "6": [],
            },
            [
                {"query_id": 5, "video_name": "a", "timestamp": [0, 10], "model_scores": 2.5},
                {"query_id": 5, "video_name": 1, "timestamp": [3, 4.5], "model_scores": 2},
            ],
        ],
        ids=["object", "list", "objects in an object", "list of objects"],
    )
    def test_all_run_formats_say_the_same(self, tmp_path, document):
        run = read_run(write(tmp_path / "run.json", document), {1: "b"})
        assert [str(query) for query in run.queries] in (["5", "6"], ["5"])
        assert [run.videos[n] for n in run.video] == ["a", "b"]
        assert run.start_s.tolist() == [0, 3]
        assert run.end_s.tolist() == [10, 4.5]
        assert run.score.tolist() == [2.5, 2]

    def test_indices_are_resolved_by_the_map(self, tmp_path):
        videos = read_videos(write(tmp_path / "map.json", {"a": [90.02, 7], "b": [12, 9]}))
        assert videos == {7: "a", 9: "b"}
        path = write(tmp_path / "run.json", {"q": [[7, 0, 1, 1], [8, 0, 1, 1]]})
        with pytest.raises(InputError, match="query q, moment 2: the video map has no index 8"):
            read_run(path, videos)
        with pytest.raises(InputError, match=r"moment 1: the video is the index 7; give --videos"):
            read_run(path)

    @pytest.mark.parametrize(
        ("document", "message"),
        [
            ({"a": 7}, "row 1: video 'a' does not map to"),
            ({"a": [1, 7], "b": [1, 7]}, "row 2: index 7 names both 'a' and 'b'"),
            ([], "a video map is an object"),
        ],
    )
    def test_a_bad_video_map_is_refused(self, tmp_path, document, message):
        with pytest.raises(InputError, match=message):
            read_videos(write(tmp_path / "map.json", document))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", ": is empty"),
            (b" \n", ": is empty"),
            (b'[\n"caf\xe9"]', ", row 2: is not UTF-8 text"),
            (b"[1, 2", ": is not JSON"),
            (b"<html>", ": is a web page"),
            (b"7", ": is text, with lines such as '7', which is no known form of a truth"),
            (b"[]", ": holds no query"),
            (b'[{"query_id": 1, "relevant_moment": []}, {"relevant_moment": []}]', ", row 2: has no `query_id`"),
            (b'[{"query_id": 1, "relevant_moment": 3}]', ", row 1: query 1 has no list `relevant_moment`"),
            (b'[{"query_id": null, "relevant_moment": []}]', ", row 1: has no `query_id`"),
            (b'[{"query_id": 1.5, "relevant_moment": []}]', ", row 1: query id 1.5 is neither text nor integer"),
            (json.dumps([truth_entry(1), truth_entry("1")]).encode(), ", row 2: query 1 was already given in row 1"),
            (json.dumps([truth_entry(timestamp=[1])]).encode(), "query q, moment 1: `timestamp` is not"),
            (json.dumps([truth_entry(video_name=3)]).encode(), "the video is the number 3; a truth file names"),
            (b'{"query_id": 1}\n{"query_id"', ", row 2: is not JSON"),
            (b'{"query_id": 1, "video_name": "a", "ts": [0, 1]}', "row 1: query 1, moment 1: has no field `relevance`"),
        ],
    )
    def test_a_bad_truth_file_is_refused_by_name_and_row(self, tmp_path, content, message):
        path = tmp_path / "val.json"
        path.write_bytes(content)
        with pytest.raises(InputError) as refused:
            evaluate_files(path, [])
        assert str(refused.value).startswith(str(path))
        assert message in str(refused.value).removeprefix(str(path))

    def test_a_file_that_is_not_there_is_refused(self, tmp_path):
        with pytest.raises(InputError, match=r"none\.json: cannot be read: No such file"):
            read_truth(tmp_path / "none.json")

    def test_a_byte_order_mark_does_no_harm(self, tmp_path):
        path = tmp_path / "val.json"
        path.write_bytes(b"\xef\xbb\xbf" + json.dumps([truth_entry()]).encode())
        assert read_truth(path).queries == ("q",)

    def test_the_real_runs_load(self, shared):
        folder = shared / "data" / "tvr_ranking"
        videos = read_videos(folder / "video_name_duration_id.json")
        for path in sorted((folder / "runs").glob("*.json")):
            run = read_run(path, videos)
            assert (len(run.queries), len(run.video)) == (500, 20_000)
            document = json.loads(path.read_text("utf-8"))
            number, start, end, score = document[499]["predictions"][39]
            assert run.videos[run.video[-1]] == videos[number]
            assert (run.start_s[-1], run.end_s[-1], run.score[-1]) == (start, end, score)


class TestFiles:
    def test_the_object_that_json_prints(self, tmp_path):
        entries = [truth_entry(5), truth_entry("six"), truth_entry(7)]
        truth = write(tmp_path / "val.json", entries)
        run = write(tmp_path / "mine.json", {"5": [["a", 0, 10, 1]], "six": []})
        result = evaluate_files(truth, [run], k=[1], mu=[0.5])
        measures = result["runs"][0]["measures"]
        assert {key.partition("@")[0] for key in measures} == {
            "ndcg",
            "axiou_ap",
            "recall",
            "recall_gt",
            "axiou",
            "dcg",
        }
        assert set(measures.values()) == {1 / 3}
        assert result == {
            "preset": "paper",
            "options": {},
            "focus": "ndcg@1,0.5",
            "truth": {"queries": 3, "moments": 3},
            "runs": [
                {
                    **{"name": "mine", "queries": 1, "counted": 3, "missing": ["six", 7], "measures": measures},
                    # The one prediction there is; two queries have none.
                    "judged": {"judged@1,0.5": 1 / 3},
                }
            ],
            "warnings": [],
        }
        assert json.loads(json.dumps(result)) == result

    def test_options_that_differ_from_the_preset_are_reported(self, tmp_path):
        truth = write(tmp_path / "val.json", [truth_entry()])
        run = write(tmp_path / "run.json", {"q": []})
        result = evaluate_files(truth, [run], preset="tvr-ranking", missing="zero", gain="exp2", order=None)
        assert result["options"] == {"missing": "zero"}

    def test_runs_of_one_name_are_told_apart(self, tmp_path):
        truth = write(tmp_path / "val.json", [truth_entry()])
        runs = []
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            runs.append(write(tmp_path / folder / "run.json", {"q": []}))
        assert [run["name"] for run in evaluate_files(truth, runs)["runs"]] == [str(path) for path in runs]

    def test_unknown_queries_name_the_run_and_its_row(self, tmp_path):
        truth = write(tmp_path / "val.json", [truth_entry()])
        run = write(tmp_path / "run.json", [{"query_id": n, "predictions": []} for n in ("q", "x")])
        with pytest.raises(InputError, match=r"run\.json, row 2: query x is not in the truth"):
            evaluate_files(truth, [run])

    @pytest.mark.parametrize(
        ("run", "options", "message"),
        [
            ([["a", 0, 9, 1], ["a", 0, 8, 2]], {}, "run.json: the scores of 1 query are not in falling order"),
            ([["a.mp4", 0, 9, 1]], {}, "run.json: none of its videos is in the truth"),
            ([["a", 9, 0, 1]], {"invalid": "skip"}, "run.json: 1 impossible moments were left out; the first:"),
            ([["a", 9, 0, 1]], {"preset": "tvr-ranking"}, "run.json: 1 impossible moments were kept as they are"),
        ],
    )
    def test_what_may_be_a_mistake_is_a_warning(self, tmp_path, run, options, message):
        truth = write(tmp_path / "val.json", [truth_entry()])
        path = write(tmp_path / "run.json", {"q": run})
        (warning,) = evaluate_files(truth, [path], **options)["warnings"]
        assert message in warning

    def test_what_may_be_a_mistake_in_the_truth_is_a_warning_too(self, tmp_path):
        twice = truth_entry()
        twice["relevant_moment"] *= 2
        truth = write(tmp_path / "val.json", [twice, truth_entry(8, relevance=0)])
        run = write(tmp_path / "run.json", {"q": [["a", 0, 9, 2], ["a", 0, 8, 1]], "8": [], "x": []})
        repeated, relevant, ignored = evaluate_files(truth, [run], unknown="ignore")["warnings"]
        assert "1 moments repeat another of the same query; all were kept" in repeated
        assert "queries without relevant moment count 0: 8" in relevant
        assert "queries that the truth lacks were ignored: x" in ignored
        merged = evaluate_files(truth, [run], unknown="ignore", duplicates="merge_max")
        assert len(merged["warnings"]) == 2
        assert merged["truth"] == {"queries": 2, "moments": 2}
