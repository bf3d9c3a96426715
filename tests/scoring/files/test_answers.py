"""Answers of language models as runs: the times in them, their queries, and figures of the published evaluators."""

import functools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.files.answer_windows import (
    Rule,
    windows_in,
    windows_of,
    windows_of_timechat,
    windows_of_vtimellm,
)
from backend.scoring.files.answers import holds_answers
from backend.scoring.files.formats import read_run, read_truth, run_file, truth_file
from backend.scoring.matching.columns import AnswerCounts, Run
from backend.scoring.scored_files import score_files
from backend.scoring.tables import to_csv, to_markdown
from backend.scoring.views.table import unparsed

GOLDEN = json.loads((Path(__file__).parent / "golden/answers.json").read_text())
ANNOTATIONS = {
    "v_a": {"duration": 50.0, "timestamps": [[0, 10], [20, 40]], "sentences": ["A dog runs.", " A dog sleeps. "]},
    "v_b": {"duration": 200.0, "timestamps": [[5, 20]], "sentences": ["A dog runs."]},
}
TRUTH = truth_file(json.dumps(ANNOTATIONS).encode(), "truth.json")


def read(content: object, name: str = "run.json") -> Run:
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    return run_file(content, name, None, TRUTH)


def windows(run: Run) -> dict[str, list[tuple[float, float]]]:
    """The windows of each query, in their order."""
    spans = list(zip(run.start_s.tolist(), run.end_s.tolist(), strict=True))
    return {str(query): spans[run.offsets[n] : run.offsets[n + 1]] for n, query in enumerate(run.queries)}


def refused(content: object) -> list[str]:
    with pytest.raises(InputError) as error:
        read(content)
    return [str(problem) for problem in error.value.problems]


