"""The commands about releases that somebody hands on."""

import json
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.review.adjudicating import adjudicate
from cli.conftest import Run
from support import NOW, PARTLY, Judging


@pytest.fixture
def release(judging: Judging, tmp_path: Path) -> Path:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    export_release(judging.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)
    return tmp_path / "release"


def test_validate_says_what_it_looked_at_and_ends_with_1_where_something_is_wrong(reelrank: Run, release: Path) -> None:
    out = reelrank.out("validate", release)
    assert "no problems" in out
    assert "Checked: raw_annotation.csv: 2 grades of 1 pairs; the rule gives the relevances" in out
    (release / "val.json").write_text((release / "val.json").read_text().replace('"relevance": 3', '"relevance": 7'))
    code, out, _ = reelrank("validate", release)
    assert (code, "relevance is 7, not one of 0, 1, 2, 3, 4" in out) == (1, True)
    code, out, _ = reelrank("validate", release, "--json")
    found = json.loads(out)
    assert (code, found["clean"], found["count"]) == (1, False, len(found["problems"]))
    assert {"file", "row", "message"} == found["problems"][0].keys()


def test_import_release_says_what_came_back(reelrank: Run, release: Path, tmp_path: Path) -> None:
    out = reelrank.out("import-release", release, tmp_path / "again")
    assert f"Created the project {tmp_path / 'again'} (" in out
    assert "queries 2 val, 1 test, 45 train; 48 moments." in out
    assert "2 grades of 1 pair by 2 annotators, now named by numbers; 1 in consensus, 0 discarded, 0 adju" in out
    assert "Training lists from the release: 45." in out
    assert "This was done at" in reelrank.out("import-release", release, tmp_path / "again")
    out = reelrank.out("import-release", release, tmp_path / "other", "--json")
    assert json.loads(out)["queries"] == {"val": 2, "test": 1, "train": 45}


def test_other_forms_are_written_and_told_of_but_not_kept(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    project = judging.project.folder
    out = reelrank.out("export", project, tmp_path / "q", "--format", "qvhighlights", "--unfinished")
    assert f"{tmp_path / 'q'}: 1 validation and 0 test queries with 1 graded moment; 4 files (" in out
    assert "1 of the moments have relevance 3 or more, and become windows." in out
    assert "windows" not in reelrank.out("export", project, tmp_path / "t", "--format", "trec", "--unfinished")
    assert reelrank("releases", project, "--json")[1].strip() == "[]"
    assert reelrank("export", project, tmp_path / "n", "--format", "trec", "--name", "mine")[0] == 2
    assert reelrank("export", project, tmp_path / "n", "--threshold", "3")[0] == 2

    pair = judging.pairs()[0]
    (tmp_path / "run.json").write_text(json.dumps({pair.query_id: [[pair.video, pair.start_s, pair.end_s, 1.0]]}))
    asked = ["match-run", "--truth", tmp_path / "t" / "val.csv", "--run", tmp_path / "run.json", tmp_path / "run.trec"]
    assert "1 prediction for 1 query; matched to a moment at IoU >= 0.5: 1 (" in reelrank.out(
        *asked, "--qrels", tmp_path / "val.qrels"
    )
    assert (tmp_path / "run.trec").read_text() == f"{pair.query_id} Q0 {pair.pair_id} 1 1 run.json\n"
    assert (tmp_path / "val.qrels").read_text() == (tmp_path / "t" / "val.qrels").read_text()
    assert reelrank(*asked)[0] == 2, "never overwrites"


def test_releases_are_made_listed_and_compared(judging: Judging, reelrank: Run, tmp_path: Path) -> None:
    project, lead, pairs = judging.project, judging.lead, judging.pairs()
    folder = project.folder
    code, out, _ = reelrank("releases", folder)
    assert (code, out.splitlines()[0]) == (0, f"There are no releases yet. Next: reelrank export {folder} OUT")
    for number, pair in enumerate(pairs[:21]):
        for who in (0, 1):
            judging.grade(who, pair.pair, number % 5)
    out = reelrank.out("export", folder, tmp_path / "v1", "--name", "v1", "--notes", "The first one")
    assert "0 test queries with 20 graded moments" in out or "1 test queries with 20 graded moments" in out
    assert "Note: left out 2 queries" in out
    assert "Note: no licence is chosen" in out
    code, out, _ = reelrank("releases", "terms", folder, "--licence", "CC-BY-4.0")
    assert (code, out.splitlines()[0]) == (0, "Licence: CC-BY-4.0")
    adjudicate(project, lead, pairs[4].pair, 0, "another action", now=NOW + 30)
    options = ("--unfinished", "--adjudicated", "leave-out", "--no-keep")
    out = reelrank.out("export", folder, tmp_path / "v2", "--name", "v2", *options)
    assert "Note: left out 1 adjudicated pair." in out
    code, out, _ = reelrank("releases", folder, "--json")
    assert [(one["name"], one["moments"], one["file"] is None) for one in json.loads(out)] == [
        *(("v2", 20, True), ("v1", 20, False)),
    ]
    code, out, _ = reelrank("releases", folder)
    assert "v1: The first one" in out
    told = "1 query changed. Moments: 19 the same, 0 with another relevance, 1 removed, 1 new."
    code, out, _ = reelrank("diff", "v1", tmp_path / "v2", "--project", folder, "--csv", tmp_path / "changes.csv")
    assert out.endswith(f"Written: {tmp_path}/changes.csv\n")
    assert code == 0
    assert told in out
    assert "Lea decided on 0: another action" in out
    assert len((tmp_path / "changes.csv").read_text().splitlines()) == 1 + 1 + 1
    code, out, _ = reelrank("diff", tmp_path / "v1", tmp_path / "v2")
    assert told in out
    assert "Lea" not in out
    assert "is not there" in reelrank.refusal("diff", tmp_path / "v1", tmp_path / "v3")


def test_a_release_is_removed_for_a_reason(judging: Judging, reelrank: Run, release: Path) -> None:
    folder = judging.project.folder
    (name,) = (one.name for one in list_releases(judging.project, OPERATOR))
    assert reelrank("releases", "remove", folder, name)[0] == 2, "needs --reason"
    assert "Give a reason" in reelrank.refusal("releases", "remove", folder, name, "--reason", " ")
    err = reelrank.refusal("releases", "remove", folder, "v9", "--reason", "Wrong licence")
    assert err == f"reelrank: there is no release named v9; the releases are {name}\n"
    assert (folder / "releases").exists()
    said = reelrank.out("releases", "remove", folder, name, "--reason", "Wrong licence")
    assert said == f"Removed the release {name}.\n"
    assert "There are no releases yet." in reelrank.out("releases", folder)
    assert list((folder / "releases").iterdir()) == []
