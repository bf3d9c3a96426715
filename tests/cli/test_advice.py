"""Advice on the way from an empty project to its first grade, followed to the letter: no command refuses it."""

import json
import re
import shlex
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.corpus.describing.opening import describing_choice
from backend.campaign.desk.exchange import desk
from backend.campaign.judging.model import DeskState
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.review.status import next_step
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import open_project
from backend.encoders import sentence
from cli.conftest import Run
from reading import read
from scored import write_video
from support import MOMENTS, NOW, WordEncoder, have_read, person_of

Follow = Callable[[str], None]
PASSWORD = "a long password"
PAGES = ("queries", "progress", "disputes", "people", "exam", "release", "leaderboard")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reelrank: Run) -> Path:
    """An empty project, in a folder whose name has to be quoted; its encoder needs no model."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    assert reelrank("init", tmp_path / "my project", "--encoder", "minilm")[0] == 0
    return tmp_path / "my project"


@pytest.fixture
def follow(folder: Path, tmp_path: Path, reelrank: Run) -> Follow:
    """Does what an advice says; what it writes in capitals, a reader has: a corpus, its videos, a number, a name."""
    lines = [
        {"vid_name": m.video, "duration": 60.0, "ts": [m.start_s, m.end_s], "desc": m.caption, "type": "v"}
        for m in MOMENTS
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "videos").mkdir()
    video = write_video(tmp_path / "one.mp4", 60).read_bytes()
    for name in {moment.video for moment in MOMENTS}:
        (tmp_path / "videos" / f"{name}.mp4").write_bytes(video)
    mine = {"FILE": tmp_path / "corpus.jsonl", "FOLDER": tmp_path / "videos", "N": 2, "NAME": "Ana"}

    def followed(advice: str) -> None:
        program, *words = shlex.split(advice)
        assert program == "reelrank"
        reelrank.out(*(mine.get(word, word) for word in words))

    return followed


@pytest.mark.parametrize(
    "asked", [["rewrite", "DIR"], ["queries", "DIR", "--val", 2, "--test", 2], ["candidates", "DIR"], ["pseudo-train"]]
)
def test_what_a_refusal_advises_is_not_refused(
    folder: Path, tmp_path: Path, reelrank: Run, follow: Follow, asked: list[object]
) -> None:
    words = [folder if word == "DIR" else word for word in asked]
    words += [folder, tmp_path / "train"] if asked == ["pseudo-train"] else []
    for _ in range(5):
        code, _, refusal = reelrank(*words)
        if code == 0:
            return
        advice = re.search("`(.+)`", refusal)
        assert advice is not None, refusal
        follow(advice[1])
    pytest.fail("it is refused for ever")


def test_the_first_command_says_what_is_next(tmp_path: Path, reelrank: Run, folder: Path, follow: Follow) -> None:
    for name, begins in (("other", "Next: "), ("another", "With videos alone: ")):
        _, said, _ = reelrank("init", tmp_path / name, "--encoder", "minilm")
        follow(said.partition(begins)[2].splitlines()[0])
        for double in sorted((tmp_path / "videos").iterdir())[1:]:
            double.unlink()  # one video under several names is refused where names mean nothing


@pytest.mark.usefixtures("follow")  # it writes the corpus and the videos
def test_each_command_says_what_comes_next(folder: Path, reelrank: Run, tmp_path: Path) -> None:
    """From the import to people who grade; whose captions name nobody leaves the rewriting out."""
    videos = ("--videos", tmp_path / "videos")
    _, said, _ = reelrank("import", folder, tmp_path / "corpus.jsonl", *videos)
    assert said.endswith(
        f"Next: reelrank rewrite '{folder}'\n"
        f"If no caption names a person: reelrank queries '{folder}' --val N --test N\n"
    )
    _, said, _ = reelrank("queries", folder, "--test", 2, "--dry-run")
    assert "Next: " not in said
    _, said, _ = reelrank("queries", folder, "--test", 2)
    assert said.endswith(f"Next: reelrank candidates '{folder}'\n")
    _, said, _ = reelrank("candidates", folder)
    assert said.endswith(f"Next: reelrank users add '{folder}' NAME --role annotator\n")
    _, said, _ = reelrank("users", "add", folder, "Ana", "--role", "annotator")
    assert f"It works once, within two weeks, while `reelrank serve '{folder}'` runs:" in said
    _, said, _ = reelrank("import", folder, tmp_path / "corpus.jsonl", *videos)
    assert "Next: " not in said


def test_videos_without_captions_can_be_described(folder: Path, reelrank: Run, follow: Follow, tmp_path: Path) -> None:
    for double in sorted((tmp_path / "videos").iterdir())[1:]:
        double.unlink()
    _, said, _ = reelrank("moments", folder, "--videos", tmp_path / "videos", "--by", "windows")
    assert f"Next: reelrank queries '{folder}' --from FILE\n" in said
    follow(said.partition("To let annotators write captions: ")[2])
    assert describing_choice(open_project(folder), OPERATOR).open
    _, _, refusal = reelrank("queries", folder, "--test", 2)
    assert "let annotators describe moments" in refusal


def test_captions_are_rewritten_before_it_is_too_late(folder: Path, follow: Follow) -> None:
    project = open_project(folder)
    for command in ("import", "rewrite", "queries", "candidates", "users"):
        advice = next_step(project, OPERATOR)
        assert advice.split()[1] == command
        follow(advice)
    assert next_step(project, OPERATOR) == ""


def test_training_queries_that_can_not_come_are_not_asked_for(
    folder: Path, tmp_path: Path, reelrank: Run, follow: Follow
) -> None:
    follow(f"reelrank import '{folder}' FILE --videos FOLDER")
    drawn = len({moment.caption for moment in MOMENTS})
    assert reelrank("queries", folder, "--val", drawn, "--test", 0)[0] == 0
    refusal = reelrank.refusal("pseudo-train", folder, tmp_path / "train")
    assert "every caption was drawn for validation or test" in refusal
    assert "run" not in refusal


@pytest.mark.usefixtures("packages_are_searched_once")
def test_what_serve_advises_leads_to_the_first_grade_and_no_page_sends_anybody_to_a_terminal(
    folder: Path, follow: Follow, reelrank: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate_app.session import auth

    project = open_project(folder)
    add_person_with_password(project, OPERATOR, "Lea", Role.LEAD, PASSWORD, now=NOW)
    token = sign_in(project, "Lea", PASSWORD, now=NOW)
    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(folder))
    monkeypatch.setattr(auth, "token", lambda: token)
    monkeypatch.setattr("time.time", lambda: NOW)
    for act in ("_listen_error", "_serve"):
        monkeypatch.setattr(f"backend.cli.service.{act}", lambda *arguments: None)
    for _ in range(5):
        assert not [advice for page in PAGES for advice in _advice(page)]
        code, served, _ = reelrank("serve", folder)
        assert code == 0
        advised = set(re.findall("Next: (.+)", served))
        if not advised:
            break
        (advice,) = advised
        follow(advice)
    have_read(project)
    ana = person_of(project, "Ana")
    assert desk(project, ana, now=NOW).state is DeskState.READY


def _advice(page: str) -> list[str]:
    """What a page of the lead tells to type, but for the file that sets an exam, which is another way to do a thing."""

    def script(page: str) -> None:
        import importlib

        importlib.import_module(f"annotate_app.screens.{page}").page()

    app = AppTest.from_function(script, args=(page,), default_timeout=60).run()
    assert not app.exception
    kinds = ("markdown", "info", "warning", "error", "success", "caption")
    texts = [read(element.value) for kind in kinds for element in app.get(kind)]
    texts += [unescape(element.proto.body) for element in app.get("html")]
    return [found for text in texts for found in re.findall("reelrank [^`]+", text) if "exam set" not in found]
