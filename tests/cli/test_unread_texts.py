"""What an encoder does not read of captions and queries is told by the command and the page, fresh or from disk."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from annotate_app.server import candidate_jobs
from annotate_app.server.candidate_jobs import CandidatesAsked
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.queries import take_back_queries
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from cli.conftest import Run
from support import NOW, WordEncoder


class ShortEncoder(WordEncoder):
    """Reads eight words."""

    identity = "eight-words-64"
    limit = 8
    encoded = 0

    def encode(self, texts: Sequence[str], *, progress: object = None) -> object:  # type: ignore[override]
        ShortEncoder.encoded += len(texts)
        return super().encode([" ".join(text.split()[: self.limit]) for text in texts])

    def lengths(self, texts: Sequence[str]) -> tuple[list[int], list[bool]]:
        return [len(text.split()) for text in texts], ["dog" not in text for text in texts]


CAPTIONS = (
    *("A dog.", "The dog sleeps.", "Now the dog barks at the blue gate here and", "😀"),
    "Now the dog barks at the blue gate there or",
)
SENTENCES = (
    "2 captions and queries are longer than the 8 tokens that the encoder reads; the rest of them does not count. "
    "The first: “Now the dog barks at the blue gate here and”",
    "1 caption or query has only characters that the encoder does not know, such as another script or emoji: “😀”",
    "1 caption or query has the same vector as another text, so the encoder cannot tell them apart: “Now the dog barks "
    "at the blue gate here and” and “Now the dog barks at the blue gate there or”",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(sentence, "load", lambda spec: ShortEncoder())
    made = init_project(tmp_path / "p", encoder="minilm")
    lines = [
        json.dumps({"video": "v", "start": n, "end": n + 1, "caption": text, "duration": 60})
        for n, text in enumerate(CAPTIONS)
    ]
    (tmp_path / "c.jsonl").write_text("\n".join(lines))
    import_corpus(made, OPERATOR, tmp_path / "c.jsonl", "jsonl", now=NOW)
    draw_queries(made, OPERATOR, val=2, test=1, seed=1, now=NOW)
    return made


def test_the_command_tells_of_it(project: Project, reelrank: Run) -> None:
    code, out, _ = reelrank("candidates", project.folder)
    assert code == 0
    assert [line.removeprefix("Warning: ") for line in out.splitlines() if "Warning" in line] == list(SENTENCES)


def test_the_page_tells_of_it_and_vectors_from_disk_count_too(project: Project) -> None:
    lead = people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    ShortEncoder.encoded = 0
    first = candidate_jobs.choose(project, lead, CandidatesAsked(), progress=lambda *_: None)
    assert set(SENTENCES) <= set(first.sentences)
    assert ShortEncoder.encoded == len(CAPTIONS)
    take_back_queries(project, lead, now=NOW)
    draw_queries(project, lead, val=2, test=1, seed=1, now=NOW)
    again = candidate_jobs.choose(project, lead, CandidatesAsked(), progress=lambda *_: None)
    assert set(SENTENCES) <= set(again.sentences)
    assert ShortEncoder.encoded == len(CAPTIONS)
