"""The studies as a person runs them: files in; a table, and a folder of figures and data, out."""

import csv
import gzip
import io
import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.scoring.evaluate import evaluate
from cli.conftest import Run

SYSTEMS = ("north", "south", "west")
QUERIES = 12
FEW = ("--k", "3", "--mu", "0.3,0.5", "--measure", "ndcg")
STUDIES = {
    "agreement": (),
    "stability": ("--trials", "30", "--sizes", "2,5", "--jobs", "1"),
    "noise": ("--sets", "3", "--jobs", "1", "--sigma", "0.5,1"),
    "ties": (),
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Truth and three runs of a validation and a test set in the working folder; `south` lacks a query, shuffled."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(4)
    content: dict[str, dict[str, Any]] = {}
    for part in ("val", "test"):
        truth = {
            f"{part}{q}": [
                {
                    "video": f"v{rng.randrange(3)}",
                    "start": s,
                    "end": s + rng.uniform(3, 9),
                    "relevance": rng.randrange(5),
                }
                for s in rng.sample(range(60), 4)
            ]
            for q in range(QUERIES)
        }
        content[part] = {"truth": truth}
        entries = [
            {
                "query_id": query,
                "relevant_moment": [
                    {"video_name": m["video"], "timestamp": [m["start"], m["end"]], "relevance": m["relevance"]}
                    for m in moments
                ],
            }
            for query, moments in truth.items()
        ]
        Path(f"{part}.json").write_text(json.dumps(entries))
        for n, name in enumerate(SYSTEMS):
            run = {
                query: [
                    [m["video"], m["start"] + rng.uniform(0, 2 * n + 1), m["end"] + 2 * n + 1, 1.0] for m in moments
                ]
                for query, moments in truth.items()
            }
            if name == "south":
                run = dict(reversed(list(run.items())[1:]))
            content[part][name] = run
            Path(f"{name}-{part}.json").write_text(json.dumps(run))
    Path("videos.json").write_text(json.dumps({f"v{n}": [70.0, n] for n in range(3)}))
    return content


def given(part: str = "val") -> list[str]:
    runs = [argument for name in SYSTEMS for argument in ("--run", f"{name}-{part}.json")]
    return ["--truth", f"{part}.json", *runs, "--videos", "videos.json", *FEW]


def values(content: dict[str, Any]) -> list[dict[str, dict[str, float]]]:
    """Each system's values by query, from the function that scores Python objects."""
    found = [evaluate(content["truth"], content[name], k=[3], mu=[0.3, 0.5])["per_query"] for name in SYSTEMS]
    return [{str(query): row for query, row in system.items()} for system in found]


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_writes_figures_and_data_beside_its_choices(reelrank: Run, files: dict[str, Any], name: str) -> None:
    assert reelrank.out("measures", name, *given(), *STUDIES[name], "--option", "gain=exp2").startswith(
        f"preset paper, gain=exp2; {QUERIES} queries; 3 systems"
    )
    folder = Path("studies") / name
    assert {path.name for path in folder.iterdir()} == {f"{name}.csv", f"{name}.png", f"{name}.svg"}
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "preset paper, gain=exp2" in (folder / f"{name}.svg").read_text()
    rows = list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text())))
    assert {(row["preset"], row["options"]) for row in rows} == {("paper", "gain=exp2")}


@pytest.mark.parametrize("name", STUDIES)
def test_json_is_json_alone_and_holds_the_rows_of_the_file(reelrank: Run, files: dict[str, Any], name: str) -> None:
    _, out, _ = reelrank("measures", name, *given(), *STUDIES[name], "--json", "--out", "here")
    study = json.loads(out)
    rows = list(csv.DictReader(io.StringIO(Path(f"here/{name}.csv").read_text())))
    assert len(rows) == len(study["rows"])
    for printed, written in zip(study["rows"], rows, strict=True):
        assert all(written[key] == ("" if value is None else str(value)) for key, value in printed.items())


