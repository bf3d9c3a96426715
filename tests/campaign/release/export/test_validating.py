"""`validate`: a release as it was made has no problem, and whatever is changed in it is named with file and place."""

import csv
import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.diffing import release_statistics
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.importing import import_release
from backend.campaign.release.export.validating import validate_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.setup.project.folder import open_project
from backend.core.errors import InputError
from backend.encoders import sentence
from support import NOW, PARTLY, Judging, WordEncoder

Edit = Callable[[Any], None]
# Two agree, four agree, four do not, two do not, three, one: pair after pair.
GRADES = ((3, 3), (1, 2), (0, 4, 3, 4), (0, 4, 1, 3), (0, 4), (0, 4, 2), (2,), (0, 0))
VAL, TRAIN, RAW, PAIRS = "val.json", "train_top20.json", "raw_annotation.csv", "raw_query_moment_pair.csv"


@pytest.fixture(scope="module")
def made(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A release with pairs in every state; the fourth is adjudicated."""
    folder = tmp_path_factory.mktemp("released")
    project = open_project(shutil.copytree(judging_made.project.folder, folder / "project"))
    judging = Judging(project, judging_made.lead, judging_made.annotators)
    pairs = judging.pairs()
    for n, pair in enumerate(pairs):
        for who, grade in enumerate(GRADES[n % len(GRADES)]):
            judging.grade(who, pair.pair, grade)
    adjudicate(project, judging.lead, pairs[3].pair, 2, "seen it", now=NOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        export_release(project, OPERATOR, folder / "release", PARTLY, now=NOW)
    yield folder / "release"
    project.store.close()


@pytest.fixture
def release(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "release")


def edited(folder: Path, name: str, edit: Edit) -> None:
    """Change the values of a file."""
    path = folder / name
    if name.endswith(".json"):
        document = json.loads(path.read_text())
        edit(document)
        path.write_text(json.dumps(document))
        return
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = list(rows[0])
    edit(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def seal(folder: Path) -> None:
    """Let the manifest say the hashes of the files as they are now."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["files"]:
        if (folder / name).exists():
            manifest["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def told(folder: Path) -> list[str]:
    return [str(problem) for problem in validate_release(folder).problems]


def test_a_release_folder_with_a_link_out_of_it_is_refused(release: Path, tmp_path: Path) -> None:
    (release / "val.json").rename(tmp_path / "private.json")
    (release / "val.json").symlink_to(tmp_path / "private.json")
    for act in (
        lambda: validate_release(release),
        lambda: import_release(release, tmp_path / "again", encoder="minilm", now=NOW),
        lambda: release_statistics(release),
    ):
        with pytest.raises(InputError, match=r"val\.json: is a link out of the folder, which is not followed"):
            act()


def test_a_release_as_it_was_made_is_clean_as_a_folder_and_as_a_zip(release: Path, tmp_path: Path) -> None:
    report = validate_release(release)
    assert (report.problems, report.count, report.clean) == ([], 0, True)
    assert report.not_checked == []
    assert "manifest.json: 15 files and their SHA-256" in report.checked
    truth = json.loads((release / VAL).read_text())
    assert report.found[VAL] == len(truth) > 0
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", release.parent, release.name))
    assert told(packed) == told(Path(shutil.make_archive(str(tmp_path / "flat"), "zip", release))) == []


def moment(document: Any, number: int = 0, query: int = 0) -> Any:
    return document[query]["relevant_moment"][number]


def change(number: int = 0, **values: Any) -> Edit:
    return lambda document: moment(document, number).update(values)


def row(number: int, **values: str) -> Edit:
    return lambda rows: rows[number].update(values)


def no_times(document: Any) -> None:
    del moment(document)["timestamp"]


# Every check of a file's shape, and one of each kind that `test_checks` and `test_pair_checks` try whole.
# The first pairs are those of GRADES; {q}, {p} and {t} are the first pair's query, number and text.
CHANGES: dict[str, tuple[str, Edit, str]] = {
    "relevance of 7": (VAL, change(relevance=7), "val.json, row 1: query {q}, pair {p}: relevance is 7, not one of"),
    "relevance as text": (VAL, change(relevance="3"), 'row 1: query {q}, moment 1: `relevance` is "3", not a whole'),
    "relevance of a half": (VAL, change(relevance=2.5), "query {q}, moment 1: `relevance` is 2.5, not a whole number"),
    "no times": (VAL, no_times, "val.json, row 1: query {q}, moment 1: has no `timestamp`"),
    "one time": (VAL, change(timestamp=[3]), "moment 1: `timestamp` is [3], not [start, end] in seconds"),
    "beyond the video": (VAL, change(timestamp=[1, 70]), "end 70.0 is more than 1 s after the video's end at 60.0 s"),
    "a video of no name": (VAL, change(video_name=5), "moment 1: `video_name` is 5, not a text"),
    "a pair less": (VAL, lambda d: d[0]["relevant_moment"].pop(0), "val.json, row 1: query {q}: pair {p} is missing; "),
    "no number": (VAL, lambda d: d[0].pop("query_id"), "val.json, row 1: query ?: has no `query_id`"),
    "an entry that is none": (VAL, lambda d: d.insert(0, 7), "val.json, row 1: the query is 7, not an object"),
    "a judged text trains": (TRAIN, lambda d: d[2].update(query="{t}"), "train_top20.json, row 3: query "),
    "sets that are not nested": (
        *(TRAIN, change(video_name="v0", timestamp=[50.0, 51.0])),
        "train_top01.json, row 1: query {n}, moment 1: differs from train_top20.json, row 1",
    ),
    "a grade of 7": (RAW, row(0, relevance="7"), "raw_annotation.csv, row 2: relevance is '7', not one of 0, 1, 2, 3"),
    "another decision": (
        *(RAW, lambda rows: [one.update(adjudicated="4") for one in rows if one["adjudicated"]]),
        "adjudicated 2 in raw_query_moment_pair.csv, and adjudicated 4 here",
    ),
    "a pair's row less": (PAIRS, lambda rows: rows.pop(0), "val.json, row 1: query {q}, pair {p}: is not in raw_query"),
    "a pair's row twice": (PAIRS, lambda rows: rows.append(rows[0]), "pair {p} was already given in row 2"),
    "a verdict that is none": (PAIRS, row(0, verdict="fine"), "pair {p}: verdict 'fine' is not one of open, "),
    "a pair said to be left out": (
        PAIRS,
        row(0, released="0"),
        "row 2: pair {p}: released is 0, but it is in the truth",
    ),
    "a pair's rank in words": (PAIRS, row(0, rank="first"), "row 2: rank is 'first', not a whole number from 1 on"),
    "a video less": ("video_corpus.json", lambda d: d.pop("v0"), "video 'v0' is not in video_corpus.json"),
    "an index twice": ("video_corpus.json", lambda d: d["v1"].__setitem__(1, 0), "video 'v1' has the same index 0"),
    "a duration in words": ("video_corpus.json", lambda d: d.update(v1="60 s"), "video 'v1' is \"60 s\", not"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_named_with_its_place(release: Path, what: str) -> None:
    name, edit, expected = CHANGES[what]
    first = json.loads((release / VAL).read_text())[0]
    training = json.loads((release / TRAIN).read_text())[0]
    words = {
        "q": first["query_id"],
        "p": first["relevant_moment"][0]["pair_id"],
        "t": first["query"],
        "n": training["query_id"],
    }
    edited(release, name, edit)
    text = (release / name).read_text().replace('"{q}"', str(words["q"])).replace("{t}", first["query"])
    (release / name).write_text(text)
    assert any(problem.startswith(f"{name}: has changed: its SHA-256 is ") for problem in told(release))
    seal(release)
    found = told(release)
    assert any(expected.format(**words) in problem for problem in found), found
    assert not any("was changed" in problem for problem in found)


def test_files_that_are_missing_too_many_or_none_at_all(release: Path) -> None:
    (release / "test.json").unlink()
    (release / "notes.txt").write_text("mine")
    (release / VAL).write_bytes(b"\xff[")
    found = told(release)
    assert "test.json: is missing; manifest.json names it" in found
    assert "notes.txt: is an extra file: manifest.json does not name it" in found
    assert any(problem.startswith("val.json: is not a list of queries in JSON: ") for problem in found)
    (release / "manifest.json").write_text("{}")
    assert any("manifest.json: is not a manifest: " in problem for problem in told(release))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_of_any_file_is_told(release: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted({path.name for path in release.iterdir()} - {"manifest.json"})))
    content = (release / name).read_bytes()
    place, byte = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 255))
    (release / name).write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
    same = content[place] == byte
    assert any(problem.startswith(f"{name}: has changed") for problem in told(release)) is not same
    (release / name).write_bytes(content)


def test_totals_of_the_manifest_are_those_of_the_truth(release: Path) -> None:
    edited(release, "manifest.json", lambda said: said["released"].update(moments=7, test_queries=9))
    found = told(release)
    assert len(found) == 2
    assert any(problem.startswith("manifest.json: says 7 moments, but the truth has ") for problem in found)
    assert any(problem.startswith("manifest.json: says 9 test queries, but the truth has 1") for problem in found)


def test_all_problems_are_told_at_once(release: Path) -> None:
    edited(release, VAL, lambda d: (moment(d).update(relevance=7), moment(d, 1, 1).update(video_name="v99")))
    edited(release, RAW, row(4, relevance="x"))
    seal(release)
    found = told(release)
    for part in ("relevance is 7", "video 'v99'", "raw_annotation.csv, row 6: relevance is 'x'"):
        assert sum(part in problem for problem in found) == 1


def test_a_published_release_without_manifest_is_checked_as_far_as_it_goes(release: Path) -> None:
    """Of its shape: grades of three columns, pairs without verdicts, no numbers of pairs in the truth."""
    for name in ("manifest.json", "README.md"):
        (release / name).unlink()
    decided: set[str] = set()

    def three_columns(rows: Any) -> None:
        decided.update(one["pair_id"] for one in rows if one["adjudicated"])
        rows[:] = [one for one in rows if one["pair_id"] not in decided]

    edited(release, RAW, three_columns)
    lines = (release / RAW).read_text().splitlines()
    (release / RAW).write_text("".join(",".join(line.split(",")[:3]) + "\n" for line in lines))
    with (release / PAIRS).open(newline="") as file:
        pairs = list(csv.DictReader(file))
    kept = ["pair_id", "query_id", "query", "video_name", "start", "end", "similarity"]
    with (release / PAIRS).open("w", newline="") as file:
        writer = csv.DictWriter(file, kept, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(one for one in pairs if one["pair_id"] not in decided)

    def as_published(document: Any) -> None:
        for query in document:
            numbered = [(str(one.pop("pair_id")), one) for one in query["relevant_moment"]]
            query["relevant_moment"] = [one for number, one in numbered if number not in decided]

    for name in (VAL, "test.json"):
        edited(release, name, as_published)
    report = validate_release(release)
    assert report.problems == []
    assert report.not_checked == ["there is no manifest.json: no hashes; grades 0 to 4 assumed"]
    edited(release, VAL, change(relevance=0))
    [problem] = told(release)
    assert problem.endswith("moment 1: relevance is 0, but the grades 3, 3 give 3")


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("x")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    for name, why in {
        "empty": "is empty: a release has val.json",
        "file.txt": "is neither a folder nor a zip",
        "other.zip": "is not a release: it has none of manifest.json, val.json, test.json",
        "nowhere": "is not there: name the folder or the zip",
    }.items():
        with pytest.raises(InputError, match=why):
            validate_release(tmp_path / name)
