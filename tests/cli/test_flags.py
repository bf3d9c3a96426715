"""`reelrank users flags` prints the figures of every annotator and the sentences of those that are worth a look."""

import json
from pathlib import Path

import pytest

from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from cli.conftest import Run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Worker 1 gives 3 all the time, worker 2 does not; the file does not say when."""
    folder = init_project(tmp_path / "project", encoder="minilm").folder
    rows = "".join(f"{n},1,3\n{n},2,{1 + n % 3}\n" for n in range(60))
    (tmp_path / "raw.csv").write_text(f"pair_id,worker,relevance\n{rows}")
    import_judgements(open_project(folder), tmp_path / "raw.csv", now=1.0)
    return folder


def test_figures_of_everybody_and_sentences_of_what_is_flagged(reelrank: Run, project: Path) -> None:
    code, out, _ = reelrank("users", "flags", project)
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["worker", "1", "60", "-", "-", "!", "100.0", "%", "!", "+1.00", "-", "-", "0.0", "%", "0.0", "%"] in rows
    assert ["worker", "2", "60", "-", "-", "33.3", "%", "!", "\u22121.00", "-", "-", "0.0", "%", "0.0", "%"] in rows
    assert "worker 1, one grade (!): 100 % of 60 grades are 3; more than 45 % is a flag. Others gave 3" in out
    assert "worker 2, one grade" not in out


def test_everything_of_one_person_with_the_reasons(reelrank: Run, project: Path) -> None:
    _, out, _ = reelrank("users", "flags", project, "--person", "WORKER 2")
    assert "worker 1" not in out
    assert "worker 2, drift: The file of the earlier campaign does not say when the grades were given." in out
    assert "worker 2, one grade: 33.3 % of 60 grades are 1" in out
    assert "20 pairs of which nothing but the number is known" in out
    assert reelrank("users", "flags", project, "--person", "nobody")[0] == 1


def test_json_has_every_figure_with_its_base(reelrank: Run, project: Path) -> None:
    people = json.loads(reelrank("users", "flags", project, "--json")[1])["people"]
    assert [one["name"] for one in people] == ["worker 1", "worker 2"]
    bias = next(flag for flag in people[0]["flags"] if flag["kind"] == "bias")
    assert (bias["value"], bias["n"], bias["limit"], bias["raised"]) == (1.0, 60, 0.5, True)
    assert {flag["kind"] for flag in people[1]["flags"] if flag["value"] is None} == {
        *("too_fast", "unseen", "drift", "agreement")
    }
