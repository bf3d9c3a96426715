"""The folder of a release is taken wherever a truth is, and says which of its files was taken."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import reelrank as public
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.kept_runs import add_run, add_truth, load_run
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError
from backend.scoring.files.release_folder import choose_truth, queries_of
from backend.scoring.run_files import read_run_list
from backend.scoring.scored_files import evaluate_files, file_inputs, score_splits
from backend.scoring.studies.running import StudyInputs, noise_study, ties_study
from backend.scoring.trec import match_run

VIDEOS = {"kitchen": [30.0, 0], "garage": [20.0, 1]}


def entry(query: int) -> dict[str, object]:
    moments = [("kitchen", 4.0 * query, 4), ("garage", 2.0 * query, 1)]
    return {
        "query_id": query,
        "query": f"Somebody does {query}.",
        "relevant_moment": [
            {"pair_id": 10 * query + place, "video_name": v, "timestamp": [start, start + 5], "relevance": grade}
            for place, (v, start, grade) in enumerate(moments)
        ],
    }


def run_of(*queries: int) -> dict[str, list[list[object]]]:
    """The truth as a run that gives videos by index."""
    return {str(query): [[0, 4.0 * query, 4.0 * query + 5, 0.9], [1, 0, 1, 0.1]] for query in queries}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release-1"
    folder.mkdir()
    (folder / "val.json").write_text(json.dumps([entry(1), entry(2)]))
    (folder / "test.json").write_text(json.dumps([entry(3)]))
    (folder / "video_corpus.json").write_text(json.dumps(VIDEOS))
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Callable[..., Path]:
    def write(*queries: int, name: str = "run.json") -> Path:
        (tmp_path / name).write_text(json.dumps(run_of(*queries)))
        return tmp_path / name

    return write


def test_a_file_is_itself(tmp_path: Path) -> None:
    chosen = choose_truth(tmp_path / "val.json", videos=tmp_path / "map.json", split="test")
    assert (chosen.path, chosen.videos, chosen.note) == (tmp_path / "val.json", tmp_path / "map.json", "")


def test_the_split_is_the_one_asked_for(release: Path) -> None:
    chosen = choose_truth(release, split="test")
    assert (chosen.path, chosen.videos) == (release / "test.json", release / "video_corpus.json")
    with pytest.raises(InputError, match=r"release-1: has no dev\.json; it has val\.json, test\.json"):
        choose_truth(release, split="dev")


def test_the_only_split_with_queries_is_taken(release: Path) -> None:
    (release / "test.json").write_text("[]\n")
    chosen = choose_truth(release)
    assert chosen.path == release / "val.json"
    assert chosen.note == f"truth {release}/val.json: the only split of the release with queries"


@pytest.mark.parametrize(("queries", "split"), [((1,), "val"), ((2, 1), "val"), ((3,), "test")])
def test_of_several_the_one_that_has_all_queries_of_the_run(
    release: Path, runs: Callable[..., Path], queries: tuple[int, ...], split: str
) -> None:
    chosen = choose_truth(release, queries=queries_of([runs(*queries)]))
    assert chosen.path == release / f"{split}.json"
    assert chosen.note == f"truth {release}/{split}.json: all queries of the run are of this split"


@pytest.mark.parametrize(
    ("queries", "counts"),
    [
        ((1, 3, 4), "and the run's queries are not all of one (of 3, val.json has 1, test.json has 1): "),
        ((4,), "and the run's queries are not all of one (of 1, val.json has 0, test.json has 0): "),
        ((), ""),
    ],
)
def test_where_the_run_does_not_tell_both_are_named(
    release: Path, runs: Callable[..., Path], queries: tuple[int, ...], counts: str
) -> None:
    with pytest.raises(InputError) as refused:
        choose_truth(release, queries=queries_of([runs(*queries)]))
    files = f"give {release}/val.json or {release}/test.json"
    assert refused.value.problems[0].message == f"has several truths{', ' if counts else ': '}{counts}{files}"


def test_a_run_of_another_split_is_told_which_one(release: Path, runs: Callable[..., Path], tmp_path: Path) -> None:
    run = runs(3)
    with pytest.raises(InputError) as refused:
        evaluate_files(release / "val.json", [run], videos=release)
    assert [problem.message for problem in refused.value.problems] == [
        f"{release}/val.json has 0 of this run's 1 query ids, which are those of another split or data set: the run has"
        " '3', the truth has 1",
        f"{release}/test.json has 1 of this run's 1 query ids",
    ]
    (tmp_path / "other").mkdir()
    other = (release / "test.json").rename(tmp_path / "other/held_out.json")
    (tmp_path / "runs.toml").write_text(
        f'truth = {{val = "{release}/val.json", held_out = "{other}"}}\nvideos = "{release}/video_corpus.json"\n'
        f'[[run]]\nfile = "{run}"\nsplit = "val"\n[[run]]\nfile = "{run}"\nsplit = "held_out"\n'
    )
    listed = read_run_list(tmp_path / "runs.toml")
    with pytest.raises(InputError) as refused:
        score_splits(listed, videos=listed.videos)
    assert refused.value.problems[1].message == f"{other} has 1 of this run's 1 query ids"


def test_an_unreadable_truth_of_another_split_gives_no_hint(release: Path, runs: Callable[..., Path]) -> None:
    (release / "test.json").write_text("[{")
    with pytest.raises(InputError) as refused:
        evaluate_files(release / "val.json", [runs(3)], videos=release)
    assert len(refused.value.problems) == 1


def test_a_release_is_taken_for_the_map_of_videos_too(release: Path, runs: Callable[..., Path], tmp_path: Path) -> None:
    chosen = choose_truth(release / "val.json", videos=release)
    assert (chosen.path, chosen.videos) == (release / "val.json", release / "video_corpus.json")
    project = init_project(tmp_path / "project", encoder="minilm")
    kept = add_run(project, OPERATOR, runs(1), videos=release, now=0.0)
    assert load_run(project, OPERATOR, kept.name).videos == ("kitchen", "garage")


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a release: it has neither val\.json nor test\.json"):
        choose_truth(tmp_path)


def test_every_way_of_scoring_takes_a_release(release: Path, runs: Callable[..., Path]) -> None:
    """And gives the same as with the file and the map."""
    run = runs(3)
    files = {"videos": release / "video_corpus.json"}
    expected = evaluate_files(release / "test.json", [run], **files)
    assert expected["runs"][0]["measures"]["ndcg@10,0.5"] > 0.5
    note = f"truth {release}/test.json: all queries of the run are of this split"
    assert evaluate_files(release, [run]) == expected | {"notes": [note]}
    for given in (run, run_of(3)):
        assert public.evaluate(release, given).mean == expected["runs"][0]["measures"]
    assert public.compare(release, [run]).summary["notes"] == [note]
    matched = match_run(release, run, 0.5)
    by_file = match_run(release / "test.json", run, 0.5, **files)
    assert (matched.run, matched.qrels) == (by_file.run, by_file.qrels)
    assert matched.warnings[0] == note
    two = {"a": run, "b": runs(3, name="b.json")}
    study = ties_study(StudyInputs(release, two))
    assert study.rows == ties_study(StudyInputs(release / "test.json", two, **files)).rows
    assert study.warnings[0] == note
    noise = noise_study(StudyInputs(release, two, split="test"), sets=2)
    assert not [warning for warning in noise.warnings if "durations" in warning]
    split_map = release.parent / "video2dur_idx.json"
    split_map.write_text(json.dumps({"val": VIDEOS, "test": VIDEOS}))
    inputs_of_split_map = StudyInputs(release / "test.json", two, videos=split_map)
    assert noise_study(inputs_of_split_map, sets=2).rows == noise.rows
    inputs = file_inputs(release, [run])
    assert [one.name for one in inputs.sources] == ["test.json", "run.json", "video_corpus.json"]


def test_a_list_of_runs_takes_the_truth_of_each_split_from_one_release(
    release: Path, runs: Callable[..., Path], tmp_path: Path
) -> None:
    runs(1, 2, name="val-run.json")
    runs(3, name="test-run.json")
    text = 'truth = "release-1"\n[[run]]\nmodel = "Ours"\nfile = {val = "val-run.json", test = "test-run.json"}\n'
    (tmp_path / "runs.toml").write_text(text)
    found = read_run_list(tmp_path / "runs.toml")
    assert found.truths == {"val": release / "val.json", "test": release / "test.json"}
    assert found.videos == release / "video_corpus.json"
    boards = score_splits(found, videos=found.videos)
    assert {split: len(board.queries) for split, board in boards.items()} == {"val": 2, "test": 1}
    (tmp_path / "one.toml").write_text('truth = "release-1"\n[[run]]\nfile = "test-run.json"\n')
    found = read_run_list(tmp_path / "one.toml")
    assert len(score_splits(found, videos=found.videos)[""].queries) == 1


def test_a_project_keeps_the_truth_of_a_release(release: Path, tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", encoder="minilm")
    with pytest.raises(InputError, match=r"has several truths: give .*val\.json or .*test\.json"):
        add_truth(project, OPERATOR, release, now=0.0)
    (release / "test.json").unlink()
    kept = add_truth(project, OPERATOR, release, now=0.0)
    assert (kept.name, kept.queries) == ("val", 2)
