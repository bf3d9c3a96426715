"""Releases that the project keeps: by name, whole, for ever; and what is said of their licence."""

import hashlib
import json
import os
import signal
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export import kept_releases as keeping
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import list_releases, release_changes, release_file
from backend.campaign.release.export.model import KeptRelease
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.setup.project import places
from backend.campaign.setup.project.folder import open_project
from backend.core.errors import NotAllowed, ProjectError
from backend.core.leftovers import OURS
from backend.store.connection import writing
from support import NOW, PARTLY, Judging


@pytest.fixture
def settled(judging: Judging) -> Judging:
    for number, pair in enumerate(judging.pairs()[:21]):
        for who in (0, 1):
            judging.grade(who, pair.pair, number % 5)
    return judging


def found(judging: Judging) -> dict[str, KeptRelease]:
    return {one.name: one for one in list_releases(judging.project, judging.lead)}


def wrong(judging: Judging) -> list[str]:
    report = doctor(judging.project, now=NOW)
    return [text for finding in report.findings if finding.check == "releases" for text in finding.examples]


def test_a_release_is_kept_by_name_with_what_it_holds(settled: Judging, tmp_path: Path) -> None:
    project = settled.project
    first = export_release(project, OPERATOR, tmp_path / "first", notes="The first one", now=NOW)
    again = export_release(project, settled.lead, tmp_path / "again", now=NOW + 60)
    other = export_release(project, settled.lead, None, PARTLY, name=" v1 ", now=NOW + 60)
    named = export_release(project, settled.lead, None, name="v2", now=NOW + 90)
    assert [(one.name, one.again) for one in (first, again, other, named)] == [
        *(("release-1", False), ("release-1", True), ("v1", False), ("v2", False)),
    ]
    assert first.sha256 == again.sha256 == named.sha256 != other.sha256
    kept = found(settled)
    assert list(kept) == ["v2", "v1", "release-1"]
    assert (kept["release-1"].notes, kept["release-1"].made_by, kept["v1"].made_by) == ("The first one", None, "Lea")
    assert (kept["release-1"].moments, kept["v1"].moments) == (20, 21)
    assert kept["v1"].settings == ("with unfinished queries",)
    assert kept["v2"].file == kept["release-1"].file != kept["v1"].file
    with zipfile.ZipFile(release_file(project, settled.lead, "release-1")) as archive:
        assert archive.testzip() is None
        packed = {Path(name).name: archive.read(name) for name in archive.namelist()}
    assert packed == {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}


def test_a_name_belongs_to_one_release_for_ever(settled: Judging, tmp_path: Path) -> None:
    export_release(settled.project, OPERATOR, None, name="v1", now=NOW)
    before = sorted((settled.project.folder / "releases").iterdir())
    with pytest.raises(ProjectError, match="A release called v1 was made before, and names are never reused"):
        export_release(settled.project, OPERATOR, tmp_path / "out", PARTLY, name="v1", now=NOW)
    assert not (tmp_path / "out").exists()
    assert sorted((settled.project.folder / "releases").iterdir()) == before
    assert export_release(settled.project, OPERATOR, None, name="v1", now=NOW).again


def test_a_release_may_not_be_kept(settled: Judging, tmp_path: Path) -> None:
    report = export_release(settled.project, OPERATOR, tmp_path / "out", keep=False, now=NOW)
    assert report.kept is None
    assert not (settled.project.folder / "releases").exists()
    assert found(settled)["release-1"].file is None
    assert wrong(settled) == []
    with pytest.raises(ProjectError, match="only the manifest of the release release-1 was kept"):
        release_file(settled.project, settled.lead, "release-1")
    # Kept later, it is one that is there.
    assert export_release(settled.project, OPERATOR, None, now=NOW).name == "release-2"


def test_the_doctor_names_what_is_damaged_or_missing(settled: Judging) -> None:
    file = export_release(settled.project, OPERATOR, None, name="v1", now=NOW).place
    assert wrong(settled) == []
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert wrong(settled) == [f"v1: releases/{file.name} was changed"]
    file.unlink()
    assert wrong(settled) == [f"v1: releases/{file.name} is missing"]
    assert found(settled)["v1"].megabytes is None
    with pytest.raises(ProjectError, match="the file of the release v1 is missing: put"):
        release_file(settled.project, settled.lead, "v1")
    export_release(settled.project, OPERATOR, None, now=NOW)  # the same content is the same file
    assert wrong(settled) == []