def test_agreement_and_ties_are_those_of_the_scored_queries(reelrank: Run, files: dict[str, Any]) -> None:
    """A run in another order, and one query missing from it, must not mix up the queries."""
    from scipy import stats

    systems = values(files["val"])
    queries = list(files["val"]["truth"])
    means = {key: [sum(s[q][key] for q in queries) / QUERIES for s in systems] for key in ("ndcg@3,0.3", "ndcg@3,0.5")}
    rows = json.loads(reelrank("measures", "agreement", *given(), "--json")[1])["rows"]
    for row in rows:
        expected = stats.kendalltau(means[row["first"]], means[row["second"]]).statistic
        assert row["tau_b"] == pytest.approx(expected, abs=1e-12)
    for row in json.loads(reelrank("measures", "ties", *given(), "--json")[1])["rows"]:
        tied = sum(len({round(s[q][row["measure"]], 9) for s in systems}) == 1 for q in queries)
        assert (row["all_tied"], row["queries"]) == (tied, QUERIES)


def models(*more: str) -> tuple[str, ...]:
    runs = [part for name in SYSTEMS for part in ("--run", f"{name}={name}-val.json,{name}-test.json")]
    return ("--truth-val", "val.json", "--truth-test", "test.json", *runs, *FEW, *more)


@pytest.mark.parametrize("over", ["selected", "candidates"])
def test_model_selection_judges_on_test_what_validation_selected(
    reelrank: Run, files: dict[str, Any], over: str
) -> None:
    from scipy import stats

    code, out, err = reelrank("measures", "model-selection", *models("--z-over", over), "--json")
    written = [f"Written: studies/model-selection/model-selection.{form}" for form in ("csv", "png", "svg")]
    assert (code, err.splitlines()) == (0, written)

    def means(part: str, key: str) -> list[float]:
        return [sum(s[q][key] for q in files[part]["truth"]) / QUERIES for s in values(files[part])]

    keys = ("ndcg@3,0.3", "ndcg@3,0.5")
    best = {key: means("val", key).index(max(means("val", key))) for key in keys}
    rows = json.loads(out)["rows"]
    assert [(row["validation_measure"], row["test_measure"]) for row in rows] == list(itertools.product(keys, keys))
    for row in rows:
        chosen, judged = row["validation_measure"], means("test", row["test_measure"])
        assert row["selected"] == SYSTEMS[best[chosen]]
        pool = judged if over == "candidates" else [judged[best[key]] for key in keys]
        at = best[chosen] if over == "candidates" else keys.index(chosen)
        expected = 0.0 if np.ptp(pool) == 0 else stats.zscore(pool)[at]
        assert row["z"] == pytest.approx(expected, abs=1e-9)
    assert Path("studies/model-selection/model-selection.png").exists()


def test_other_measures_may_judge_on_test(reelrank: Run, files: dict[str, Any]) -> None:
    out = reelrank.out("measures", "model-selection", *models("--test-measure", "recall@1,0.7,miou"))
    head, *rows = (line.split() for line in out.splitlines()[1:4])
    assert head[-3:] == ["recall@1,0.7", "miou", "model"]
    assert [row[0] for row in rows] == ["ndcg@3,0.3", "ndcg@3,0.5"]


def test_a_study_takes_any_measure_as_evaluate_does(reelrank: Run, files: dict[str, Any]) -> None:
    """Names and keys, with commas or one by one; measures that have to be asked for, too."""
    asked = [*given(), "--measure", "map@avg,recall@7,0.3", "--measure", "bpref"]
    rows = json.loads(reelrank("measures", "ties", *asked, "--json")[1])["rows"]
    assert [row["measure"] for row in rows if "ndcg" not in row["measure"]] == [
        "map@avg",
        "recall@7,0.3",
        "bpref@0.3",
        "bpref@0.5",
    ]


