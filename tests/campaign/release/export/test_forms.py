"""A release in every form: the totals of the release, the screens and `status`, and readable by its own readers."""

import csv
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import streamlit as st
import yaml
from huggingface_hub import DatasetCard
from pyarrow import parquet
from streamlit.testing.v1 import AppTest

from annotate_app.session import auth
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role, Split
from backend.campaign.release.export.exporting import export_form
from backend.campaign.release.export.freezing import export_release, release_preview
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.release.export.validating import validate_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.status import status_counts
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import ProjectError
from backend.encoders import sentence
from backend.scoring.scored_files import evaluate_files, score_files
from backend.scoring.trec import match_run
from support import NOW, Judging, WordEncoder

FORMS = ("trec", "parquet", "qvhighlights")
# Relevances 3, 2, 0, 4, 1, one that no four agree on, and one that a lead decides on.
GRADES = ((3, 3), (1, 2), (0, 0), (4, 4), (0, 1), (0, 4, 1, 3), (2, 2))


@pytest.fixture(scope="module")
def made(judging_made: Judging, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Judging, Path]]:
    """A judged project, released below `first`, and in every other form a second time below `second`."""
    folder = tmp_path_factory.mktemp("forms")
    project = open_project(shutil.copytree(judging_made.project.folder, folder / "project"))
    judging = Judging(project, judging_made.lead, judging_made.annotators)
    pairs = judging.pairs()
    for n, pair in enumerate(pairs):
        for who, grade in enumerate(GRADES[n % len(GRADES)]):
            judging.grade(who, pair.pair, grade)
    adjudicate(project, judging.lead, pairs[6].pair, 1, "seen it", now=NOW)
    add_person_with_password(project, OPERATOR, "Lou", Role.LEAD, "a long password", now=NOW)
    set_release_terms(project, judging.lead, licence="CC-BY-4.0", citation="@misc{us}", now=NOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence, "load", lambda spec: WordEncoder())
        export_release(project, OPERATOR, folder / "first" / "tvr-ranking", now=NOW)
        for place in ("first", "second"):
            for form in FORMS:
                export_form(project, OPERATOR, folder / place / form, form)
    yield judging, folder / "first"
    project.store.close()


def documents(folder: Path, split: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "tvr-ranking" / f"{split}.json").read_text())
    return found


def jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def on_screen(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The figures of the page Release, as the lead sees them."""
    st.cache_resource.clear()
    token = sign_in(judging.project, "Lou", "a long password", now=time.time())
    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(judging.project.folder))
    monkeypatch.setattr(auth, "token", lambda: token)

    def script() -> None:
        from annotate_app.screens import release

        release.page()

    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    return {metric.label: metric.value for metric in app.metric}


def test_totals_are_those_of_status_in_every_form(
    made: tuple[Judging, Path], monkeypatch: pytest.MonkeyPatch, packages_are_searched_once: None
) -> None:
    judging, folder = made
    status = status_counts(judging.project, OPERATOR)
    screen = release_preview(judging.project, OPERATOR)
    settled = status["pairs"]["consensus"] + status["pairs"]["adjudicated"]
    assert (screen.moments, screen.adjudicated) == (settled, status["pairs"]["adjudicated"])
    shown = on_screen(judging, monkeypatch)
    assert shown["Pairs with a relevance"] == str(settled)
    assert shown["Raw judgements"] == str(status["judgements"])
    told = Counter(
        moment["relevance"]
        for split in ("val", "test")
        for query in documents(folder, split)
        for moment in query["relevant_moment"]
    )
    assert sum(told.values()) == settled
    graded = [
        line.relevance
        for split in ("val", "test")
        for line in ir_measures.read_trec_qrels(str(folder / "trec" / f"{split}.qrels"))
    ]
    assert Counter(graded) == told
    tables = {path.stem: parquet.read_table(path) for path in (folder / "parquet" / "data").iterdir()}
    nested = [
        moment["relevance"]
        for split in ("val", "test")
        for row in tables[split].to_pylist()
        for moment in row["relevant_moment"]
    ]
    assert Counter(nested) == told
    windows = [
        relevance
        for split in ("val", "test")
        for line in jsonl(folder / "qvhighlights" / f"{split}.jsonl")
        for relevance in line["relevances"]
    ]
    assert Counter(windows) == {grade: told[grade] for grade in (3, 4)}
    for split in ("val", "test"):
        queries = status["queries"][split]
        assert screen.count(Split(split)) == len(documents(folder, split)) == tables[split].num_rows == queries
        name = {"val": "Queries for validation", "test": "Queries for test"}[split]
        assert shown[name] == f"{queries} of {queries}"
        asked = {line.query_id for line in ir_measures.read_trec_qrels(str(folder / "trec" / f"{split}.qrels"))}
        assert len(asked) == queries
    assert tables["train_top40"].num_rows == status["queries"]["train"]
    assert tables["raw_annotation"].num_rows == status["judgements"]
    assert tables["raw_query_moment_pair"].num_rows == sum(status["pairs"].values())
    assert tables["video_corpus"].num_rows == status["videos"]
    for form in ("tvr-ranking", *FORMS):
        manifest = json.loads((folder / form / "manifest.json").read_text())
        assert (manifest["format"], manifest["released"]["moments"]) == (form, settled)
        assert manifest["counts"]["pairs"] == status["pairs"]
        card = (folder / form / "README.md").read_text()
        assert f"| pairs with a relevance | {settled} |" in card


@pytest.mark.parametrize("form", FORMS)
def test_the_same_project_gives_the_same_bytes_and_validate_knows_them(made: tuple[Judging, Path], form: str) -> None:
    first, second = made[1] / form, made[1].parent / "second" / form
    files = {path.relative_to(first).as_posix() for path in first.rglob("*") if path.is_file()}
    assert files == {path.relative_to(second).as_posix() for path in second.rglob("*") if path.is_file()}
    for name in files:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert validate_release(first).problems == []
    manifest = json.loads((first / "manifest.json").read_text())
    assert set(manifest["files"]) == files - {"manifest.json"}


def test_the_map_of_trec_is_a_truth_that_scores_as_the_release(made: tuple[Judging, Path], tmp_path: Path) -> None:
    folder = made[1]
    truth = documents(folder, "val")
    run = {
        str(query["query_id"]): [
            [m["video_name"], m["timestamp"][0], m["timestamp"][1] + 0.5, 1.0] for m in query["relevant_moment"][::2]
        ]
        for query in truth
    }
    (tmp_path / "run.json").write_text(json.dumps(run))
    found = match_run(folder / "trec" / "val.csv", tmp_path / "run.json", 0.5)
    assert found.qrels == (folder / "trec" / "val.qrels").read_text()
    again = match_run(folder / "tvr-ranking" / "val.json", tmp_path / "run.json", 0.5)
    assert (again.qrels, again.run) == (found.qrels, found.run)
    (tmp_path / "run.trec").write_text(found.run)
    theirs = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ 10],
        ir_measures.read_trec_qrels(str(folder / "trec" / "val.qrels")),
        ir_measures.read_trec_run(str(tmp_path / "run.trec")),
    )
    ours = score_files(folder / "tvr-ranking" / "val.json", [tmp_path / "run.json"], k=[10], mu=[0.5])
    expected = ours.summary()["runs"][0]["measures"]["ndcg@10,0.5"]
    assert 0 < expected < 1
    assert theirs[ir_measures.nDCG @ 10] == pytest.approx(expected, abs=1e-9)
    texts = dict(line.split("\t") for line in (folder / "trec" / "queries.tsv").read_text().splitlines())
    assert texts == {str(q["query_id"]): q["query"] for split in ("val", "test") for q in documents(folder, split)}


def test_tables_hold_what_the_files_of_the_release_hold(made: tuple[Judging, Path]) -> None:
    folder = made[1]
    data = folder / "parquet" / "data"
    for name in ("val", "test", "train_top01", "train_top20", "train_top40"):
        found = parquet.read_table(data / f"{name}.parquet").to_pylist()
        assert found == json.loads((folder / "tvr-ranking" / f"{name}.json").read_text())
    for name in ("raw_annotation", "raw_query_moment_pair"):
        with (folder / "tvr-ranking" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        found = parquet.read_table(data / f"{name}.parquet").to_pylist()
        assert [{key: "" if cell is None else str(cell) for key, cell in row.items()} for row in found] == rows
    videos = {
        row["video_name"]: [row["duration"], row["index"]]
        for row in parquet.read_table(data / "video_corpus.parquet").to_pylist()
    }
    assert videos == json.loads((folder / "tvr-ranking" / "video_corpus.json").read_text())


def test_the_card_of_parquet_is_one_that_hugging_face_reads(made: tuple[Judging, Path]) -> None:
    folder = made[1] / "parquet"
    card = DatasetCard.load(folder / "README.md")
    header = yaml.safe_load(card.content.split("---\n")[1])
    assert (card.data.license, card.data.size_categories) == ("cc-by-4.0", ["n<1K"])
    assert card.data.pretty_name == header["pretty_name"] == "project"
    assert [one["config_name"] for one in header["configs"] if one.get("default")] == ["truth"]
    for config, info in zip(header["configs"], header["dataset_info"], strict=True):
        assert config["config_name"] == info["config_name"]
        for file, split in zip(config["data_files"], info["splits"], strict=True):
            assert file["split"] == split["name"]
            assert parquet.read_metadata(folder / file["path"]).num_rows == split["num_examples"]
    assert "@misc{us}" in card.text


def test_datasets_loads_every_configuration(made: tuple[Judging, Path], tmp_path: Path) -> None:
    import datasets

    folder = made[1] / "parquet"
    for config in ("truth", "train_top20", "grades", "pairs", "videos"):
        found = datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path))
        for split, rows in found.items():
            assert rows.num_rows > 0, (config, split)
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))
    assert set(found) == {"validation", "test"}
    assert found["validation"][0]["query"] == documents(made[1], "val")[0]["query"]


def test_windows_are_read_by_our_own_readers(made: tuple[Judging, Path], tmp_path: Path) -> None:
    folder = made[1]
    file = folder / "qvhighlights" / "val.jsonl"
    good = [
        (query["query"], m["video_name"], *m["timestamp"])
        for query in documents(folder, "val")
        for m in query["relevant_moment"]
        if m["relevance"] >= 3
    ]
    project = init_project(tmp_path / "p", encoder="minilm")
    report = import_corpus(project, OPERATOR, file, "qvhighlights", now=NOW)
    assert (report.captions, report.videos) == (len(good), len({video for _, video, *_ in good}))
    rows = project.store.db.execute(
        "SELECT text, name, start_s, end_s FROM caption JOIN moment USING (moment_id) JOIN video USING (video_id)"
    )
    assert sorted(map(tuple, rows)) == sorted(good)
    lines = jsonl(file)
    run = {str(line["qid"]): [[line["vid"], *window, 1.0] for window in line["relevant_windows"]] for line in lines}
    (tmp_path / "run.json").write_text(json.dumps(run))
    scored = evaluate_files(file, [tmp_path / "run.json"], k=[40])
    assert scored["truth"] == {"queries": len(lines), "moments": len(good)}
    assert scored["runs"][0]["measures"]["ndcg@40,0.7"] == 1.0


def test_what_cannot_be_is_refused_before_the_work(
    made: tuple[Judging, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = made[0].project
    monkeypatch.setattr(sentence, "load", lambda spec: pytest.fail("work was begun"))
    with pytest.raises(ProjectError, match="5 is not a relevance above 0: choose 1 to 4"):
        export_form(project, OPERATOR, tmp_path / "out", "qvhighlights", threshold=5)
    with pytest.raises(ProjectError, match="only qvhighlights takes a threshold: trec has every relevance"):
        export_form(project, OPERATOR, tmp_path / "out", "trec", threshold=3)
    with pytest.raises(ProjectError, match="exists already and is not empty"):
        export_form(project, OPERATOR, project.folder, "trec")
    assert list(tmp_path.iterdir()) == []
    report = export_form(project, OPERATOR, tmp_path / "out", "qvhighlights", threshold=1)
    told = [
        m["relevance"] for split in ("val", "test") for q in documents(made[1], split) for m in q["relevant_moment"]
    ]
    assert (report.threshold, report.windows) == (1, sum(map(bool, told)))
