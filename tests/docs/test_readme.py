"""The README's pipeline is run as written, on the example corpus; and the examples give what they promise."""

import re
import shlex
import sys
from pathlib import Path

import av
import numpy as np
import pytest

from backend import api, cli
from backend.campaign.judging import consensus
from backend.cli import service
from backend.encoders import sentence
from backend.store import connection
from support import WordEncoder, free_port, sit

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "assets" / "example"
SMALLER = {"--val 500 --test 2781": "--val 2 --test 1"}


def pipeline() -> list[str]:
    """The commands of the README's pipeline block, without their comments."""
    block = next(
        block
        for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
        if "init" in block
    )
    return [line.split("  #")[0].strip() for line in block.splitlines() if line.strip()]


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


def write_video(path: Path, seconds: float) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for n in range(int(seconds * 5)):
            picture = np.full((48, 64, 3), n % 256, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))


def test_the_pipeline_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    served: list[Path] = []
    monkeypatch.setattr(service, "_serve", lambda project, *_: served.append(project.folder))
    (tmp_path / "moments.jsonl").write_bytes((EXAMPLE / "moments.jsonl").read_bytes())
    (tmp_path / "my-videos").mkdir()
    for name, seconds in (("kitchen", 14), ("hall", 12), ("street", 15), ("garden", 6)):
        write_video(tmp_path / "my-videos" / f"{name}.mp4", seconds)
    for line in pipeline():
        if " serve " in line:
            line += f" --port {free_port()}"  # the one it has by itself may be taken, by the demo for instance
        for long, short in SMALLER.items():
            line = line.replace(long, short)
        if " rewrite " in line:
            with Path("my-project/reelrank.toml").open("a") as settings:
                settings.write('"Mara" = "a woman"\n"Jon" = "a man"\n')
        if " export " in line:
            judge(api.open_project(Path("my-project")))
        run(line, monkeypatch)
    assert served == [Path("my-project")]
    assert "NDCG@K, IoU>=mu: " in capsys.readouterr().out
    assert "/session/invitation/" not in Path("my-project/reelrank.toml").read_text()


def judge(project: api.Project) -> None:
    """Two people grade everything 3, and a run is written: what happens between serve and evaluate."""
    from backend.campaign.judging.model import GradeEvent
    from backend.campaign.nouns import Role
    from backend.campaign.people import accounts as people

    for name in ("Bo", "Cy"):
        with connection.writing(project.store):
            person = people.add(project.store, api.OPERATOR, name, Role.ANNOTATOR, now=1.0)
        for query in api.list_queries(project, api.OPERATOR):
            for pair in api.query_pairs(project, api.OPERATOR, query.query_id):
                sit(project, person, [pair.pair], now=2.0)
                consensus.record_grade(project.store, person, GradeEvent(pair.pair, 3, name + pair.pair), now=2.0)
    queries = [query.query_id for query in api.list_queries(project, api.OPERATOR) if query.split == "val"]
    Path("run.json").write_text(str({str(query): [["kitchen", 1.0, 4.5, 1.0]] for query in queries}).replace("'", '"'))


def test_the_python_of_the_readme_says_the_truth() -> None:
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert code is not None
    *setup, last = code[1].strip().splitlines()
    space: dict[str, object] = {}
    exec("\n".join(setup), space)
    expression, expected = last.split("  # ")
    assert eval(expression, space) == eval(expected)


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
