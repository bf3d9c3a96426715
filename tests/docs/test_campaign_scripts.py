"""The script of the page about campaigns runs from its first line to its last, and its table is that of the code."""

import json
import re
from pathlib import Path

import pytest

from backend.api.campaign import OPERATIONS, Campaign
from backend.campaign.setup.project.folder import open_project
from backend.encoders import sentence
from support import MOMENTS, NOW, Judging, WordEncoder, grade_all, have_read, person_of

PAGE = (Path(__file__).parents[2] / "docs/campaign-scripts.md").read_text(encoding="utf-8")


def test_the_script_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    lines = [
        {"video": m.video, "start": m.start_s, "end": m.end_s, "caption": m.caption, "duration": 60} for m in MOMENTS
    ]
    Path("moments.jsonl").write_text("\n".join(map(json.dumps, lines)))
    set_up, *later = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(later) == 4
    names: dict[str, object] = {}
    exec(set_up, names)
    annotators_grade(tmp_path / "films")
    for block in later:
        exec(block, names)
    out = capsys.readouterr().out
    assert "6 48 ()" in out
    assert "'consensus': 60" in out
    assert "0 grades to come" in out
    assert out.count("20 of 20 pairs settled") == 3
    with Campaign("films") as campaign:
        assert campaign.status()["batches"] == {"1": 3, "2": 3}
        assert [one.name for one in campaign.releases()] == ["pilot"]
        assert "Name: ndcg@10,0.5" in out


def annotators_grade(folder: Path) -> None:
    """Both give every pair the same high grade; and a system ranks the first query's video first."""
    project = open_project(folder)
    have_read(project)
    Judging(project, person_of(project, "Lea"), []).give_videos_files()
    keys = [row[0] for row in project.store.db.conn.execute("SELECT pair_key FROM pair WHERE query_id IS NOT NULL")]
    queries = [row[0] for row in project.store.db.conn.execute("SELECT query_id FROM query WHERE split = 'val'")]
    for name in ("Anna", "Boris"):
        grade_all(project, name, dict.fromkeys(keys, 4), now=NOW)
    project.store.close()
    Path("mine.json").write_text(json.dumps({query: [["v0", 0, 2.5, 0.9]] for query in queries}))


def test_the_table_has_every_method_and_who_may_call_it() -> None:
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \| .+ \| (.+) \|$", PAGE, re.MULTILINE)
    assert [(name, who) for name, _, who in rows] == [(one.name, one.needs.value) for one in OPERATIONS.values()]
    for name, arguments, _ in rows:
        named = [argument for argument in arguments.split(", ") if argument]
        assert set(named) <= OPERATIONS[name].signature.parameters.keys()
