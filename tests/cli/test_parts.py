"""`reelrank split` and `reelrank join`, as an operator types them."""

from pathlib import Path

from commands import reelrank
from support import Judging


def test_split_and_join(judging: Judging, tmp_path: Path) -> None:
    project = judging.project.folder
    judging.project.store.close()
    told = reelrank("split", project, "--parts", "3")
    parts = [tmp_path / "project-parts" / f"part-{number}" for number in (1, 2, 3)]
    assert all(str(part) in told for part in parts)
    assert f"reelrank join {tmp_path / 'project-parts'}/part-* JOINED" in told
    told = reelrank("join", *parts, tmp_path / "joined")
    assert "3 queries, 60 pairs, 0 judgements of 4 annotators." in told
