"""What became of what each source found, counted by hand."""

import json
from pathlib import Path

from backend.campaign.monitoring.explore.tables import explored_csv, source_standings
from backend.campaign.selection.candidates.pooling import pool_candidates
from support import NOW, Judging


def test_what_each_source_brought(judging: Judging, tmp_path: Path) -> None:
    """A run finds rank 3 of a list of 40, whose first 20 are handed out, and two moments that no caption has."""
    project = judging.project
    first = judging.pairs()[0].query_id
    third = next(pair for pair in judging.pairs() if (pair.query_id, pair.rank) == (first, 3))
    found = [[third.video, third.start_s, third.end_s, 3], ["v0", 40, 50, 2], ["v1", 40, 50, 1]]
    (tmp_path / "ours.json").write_text(json.dumps({first: found}))
    pool_candidates(project, judging.lead, [tmp_path / "ours.json"], again=True, now=NOW)
    for pair in judging.pairs():
        if pair.query_id == first and (pair.rank == 3 or (pair.video in ("v0", "v1") and pair.start_s == 40)):
            for who in (0, 1):
                judging.grade(who, pair.pair, 4 if pair.video == third.video else 0)
    captions, ours = source_standings(project, judging.lead)
    assert (captions.source.name, captions.candidates, captions.alone) == ("words-64", 120, 119)
    assert (captions.pairs, captions.decided, captions.relevant, captions.relevant_alone) == (60, 1, 1, 0)
    assert (ours.source.name, ours.source.part, ours.candidates, ours.alone, ours.pairs) == ("ours", 2, 3, 2, 3)
    also = sum(one[0] == third.video for one in found[1:])  # of the two new ones, those in the video of rank 3
    assert (ours.decided, ours.relevant, ours.relevant_alone) == (3, 1 + also, also)
    assert ours.mean == 4 * (1 + also) / 3
    lines = explored_csv([captions, ours]).splitlines()
    assert lines[0].startswith("kind,name,sha256,depth,part,candidates,alone,pairs,decided,relevant")
    assert lines[2].startswith("run,ours,")
