"""The command import-judgements: what it says, what it prints as JSON, what it refuses."""

import json
from pathlib import Path

import pytest

from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from cli.conftest import Run

RAW = "pair_id,worker,relevance\n0,4,3\n0,6,4\n7,4,0\n7,6,4\n9,0,2\n9,0,2\n"
PAIRS = (
    "pair_id,query,video_name,timestamp,duration,similarity,verdict,relevance\n"
    '0,a person waves,v1,"[0, 2]",60,0.9,consensus,4\n'
    '7,a person waves,v1,"[2, 4]",60,0.8,discarded,\n'
    '8,a person waves,v1,"[4, 6]",60,0.7,open,\n'
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    init_project(Path("p"), encoder="minilm")
    Path("raw.csv").write_text(RAW)
    Path("pairs.csv").write_text(PAIRS)
    return Path("p")


def test_the_report_names_what_was_taken_and_every_oddity(reelrank: Run, project: Path) -> None:
    out = reelrank.out("import-judgements", project, "raw.csv", "--pairs", "pairs.csv")
    first, *others = out.splitlines()
    assert first.startswith("raw.csv: 6 rows by 3 workers over 3 pairs (")
    assert others == [
        "New: 3 annotators, 1 video, 3 moments, 1 query, 1 batch, 3 pairs; 0 pairs existed already, 1 stored by number "
        "only.",
        "Without a grade in this file: 1 pair.",
        "Note: 1 pair had another verdict or relevance in the file.",
        "2 in consensus, 1 without: 0 discarded, 1 disputed, 0 with one grade.",
        "Disputed, now waiting for two more annotators: 7",
        "Kept as they are: 1 pair graded twice by one worker, 1 repeated row, 6 unused pair numbers.",
        "Note: worker 0 is number 7 in this project.",
    ]


def test_json_is_json_alone(reelrank: Run, project: Path) -> None:
    code, out, err = reelrank("import-judgements", project, "raw.csv", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["pairs_by_number"], found["never_sent_on"], found["renumbered"]) == (3, [7], {"0": 7})


def test_files_that_are_wrong_are_refused_with_all_their_rows(reelrank: Run, project: Path) -> None:
    Path("raw.csv").write_text(RAW + "1,2,7\n")
    Path("pairs.csv").write_text(PAIRS + "9,a,v1,now,60,0.2,,\n")
    assert reelrank.refusal("import-judgements", project, "raw.csv", "--pairs", "pairs.csv").splitlines() == [
        "reelrank: raw.csv, row 8: relevance is '7', not one of 0, 1, 2, 3, 4",
        "pairs.csv, row 5: timestamp is 'now', not [start, end] in seconds",
    ]
    assert (
        reelrank.refusal("import-judgements", project, "none.csv")
        == "reelrank: none.csv: cannot be read: No such file or directory\n"
    )


@pytest.mark.long
def test_the_judgements_of_tvr_ranking_give_its_published_counts(reelrank: Run, project: Path, shared: Path) -> None:
    code, out, _ = reelrank("import-judgements", project, shared / "data/tvr_ranking/raw_annotation.csv", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["rows"], found["pairs"], found["workers"]) == (227_808, 96_483, 21)
    assert (found["consensus"], found["pairs"] - found["consensus"]) == (94_442, 2_041)
    assert (found["discarded"], found["never_sent_on"], found["open"]) == (2_039, [166_445, 166_459], 0)
    assert (found["pairs_graded_twice_by_one"], found["duplicate_rows"]) == (11_682, 8_345)
    connection = open_project(project).store.db.conn
    relevances = connection.execute("SELECT relevance, count(*) FROM consensus GROUP BY relevance").fetchall()
    # The published figures of the paper, counted by SQL.
    assert [tuple(row) for row in relevances] == [
        *((None, 2_041), (0, 5_929), (1, 19_245), (2, 30_056), (3, 24_439), (4, 14_773)),
    ]
    assert connection.execute("SELECT count(*), count(DISTINCT annotator_id) FROM judgement").fetchone()[:] == (
        227_808,
        21,
    )
    assert connection.execute("SELECT count(*) FROM seat WHERE repeat = 1").fetchone()[0] >= 11_682

    # The board of the project has the published file's agreement, and every pair has the verdict of the rule.
    expected = json.loads((shared / "golden/stats.json").read_text())["real_agreement"]
    board = agreement_board(open_project(project), OPERATOR, resamples=0)
    for figure, golden in {
        "alpha_ordinal": "alpha_ordinal_all_ratings",
        "alpha_nominal": "alpha_nominal_all",
        "alpha_interval": "alpha_interval_all",
        "alpha_ordinal_first_per_annotator": "alpha_ordinal_first_per_worker",
    }.items():
        assert board.figures[figure].value == pytest.approx(expected[golden], abs=1e-9), figure
    assert sum(board.histogram) == 227_808
    assert sum(map(sum, board.lowest_highest)) == 96_483
