"""`reelrank judge`: what it prints, lists and refuses."""

import json

import pytest
from typer.testing import CliRunner

from backend.cli.commands import app
from chat_server import serving
from commands import reelrank
from eyes import always
from support import Judging


def test_a_model_is_asked_and_listed_with_its_cost(seen: Judging) -> None:
    folder = seen.project.folder
    assert reelrank("judge", folder).startswith("No model was asked yet.")
    with serving(always(2)) as server:
        where = ("--model", "eye", "--endpoint", server.url, "--price-in", 2, "--price-out", 10)
        told = reelrank("judge", folder, *where, "--most-pairs", 5, "--parallel", 2).splitlines()
        found = json.loads(reelrank("judge", folder, *where, "--most-cost", 0.0177, "--parallel", 1, "--json"))
    assert told[0].startswith("5 pairs asked (")
    assert told[0].endswith("): 5 graded, 0 refused, 0 failed; 0 answered earlier, 55 left.")
    # 1000 tokens at 2 and 20 at 10 a million are 0.0022; five of them are 0.0110.
    assert told[1] == "5 requests, 5,000 input and 100 output tokens, cost 0.0110 at your prices (0.0110 in all)."
    assert told[2].startswith("Kept as: eye, prompt judge-1+")
    assert told[3] == "Ended by --most-pairs: to go on, run the command again with a higher limit."
    assert (found["graded"], found["earlier"], found["left"], found["ended_by"]) == (3, 5, 52, "--most-cost")
    assert found["cost_ever"] == pytest.approx(8 * 0.0022)
    listed = reelrank("judge", folder).splitlines()
    assert listed[1].split()[:2] == ["eye", found["judge"]["prompt_version"]]
    assert listed[1].split()[2:8] == ["8", "0", "0", "8,000", "160", "0.0176"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--settled"], "name the model to ask"),
        (["--model", "eye", "--price-in", "1"], "give both prices, or none"),
        (["--model", "eye", "--most-cost", "1"], "needs the prices: give --price-in and --price-out"),
        (["--model", "eye", "--endpoint", "file:///etc/passwd"], "not an address"),
        (["--model", "eye", "--endpoint", "https://me:secret@host/v1"], "the base URL contains a secret"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_asked(seen: Judging, arguments: list[str], why: str) -> None:
    done = CliRunner().invoke(app, ["judge", str(seen.project.folder), *arguments])
    assert done.exit_code != 0
    assert why in " ".join((done.stderr + str(done.exception)).replace("│", " ").split())
    assert "secret@" not in done.stderr
