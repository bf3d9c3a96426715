"""The human check of pools on the command line."""

import json
from pathlib import Path

import demo_pools
from cli.conftest import Run


def test_a_check_is_made_and_reported(reelrank: Run, tmp_path: Path) -> None:
    pools = demo_pools.write(tmp_path / "pools.json")
    folder = tmp_path / "check"
    options = ("--videos", demo_pools.CLIPS, "--queries", 2, "--negatives", 1, "--seed", 5)
    code, out, err = reelrank("mvmr", "check", pools, folder, *options)
    assert (code, err) == (0, "")
    assert "2 of 3 queries, 2 positives and 2 negatives among 4 videos" in out
    assert "users add" in out
    code, out, _ = reelrank("mvmr", "check-report", folder)
    assert code == 0
    assert out.splitlines()[0] == "pools.json: 2 of 3 queries, seed 5"
    assert [line.split()[:3] for line in out.splitlines()[3:]] == [
        *(["positives", "0", "0"], ["negatives", "0", "0"], ["together", "0", "0"])
    ]
    code, out, _ = reelrank("mvmr", "check-report", folder, "--json")
    found = json.loads(out)
    assert (found["facts"]["seed"], found["together"]["waiting"], found["together"]["share"]) == (5, 4, None)
    code, _, err = reelrank("mvmr", "check", pools, folder, *options)
    assert (code, "is a project already" in err) == (1, True)


def test_a_project_that_checks_nothing_says_what_would(reelrank: Run, tmp_path: Path) -> None:
    reelrank("init", tmp_path / "p", "--encoder", "minilm")
    code, _, err = reelrank("mvmr", "check-report", tmp_path / "p")
    assert code == 1
    assert "checks no pools: `reelrank mvmr check` makes a project that does" in err