class TestWindows:
    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("from 10.2 to 15 seconds", [(10.2, 15)]),
            ("The event happens in 10.2 - 15.0 seconds.", [(10.2, 15)]),
            ("Between 10 and 15 seconds.", [(10, 15)]),
            ("10s–15s", [(10, 15)]),
            ("from second 10 until second 15", [(10, 15)]),
            ("0:10 - 0:15", [(10, 15)]),
            ("00:01:10 to 00:01:15.5", [(70, 75.5)]),
            ("from 1 minute 5 seconds to 2 minutes", [(65, 120)]),
            ("from 1m5s to 1m30s", [(65, 90)]),
            ("[10.0, 15.0]", [(10, 15)]),
            ("[[10.0, 15.0], [20, 21]]", [(10, 15), (20, 21)]),
            ('{"start": 10, "end": 15.5}', [(10, 15.5)]),
            ('[{"start_time": "0:10", "end_time": "0:15"}, {"start_time": "1:10", "end_time": "1:15"}]',
             [(10, 15), (70, 75)]),
            ("Start time: 0.8 seconds. Ending time: 1.1 seconds", [(0.8, 1.1)]),
            ("It starts at 3 seconds and ends at 9 seconds.", [(3, 9)]),
            ("10.5, 15", [(10.5, 15)]),
            ("From 3 to 9 seconds, and from 20 to 31.5 seconds.", [(3, 9), (20, 31.5)]),
            ("The 3-4 people leave from 10 to 15.", [(10, 15)]),
            ("<think>Perhaps 1 - 2 seconds.</think><answer>10 - 15</answer>", [(10, 15)]),
            ("<think>Perhaps 1 - 2 seconds.</think> 10 - 15", [(10, 15)]),
            ("15 to 10", [(15, 10)]),
        ],
    )  # fmt: skip
    def test_times_in_seconds(self, answer: str, expected: list[tuple[float, float]]):
        assert [(window.start, window.end) for window in windows_in(answer)] == expected
        assert not any(window.percent for window in windows_in(answer))

    @pytest.mark.parametrize("answer", ["<10> <20>", "from <10> to <20>", "10% to 20%", "From 10 to 20 percent."])
    def test_times_in_percent(self, answer: str):
        assert windows_in(answer) == [(10, 20, True)]

    @pytest.mark.parametrize(
        "answer", ["", "Sorry, I cannot tell.", "At 12 seconds.", "In frames 10 to 15.", "Two of 3 people", "1:2:3:4"]
    )
    def test_answers_without_a_window(self, answer: str):
        assert windows_in(answer) == []

    @given(st.text(alphabet="0123456789.:-<>[]%,to andfrmsecbw\n", max_size=40))
    def test_any_text_gives_finite_times(self, answer: str):
        assert all(0 <= time < 1e45 for window in windows_in(answer) for time in window[:2])

    @pytest.mark.parametrize("rule", [windows_in, windows_of_timechat, windows_of_vtimellm])
    @pytest.mark.parametrize(
        "answer",
        [
            *("1" * 10**6, "start " + "1" * 10**6, "1 " + "1" * 10**6 + " min", "from 1" + " " * 10**6 + "x"),
            *("1" + "\t" * 10**6 + "x", "[1" + " " * 10**6 + "x", "[1,1" + " " * 10**6 + "x", "start1" * 160_000),
        ],
        ids=range(8),
    )
    def test_a_million_digits_or_blanks_take_no_longer_than_other_texts(self, rule: Rule, answer: str):
        began = time.process_time()
        assert rule(answer) == []
        assert time.process_time() - began < 20, "it took hours"

    @pytest.mark.parametrize(
        "answer",
        [
            *("9" * 400 + " minutes to 5 s", "9" * 5000 + " minutes to 5 s", "from 3 to " + "9" * 400),
            *([10**400, 5], ["9" * 400, 5], functools.reduce(lambda inner, _: [inner], range(600), "3 - 9")),
        ],
        ids=range(6),
    )
    def test_endless_numbers_and_lists_without_end_are_no_times(self, answer: Any):
        run = read([{"qid": "v_a#0", "answer": answer}, {"qid": "v_b#0", "answer": "3 - 9"}])
        assert (windows(run), run.answers) == ({"v_a#0": [], "v_b#0": [(3, 9)]}, AnswerCounts(2, 1))
        assert windows_of("9" * 400 + " - 5", windows_of_timechat) == []

    @given(st.floats(0, 9999).map(lambda time: round(time, 2)), st.floats(0, 9999).map(lambda time: round(time, 2)))
    def test_times_are_read_as_they_are_written(self, start: float, end: float):
        for template in ("from {} to {} seconds", "{} - {}", "[{}, {}]", "It starts at {} s. It ends at {} s."):
            assert windows_in(template.format(start, end)) == [(start, end, False)]


