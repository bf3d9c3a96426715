"""The worked example of the page about evaluating prints what the page says."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from backend import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/evaluating.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```sh\n(reelrank [^\n]+)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def printed(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    try:
        cli.main()
    except SystemExit as leaving:
        if leaving.code not in (0, None):
            pytest.fail(f"{command}: exit code {leaving.code}")
    return "".join(line.rstrip() + "\n" for line in capsys.readouterr().out.splitlines())


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize(("command", "expected"), EXAMPLES, ids=lambda text: text[:30])
def test_an_example_prints_what_the_page_says(
    command: str, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(command, monkeypatch, capsys) == expected


@pytest.mark.parametrize(("option", "value"), [("--one-per-video", "0.6667"), ("--top-videos 1", "0.3333")])
def test_what_is_said_of_its_options_is_so(
    option: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = " ".join(PAGE.split())
    assert f"`{option}` the run above has" in said or f"`{option}` it has" in said
    out = printed(f"{EXAMPLES[1][0].removesuffix(' --own-video')} {option}", monkeypatch, capsys)
    assert re.search(rf"^pools_run +[\d.]+ +{value}$", out, re.MULTILINE)
