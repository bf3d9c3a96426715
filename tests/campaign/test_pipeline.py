"""From an annotation file to a release: what each stage takes, refuses and writes."""

import csv
import hashlib
import json
from pathlib import Path

import pytest

from backend.campaign.corpus.captions.decisions import accept_rewrites, waiting_rewrites
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.corpus.importing.model import ImportReport
from backend.campaign.desk.exchange import desk
from backend.campaign.judging.staffing import sign_out, suspend
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Role, Split
from backend.campaign.release.earlier.raw_agreement import summarise_raw
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.review.status import status_counts
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people.accounts import accept_invitation, add_person
from backend.campaign.setup.people.permissions import person_for, sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import InputError, NotAllowed, ProjectError
from backend.scoring.scored_files import evaluate_files
from support import MOMENTS, NOW, PARTLY, Judging, have_read


def importing(project: Project, tmp_path: Path, text: str, **options: object) -> ImportReport:
    (tmp_path / "more.jsonl").write_text(text)
    return import_corpus(project, OPERATOR, tmp_path / "more.jsonl", "jsonl", now=NOW, **options)  # type: ignore[arg-type]


def line(**change: object) -> str:
    return json.dumps({"video": "new", "start": 1, "end": 2, "caption": "A cat.", "duration": 9, **change}) + "\n"