class TestFiles:
    def test_a_list_lines_an_object_of_texts_and_csv_are_read_alike(self):
        texts = {"v_a#0": "From 0 to 9 s, or 20 - 30 s.", "v_a#1": "No idea.", "v_b#0": "<10> <20>"}
        entries = [{"query_id": query, "answer": text} for query, text in texts.items()]
        table = "query_id,answer\n" + "".join(f'{query},"{text}"\n' for query, text in texts.items())
        expected = {"v_a#0": [(0, 9), (20, 30)], "v_a#1": [], "v_b#0": [(20, 40)]}
        for content in (entries, "\n".join(map(json.dumps, entries)).encode(), texts, table.encode()):
            run = read(content)
            assert windows(run) == expected
            assert run.answers == AnswerCounts(3, 1)
            assert "no time was found in 1 of 3 answers" in run.notes[0]
            assert "query v_a#1: 'No idea.'" in run.notes[0]
        assert windows(read(entries[:1])) == {"v_a#0": expected["v_a#0"]}

    def test_an_answer_may_be_json(self):
        for given_, expected in [
            ([1, 2.5], [(1, 2.5)]),
            ([[1, 2.5], [3, 4]], [(1, 2.5), (3, 4)]),
            ({"start": 1, "end": "0:02"}, [(1, 2)]),
            ([{"timestamp": [1, 2]}, {"timestamp": [3, 4]}], [(1, 2), (3, 4)]),
            (["1 - 2 seconds", "0:03 - 0:04"], [(1, 2), (3, 4)]),
            (["0:03", "0:04"], [(3, 4)]),
            (None, []),
            ([], []),
            ([None, 3], []),
        ]:
            assert windows(read([{"qid": "v_b#0", "pred": given_}])) == {"v_b#0": expected}

    def test_beside_another_answer_the_field_answer_is_the_reference(self):
        entry = {"qid": "v_b#0", "answer": "from 1 to 2", "response": "from 3 to 4"}
        assert windows(read([entry])) == {"v_b#0": [(3, 4)]}

    def test_queries_may_be_named_by_video_and_text(self):
        by_text = [
            {"video": "v_b.mp4", "query": "a dog runs", "response": "1 - 2"},
            {"video": "v_a", "query": "A dog sleeps.", "response": "3 - 4"},
        ]
        dense = {
            "version": "VERSION 1.0",
            "results": {
                "v_b": [{"sentence": "A dog runs.", "timestamp": [1, 2]}],
                "v_a": [{"query": "A dog sleeps.", "timestamp": [3, 4]}],
            },
            "external_data": {"used": False},
        }
        timechat = {
            "70": {"timestamp": [[1, 2]], "query": "a dog runs.", "vid": "v_b.mp4"},
            "71": {"timestamp": [[3, 4]], "query": "a dog sleeps.", "vid": "v_a.mp4"},
        }
        for content in (by_text, dense, timechat):
            assert windows(read(content)) == {"v_b#0": [(1, 2)], "v_a#1": [(3, 4)]}

    def test_ids_that_belong_to_other_texts_give_way_to_the_texts(self):
        lines_ = [
            {"qid": n, "query": text, "vid": "v", "duration": 60, "relevant_windows": [[0, 16]]}
            for n, text in enumerate(("Dogs", "Cats", "Cows"))
        ]
        truth = truth_file("\n".join(map(json.dumps, lines_)).encode(), "t")
        shifted = [
            {"id": n + 1, "vid": "v", "query": text, "answer": f"{n} - 9"} for n, text in ((0, "dogs"), (1, "cats"))
        ]
        run = run_file(json.dumps(shifted).encode(), "r", None, truth)
        assert windows(run) == {"0": [(0, 9)], "1": [(1, 9)]}
        reworded = [{**entry, "query": f"When do {entry['query']} appear?"} for entry in shifted]
        run = run_file(json.dumps(reworded).encode(), "r", None, truth)
        assert windows(run) == {"1": [(0, 9)], "2": [(1, 9)]}

    def test_several_entries_of_one_text_are_its_predictions(self):
        dense = {"results": {"v_b": [{"sentence": "A dog runs.", "timestamp": span} for span in ([1, 2], [5, 6])]}}
        assert windows(read(dense)) == {"v_b#0": [(1, 2), (5, 6)]}

    def test_a_sentence_that_a_video_has_twice_is_told_apart_by_order(self):
        twice = {"v": {"duration": 9, "timestamps": [[0, 1], [2, 3]], "sentences": ["x", "x"]}}
        truth = truth_file(json.dumps(twice).encode(), "t")
        entries = [{"sentence": "x", "timestamp": span} for span in ([4, 5], [6, 7], [8, 9])]
        run = run_file(json.dumps({"results": {"v": entries[:2]}}).encode(), "r", None, truth)
        assert windows(run) == {"v#0": [(4, 5)], "v#1": [(6, 7)]}
        with pytest.raises(InputError, match="'x' is 2 queries of the truth, but has 3 answers"):
            run_file(json.dumps({"results": {"v": entries}}).encode(), "r", None, truth)

    def test_texts_are_also_those_of_a_qvhighlights_truth(self):
        truth = truth_file(
            b'{"qid": 8, "query": "Dogs", "vid": "v", "duration": 60, "relevant_windows": [[0, 16]]}', "t"
        )
        content = b'[{"video_id": "v", "query": "dogs", "output": "<50> <100>"}]'
        assert windows(run_file(content, "r", None, truth)) == {"8": [(30, 60)]}


