"""Runs by name, and lists of them."""

from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.scoring.run_files import RunFile, RunList, named_files, read_run_list
from backend.scoring.scored_files import score_files, score_splits
from scored import write_files


def listed(folder: Path, text: str) -> RunList:
    (folder / "runs.toml").write_text(text)
    return read_run_list(folder / "runs.toml")


def test_a_name_stands_before_the_file_unless_the_file_itself_has_the_sign(tmp_path: Path) -> None:
    (tmp_path / "k=5.json").write_text("{}")
    given = [f"Ours={tmp_path}/a.json", f"{tmp_path}/k=5.json", tmp_path / "b.json", RunFile(Path("c.json"), "C")]
    assert [(run.name, run.path.name) for run in named_files(given)] == [
        ("Ours", "a.json"),
        ("k=5", "k=5.json"),
        ("b", "b.json"),
        ("C", "c.json"),
    ]
    with pytest.raises(InputError, match=r"=a.json: is not NAME=FILE"):
        named_files(["=a.json"])
    with pytest.raises(InputError, match="Ours: is given twice"):
        named_files(["Ours=a.json", "Ours=b.json"])


def test_two_files_of_one_name_are_called_by_their_paths() -> None:
    runs = named_files([Path("x/run.json"), Path("y/run.json"), "run=z.json"])
    assert [run.name for run in runs] == ["x/run.json", "y/run.json", "run"]


def test_a_list_says_what_each_run_is(tmp_path: Path) -> None:
    found = listed(
        tmp_path,
        """
        truth = {val = "val.json", test = "t/test.json"}
        videos = "corpus.json"
        variant = "Training set"
        [[run]]
        model = "XML"
        variant = 20
        seed = 1
        split = "test"
        file = "x.json"
        [[run]]
        model = "XML"
        variant = 20
        seed = 2
        file = {val = "a.json", test = "b.json"}
        [[run]]
        file = "plain.json"
        split = "val"
        """,
    )
    assert (list(found.splits), found.variant_title, found.videos) == (
        ["test", "val"],
        "Training set",
        tmp_path / "corpus.json",
    )
    assert dict(found.truths) == {"test": tmp_path / "t/test.json", "val": tmp_path / "val.json"}
    assert [(run.name, run.split, run.path.name) for run in found.runs] == [
        ("XML 20 seed 1", "test", "x.json"),
        ("XML 20 seed 2", "val", "a.json"),
        ("XML 20 seed 2", "test", "b.json"),
        ("plain", "val", "plain.json"),
    ]
    assert found.runs[0].facts == {"model": "XML", "variant": "20", "seed": "1", "split": "test"}


def test_everything_that_is_wrong_with_a_list_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        listed(
            tmp_path,
            """
            truth = {val = "val.json"}
            [[run]]
            file = "a.json"
            model = "XML"
            split = "test"
            [[run]]
            file = "b.json"
            [[run]]
            file = "c.json"
            model = "XML"
            split = "val"
            [[run]]
            file = "d.json"
            model = "XML"
            split = "val"
            name = "another"
            [[run]]
            file = {val = "e.json"}
            split = "val"
            """,
        )
    said = [(problem.row, problem.message) for problem in refused.value.problems]
    assert said == [
        (1, "split 'test' has no truth; there is one for val"),
        (2, "has no split, but there is a truth for each of val; give its `split`"),
        (4, "the same model, variant, seed and split are already given; tell runs apart by `seed` or `name`"),
        (5, "give `split`, or `file` with one for each split, not both"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run = 3", "is not a list of runs: Expected `array`"),
        ("[[run]]\nfile = 'a.json'\nsead = 3", "unknown field `sead`"),
        ("[[run]]\nmodel = 'X'", "missing required field `file`"),
        ("run = []", "names no run: give at least one"),
        ("[[run", "is not a list of runs"),
        (
            'truth = "t.json"\n[[run]]\nfile = "a"\nsplit = "val"\n[[run]]\nfile = "b"\nsplit = "test"',
            "has runs of several splits: write truth = {val = FILE, test = FILE}",
        ),
    ],
)
def test_what_is_no_list_of_runs_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=r"runs\.toml") as refused:
        listed(tmp_path, text)
    assert message in str(refused.value)


def test_problems_of_the_files_of_all_splits_come_together(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "empty.json").write_text("")
    runs = listed(
        tmp_path,
        """
        truth = {val = "val.json", test = "val.json"}
        [[run]]
        file = {val = "gone.json", test = "empty.json"}
        model = "XML"
        """,
    )
    with pytest.raises(InputError) as refused:
        score_splits(runs)
    assert [Path(problem.file).name for problem in refused.value.problems] == ["gone.json", "empty.json"]


def test_a_summary_says_what_each_run_is(tmp_path: Path) -> None:
    truth, (good, poor, _) = write_files(tmp_path)
    runs = [RunFile(good, "Ours", "Ours", "large", "7", "val"), poor]
    first, second = score_files(truth, runs, k=[5]).summary()["runs"]
    assert {name: first[name] for name in ("name", "model", "variant", "seed", "split")} == {
        "name": "Ours",
        "model": "Ours",
        "variant": "large",
        "seed": "7",
        "split": "val",
    }
    assert second["name"] == "poor"
    assert not {"model", "variant", "seed", "split"} & set(second)