def test_one_model_for_all_measures_is_told(reelrank: Run, files: dict[str, Any]) -> None:
    """All z-scores are 0 then, which says nothing about the model."""
    _, out, _ = reelrank("measures", "model-selection", *models("--measure", "ndcg@3,0.3", "--mu", "0.3"))
    assert "Warning: every measure selects north, so all z-scores over the selected models are 0" in out


def test_axioms_need_no_files_and_show_the_shortest_counterexample(reelrank: Run, tmp_path: Path) -> None:
    out = reelrank.out("measures", "axioms", "--measure", "dcg", "--measure", "axiou", "--out", tmp_path / "a")
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0].startswith("preset paper; lists of K predictions, K up to 3; IoU 0, 0.25, 0.5, 0.75, 1")
    assert "dcg@K    INV-k  (1, 0) -> (1, 1): 1.0000 -> 1.6309" in lines
    assert "axiou@K  MON-k  not broken by 6,174 changes" in lines
    assert "(1, 0) → (1, 1)" in (tmp_path / "a" / "axioms.svg").read_text()


def test_theory_draws_figure_2_of_the_supplement(reelrank: Run, tmp_path: Path) -> None:
    """Over theta at r = .5: R@1 errs most where theta is r (MSE 1/2), AxIoU@1 by gamma squared."""
    out = reelrank.out("measures", "theory", "--out", tmp_path / "t")
    assert out.startswith("over theta; r 0.5; gamma 0.05, 0.1, 0.2\n")
    assert len(list((tmp_path / "t").iterdir())) == 3
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t" / "theory.csv").read_text())))
    for row in rows:
        if row["measure"] == "axiou@1":
            assert float(row["mse"]) == pytest.approx(float(row["gamma"]) ** 2)
        elif float(row["theta"]) == 0.5:
            assert (float(row["squared_bias"]), float(row["variance"]), float(row["mse"])) == (0.25, 0.25, 0.5)


@pytest.mark.parametrize("wrong", [("--theta", "0.5"), ("--over", "r", "--r", "0.5")])
def test_theory_refuses_an_option_of_the_other_axis(reelrank: Run, wrong: tuple[str, ...]) -> None:
    assert reelrank("measures", "theory", *wrong)[0] == 2


@pytest.mark.long
def test_theory_takes_several_true_ious(reelrank: Run, tmp_path: Path) -> None:
    over_r = reelrank.out("measures", "theory", "--over", "r", "--theta", "0.5", "--out", tmp_path / "r")
    assert over_r.startswith("over r; theta 0.5; gamma 0.05, 0.1, 0.2\n")
    out = reelrank.out("measures", "theory", "--over", "theta", "--r", "0.3,0.5", "--out", tmp_path / "t")
    assert out.startswith("over theta; r 0.3, 0.5; gamma 0.05, 0.1, 0.2\n")
    assert "recall@1,theta, r = 0.3" in out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t" / "theory.csv").read_text())))
    assert {(row["measure"], row["r"]) for row in rows} == {
        ("recall@1,theta", "0.3"),
        ("recall@1,theta", "0.5"),
        ("axiou@1", ""),
    }
    assert "recall@1 at r = 0.3" in (tmp_path / "t" / "theory.svg").read_text()


def test_a_true_iou_beyond_1_is_refused(reelrank: Run, tmp_path: Path) -> None:
    code, _, err = reelrank("measures", "theory", "--over", "theta", "--r", "0,1.5", "--out", tmp_path / "t")
    assert (code, "r: 1.5 is not in [0, 1]" in err, (tmp_path / "t").exists()) == (1, True, False)


@pytest.mark.parametrize("name", ["tvr-ranking", "official"])
def test_the_published_preset_compares_all_queries_and_says_so(reelrank: Run, files: dict[str, Any], name: str) -> None:
    """Under its former name too; what is printed is the present one."""
    _, out, _ = reelrank("measures", "ties", *given(), "--preset", name)
    assert out.startswith(f"preset tvr-ranking, missing=zero; {QUERIES} queries")