class TestRefusals:
    def test_answers_need_a_truth(self):
        with pytest.raises(InputError, match="holds answers, so it can only be read together with a truth"):
            run_file(b'[{"qid": 5, "answer": "1 - 2"}]', "r")

    def test_captions_in_own_words(self):
        dense = {"results": {"v_b": [{"sentence": "An animal moves.", "timestamp": [1, 2]}]}}
        assert refused(dense) == [
            "run.json, row 1: video v_b: 'An animal moves.' is not a query of the truth, nor is any other text of the"
            " file; captions in the model's own words cannot be scored"
        ]
        dense["results"]["v_a"] = [{"sentence": "A dog runs.", "timestamp": [1, 2]}]
        assert refused(dense) == ["run.json, row 1: video v_b: 'An animal moves.' is not a query of the truth"]

    def test_entries_without_an_answer_or_a_query(self):
        assert refused([{"qid": "v_b#0", "answer": "1 - 2"}, {"qid": "v_a#0"}, 7]) == [
            "run.json, row 2: is not an object with an answer",
            "run.json, row 3: is not an object with an answer",
        ]
        assert refused([{"video": "v_b", "answer": "1 - 2"}]) == [
            "run.json, row 1: the answers name no query: they need the field `query_id`"
        ]

    def test_a_query_answered_twice(self):
        twice = [{"qid": "v_b#0", "answer": "1 - 2"}, {"qid": "v_b#0", "answer": "3 - 4"}]
        assert refused(twice) == ["run.json, row 2: query v_b#0 was already given in row 1"]

    def test_percent_of_an_unknown_length(self):
        truth = truth_file(b"AB 1 2##A dog runs.\nCD 1 2##A dog runs.\n", "t.txt")
        answers = [{"qid": "AB#0", "answer": "<10> <20>"}, {"qid": "CD#0", "answer": "<10> <20>"}]
        with pytest.raises(InputError, match="unknown for 2 videos such as AB: give a map with --videos"):
            run_file(json.dumps(answers).encode(), "r", None, truth)

    @pytest.mark.parametrize(
        "other",
        [
            {"5": [["v", 0, 9, 0.5]]},
            {"lr": "0.1 - 0.2", "layers": 3},
            {"task": "hl", "note": "none"},
            {"v": {"duration": 9, "timestamps": [[0, 1]], "sentences": ["x"]}},
            [{"query_id": 5, "video": "v", "start": 0, "end": 9, "score": 0.5}],
            [{"qid": 5, "vid": "v", "pred_relevant_windows": [[0, 9, 1]]}],
            {"brief": {"R1": 5.0}},
            {"version": "1.0", "results": [{"clip_uid": "x", "query_idx": 0, "predicted_times": [[0, 1]]}]},
            {}, [], [[[0, 1]]],
        ],
    )  # fmt: skip
    def test_other_files_hold_no_answers(self, other: Any):
        assert not holds_answers(other)


def written(folder: Path, name: str, content: object, *, lines: bool = False) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(entry) + "\n" for entry in content) if lines else json.dumps(content))  # type: ignore[attr-defined]
    return path


def percents(summary: dict[str, Any]) -> dict[str, float]:
    return {name: 100 * value for name, value in summary["runs"][0]["figures"].items()}


