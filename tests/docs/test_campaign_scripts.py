"""The script of the page about campaigns runs from its first line to its last, and its table is that of the code."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backend.api.campaign import OPERATIONS, Campaign
from backend.campaign.setup.project.folder import open_project
from backend.encoders import sentence
from over_http import run_here, served, token_of
from support import MOMENTS, NOW, Judging, WordEncoder, grade_all, have_read, person_of

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "campaign-scripts.md").read_text(encoding="utf-8")
PAGE_OF_PROGRAMS = (DOCS / "programs.md").read_text(encoding="utf-8")


def test_the_script_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    lines = [
        {"video": m.video, "start": m.start_s, "end": m.end_s, "caption": m.caption, "duration": 60} for m in MOMENTS
    ]
    Path("moments.jsonl").write_text("\n".join(map(json.dumps, lines)))
    set_up, *later, from_afar = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
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
    run_here(monkeypatch)
    monkeypatch.setenv("REELRANK_TOKEN", token_of(tmp_path / "films", "Lea"))
    with served(tmp_path / "films") as url:
        exec(from_afar.replace("https://grade.example.org", url), names)
    assert capsys.readouterr().out == "3 people\n2 queries\n"
    assert Path("pilot.zip").read_bytes()[:2] == b"PK"


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


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_curl_lines_of_the_page_about_programs_work(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_here(monkeypatch)
    Path("mine.json").write_text(json.dumps({"1": [["v0", 0, 2.5, 0.9]]}))
    folder = judging.project.folder
    token, page = token_of(folder, "Lea"), PAGE_OF_PROGRAMS.partition("## Operations")[2]
    lines = re.findall(r"^curl .*?(?<!\\)$", page, re.DOTALL | re.MULTILINE)
    answers: list[Any] = []
    with served(folder) as url:
        for line in lines:
            line = line.replace("https://grade.example.org", url)
            if answers and "file" in (answers[-1] or {}):
                line = re.sub(r"\w{32}/mine.json", answers[-1]["file"], line)
            command = ["bash", "-c", line.replace("curl ", "curl -sS --fail-with-body ", 1)]
            done = subprocess.run(command, env={**os.environ, "TOKEN": token}, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            answers.append(json.loads(done.stdout))
    assert len(lines) == 4
    assert answers[:2] == [[], None]
    assert (answers[3]["name"], answers[3]["queries"]) == ("mine", 1)