def test_import_counts_what_is_new_and_taking_a_file_twice_adds_nothing(
    corpus_project: Project, tmp_path: Path
) -> None:
    counts = status_counts(corpus_project, OPERATOR)
    assert (counts["videos"], counts["moments"], counts["captions"]) == (6, 48, 48)
    again = importing(corpus_project, tmp_path, (tmp_path / "moments.jsonl").read_text())
    assert (again.videos, again.moments, again.captions) == (0, 0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (line() + line(end=0.5), "more.jsonl, row 2: end 0.5 is not after start 1"),
        (line() + line(start=20, end=30), "more.jsonl, row 2: start 20.0 is outside the video"),
        (line(video="v0", duration=500), "row 1: video v0 lasts 500.0 s here, but 60.0 s in the project"),
        (line(duration=None), "row 1: video new has no duration: add one, or name the folder"),
        (line(id=7) + line(id=7, start=3, end=4), "row 2"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_taken(
    corpus_project: Project, tmp_path: Path, text: str, message: str
) -> None:
    before = status_counts(corpus_project, OPERATOR)
    with pytest.raises(InputError) as refusal:
        importing(corpus_project, tmp_path, text)
    assert message in str(refusal.value)
    assert status_counts(corpus_project, OPERATOR) == before


def test_an_id_that_means_another_moment_already_is_refused(corpus_project: Project, tmp_path: Path) -> None:
    importing(corpus_project, tmp_path, line(id="a1"))
    with pytest.raises(
        InputError, match="row 1: id a1 belongs to another moment of the project: give this one its own"
    ):
        importing(corpus_project, tmp_path, line(id="a1", start=4, end=5))


def test_a_person_decides_on_what_waits_and_the_rules_leave_it_alone(corpus_project: Project, tmp_path: Path) -> None:
    importing(
        corpus_project, tmp_path, line(caption=" Then Dev waves at Dev. ") + line(start=4, end=5, caption="Rain.")
    )
    waiting = waiting_rewrites(open_project(corpus_project.folder))
    assert waiting == []
    rewrite_captions(corpus_project, OPERATOR, now=NOW)
    before = len(waiting_rewrites(corpus_project))
    decisions = tmp_path / "waiting.csv"
    decisions.write_text("caption,rewrite,why it waits\nThen Dev waves at Dev.,A man waves.,x\nNobody.,Somebody.,\n")
    with pytest.raises(InputError, match=r"waiting\.csv, row 3: no rewrite of this caption waits"):
        accept_rewrites(corpus_project, decisions, now=NOW)
    assert len(waiting_rewrites(corpus_project)) == before
    decisions.write_text("caption,rewrite\nThen Dev waves at Dev.,A man waves.\n")
    assert accept_rewrites(corpus_project, decisions, now=NOW) == 1
    assert rewrite_captions(corpus_project, OPERATOR, now=NOW).captions == 50
    connection = corpus_project.store.db.conn
    texts = [row[0] for row in connection.execute("SELECT text FROM caption WHERE kind='rewritten' AND accepted = 1")]
    assert texts.count("A man waves.") == 1
    assert len(waiting_rewrites(corpus_project)) == before - 1


def test_the_same_seed_draws_the_same_queries_and_splits_share_no_text(judging: Judging) -> None:
    connection = judging.project.store.db.conn
    splits = connection.execute("SELECT split, count(*), count(DISTINCT text) FROM query GROUP BY split").fetchall()
    assert {tuple(row) for row in splits} == {("val", 2, 2), ("test", 1, 1), ("train", 45, 45)}
    drawn = [row[0] for row in connection.execute("SELECT text FROM query WHERE split <> 'train' ORDER BY position")]
    assert len({*drawn}) == 3
    with pytest.raises(ProjectError, match="whose splits are fixed"):
        draw_queries(judging.project, OPERATOR, val=1, test=0, seed=9, now=NOW)


def test_forty_candidates_are_kept_and_twenty_opened(judging: Judging) -> None:
    rows = judging.project.store.db.conn.execute(
        "SELECT query_id, count(*), min(rank), max(rank), count(DISTINCT moment_id) FROM candidate GROUP BY query_id"
    ).fetchall()
    assert [tuple(row)[1:] for row in rows] == [(40, 1, 40, 40)] * 3
    assert [pair.rank for pair in judging.pairs()] == list(range(1, 21)) * 3
    # The moment whose caption is the query itself is the most similar one.
    assert all(pair.query == pair.caption for pair in judging.pairs() if pair.rank == 1)
    with pytest.raises(ProjectError, match="made with words-64"):
        choose_candidates(judging.project, OPERATOR, seed=1, now=NOW)


def settle_everything(judging: Judging) -> None:
    for n, pair in enumerate(judging.pairs()):
        judging.grade(0, pair.pair, n % 5)
        judging.grade(1, pair.pair, n % 5)


def test_the_second_batch_waits_until_the_first_is_settled(judging: Judging) -> None:
    query = list_queries(judging.project, OPERATOR)[0]
    with pytest.raises(ProjectError, match="20 of its pairs are not settled yet"):
        open_batch(judging.project, judging.lead, query.query_id, now=NOW)
    settle_everything(judging)
    assert list_queries(judging.project, OPERATOR)[0].last == (0, 1, 2, 3, 4)
    with pytest.raises(NotAllowed, match="only leads"):
        open_batch(judging.project, judging.annotators[0], query.query_id, now=NOW)
    assert open_batch(judging.project, judging.lead, query.query_id, now=NOW) == 20
    assert [pair.rank for pair in query_pairs(judging.project, OPERATOR, query.query_id)] == list(range(1, 41))
    assert status_counts(judging.project, OPERATOR)["batches"] == {"1": 3, "2": 1}
    review = list_queries(judging.project, OPERATOR)[0]
    assert (review.relevances[15:20], review.last, review.more_candidates) == ((0, 1, 2, 3, 4), (None,) * 5, False)
    assert len(review.relevances) == 40


def test_a_decision_of_the_lead_overrides_and_erases_nothing(judging: Judging) -> None:
    key = judging.pairs()[0].pair
    for who, grade in enumerate((0, 4, 0, 4)):
        judging.grade(who, key, grade)
    with pytest.raises(ProjectError, match="needs a reason"):
        adjudicate(judging.project, judging.lead, key, 2, "  ", now=NOW)
    adjudicate(judging.project, judging.lead, key, 2, "half of it is there", now=NOW)
    adjudicate(judging.project, judging.lead, key, 3, "seen again", seen=1, now=NOW)
    state = judging.state(key)
    assert (state.verdict, state.relevance, state.reason, len(state.grades)) == ("adjudicated", 3, "seen again", 4)
    assert status_counts(judging.project, OPERATOR)["pairs"]["adjudicated"] == 1


def test_a_release_is_complete_hashed_and_scores_itself(judging: Judging, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="no pair is settled yet"):
        export_release(judging.project, OPERATOR, tmp_path / "r", PARTLY, now=NOW)
    settle_everything(judging)
    key = judging.pairs()[3].pair
    judging.grade(1, key, 0)  # 3 and 0: escalated, so left out
    out = tmp_path / "release"
    report = export_release(judging.project, OPERATOR, out, PARTLY, now=NOW)
    found = report.selection
    assert (found.count(Split.VAL), found.count(Split.TEST), found.moments, report.unsettled) == (2, 1, 59, 1)

    manifest = json.loads((out / "manifest.json").read_text())
    assert {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in manifest["files"]} == manifest[
        "files"
    ]
    assert set(manifest["files"]) == {path.name for path in out.iterdir()} - {"manifest.json"}

    val = json.loads((out / "val.json").read_text())
    moment = val[0]["relevant_moment"][0]
    source = next(m for m in MOMENTS if m.caption == moment["caption"])
    assert moment["timestamp"] == [source.start_s, source.end_s]
    assert (moment["video_name"], moment["duration"], moment["relevance"]) == (source.video, 60.0, 0)

    raw = list(csv.DictReader((out / "raw_annotation.csv").open()))
    assert len(raw) == status_counts(judging.project, OPERATOR)["judgements"] == 120
    assert not any(person.name in (out / "raw_annotation.csv").read_text() for person in judging.annotators)
    assert summarise_raw(out / "raw_annotation.csv")["consensus"] == 59

    train = json.loads((out / "train_top20.json").read_text())
    assert len(train) == 45
    assert {len(query["relevant_moment"]) for query in train} == {20}
    assert not {q["query"] for q in train} & {q["query"] for q in val}
    assert train[0]["relevant_moment"][0]["caption"] == train[0]["query"]

    run = {
        str(query["query_id"]): [
            [m["video_name"], *m["timestamp"], m["relevance"]]
            for m in sorted(query["relevant_moment"], key=lambda m: -m["relevance"])
        ]
        for query in val
    }
    (tmp_path / "perfect.json").write_text(json.dumps(run))
    scored = evaluate_files(out / "val.json", [tmp_path / "perfect.json"])
    measures = scored["runs"][0]["measures"]
    assert {value for key, value in measures.items() if key.startswith(("ndcg", "recall", "axiou@"))} == {1.0}

    with pytest.raises(ProjectError, match="never overwrites"):
        export_release(judging.project, OPERATOR, out, PARTLY, name="another", now=NOW)


def test_people_are_invited_once_and_suspended_at_once(judging: Judging) -> None:
    project = judging.project
    token = add_person(project, OPERATOR, "Zoe", Role.ANNOTATOR, now=NOW)
    with pytest.raises(ProjectError, match="somebody named Zoe"):
        add_person(project, OPERATOR, "zoe", Role.LEAD, now=NOW)
    with pytest.raises(ProjectError, match="at least 8"):
        accept_invitation(project, token, "short", now=NOW)
    session = accept_invitation(project, token, "long enough", now=NOW)
    zoe = person_for(project, session, now=NOW)
    assert zoe is not None
    assert zoe.name == "Zoe"
    with pytest.raises(PermissionError, match="already used"):
        accept_invitation(project, token, "long enough", now=NOW)
    with pytest.raises(PermissionError, match="Name or password is wrong"):
        sign_in(project, "Zoe", "wrong password", now=NOW)
    with pytest.raises(PermissionError, match="Name or password is wrong"):
        sign_in(project, "Nobody", "long enough", now=NOW)
    suspend(project, judging.lead, zoe.annotator_id, True, now=NOW)
    assert person_for(project, session, now=NOW) is None
    with pytest.raises(PermissionError, match="the account is not open"):
        sign_in(project, "Zoe", "long enough", now=NOW)
    everything = "".join(project.store.db.conn.iterdump())
    assert token not in everything
    assert session not in everything
    assert "long enough" not in everything


def test_signing_out_returns_the_seats(judging: Judging) -> None:
    anna = judging.annotators[0]
    token = add_person(judging.project, OPERATOR, "Yan", Role.ANNOTATOR, now=NOW)
    session = accept_invitation(judging.project, token, "long enough", now=NOW)
    yan = person_for(judging.project, session, now=NOW)
    assert yan is not None
    have_read(judging.project)
    assert yan != anna
    assert len(desk(judging.project, yan, now=NOW).items) == 7
    sign_out(judging.project, session, now=NOW)
    held = judging.project.store.db.conn.execute("SELECT count(*) FROM seat WHERE lease_until IS NOT NULL").fetchone()
    assert held[0] == 0
    assert person_for(judging.project, session, now=NOW) is None