@pytest.mark.parametrize("stored", ["{outside}", "../secret.txt", "releases/../../secret.txt", "releases/link.zip"])
@pytest.mark.parametrize("known", [True, False])
def test_a_release_whose_file_lies_elsewhere_is_not_given_out(
    settled: Judging, tmp_path: Path, stored: str, known: bool
) -> None:
    project, outside = settled.project, tmp_path / "secret.txt"
    assert project.folder.parent == tmp_path
    outside.write_text("nobody's business")
    (project.folder / "releases").mkdir()
    (project.folder / "releases" / "link.zip").symlink_to(outside)
    file, sha256 = stored.format(outside=outside), hashlib.sha256(outside.read_bytes()).hexdigest() if known else None
    with writing(project.store) as db:
        manifest = '{"created_at": "2026-01-01"}'
        digest = hashlib.sha256(manifest.encode()).hexdigest()
        what = {"name": "v1", "notes": "", "file": file, "file_sha256": sha256, "at": NOW, "by": None}
        releases.add(db, manifest, digest, **what)
    assert wrong(settled) == [f"v1: {file} is outside of releases/"]
    assert found(settled)["v1"].megabytes is None
    with pytest.raises(ProjectError, match="is outside of the folder releases/"):
        release_file(project, settled.lead, "v1")
    with pytest.raises(ProjectError, match="is outside of the folder releases/"):
        release_changes(project, settled.lead, "v1", "v1")


def test_a_release_whose_zip_was_changed_is_not_given_out(settled: Judging) -> None:
    file = export_release(settled.project, OPERATOR, None, name="v1", now=NOW).place
    file.write_bytes(b"another zip")
    with pytest.raises(ProjectError, match=r"v1: .* has changed since it was made"):
        release_file(settled.project, settled.lead, "v1")


def test_two_leads_at_once_make_one_release(settled: Judging) -> None:
    settled.project.store.close()
    folders = [settled.project.folder] * 2

    def make(folder: Path) -> tuple[str, str]:
        project = open_project(folder)
        report = export_release(project, settled.lead, None, now=NOW)
        project.store.close()
        return report.name, report.sha256

    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(make, folders))
    project = open_project(settled.project.folder)
    assert made[0] == made[1]
    assert [one.name for one in list_releases(project, settled.lead)] == ["release-1"]
    (file,) = (project.folder / "releases").iterdir()
    assert zipfile.ZipFile(file).testzip() is None


@pytest.mark.parametrize("at", ["pack", "record"])
def test_a_worker_killed_in_the_middle_leaves_nothing_that_counts(settled: Judging, tmp_path: Path, at: str) -> None:
    folder = settled.project.folder
    settled.project.store.close()
    child = os.fork()
    if not child:
        try:
            setattr(keeping, at, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
            export_release(open_project(folder), settled.lead, tmp_path / "out", name="v1", now=NOW)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    project = open_project(folder)
    assert list_releases(project, settled.lead) == []
    assert not (tmp_path / "out").exists()
    left = [file for file in (folder / "releases").iterdir() if not file.name.startswith(OURS)]
    assert all(zipfile.ZipFile(file).testzip() is None for file in left)
    assert len(left) == (at == "record")  # whole, and taken by the release that is made next
    places.remove_leftovers(folder)
    assert doctor(project, now=NOW).well
    made = export_release(project, settled.lead, tmp_path / "out", name="v1", now=NOW)
    assert [made.kept] == [file for file in (folder / "releases").iterdir() if not file.name.startswith(OURS)]


def test_licence_and_citation_are_said_once_and_stand_in_every_release(settled: Judging, tmp_path: Path) -> None:
    project, lead = settled.project, settled.lead
    report = export_release(project, OPERATOR, tmp_path / "without", now=NOW)
    assert report.licence == ""
    assert "No licence chosen" in (tmp_path / "without" / "README.md").read_text()
    said = set_release_terms(project, lead, licence=" CC-BY-4.0 ", citation="@misc{us,\n}", now=NOW + 5)
    assert (said.licence, said.citation, said.by, said.at) == ("CC-BY-4.0", "@misc{us,\n}", "Lea", NOW + 5)
    with pytest.raises(ProjectError, match="needs a reason"):
        set_release_terms(project, lead, licence="MIT", now=NOW + 6)
    with pytest.raises(ProjectError, match="nothing changed"):
        set_release_terms(project, lead, licence="CC-BY-4.0", reason="again", now=NOW + 6)
    set_release_terms(project, OPERATOR, licence="Ours, ask us", reason="not open yet", now=NOW + 7)
    with pytest.raises(NotAllowed):
        set_release_terms(project, settled.annotators[0], licence="MIT", reason="mine", now=NOW + 8)
    report = export_release(project, OPERATOR, tmp_path / "with", now=NOW + 100)
    manifest = json.loads((tmp_path / "with" / "manifest.json").read_text())
    assert (manifest["licence"], manifest["citation"]) == ("Ours, ask us", "@misc{us,\n}")
    assert manifest["created_at"] == "2026-09-21T14:13:27+00:00"
    card = (tmp_path / "with" / "README.md").read_text()
    assert "Licence: Ours, ask us.\n\nPlease cite:\n\n    @misc{us,\n    }\n" in card