class TestPublishedEvaluators:
    def test_vtimellm(self, tmp_path: Path):
        golden = GOLDEN["vtimellm"]
        truth = written(tmp_path, "truth.json", golden["truth"])
        run = written(tmp_path, "log.txt", golden["log"], lines=True)
        board = score_files(truth, [run], benchmark="activitynet", missing="zero", arithmetic="hundredths")
        found = percents(board.summary())
        printed = {"mIoU": found["mIoU"]} | {f"R1@{t}": found[f"R@1, IoU={t}"] for t in (0.3, 0.5, 0.7)}
        assert {name: f"{value:.2f}" for name, value in printed.items()} == golden["printed"]
        assert board.warnings[:2] == (
            f"{run}: 6 answers of other tasks were not read",
            f"{run}: no time was found in 2 of 22 answers, so these queries have no predictions (row 9, query"
            " v_clip1#2: 'I am not sure when this happens.'; row 17, query v_clip3#0: 'From frame 13 to the end.')",
        )

    @pytest.mark.parametrize("part", ["results", "formatted"])
    def test_timechat(self, part: str, tmp_path: Path):
        golden = GOLDEN["timechat"]
        truth = written(tmp_path, "truth.json", golden["truth"])
        run = written(tmp_path, "run.json", golden[part])
        summary = score_files(truth, [run], benchmark="charades-sta", missing="zero").summary()
        found, total = percents(summary), len(golden["truth"]["annotations"])
        hits = {f"IOU {theta}": round(found[f"R@1, IoU={theta}"] * total / 100) for theta in (0.3, 0.5, 0.7)}
        assert {name: str(count * 100 / total) for name, count in hits.items()} == golden["printed"]
        assert summary["runs"][0]["answers"] == {"total": 30, "unparsed": 9, "unparsed_share": 0.3}

    def test_the_texts_of_timechat_find_their_queries_in_other_files_of_the_data_set(self, tmp_path: Path):
        golden = GOLDEN["timechat"]
        lines_ = [
            f"{entry['image_id'][:-4]} {entry['timestamp'][0]} {entry['timestamp'][1]}##{entry['caption']}\n"
            for entry in golden["truth"]["annotations"]
        ]
        (tmp_path / "test.txt").write_text("".join(lines_))
        run = written(tmp_path, "run.json", golden["formatted"])
        with_ids = written(tmp_path, "truth.json", golden["truth"])
        boards = [score_files(truth, [run], measures=["miou"]) for truth in (tmp_path / "test.txt", with_ids)]
        assert boards[0].runs[0].means == boards[1].runs[0].means
        assert boards[0].runs[0].means["miou"] > 0


class TestShares:
    """The share of answers without a time stands beside the scores."""

    ANSWERS = ({"qid": "v_a#0", "answer": "From 0 to 10 s."}, {"qid": "v_a#1", "answer": "No."})

    def board(self, tmp_path: Path, **options: str):
        truth = written(tmp_path, "truth.json", ANNOTATIONS)
        return score_files(truth, [written(tmp_path, "mine.json", self.ANSWERS)], measures=["miou"], **options)

    @pytest.mark.parametrize(
        ("missing", "mean", "counted"),
        [("zero", 1 / 3, 3), ("skip", 1.0, 1), ("published", 1 / 2, 2)],
    )
    def test_each_option_for_missing_queries(self, missing: str, mean: float, counted: int, tmp_path: Path):
        run = self.board(tmp_path, missing=missing).summary()["runs"][0]
        assert (run["measures"]["miou"], run["counted"]) == (pytest.approx(mean), counted)
        assert run["answers"] == {"total": 2, "unparsed": 1, "unparsed_share": 0.5}

    def test_a_refusal_of_missing_queries_tells_of_answers_without_a_time(self, tmp_path: Path):
        with pytest.raises(InputError) as error:
            self.board(tmp_path, missing="error")
        assert error.value.problems[0].message == (
            "no time was found in 1 of 2 answers; their queries count as missing"
        )

    def test_csv_markdown_and_screen(self, tmp_path: Path):
        summary = self.board(tmp_path).summary()
        assert "mine,,,,,answers,all,2,2,unparsed_share,0.5," in to_csv(summary)
        line = "Answers in which no time was found: mine 1 of 2 (50.0%)"
        assert unparsed(summary) == [line]
        assert f"- {line}\n" in to_markdown(summary)

    def test_other_runs_have_no_such_share(self):
        result = evaluate(ANNOTATIONS, {"v_a#0": [[0, 10]]}, measures="miou")
        assert "answers" not in result.summary["runs"][0]
        assert "answers" not in to_csv(result.summary)
        assert unparsed(result.summary) == []

    def test_python_takes_answers_as_objects(self):
        result = evaluate(ANNOTATIONS, {"v_a#0": "From 0 to 10 s.", "v_b#0": "?"}, measures="miou")
        assert result.mean["miou"] == pytest.approx(1 / 3)
        assert result.summary["runs"][0]["answers"]["unparsed"] == 1


def test_files_are_read_from_their_paths(tmp_path: Path):
    truth = read_truth(written(tmp_path, "truth.json", ANNOTATIONS))
    run = read_run(written(tmp_path, "run.jsonl", TestShares.ANSWERS, lines=True), None, truth)
    assert windows(run) == {"v_a#0": [(0, 10)], "v_a#1": []}
