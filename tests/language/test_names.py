"""Names found by flair: the real exchange with a process of its own, and a package in flair's place."""

import sys
from pathlib import Path

import pytest

from backend.core.errors import TaggerUnavailable
from backend.language.names import FlairTagger

MODELS = """
import logging, sys
log = logging.getLogger("flair")
log.addHandler(logging.StreamHandler(sys.stdout))  # as flair has it
log.setLevel(logging.INFO)

TAGS = {"Mona": ("PER", 0.99), "mona": ("PERSON", 0.81), "Ross": ("PER", 0.8), "London": ("LOC", 0.99)}

class SequenceTagger:
    @classmethod
    def load(cls, model_path):
        if model_path == "gone":
            raise RuntimeError("Model not found: gone")
        if model_path == "quits":
            sys.exit(0)
        log.info("SequenceTagger predicts: Dictionary with 4 tags")
        return cls()

    def predict(self, sentences, mini_batch_size=32, label_name=None):
        from flair.data import Span
        for sentence in sentences:
            found = [(word, *TAGS[word]) for word in sentence.text.strip(".").split() if word in TAGS]
            sentence.labelled[label_name] = [Span(*one) for one in found]
"""
DATA = """
class Span:
    def __init__(self, text, tag, score):
        self.text, self.tag, self.score = text, tag, score

class Sentence:
    def __init__(self, text, use_tokenizer=True, language_code=None, start_position=0):
        self.text, self.labelled = text, {}

    def get_spans(self, label_type=None):
        return self.labelled[label_type]
"""


@pytest.fixture
def flair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with the interface of flair 0.15, for processes begun from here."""
    package = tmp_path / "stub" / "flair"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "models.py").write_text(MODELS)
    (package / "data.py").write_text(DATA)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "stub"))


@pytest.mark.usefixtures("flair")
def test_people_that_the_model_is_sure_of_are_found_in_their_order() -> None:
    texts = ["Then mona calls Mona.", "A cat.", "Ross is in London.", 'Mona says "é\n".']
    steps: list[tuple[int, int]] = []
    found = FlairTagger("ner").names(texts, progress=lambda done, of: steps.append((done, of)))
    assert found == [("mona", "Mona"), (), (), ("Mona",)]
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.usefixtures("flair")
def test_more_sentences_than_go_at_a_time_come_back_in_their_order() -> None:
    texts = [f"{'Mona' if n % 3 else 'A cat'} waves {n}." for n in range(600)]
    assert FlairTagger("ner").names(texts) == [("Mona",) if n % 3 else () for n in range(600)]


@pytest.mark.usefixtures("flair")
@pytest.mark.parametrize(("model", "why"), [("gone", "Model not found: gone"), ("quits", "it ended with code 0")])
def test_a_model_that_cannot_be_loaded_is_told(model: str, why: str) -> None:
    with pytest.raises(TaggerUnavailable, match=f"flair:{model} .*{why}.*docs/captions.md"):
        FlairTagger(model).names(["A cat."])


def test_a_python_without_flair_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(TaggerUnavailable, match="No module named 'flair'"):
        FlairTagger("ner", sys.executable).names(["A cat."])


def test_a_python_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TaggerUnavailable, match=r"python cannot be run: No such file"):
        FlairTagger("ner", str(tmp_path / "python")).names(["A cat."])


def test_nothing_is_run_for_nothing(tmp_path: Path) -> None:
    assert FlairTagger("ner", str(tmp_path / "python")).names([]) == []