def test_an_unknown_preset_is_wrong_usage_and_names_the_present_ones(reelrank: Run, files: dict[str, Any]) -> None:
    code, _, said = reelrank("measures", "ties", *given(), "--preset", "best")
    assert code == 2
    assert "'best' is not one of paper, tvr-ranking" in said


def _truth_of_form(form: str, content: dict[str, Any], duration_s: float) -> str:
    """One moment for each query, with the duration of its video, as files of this form have it."""
    first = {query: moments[0] for query, moments in content["truth"].items()}
    if form == "release":
        entries = [
            {
                "query_id": query,
                "relevant_moment": [
                    {
                        "video_name": m["video"],
                        "timestamp": [m["start"], m["end"]],
                        "relevance": 2,
                        "duration": duration_s,
                    }
                ],
            }
            for query, m in first.items()
        ]
        return json.dumps(entries)
    if form == "tvr":
        rows = [
            {"desc_id": q, "desc": q, "vid_name": m["video"], "duration": duration_s, "ts": [m["start"], m["end"]]}
            for q, m in first.items()
        ]
    else:
        rows = [
            {
                "qid": q,
                "query": q,
                "vid": m["video"],
                "duration": duration_s,
                "relevant_windows": [[m["start"], m["end"]]],
            }
            for q, m in first.items()
        ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("form", ["release", "tvr", "qvhighlights"])
def test_durations_of_the_truth_bound_noise_without_a_video_map(
    reelrank: Run, files: dict[str, Any], form: str
) -> None:
    """Noise far beyond a video of 70 s stays in it, so that the same durations in a map change nothing."""
    truth = Path("timed.json" if form == "release" else "timed.jsonl")
    truth.write_text(_truth_of_form(form, files["val"], 70.0))
    runs = [argument for name in SYSTEMS for argument in ("--run", f"{name}-val.json")]
    asked = ["noise", "--truth", str(truth), *runs, "--measure", "axiou", "--sets", "2", "--sigma", "30", "--jobs", "1"]
    code, out, err = reelrank("measures", *asked, "--json")
    assert (code, json.loads(out)["warnings"]) == (0, [])
    assert "durations" not in err
    _, mapped, _ = reelrank("measures", *asked, "--videos", "videos.json", "--json")
    assert json.loads(mapped)["rows"] == json.loads(out)["rows"]


def test_preset_axiou_studies_the_papers_twelve_measures(reelrank: Run, files: dict[str, Any]) -> None:
    """Figure 8: twelve measures select, and eight judge, because R@10,0.3 is near 1 for all."""
    recall = [f"recall_gt@{k},{theta}" for k in (1, 5, 10) for theta in (0.3, 0.5, 0.7)]
    twelve = [*recall, "axiou@1", "axiou@5", "axiou@10"]
    ties = json.loads(reelrank("measures", "ties", *given()[:-6], "--preset", "axiou", "--json")[1])
    assert [row["measure"] for row in ties["rows"]] == twelve
    runs = [part for name in SYSTEMS for part in ("--run", f"{name}={name}-val.json,{name}-test.json")]
    asked = ("--truth-val", "val.json", "--truth-test", "test.json", *runs, "--preset", "axiou", "--json")
    rows = json.loads(reelrank("measures", "model-selection", *asked)[1])["rows"]
    eight = [key for key in recall if key != "recall_gt@10,0.3"]
    assert [(row["validation_measure"], row["test_measure"]) for row in rows] == list(itertools.product(twelve, eight))
    fewer = json.loads(reelrank("measures", "model-selection", *asked, "--measure", "axiou")[1])["rows"]
    assert {row["test_measure"] for row in fewer} == {"axiou@1", "axiou@5", "axiou@10"}


def test_unknown_durations_are_told(reelrank: Run, files: dict[str, Any]) -> None:
    without = [a for a in given() if a not in ("--videos", "videos.json")]
    _, out, _ = reelrank("measures", "noise", *without, "--sets", "2", "--jobs", "1")
    assert "Warning: the durations of 3 of the truth's 3 videos are unknown" in out


def test_a_packed_video_map_is_read_like_any_other(reelrank: Run, files: dict[str, Any]) -> None:
    """Scoring unpacked the map, and the study, which asks it for durations, ended in a traceback."""
    arguments = ("noise", *given(), "--sets", "2", "--jobs", "1", "--json")
    plain = reelrank("measures", *arguments)
    Path("videos.json").write_bytes(gzip.compress(Path("videos.json").read_bytes()))
    assert reelrank("measures", *arguments) == plain


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("ties", ("--option", "missing=skip"), "missing: systems are compared on the same queries"),
        ("ties", ("--measure", "gcd"), "measures: 'gcd' is not one of bpref, err, judged, ndcg"),
        ("ties", ("--mu", "1.5"), "mu: 1.5 is not in (0, 1]"),
        ("ties", ("--run", "val.json"), "val.json"),
        ("stability", ("--sizes", "5,13"), "sizes: 13 is not from 1 to the 12 queries"),
        ("noise", ("--sigma", "-1"), "sigma -1.0: is not a number from 0"),
        ("noise", ("--sigma", "nan"), "sigma nan: is not a number from 0"),
    ],
)
def test_a_refusal_says_why_and_writes_nothing(
    reelrank: Run, files: dict[str, Any], name: str, arguments: tuple[str, ...], message: str
) -> None:
    assert message in reelrank.refusal("measures", name, *given(), *arguments)
    assert not Path("studies").exists()


