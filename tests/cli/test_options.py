"""Options that commands share: values with commas or the option repeated, `--jobs` and `--cluster`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup, TyperOption

from backend import cli
from cli.conftest import Run
from scored import write_files

EXAMPLE = Path(__file__).parents[2] / "assets/example"
SCORED = ("evaluate", "--truth", EXAMPLE / "val.json", "--run", EXAMPLE / "run.json", "--json", "-")


def options(group: TyperGroup, before: str = "reelrank") -> Iterator[tuple[str, TyperOption]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from options(command, f"{before} {name}")
        elif isinstance(command, TyperCommand):
            for one in command.params:
                if isinstance(one, TyperOption):
                    yield f"{before} {name} {one.opts[0]}", one


def test_every_option_that_takes_a_list_may_be_repeated() -> None:
    """Without this the last one wins and nobody is told."""
    root = cli.command()
    assert isinstance(root, TyperGroup)
    lists = {name: one for name, one in options(root) if "," in (one.metavar or "")}
    assert len(lists) >= 25
    assert [name for name, one in lists.items() if not one.multiple] == []


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        (["--k", "10", "--k", "20"], ["ndcg@10,0.5", "ndcg@20,0.5"]),
        (["--k", "10,20", "--k", "40,10"], ["ndcg@10,0.5", "ndcg@20,0.5", "ndcg@40,0.5"]),
        (["--k", "5", "--mu", "0.7", "--mu", "0.3,0.7"], ["ndcg@5,0.7", "ndcg@5,0.3"]),
        (["--measure", "ndcg@20,0.5", "--measure", "miou,ndcg@20,0.5"], ["ndcg@20,0.5", "miou"]),
        (["--measure", "recall@1", "--theta", "0.5", "--theta", "0.7"], ["recall@1,0.5", "recall@1,0.7"]),
    ],
)
def test_values_are_merged_in_order_and_doubles_dropped(reelrank: Run, given: list[str], keys: list[str]) -> None:
    usual = [] if "--measure" in given else ["--measure", "ndcg", *([] if "--mu" in given else ["--mu", "0.5"])]
    code, out, err = reelrank(*SCORED, *usual, *given)
    assert (code, err) == (0, "")
    assert list(json.loads(out)["runs"][0]["measures"]) == keys


def test_studies_merge_lists_too(reelrank: Run, tmp_path: Path) -> None:
    truth, runs = write_files(tmp_path)
    asked = ("measures", "ties", "--truth", truth, "--run", *runs[:2], "--measure", "ndcg", "--out", tmp_path / "ties")
    code, out, _ = reelrank(*asked, "--k", "1", "--k", "5", "--mu", "0.3", "--mu", "0.5", "--json")
    assert code == 0
    assert [row["measure"] for row in json.loads(out)["rows"]] == [
        "ndcg@1,0.3",
        "ndcg@1,0.5",
        "ndcg@5,0.3",
        "ndcg@5,0.5",
    ]


def test_training_sets_are_written_for_every_size(
    reelrank: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr("backend.cli.pipeline.open_project", lambda folder: folder)
    monkeypatch.setattr(
        "backend.campaign.release.export.freezing.write_pseudo_train", lambda *_, tops, **__: sizes.extend(tops) or []
    )
    assert reelrank("pseudo-train", tmp_path, tmp_path / "out", "--top", "1", "--top", "20,1")[0] == 0
    assert sizes == [1, 20]


def test_temperatures_may_be_the_same_twice(reelrank: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are of the first attempt, the second, ...: the same temperature twice is two attempts."""
    asked: list[tuple[float, ...]] = []
    monkeypatch.setattr("backend.cli.captions.open_project", lambda folder: folder)

    class Endpoint:
        def __init__(self, *, temperatures: tuple[float, ...], **_: object) -> None:
            asked.append(temperatures)
            raise SystemExit(0)

    monkeypatch.setattr("backend.language.endpoint.Endpoint", Endpoint)
    given = ("--temperatures", "0,0", "--temperatures", "0.2")
    reelrank("rewrite", tmp_path, "--rewriter", "openai", "--model", "small", *given)
    assert asked == [(0.0, 0.0, 0.2)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--k", "10", "--k", "ten"], "--k: 'ten' is not a list of numbers such as 10,20,40"),
        (["--k", "10,"], "--k: '10,' is not a list of numbers"),
        (["--measure", "ndcg,,miou"], "--measure: 'ndcg,,miou' has an empty value"),
        (["--mu", "0.5,x"], "--mu: '0.5,x' is not a list of numbers"),
    ],
)
def test_a_value_that_is_none_is_wrong_usage(reelrank: Run, given: list[str], message: str) -> None:
    code, out, err = reelrank(*SCORED, *given)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").replace("'--", "--").replace("':", ":").split())


VIDEO_FILES = (Path(__file__).parents[2] / "docs" / "video-files.md").read_text("utf-8")


def commands(group: object, names: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every command, and its options."""
    if below := getattr(group, "commands", None):
        for name, command in below.items():
            yield from commands(command, (*names, name))
    else:
        yield " ".join(names), {option for one in group.params for option in one.opts}  # type: ignore[attr-defined]


def test_commands_have_both_options_or_none_and_are_named() -> None:
    found = dict(commands(cli.command()))
    assert "--cluster" in found["clips queued"]
    both = {name for name, options in found.items() if "--cluster" in options}
    assert both == {name for name, options in found.items() if "--jobs" in options}
    told = VIDEO_FILES[VIDEO_FILES.index("## Several machines") :]
    told = " ".join(told[: told.index("have both options")].split())
    assert both == {name for name in found if f"`{name.removesuffix(' queued')}`" in told}
