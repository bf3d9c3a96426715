"""What a release tells of its moments: imprecise captions, no names, and what rewriting changed."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.corpus.captions.decisions import decide_rewrite, rewrite_queue
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.desk.exchange import desk, record_grades
from backend.campaign.judging.model import GradeEvent
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.release.board.kept_runs import add_truth
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.release.export.freezing import export_release, write_pseudo_train
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.ids import PairKey
from backend.store.connection import writing
from support import MOMENTS, NOW, PEOPLE, Judging, have_read

WORDS = {"Anna": "a woman", "Boris": "a man", "Carla": "a woman"}
GENERIC = {name: phrase[0].upper() + phrase[1:] for name, phrase in WORDS.items()}
EXTRA = "Then Dev waves at Dev."
PUBLISHED = {(m.video, m.start_s): m.caption for m in MOMENTS} | {("new", 1.0): EXTRA}


@pytest.fixture
def settled(corpus_project: Project) -> Project:
    """Rewritten without Dev in the cast, one of whose captions was written by hand and one rejected; judged."""
    with (corpus_project.folder / "reelrank.toml").open("a") as file:
        file.writelines(f'"{name}" = "{generic}"\n' for name, generic in WORDS.items())
    project = open_project(corpus_project.folder)
    # A name in the middle of a sentence, so that it is known for one.
    moment = {"video": "new", "start": 1, "end": 2, "duration": 9, "caption": EXTRA}
    (project.folder / "more.jsonl").write_text(json.dumps(moment))
    import_corpus(project, OPERATOR, project.folder / "more.jsonl", "jsonl", now=NOW)
    rewrite_captions(project, OPERATOR, now=NOW)
    with writing(project.store):
        lead = people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
        judges = [people.add(project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in ("Uma", "Vic")]
        have_read(project)
    first, second = rewrite_queue(project, lead).items[:2]
    decide_rewrite(project, lead, first.caption_id, "Somebody waves in a room.", now=NOW)
    decide_rewrite(project, lead, second.caption_id, None, now=NOW)
    draw_queries(project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    choose_candidates(project, OPERATOR, now=NOW)
    settle(project, judges)
    return project


def settle(project: Project, judges: list[Person]) -> None:
    """Everything that is open, with relevance 3."""
    for judge in judges:
        while items := desk(project, judge, now=NOW).items:
            grades = [GradeEvent(PairKey(item.pair), 3, f"{judge.name}-{item.pair}", 1000) for item in items]
            record_grades(project, judge, grades, now=NOW)


def released(project: Project, out: Path, *, with_published: bool = False) -> dict[str, Any]:
    export_release(project, OPERATOR, out, ReleaseOptions(with_published=with_published), now=NOW)
    return {path.name: json.loads(path.read_text()) for path in out.glob("*.json")}


def moments(documents: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [moment for query in documents[name] for moment in query["relevant_moment"]]


def expected(video: str, start_s: float) -> str:
    """The caption of a moment, by hand: `Dev pours tea` is number 3, `Dev dances` number 7."""
    if video == "new":
        return ""
    number = next(n for n, m in enumerate(MOMENTS) if (m.video, m.start_s) == (video, start_s))
    name = PEOPLE[number % 4]
    if name == "Dev":
        return "Somebody waves in a room." if number == 3 else ""
    return MOMENTS[number].caption.replace(name, GENERIC[name])


def test_no_name_reaches_a_release(settled: Project, tmp_path: Path) -> None:
    documents = released(settled, tmp_path / "release")
    for path in (tmp_path / "release").glob("*.[!p]*"):  # pictures have other letters
        assert not any(name in path.read_text() for name in PEOPLE), path.name
    files = ("val.json", "test.json", "train_top01.json", "train_top20.json", "train_top40.json")
    for file in files:
        assert moments(documents, file)
        for moment in moments(documents, file):
            assert moment["caption"] == expected(moment["video_name"], moment["timestamp"][0])
            assert "published_caption" not in moment
    with (tmp_path / "release" / "raw_query_moment_pair.csv").open(newline="") as file_:
        pairs = list(csv.DictReader(file_))
    assert pairs
    assert all(pair["caption"] == expected(pair["video_name"], float(pair["start"])) for pair in pairs)


def test_published_captions_go_with_it_where_asked_for(settled: Project, tmp_path: Path) -> None:
    documents = released(settled, tmp_path / "release", with_published=True)
    for file in ("val.json", "test.json", "train_top01.json"):
        for moment in moments(documents, file):
            place = (moment["video_name"], moment["timestamp"][0])
            assert (moment["caption"], moment["published_caption"]) == (expected(*place), PUBLISHED[place])
    with (tmp_path / "release" / "raw_query_moment_pair.csv").open(newline="") as file_:
        for pair in csv.DictReader(file_):
            assert pair["published_caption"] == PUBLISHED[pair["video_name"], float(pair["start"])]
    assert documents["manifest.json"]["published_captions"] is True
    kept = add_truth(settled, OPERATOR, tmp_path / "release" / "val.json", now=NOW)
    assert kept.queries == len(documents["val.json"])


def test_the_manifest_and_the_card_tell_what_rewriting_changed(settled: Project, tmp_path: Path) -> None:
    manifest = released(settled, tmp_path / "release")["manifest.json"]
    assert (manifest["captions"], manifest["published_captions"]) == ("imprecise", False)
    assert manifest["moments_without_caption"] == 12  # thirteen captions name Dev, one of them was written anew
    found = manifest["rewriting"]
    assert (found["captions"], found["changed"]) == (37, 37)
    assert found["replacements"]["a woman"] == 24
    assert found["words"][:2] == [
        *({"word": "woman", "gender": "F", "count": 24}, {"word": "man", "gender": "M", "count": 12}),
    ]
    assert found["replaced"] == sum(word["count"] for word in found["words"])
    versions = found["versions"]
    assert (sorted(versions.values()), versions["by-hand"]) == ([1, 36], 1)
    card = (tmp_path / "release" / "README.md").read_text()
    assert "| a woman | 24 |" in card
    assert "| a man | 12 |" in card
    assert "| `by-hand` | 1 |" in card
    assert "because it was rejected or not decided: 12" in card


def test_a_project_that_was_never_rewritten_keeps_its_captions_and_says_so(judging: Judging, tmp_path: Path) -> None:
    settle(judging.project, judging.annotators[:2])
    documents = released(judging.project, tmp_path / "release")
    for moment in moments(documents, "val.json"):
        assert moment["caption"] == PUBLISHED[moment["video_name"], moment["timestamp"][0]]
    manifest = documents["manifest.json"]
    assert (manifest["captions"], manifest["published_captions"], manifest["moments_without_caption"]) == (
        *("published", True),
        0,
    )
    assert "rewriting" not in manifest
    assert "Captions are as published: none was rewritten" in (tmp_path / "release" / "README.md").read_text()


def test_pseudo_training_sets_by_themselves_hold_no_name_either(settled: Project, tmp_path: Path) -> None:
    for path in write_pseudo_train(settled, tmp_path / "train", tops=[1, 20]):
        assert not any(name in path.read_text() for name in PEOPLE)


def test_an_earlier_campaign_is_read_from_a_release_whose_captions_may_be_empty(
    settled: Project, tmp_path: Path
) -> None:
    out = tmp_path / "release"
    released(settled, out)
    again = init_project(tmp_path / "again", encoder="minilm")
    report = import_judgements(again, out / "raw_annotation.csv", out / "raw_query_moment_pair.csv", now=NOW)
    assert report.pairs == len(list(csv.reader((out / "raw_query_moment_pair.csv").open()))) - 1
