"""The commands about releases that somebody hands on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from backend import api
from support import NOW, Judging

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def release(judging: Judging, tmp_path: Path) -> Path:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    api.export_release(judging.project, api.OPERATOR, tmp_path / "release", now=NOW)
    return tmp_path / "release"


def test_validate_says_what_it_looked_at_and_ends_with_1_where_something_is_wrong(reelrank: Run, release: Path) -> None:
    code, out, _ = reelrank("validate", release)
    assert (code, "nothing is wrong" in out) == (0, True)
    assert "Checked: raw_annotation.csv: 2 grades of 1 pairs; the rule gives the relevances" in out
    (release / "val.json").write_text((release / "val.json").read_text().replace('"relevance": 3', '"relevance": 7'))
    code, out, _ = reelrank("validate", release)
    assert (code, "relevance is 7, not one of 0, 1, 2, 3, 4" in out) == (1, True)
    code, out, _ = reelrank("validate", release, "--json")
    found = json.loads(out)
    assert (code, found["clean"], found["count"]) == (1, False, len(found["problems"]))
    assert {"file", "row", "message"} == found["problems"][0].keys()
