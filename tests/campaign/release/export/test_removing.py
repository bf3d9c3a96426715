"""Names of releases are checked before they are made, and a kept release is removed with a reason."""

import pytest

from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import (
    check_new_release,
    list_releases,
    next_release_name,
    release_file,
)
from backend.campaign.release.export.removing import remove_release
from backend.core.errors import ProjectError
from support import NOW, PARTLY, Judging


@pytest.fixture
def settled(judging: Judging) -> Judging:
    for number, pair in enumerate(judging.pairs()[:21]):
        for who in (0, 1):
            judging.grade(who, pair.pair, number % 5)
    return judging


def names(judging: Judging) -> list[str]:
    return [one.name for one in list_releases(judging.project, judging.lead)]


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/x",
        "a/b",
        "a\\b",
        "..",
        ".",
        ".hidden",
        "-rf",
        "v1.",
        "C:",
        "a|b",
        "con",
        "NUL.zip",
        "lpt1",
        "a\u200b",
    ],
)
def test_a_name_that_no_file_may_have_is_refused_before_any_work(settled: Judging, name: str) -> None:
    for refuse in (
        lambda: check_new_release(settled.project, settled.lead, name, ""),
        lambda: export_release(settled.project, OPERATOR, None, name=name, now=NOW),
    ):
        with pytest.raises(ProjectError):
            refuse()
    assert not (settled.project.folder / "releases").exists()


def test_a_name_that_was_given_is_refused_before_any_work(settled: Judging) -> None:
    export_release(settled.project, OPERATOR, None, name="May", now=NOW)
    for taken in ("May", "may", " MAY "):
        with pytest.raises(ProjectError, match="was made before, and names are never reused"):
            check_new_release(settled.project, settled.lead, taken, "")
    check_new_release(settled.project, settled.lead, "June", "")
    check_new_release(settled.project, settled.lead, "", "")


def test_a_fourth_identical_release_needs_a_word_on_why(settled: Judging) -> None:
    for name in ("a", "b", "c"):
        export_release(settled.project, OPERATOR, None, name=name, now=NOW)
    files = sorted((settled.project.folder / "releases").iterdir())
    with pytest.raises(ProjectError, match="a, b, c already hold exactly this"):
        export_release(settled.project, OPERATOR, None, name="d", now=NOW)
    assert names(settled) == ["c", "b", "a"]
    assert sorted((settled.project.folder / "releases").iterdir()) == files
    export_release(settled.project, OPERATOR, None, name="d", notes="For the reviewers", now=NOW)
    assert export_release(settled.project, OPERATOR, None, now=NOW).again


def test_a_release_is_removed_once_its_name_and_a_reason_are_typed(settled: Judging) -> None:
    file = export_release(settled.project, OPERATOR, None, name="v1", now=NOW).kept
    assert file is not None
    for typed, reason, why in (("", "wrong", "type its name: v1"), ("v2", "wrong", "v1"), ("v1", " ", "Give a reason")):
        with pytest.raises(ProjectError, match=why):
            remove_release(settled.project, settled.lead, "v1", typed, reason, now=NOW)
    assert file.exists()
    remove_release(settled.project, settled.lead, "v1", "v1", "Wrong licence", now=NOW)
    assert names(settled) == []
    assert not file.exists()
    with pytest.raises(ProjectError, match="there is no release called v1"):
        release_file(settled.project, settled.lead, "v1")
    kept = 'SELECT name, reason FROM "release" JOIN release_removal USING (release_id)'
    assert [tuple(row) for row in settled.project.store.db.conn.execute(kept)] == [("v1", "Wrong licence")]
    (last,) = find_activity(settled.project, settled.lead, ActivityFilter(), first=0, most=1)
    assert "removed the release v1 (“Wrong licence”)" in str(last)
    with pytest.raises(ProjectError, match="names are never reused"):
        check_new_release(settled.project, settled.lead, "v1", "")
    assert next_release_name(settled.project, settled.lead) == "release-2"
    assert export_release(settled.project, OPERATOR, None, now=NOW).name == "release-2"


def test_a_file_that_another_release_needs_stays(settled: Judging) -> None:
    one, other = (export_release(settled.project, OPERATOR, None, name=name, now=NOW).kept for name in ("a", "b"))
    assert one == other
    assert one is not None
    third = export_release(settled.project, OPERATOR, None, PARTLY, name="c", now=NOW).kept
    remove_release(settled.project, settled.lead, "a", "a", "Made twice", now=NOW)
    assert one.exists()
    assert release_file(settled.project, settled.lead, "b") == one
    remove_release(settled.project, settled.lead, "b", "b", "Wrong licence", now=NOW)
    assert not one.exists()
    assert third is not None
    assert third.exists()


def test_a_release_that_cannot_be_recorded_leaves_no_file(settled: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    from backend.campaign.release.export import kept_releases

    def refuse(*_: object, **__: object) -> None:
        raise ProjectError("no")

    monkeypatch.setattr(kept_releases, "record", refuse)
    with pytest.raises(ProjectError, match="no"):
        export_release(settled.project, OPERATOR, None, now=NOW)
    assert list((settled.project.folder / "releases").iterdir()) == []
