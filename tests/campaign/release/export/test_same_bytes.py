"""The same project gives the same bytes: whoever exports it, whenever, and from whichever folder."""

import hashlib
import shutil
import zipfile
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.release.export import card as export_card
from backend.campaign.release.export import freezing
from backend.campaign.release.export import kept_releases as keeping
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.release.export.model import Adjudicated, ReleaseOptions
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import ProjectError
from support import NOW, PARTLY, Judging


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def kept(project: Project, *, now: float) -> Path:
    report = export_release(project, OPERATOR, None, now=now)
    assert report.kept == report.place
    return report.place


def settle_a_query(judging: Judging) -> None:
    """The first query as a whole, and one pair of the next."""
    for number, pair in enumerate(judging.pairs()[:21]):
        for who in (0, 1):
            judging.grade(who, pair.pair, number % 5, at=NOW + number + who / 10)


@pytest.mark.long
def test_two_exports_of_one_project_are_the_same(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "figures", export_card.figures)
    settle_a_query(judging)
    project = judging.project
    first = export_release(project, OPERATOR, tmp_path / "first", now=NOW + 100)
    zipped = kept(project, now=NOW + 160)
    zipped_first = hashlib.sha256(zipped.read_bytes()).hexdigest()
    # What changes nothing of a release: a sign-in, somebody new, a skip, the releases made before.
    add_person_with_password(project, OPERATOR, "Zoe", Role.ANNOTATOR, "long enough", now=NOW + 200)
    sign_in(project, "Zoe", "long enough", now=NOW + 201)
    again = export_release(project, OPERATOR, tmp_path / "again", now=NOW + 900)
    assert bytes_of(tmp_path / "first") == bytes_of(tmp_path / "again")
    assert first.sha256 == again.sha256 == hashlib.sha256((tmp_path / "first/manifest.json").read_bytes()).hexdigest()
    assert hashlib.sha256(kept(project, now=NOW + 999).read_bytes()).hexdigest() == zipped_first
    card = (tmp_path / "first" / "README.md").read_text()
    assert all(
        f"]({name})" in card and bytes_of(tmp_path / "first")[name][1:4] == b"PNG" for name in export_card.FIGURES
    )
    with zipfile.ZipFile(zipped) as archive:
        (root,) = {name.partition("/")[0] for name in archive.namelist()}
        assert {name.partition("/")[2]: archive.read(name) for name in archive.namelist()} == bytes_of(
            tmp_path / "first"
        )
        assert root == zipped.stem == f"project-{first.sha256[:12]}"

    project.store.close()
    copy = open_project(shutil.copytree(project.folder, tmp_path / "elsewhere" / "copy"))
    export_release(copy, OPERATOR, tmp_path / "copied", now=NOW + 10_000)
    assert bytes_of(tmp_path / "copied") == bytes_of(tmp_path / "first")
    zipped_copy = kept(copy, now=NOW + 10_001)
    assert hashlib.sha256(zipped_copy.read_bytes()).hexdigest() == zipped_first


def test_a_release_is_as_old_as_what_it_tells(judging: Judging, tmp_path: Path) -> None:
    settle_a_query(judging)
    export_release(judging.project, OPERATOR, tmp_path / "first", now=NOW + 100)
    assert b'"created_at": "2026-09-21T14:13:40+00:00"' in (tmp_path / "first" / "manifest.json").read_bytes()
    pair = judging.pairs()[0]
    adjudicate(judging.project, judging.lead, pair.pair, 4, "seen again", now=NOW + 3600)
    export_release(judging.project, OPERATOR, tmp_path / "second", now=NOW + 9000)
    assert b'"created_at": "2026-09-21T15:13:20+00:00"' in (tmp_path / "second" / "manifest.json").read_bytes()


def test_other_options_are_another_release(judging: Judging, tmp_path: Path) -> None:
    settle_a_query(judging)
    adjudicate(judging.project, judging.lead, judging.pairs()[0].pair, 4, "seen again", now=NOW + 60)
    options = [ReleaseOptions(), PARTLY, ReleaseOptions(adjudicated=Adjudicated.LEAVE_OUT)]
    hashes = {
        export_release(judging.project, OPERATOR, tmp_path / str(n), one, now=NOW).sha256
        for n, one in enumerate(options)
    }
    assert len(hashes) == len(options)


@pytest.mark.parametrize("fails", ["disk", "killed"])
def test_nothing_half_written_is_left(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    settle_a_query(judging)

    def full(folder: Path, file: Path, root: str) -> None:
        file.write_bytes(b"PK")
        raise OSError(28, "No space left on device") if fails == "disk" else KeyboardInterrupt

    monkeypatch.setattr(keeping, "pack", full)
    with pytest.raises((ProjectError, KeyboardInterrupt)):
        kept(judging.project, now=NOW)
    assert list((judging.project.folder / "releases").iterdir()) == []
    assert list_releases(judging.project, judging.lead) == []
