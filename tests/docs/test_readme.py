"""The README is short, its commands are run as written, and the examples give what they promise."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from backend import cli
from backend.campaign.demo import demo_people
from backend.campaign.judging import grades
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.review.status import status_counts
from backend.campaign.setup.project.folder import Project, open_project
from backend.cli import service
from backend.encoders import sentence
from backend.store import connection
from scored import write_video
from support import WordEncoder, free_port, sit

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def block(kind: str, holding: str = "") -> str:
    """Return the README's only block of this kind that holds these words."""
    [found] = [text for text in re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL) if holding in text]
    return str(found)


def pipeline() -> list[str]:
    """Return the eight commands from videos to a score, without their comments."""
    return [line.split("  #")[0].strip() for line in block("sh", "reelrank init").splitlines()]


def test_the_readme_has_fewer_than_120_lines() -> None:
    assert README.count("\n") < 120


def test_the_readme_says_who_signs_in_to_the_demo() -> None:
    lead, annotators, password = demo_people()
    rows = dict(re.findall(r"^\| (annotator|lead) \| (.+) \| `\S+` \|$", README, re.MULTILINE))
    assert re.findall(r"`(\w+)`", rows["annotator"]) == list(annotators)
    assert re.findall(r"`(\w+)`", rows["lead"]) == [lead]
    assert README.count(f"| `{password}` |") == 2


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    try:
        cli.main()
    except SystemExit as leaving:
        code = leaving.code
    else:
        code = 0
    if code not in (0, None):
        pytest.fail(f"{line}: exit code {code}")


def test_the_eight_commands_of_the_readme_lead_to_a_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    served: list[Path] = []
    monkeypatch.setattr(service, "_serve", lambda folder, *_: served.append(folder))
    (tmp_path / "my-videos").mkdir()
    moments = block("csv")
    Path("moments.csv").write_text(moments)
    for seconds, name in enumerate(sorted({row.split(",")[0] for row in moments.splitlines()[1:]}), start=20):
        write_video(tmp_path / "my-videos" / f"{name}.mp4", seconds)
    [answer] = re.findall(r"`(reelrank baseline [^`]+)`", README)
    commands = pipeline()
    assert len(commands) == 8
    for line in commands:
        if " serve " in line:
            line += f" --port {free_port()}"  # the one it has by itself may be taken, by the demo for instance
        if " evaluate " in line:
            run(answer, monkeypatch)
        run(line, monkeypatch)
        if " serve " in line:
            judge(open_project(Path("my-project")))
    assert served == [Path("my-project")]
    assert "NDCG@K, IoU>=mu: " in capsys.readouterr().out
    assert "/session/invitation/" not in Path("my-project/reelrank.toml").read_text()


def judge(project: Project) -> None:
    """Grade everything 3 as two people: what happens between serve and export."""
    from backend.campaign.judging.model import GradeEvent
    from backend.campaign.nouns import Role
    from backend.campaign.setup.people import accounts as people

    for name in ("Bo", "Cy"):
        with connection.writing(project.store):
            person = people.add(project.store, OPERATOR, name, Role.ANNOTATOR, now=1.0)
        for query in list_queries(project, OPERATOR):
            for pair in query_pairs(project, OPERATOR, query.query_id):
                sit(project, person, [pair.pair], now=2.0)
                grades.record_grade(project.store, person, GradeEvent(pair.pair, 3, name + pair.pair), now=2.0)


def test_videos_without_captions_become_moments_as_the_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-videos").mkdir()
    write_video(tmp_path / "my-videos" / "one.mp4", 5)
    [instead] = re.findall(r"`(reelrank moments [^`]+)`", README)
    for line in (pipeline()[0], instead):
        run(line, monkeypatch)
    assert status_counts(open_project(Path("my-project")), OPERATOR)["moments"] > 0


def test_the_python_of_the_readme_has_three_lines_and_says_the_truth(capsys: pytest.CaptureFixture[str]) -> None:
    code = block("python")
    assert len(list(filter(None, code.splitlines()))) == 3
    exec(code, {})
    assert capsys.readouterr().out.strip() == code.strip().partition("  # ")[2]


def test_the_examples_give_what_their_page_promises(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    commands = re.findall(r"`(reelrank (?:evaluate|consensus) [^`]+)`", (ROOT / "assets/README.md").read_text())
    assert len(commands) == 4
    for command in commands:
        run(command, monkeypatch)
    out = capsys.readouterr().out
    assert out.count("0.8821") == 2  # JSON and CSV
    assert re.search(r"K=1 +K=2\nqvhighlights_run +0\.0000 +1\.0000\n", out)
    assert "3 in consensus, 1 discarded" in out
    assert "relevances 0 / 1 / 2 / 3 / 4: 0 / 0 / 2 / 0 / 1" in out
