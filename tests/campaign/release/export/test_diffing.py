"""What changed between two releases, counted beside by brute force, with the reasons that the log knows."""

import json
import shutil
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.diffing import diff_releases
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import release_changes, release_file
from backend.campaign.release.export.model import Adjudicated, ReleaseOptions
from backend.campaign.review.adjudicating import adjudicate
from backend.core.errors import InputError, ProjectError
from support import NOW, Judging


@pytest.fixture
def twice(judging: Judging) -> Judging:
    """Two releases: v1; and v2, after a lead decided on pair 2, re-opened pair 3, and query 2 was finished."""
    pairs = judging.pairs()
    for number, pair in enumerate(pairs[:39]):
        for who, grade in enumerate((0, 4, 0, 4) if number == 2 else (number % 5, number % 5)):
            judging.grade(who, pair.pair, grade)
    project, lead = judging.project, judging.lead
    export_release(project, lead, None, name="v1", now=NOW + 10)
    adjudicate(project, lead, pairs[2].pair, 1, "only the end of it", now=NOW + 20)
    adjudicate(project, lead, pairs[4].pair, 0, "another action", now=NOW + 30)
    for who in (0, 1):
        judging.grade(who, pairs[39].pair, 3, at=NOW + 40)
    export_release(project, lead, None, name="v2", now=NOW + 50)
    return judging


def truth(file: Path) -> dict[tuple[object, ...], int]:
    """Relevances by query and moment, read from a zip by nothing of ours."""
    folder = file.with_suffix("")
    shutil.unpack_archive(file, folder)
    return {
        (str(query["query_id"]), moment["video_name"], *moment["timestamp"]): moment["relevance"]
        for path in folder.rglob("*.json")
        if path.name in ("val.json", "test.json")
        for query in json.loads(path.read_text())
        for moment in query["relevant_moment"]
    }


def test_every_change_is_told_with_its_reason(twice: Judging, tmp_path: Path) -> None:
    project = twice.project
    first, third, fifth, late = (twice.pairs()[at] for at in (0, 2, 4, 39))
    found = release_changes(project, twice.lead, "v1", "v2")
    assert [(one.query_id, one.before, one.reason) for one in found.queries] == [
        (str(late.query_id), "", "left out of the other release: some of its pairs waited for grades")
    ]
    assert {(one.pair_id, one.before, one.after) for one in found.pairs} == {
        *((str(third.pair_id), None, 1), (str(fifth.pair_id), 4, 0)),
    }
    reasons = {one.pair_id: one.reason for one in found.pairs}
    assert reasons[str(third.pair_id)] == "discarded became adjudicated; Lea decided on 1: only the end of it"
    assert reasons[str(fifth.pair_id)] == "consensus became adjudicated; Lea decided on 0: another action"
    files = [shutil.copy(release_file(project, twice.lead, name), tmp_path / f"{name}.zip") for name in ("v1", "v2")]
    old, new = (truth(Path(file)) for file in files)
    assert found.same == sum(old.get(key) == value for key, value in new.items()) == 18
    assert (found.moments_gone, found.moments_new) == (len(old.keys() - new.keys()), len(new.keys() - old.keys()))
    assert found.moved == {-4: 1}
    assert first.pair_id not in reasons
    # From the files alone the same, but for what leads wrote; and backwards the other way round.
    alone = diff_releases(*map(Path, files))
    assert [(one.pair_id, one.before, one.after) for one in alone.pairs] == [
        (one.pair_id, one.before, one.after) for one in found.pairs
    ]
    assert {one.reason for one in alone.pairs} == {"discarded became adjudicated", "consensus became adjudicated"}
    back = release_changes(project, twice.lead, "v2", "v1")
    assert (back.moments_gone, back.moments_new, back.moved) == (found.moments_new, found.moments_gone, {4: 1})


def test_a_release_and_itself_do_not_differ(twice: Judging, tmp_path: Path) -> None:
    export_release(twice.project, OPERATOR, tmp_path / "v2", now=NOW + 99)
    found = release_changes(twice.project, twice.lead, "v2", str(tmp_path / "v2"))
    assert found.equal
    assert (found.moments_gone, found.moments_new, found.moved, found.same) == (0, 0, {}, 40)


def test_further_grades_and_left_out_decisions_are_told(judging: Judging) -> None:
    pairs = judging.pairs()
    for pair in pairs[:20]:
        for who in (0, 1):
            judging.grade(who, pair.pair, 3)
    project, lead = judging.project, judging.lead
    export_release(project, lead, None, name="v1", now=NOW + 1)
    judging.grade(1, pairs[0].pair, 0, at=NOW + 2)
    adjudicate(project, lead, pairs[1].pair, 3, "as they say", now=NOW + 3)
    leave_out = ReleaseOptions(adjudicated=Adjudicated.LEAVE_OUT, unfinished=True)
    export_release(project, lead, None, leave_out, name="v2", now=NOW + 4)
    reasons = {one.pair_id: one.reason for one in release_changes(project, lead, "v1", "v2").pairs}
    assert reasons == {
        str(pairs[0].pair_id): "consensus became escalated; grades 3, 3 became 3, 0",
        str(pairs[1].pair_id): "consensus became adjudicated; one of the releases leaves adjudicated pairs out; "
        "Lea decided on 3: as they say",
    }


def test_releases_without_pairs_are_compared_by_their_truth(tmp_path: Path) -> None:
    for name, relevance in (("a", 3), ("b", 2)):
        moment = {"video_name": "v", "timestamp": [1, 2], "relevance": relevance}
        (tmp_path / name).mkdir()
        (tmp_path / name / "val.json").write_text(
            json.dumps([{"query_id": 7, "query": f"text of {name}", "relevant_moment": [moment]}])
        )
    found = diff_releases(tmp_path / "a", tmp_path / "b")
    assert [(one.before, one.after) for one in found.queries] == [("val: text of a", "val: text of b")]
    assert [(one.before, one.after, one.pair_id, one.reason) for one in found.pairs] == [(3, 2, "", "")]
    with pytest.raises(InputError, match="is not there"):
        diff_releases(tmp_path / "a", tmp_path / "none")


def test_what_is_no_release_is_refused(twice: Judging) -> None:
    with pytest.raises(ProjectError, match="there is no release called v3; the project has v2, v1"):
        release_changes(twice.project, twice.lead, "v1", "v3")
