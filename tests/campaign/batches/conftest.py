"""Three queries whose first batches are settled, so that leads decide about the next ones."""

import shutil
from pathlib import Path

import pytest

from backend import api
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import Person, Role
from backend.campaign.people import accounts as people
from support import NOW, Judging

LAST = ((4, 4, 4, 0, 0), (3, 3, 2, 2, 2), (0, 1, 1, 0, 2))
"""Of each query, the last five relevances. By hand: three of 3 or more; a mean of 12 : 5; neither."""


@pytest.fixture(scope="module")
def settled_made(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Judging:
    """What `settled` copies."""
    folder = tmp_path_factory.mktemp("settled") / "project"
    shutil.copytree(judging_made.project.folder, folder)
    made = Judging(api.open_project(folder), judging_made.lead, judging_made.annotators)
    for nth, query in enumerate(api.list_queries(made.project, api.OPERATOR)):
        pairs = api.query_pairs(made.project, api.OPERATOR, query.query_id)
        grades = [1] * 15 + list(LAST[nth])
        for who in (0, 1):
            given = [
                GradeEvent(pair.pair, grade, f"{pair.pair}-{who}", 4000)
                for pair, grade in zip(pairs, grades, strict=True)
            ]
            assert {one.status for one in api.record_grades(made.project, made.annotators[who], given, now=NOW)} == {
                "saved"
            }
    made.project.store.close()
    return made


@pytest.fixture
def settled(settled_made: Judging, tmp_path: Path) -> Judging:
    """The project with everything open settled; everybody may still take part in what is opened next."""
    shutil.copytree(settled_made.project.folder, tmp_path / "settled")
    return Judging(api.open_project(tmp_path / "settled"), settled_made.lead, [*settled_made.annotators])


@pytest.fixture
def max_(settled: Judging) -> Person:
    """Another lead."""
    return people.add(settled.project.store, api.OPERATOR, "Max", Role.LEAD, now=NOW)
