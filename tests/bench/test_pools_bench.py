"""What building pools costs, and how far the thresholds that are found agree with published pools: `make bench`.

Prints a Markdown table for docs/pools.md. Never fails on a number; nothing here runs by default.
"""

from pathlib import Path

import pytest

from backend.campaign.selection.pools.files import read_thresholds
from bench.tables import table
from bench.test_encoding_bench import command

pytestmark = pytest.mark.bench

PACKAGES = ("numpy", "sentence-transformers", "torch")


def test_the_published_charades_pools(shared: Path, tmp_path: Path) -> None:
    def run(*words: object) -> tuple[float, float, float]:
        return command("mvmr", *map(str, words), "--encoder", "minilm", "--embeddings", str(tmp_path / "embeddings"))

    pools, corpus = shared / "data/mvmr/charades_test_mvmr.json", shared / "data/charades_sta/charades_test.json"
    found = tmp_path / "found"
    costs = [
        ("calibrate, all encoded", run("calibrate", pools, found)),
        ("calibrate, nothing to encode", run("calibrate", pools, tmp_path / "again")),
    ]
    given = ("--thresholds", found / "thresholds.json")
    costs += [
        ("build, nothing to encode", run("build", corpus, tmp_path / "pools", *given)),
        ("the same, as published", run("build", corpus, tmp_path / "other", *given, "--as-published")),
    ]
    table(
        "Pools of Charades-STA test (3,720 queries, 1,334 videos), MiniLM",
        [(what, f"{clock:.1f} s", f"{cpu:.1f} s", f"{peak:,.0f} MB") for what, (clock, cpu, peak) in costs],
        PACKAGES,
        "what|clock|CPU|peak memory",
    )
    stored = read_thresholds(found / "thresholds.json")
    assert stored.held_out is not None
    table(
        f"Its published pools between t_neg {stored.t_neg:g} and t_pos {stored.t_pos:g}",
        [
            ("positives", f"{stored.alike:,}", f"{stored.kept_alike:.1%}", f"{stored.held_out[0]:.1%}"),
            ("negatives", f"{stored.different:,}", f"{stored.kept_different:.1%}", f"{stored.held_out[1]:.1%}"),
        ],
        PACKAGES,
        "what|pairs|kept|kept by the other half",
    )
