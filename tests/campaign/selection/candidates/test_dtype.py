"""What an encoder computes in is a setting of the project, and part of what its lists say."""

from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import write_pseudo_train
from backend.campaign.selection.candidates.choosing import choose_candidates, choose_encoder
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import EncoderUnavailable, InputError, ProjectError
from backend.encoders import sentence
from backend.encoders.sentence import EncoderSpec
from support import NOW, WordEncoder


class Named(WordEncoder):
    def __init__(self, spec: EncoderSpec) -> None:
        self.identity = f"{spec.name} {spec.kind} {spec.dtype}"  # type: ignore[misc]


def test_the_dtype_is_kept_and_named_by_the_lists(
    corpus_project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence, "load", Named)
    settings = corpus_project.folder / "reelrank.toml"
    settings.write_text(settings.read_text().replace('encoder_dtype = "fp32"\n', ""))  # as older projects have it
    project = open_project(corpus_project.folder)
    draw_queries(project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    chosen = choose_encoder(project, OPERATOR, dtype="bf16")
    assert (chosen.settings.encoder, chosen.settings.encoder_kind) == ("minilm", "minilm")
    assert choose_candidates(chosen, OPERATOR, now=NOW).encoder == "minilm minilm bf16"
    settings.write_text(settings.read_text().replace('"bf16"', '"fp32"'))
    with pytest.raises(ProjectError, match=r"made with minilm minilm bf16, .* set `encoder` and `encoder_dtype`"):
        write_pseudo_train(open_project(project.folder), tmp_path / "train")
    settings.write_text(settings.read_text().replace('"fp32"', '"fp8"'))
    with pytest.raises(InputError, match="fp8"):
        open_project(project.folder)


def test_an_unknown_dtype_changes_nothing(corpus_project: Project) -> None:
    before = (corpus_project.folder / "reelrank.toml").read_text()
    with pytest.raises(EncoderUnavailable, match="dtype 'int8' is unknown: use 'fp32' or 'bf16'"):
        choose_encoder(corpus_project, OPERATOR, dtype="int8")
    assert (corpus_project.folder / "reelrank.toml").read_text() == before
