"""Every command that writes a file says so, and refuses a place where none can be written."""

import json
from pathlib import Path

import pytest

from backend.campaign.setup.project.sentence_encoder import init_project
from cli.conftest import Run

EXAMPLE = Path(__file__).parents[2] / "assets/example"
WRITING = [
    (("log",), "--csv"),
    (("hours",), "--csv"),
    (("exam", "results"), "--csv"),
    (("moments",), "--export"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return init_project(tmp_path / "project", encoder="minilm").folder


@pytest.mark.parametrize(("command", "option"), WRITING)
def test_a_file_is_confirmed_and_standard_output_stays_json(
    reelrank: Run, folder: Path, tmp_path: Path, command: tuple[str, ...], option: str
) -> None:
    file = tmp_path / "out.csv"
    code, out, err = reelrank(*command, folder, option, file, "--json")
    assert (code, err) == (0, f"Written: {file}\n")
    json.loads(out)
    assert file.exists()
    assert str(file) in reelrank(*command, folder, option, file)[1]


@pytest.mark.parametrize(("command", "option"), WRITING)
def test_a_place_for_no_file_is_refused_in_words(
    reelrank: Run, folder: Path, tmp_path: Path, command: tuple[str, ...], option: str
) -> None:
    code, _, err = reelrank(*command, folder, option, tmp_path / "no/such/out.csv")
    assert (code, err) == (1, f"reelrank: {tmp_path}/no/such/out.csv cannot be written: No such file or directory\n")


def test_match_run_names_both_files(reelrank: Run, tmp_path: Path) -> None:
    asked = ("match-run", "--truth", EXAMPLE / "val.json", "--run", EXAMPLE / "run.json")
    code, out, _ = reelrank(*asked, tmp_path / "a.trec", "--qrels", tmp_path / "a.qrels")
    assert code == 0
    assert f"{tmp_path}/a.trec: " in out
    assert f"Written: {tmp_path}/a.qrels\n" in out
