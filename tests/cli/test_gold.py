"""The commands about silent gold: what they say, what they refuse, JSON for scripts."""

import json
import sqlite3
from contextlib import closing

import pytest

from backend.campaign.desk.exchange import desk
from backend.campaign.setup.project.folder import open_project
from cli.conftest import Run
from support import NOW, Judging


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Five settled pairs with a clip, of relevance 0 to 4, and people with a password."""
    with closing(sqlite3.connect(judging.project.folder / "reelrank.db")) as db, db:
        db.execute("UPDATE video SET path = name, sha256 = name")
        db.execute("UPDATE annotator SET password_hash = 'x'")
        db.execute("UPDATE campaign SET gold_key = 'k'")
    for nth, pair in enumerate(judging.pairs()[:5]):
        for who in (0, 1):
            judging.grade(who, pair.pair, nth)
    return judging


def test_gold_is_set_told_of_and_ended(reelrank: Run, settled: Judging) -> None:
    folder, me = settled.project.folder, settled.annotators[2]
    code, out, err = reelrank("gold", "status", folder)
    assert (code, err) == (0, "")
    assert "No gold is mixed into anybody's work." in out
    code, out, err = reelrank("gold", "set", folder, "--share", 0.5, "--warn", 60)
    assert (code, err) == (0, "")
    assert "Gold: 50.0% of everybody's pairs, chosen from 5." in out
    assert "Right grades: 0: 1, 1: 1, 2: 1, 3: 1, 4: 1" in out
    assert "Over the last 20 answers, from 10 on: warned below 60 %, paused below 50 %." in out
    assert "Note: whoever always gives 1 agrees with 60 % of it, which is not below 60 %" in out

    known = {pair.pair for pair in settled.pairs()[:5]}
    met = 0
    while items := desk(settled.project, me, now=NOW + 3600).items:
        met += items[0].pair in known
        settled.grade(2, items[0].pair, 2, at=NOW + 3600)
    assert met > 1
    code, out, _ = reelrank("gold", "status", folder)
    row = next(line.split() for line in out.splitlines() if line.startswith(me.name))
    assert row[:2] == [me.name, str(met)]
    code, out, err = reelrank("gold", "status", folder, "--json")
    told = json.loads(out)
    assert (code, err, told["gold"]["pairs"]) == (0, "", 5)
    mine = next(one for one in told["people"] if one["person"]["name"] == me.name)
    assert (len(mine["answers"]), mine["left"]) == (met, 5 - met)

    assert reelrank("gold", "off", folder)[:2] == (0, "No gold any more.\n")
    assert "Nothing to do" in reelrank("gold", "off", folder)[1]


def test_what_makes_no_sense_is_refused_in_words(reelrank: Run, settled: Judging) -> None:
    folder = settled.project.folder
    code, _, err = reelrank("gold", "set", folder, "--share", 0.9)
    assert code == 1
    assert "a share of 0.9 makes no sense: give more than 0 and at most 0.5" in err
    key = folder / "key.csv"
    key.write_text("pair_id,grade\n999,1\n")
    code, _, err = reelrank("gold", "set", folder, "--from", key)
    assert code == 1
    assert "key.csv" in err
    assert "pair 999 is not a pair of this project with a known moment" in err
    assert not open_project(folder).campaign.gold.on
