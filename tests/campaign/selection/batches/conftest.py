"""Three queries whose first batches are settled, so that leads decide about the next ones."""

import shutil
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import open_project
from settled_batches import settle
from support import NOW, Judging


@pytest.fixture(scope="module")
def settled_made(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Judging:
    """What `settled` copies."""
    folder = tmp_path_factory.mktemp("settled") / "project"
    shutil.copytree(judging_made.project.folder, folder)
    made = Judging(open_project(folder), judging_made.lead, judging_made.annotators)
    settle(made)
    made.project.store.close()
    return made


@pytest.fixture
def settled(settled_made: Judging, tmp_path: Path) -> Judging:
    """The project with everything open settled; everybody may still take part in what is opened next."""
    shutil.copytree(settled_made.project.folder, tmp_path / "settled")
    return Judging(open_project(tmp_path / "settled"), settled_made.lead, [*settled_made.annotators])


@pytest.fixture
def max_(settled: Judging) -> Person:
    """Another lead."""
    return people.add(settled.project.store, OPERATOR, "Max", Role.LEAD, now=NOW)