@pytest.mark.parametrize("duration", ["0", '"long"', "true", "null"])
def test_a_duration_that_is_none_is_refused_with_its_row(reelrank: Run, files: dict[str, Any], duration: str) -> None:
    Path("videos.json").write_text(f'{{"v0": [70, 0], "v1": [{duration}, 1], "v2": [70, 2]}}')
    assert "videos.json, row 2: video 'v1'" in reelrank.refusal("measures", "noise", *given())


def test_one_run_is_no_comparison(reelrank: Run, files: dict[str, Any]) -> None:
    assert "give at least two runs" in reelrank.refusal(
        "measures", "agreement", "--truth", "val.json", "--run", "north-val.json"
    )


@pytest.mark.parametrize("run", ["north=north-val.json", "=a,b", "north-val.json", "a=b,c,d"])
def test_a_model_without_its_two_files_is_wrong_usage(reelrank: Run, files: dict[str, Any], run: str) -> None:
    arguments = ("--truth-val", "val.json", "--truth-test", "test.json", "--run", run)
    assert reelrank("measures", "model-selection", *arguments)[0] == 2


def test_a_run_given_twice_is_wrong_usage(reelrank: Run, files: dict[str, Any]) -> None:
    assert reelrank("measures", "ties", *given(), "--run", "north-val.json")[0] == 2


def test_a_folder_that_cannot_be_written_is_refused(reelrank: Run, files: dict[str, Any]) -> None:
    Path("taken").write_text("a file")
    assert "taken cannot be written" in reelrank.refusal("measures", "ties", *given(), "--out", "taken")


def test_a_measure_that_ties_all_systems_is_undefined_with_its_reason(reelrank: Run, files: dict[str, Any]) -> None:
    for name in SYSTEMS:
        Path(f"{name}-val.json").write_text(json.dumps(files["val"]["north"]))
    assert "undefined: ndcg@3,0.3 ties all systems" in reelrank.out("measures", "agreement", *given())
    assert "undefined: every trial ties all systems" in reelrank.out(
        "measures", "stability", *given(), *STUDIES["stability"]
    )
