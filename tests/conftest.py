"""Fixtures shared by all tests."""

import json
import os
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from backend import api
from backend.campaign.nouns import Role
from backend.campaign.people import accounts as people
from backend.encoders import sentence
from backend.store import connection
from support import MOMENTS, NOW, PEOPLE, Judging, WordEncoder

# Nothing in the default run may reach a network: the encoder that runs travels inside a package.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"


class _ByFile(LoadScopeScheduling):
    """Of several processes one runs a whole file, and one all that is in a browser: two would fight for the cores."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Who runs what, where there are several processes."""
    return _ByFile(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and golden values beside the project; tests that need it skip without it."""
    folder = Path(os.environ.get("REELRANK_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared data beside the project (set REELRANK_SHARED to its folder)")
    return folder


@pytest.fixture
def corpus_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> api.Project:
    """A project with 48 captioned moments in 6 videos, and an encoder that needs no model."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    project = api.init_project(tmp_path / "project", encoder="minilm")
    lines = "".join(
        json.dumps({"video": m.video, "start": m.start_s, "end": m.end_s, "caption": m.caption, "duration": 60}) + "\n"
        for m in MOMENTS
    )
    (tmp_path / "moments.jsonl").write_text(lines)
    api.import_corpus(project, tmp_path / "moments.jsonl", "jsonl", now=NOW)
    return project


@pytest.fixture
def judging(corpus_project: api.Project) -> Judging:
    """The project with two validation queries and one test query, 20 pairs each, four annotators and a lead."""
    api.draw_queries(corpus_project, val=2, test=1, seed=5, now=NOW)
    api.choose_candidates(corpus_project, now=NOW)
    with connection.writing(corpus_project.store):
        lead = people.add(corpus_project.store, api.OPERATOR, "Lea", Role.LEAD, now=NOW)
        annotators = [people.add(corpus_project.store, api.OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in PEOPLE]
    return Judging(corpus_project, lead, annotators)
