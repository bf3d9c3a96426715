"""Campaigns to split, with two queries for validation and one for testing."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.campaign.parts.splitting import split
from backend.campaign.release.export import card, freezing
from backend.campaign.setup.project.folder import open_project
from backend.encoders import sentence
from split_worlds import World
from support import NOW, Judging, WordEncoder


@pytest.fixture
def new_world(judging_made: Judging, monkeypatch: pytest.MonkeyPatch) -> Callable[..., World]:
    """Makes the same campaign twice in a folder: as one project, and split into parts."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    monkeypatch.setattr(freezing, "figures", lambda documents: dict.fromkeys(card.FIGURES, b"not drawn"))

    def made(folder: Path, parts: int = 3, *, videos: bool = False) -> World:
        one = shutil.copytree(judging_made.project.folder, folder / "one")
        project = open_project(one)
        if videos:  # as far as the database knows
            Judging(project, judging_made.lead, []).give_videos_files()
        folders = [part.folder for part in split(project, parts, folder / "parts", now=NOW)]
        return World(folder, project, [open_project(part) for part in folders])

    return made
