"""The page docs/first-run.md, done as it says: its files, its commands in a shell, its links.

What Ana and Ben do behind their links is in test_first_day.py, in a browser.
"""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app_server import AppServer, Nursery
from backend.campaign.setup.project.folder import open_project
from hands import grade_elsewhere
from support import have_read, person_of
from visitor import ask

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/first-run.md").read_text()
SERVE = "reelrank serve my-project\n"


def blocks(kind: str) -> list[str]:
    """What stands on the page in frames of this kind."""
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def shell(commands: str, folder: Path) -> str:
    """What a terminal says to these commands, each of which has to succeed."""
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{commands}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def test_the_page_leads_from_videos_to_a_score(tmp_path: Path, nursery: Nursery | None) -> None:
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    folder = tmp_path / "first-run"
    set_up, videos, prepare, serve, people, status, score = blocks("sh")
    [moments] = blocks("csv")
    shell(set_up, tmp_path)
    shell(videos, folder)
    (folder / "moments.csv").write_text(moments)
    shell(prepare, folder)
    assert serve == SERVE
    # That command, on a port that is free.
    server = AppServer(folder / "my-project", tmp_path / "server.log", nursery=nursery)
    server.start()
    try:
        links = re.findall(r"http\S+/session/invitation/\S+", shell(people, folder))
        # What somebody queries was written of one moment: that one is what they look for.
        own = (
            "SELECT pair_key, pair.moment_id = caption.moment_id FROM pair "
            "JOIN query USING (query_id) JOIN caption USING (caption_id)"
        )
        with closing(sqlite3.connect(folder / "my-project/reelrank.db")) as db:
            right = {pair: 4 if is_own else 1 for pair, is_own in db.execute(own)}
        assert sorted(right.values()) == [1] * 12 + [4] * 4  # "16 pairs"
        project = open_project(folder / "my-project")
        have_read(project)
        assert [re.findall(r"Welcome, <b>(\w+)</b>", ask("GET", link).text) for link in links] == [
            ["Ana"],
            ["Ben"],
            ["Lea"],
        ]
        for name in ("Ana", "Ben"):
            grade_elsewhere(project, person_of(project, name), right.__getitem__)
        told = shell(status, folder)
    finally:
        server.stop()
    counts = dict(re.findall(r"^pairs +(\S.*\S) +(\d+)$", told, re.MULTILINE))
    assert counts["settled by annotators"] == "16", told
    assert counts["open"] == counts["disputed"] == "0"

    # The page tells what comes of these grades; 1 is the moment of a query first, and equals after it.
    [promised] = blocks("text")
    assert promised in shell(score, folder)
    assert (folder / "scores.html").read_text().startswith("<!doctype html>")
