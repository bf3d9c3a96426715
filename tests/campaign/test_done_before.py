"""An act that is asked for again says who did it and when, and leaves one event, also after a failure in between."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.corpus.describing.opening import reword_describing
from backend.campaign.corpus.moments.editing import take_moments
from backend.campaign.corpus.moments.model import ByWindows
from backend.campaign.corpus.moments.proposing import propose_moments
from backend.campaign.doctor.database import backup
from backend.campaign.monitoring.videos import check
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Lead, Split
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.qualification.gold.questions import GoldOptions, set_gold
from backend.campaign.release.earlier.importing import import_judgements
from backend.campaign.release.export import importing
from backend.campaign.release.export.exporting import export_form
from backend.campaign.release.export.freezing import export_release, write_pseudo_train
from backend.campaign.release.export.importing import import_release
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.review.queries import take_back_queries
from backend.campaign.selection.candidates.choosing import choose_candidates, choose_encoder
from backend.campaign.selection.candidates.pooling import pool_candidates
from backend.campaign.selection.queries.drawing import change_query, draw_queries, drawn_queries
from backend.campaign.setup.people.permissions import require_lead
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import AlreadyDone, ProjectError
from backend.core.messages import Said
from backend.store import events
from numbered_videos import write_source
from support import NOW, PARTLY, Judging

LATER, TOMORROW = NOW + 60, NOW + 86_400
DONE = r"^This was done at 14:13 UTC by the command line: nothing is left to do\.$"
CHANGED = "Because two people read it differently."


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def recorded(project: Project) -> Counter[str]:
    return Counter(row[0] for row in project.store.db.conn.execute("SELECT kind FROM event"))


def settle(judging: Judging) -> None:
    for n, pair in enumerate(judging.pairs()):
        judging.grade(0, pair.pair, n % 5)
        judging.grade(1, pair.pair, n % 5)


def run_file(folder: Path, judging: Judging) -> Path:
    query = judging.pairs()[0]
    entry = {"query_id": query.query_id, "predictions": [[query.video, 0.0, 2.5, 1.0]]}
    (folder / "run.json").write_bytes(msgspec.json.encode([entry]))
    return folder / "run.json"


ACTS: dict[str, tuple[Callable[[Judging, Path], object], Callable[[Judging, Path], object]]] = {
    "queries": (
        lambda j, _: draw_queries(j.project, OPERATOR, val=2, test=1, seed=5, now=LATER),
        lambda j, _: draw_queries(j.project, OPERATOR, val=2, test=1, seed=6, now=LATER),
    ),
    "candidates": (
        lambda j, _: choose_candidates(choose_encoder(j.project, OPERATOR), OPERATOR, now=LATER),
        lambda j, _: choose_candidates(j.project, OPERATOR, batch_size=7, now=LATER),
    ),
    "release": (
        lambda j, folder: export_release(j.project, OPERATOR, folder / "out", PARTLY, now=NOW),
        lambda j, folder: export_release(j.project, OPERATOR, folder / "out", PARTLY, name="other", now=LATER),
    ),
    "trec": (
        lambda j, folder: export_form(j.project, OPERATOR, folder / "out", "trec", PARTLY),
        lambda j, folder: export_form(j.project, OPERATOR, folder / "out", "qvhighlights", PARTLY),
    ),
    "pseudo-train": (
        lambda j, folder: write_pseudo_train(j.project, folder / "out", tops=(1, 3)),
        lambda j, folder: write_pseudo_train(j.project, folder / "out", tops=(1, 4)),
    ),
    "terms": (
        lambda j, _: set_release_terms(j.project, OPERATOR, licence="CC0-1.0", reason=CHANGED, now=NOW),
        lambda j, _: set_release_terms(j.project, OPERATOR, licence="CC0-1.0", reason="Another reason.", now=LATER),
    ),
    "describing": (
        lambda j, _: reword_describing(j.project, OPERATOR, "One rule.", CHANGED, now=NOW),
        lambda j, _: reword_describing(j.project, OPERATOR, "One rule.", "Another reason.", now=LATER),
    ),
    "gold": (
        lambda j, _: set_gold(j.project, OPERATOR, GoldOptions(share=0.1), pairs=4, now=TOMORROW),
        lambda j, _: set_gold(j.project, OPERATOR, GoldOptions(share=0.1), pairs=0, now=TOMORROW),
    ),
    "exam": (
        lambda j, _: set_exam(j.project, OPERATOR, queries=2, pairs=2, although=CHANGED, now=TOMORROW),
        lambda j, _: set_exam(j.project, OPERATOR, queries=0, pairs=2, although=CHANGED, now=TOMORROW),
    ),
    "backup": (
        lambda j, folder: backup(j.project, folder / "copy.db"),
        lambda j, folder: backup(j.project, folder / "project" / "reelrank.toml"),
    ),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_finished_act_says_when_it_was_done_and_another_is_refused(
    judging: Judging, tmp_path: Path, act: str
) -> None:
    if act in ("release", "trec", "gold", "exam"):
        settle(judging)
    if act in ("gold", "exam"):
        (judging.project.folder / "v.mp4").touch()
        with judging.project.store.writing() as db:
            db.conn.execute("UPDATE video SET path = 'v.mp4', sha256 = 'x', fps_num = 25, fps_den = 1")
    same, other = ACTS[act]
    if act not in ("queries", "candidates"):
        same(judging, tmp_path)
    before = recorded(judging.project)
    with pytest.raises(AlreadyDone, match=r"^This was done .* by the command line: nothing is left to do") as done:
        same(judging, tmp_path)
    assert isinstance(str(done.value), Said), "pages translate it"
    assert recorded(judging.project) == before
    with pytest.raises(ProjectError) as refused:
        other(judging, tmp_path)
    assert not isinstance(refused.value, AlreadyDone)
    assert recorded(judging.project) == before


def test_who_did_it_and_on_which_day_is_said(judging: Judging) -> None:
    lead = require_lead(judging.project.store, judging.lead)
    assert isinstance(lead, Lead)
    set_release_terms(judging.project, lead, licence="CC0-1.0", reason=CHANGED, now=NOW)
    with pytest.raises(AlreadyDone, match=r"^This was done on 2026-09-21 at 14:13 UTC by Lea: nothing is left to do"):
        set_release_terms(judging.project, OPERATOR, licence="CC0-1.0", reason=CHANGED, now=TOMORROW)


def test_queries_that_somebody_changed_since_are_not_done(judging: Judging) -> None:
    take_back_queries(judging.project, OPERATOR, now=NOW)
    draw_queries(judging.project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    query = drawn_queries(judging.project, OPERATOR, most=1)[0]
    change_query(judging.project, OPERATOR, query.query_id, "a new text", Split.VAL, seen=query.text, now=NOW)
    with pytest.raises(ProjectError, match="whose splits are fixed"):
        draw_queries(judging.project, OPERATOR, val=2, test=1, seed=5, now=NOW)


def test_own_queries_and_pooled_runs_are_taken_once(judging: Judging, tmp_path: Path) -> None:
    run = run_file(tmp_path, judging)
    pool_candidates(judging.project, OPERATOR, [run], again=True, now=NOW)
    with pytest.raises(AlreadyDone, match=DONE):
        pool_candidates(judging.project, OPERATOR, [run], again=True, now=LATER)
    take_back_queries(judging.project, OPERATOR, now=NOW)
    (tmp_path / "mine.txt").write_text("a cat sleeps\n")
    for _ in range(2):
        with pytest.raises(AlreadyDone, match=DONE) if _ else pytest.MonkeyPatch.context():
            draw_queries(judging.project, OPERATOR, own=tmp_path / "mine.txt", now=NOW)
    (tmp_path / "mine.txt").write_text("a cat sleeps\na dog wakes\n")
    with pytest.raises(ValueError, match="is already a test query"):
        draw_queries(judging.project, OPERATOR, own=tmp_path / "mine.txt", now=NOW)


def test_judgements_of_the_same_files_are_done_and_with_other_pairs_refused(judging: Judging, tmp_path: Path) -> None:
    raw, pairs = tmp_path / "raw.csv", tmp_path / "pairs.csv"
    raw.write_text("pair_id,worker,relevance\n9000,1,3\n")
    pairs.write_text('pair_id,query,video_name,similarity,timestamp\n9000,q,v1,0.5,"[50, 51]"\n')
    import_judgements(judging.project, raw, now=NOW)
    with pytest.raises(AlreadyDone, match=DONE):
        import_judgements(judging.project, raw, now=LATER)
    with pytest.raises(ProjectError, match="was already imported on"):
        import_judgements(judging.project, raw, pairs, now=LATER)


def windows(project: Project) -> str:
    return propose_moments(project, OPERATOR, ByWindows((2.0,)), now=NOW).done


def spans(project: Project) -> str:
    file = project.folder / "spans.csv"
    name = project.store.db.conn.execute("SELECT min(name) FROM video").fetchone()[0]
    file.write_text(f"video,start,end\n{name},0.5,1.5\n")
    return take_moments(project, OPERATOR, file, now=NOW).done


def corpus(project: Project) -> str:
    (project.folder / "more.jsonl").write_text(
        '{"video": "new", "start": 1, "end": 2, "caption": "A cat.", "duration": 9}'
    )
    return import_corpus(project, OPERATOR, project.folder / "more.jsonl", "jsonl", now=NOW).done


REPEATED = {
    "import": corpus,
    "rewrite": lambda project: rewrite_captions(project, OPERATOR, now=NOW).done,
    "windows": windows,
    "moments": spans,
}


@pytest.mark.parametrize("act", REPEATED)
def test_an_act_that_changes_nothing_when_repeated_leaves_one_event(
    corpus_project: Project, act: str, engine: str, kept: Callable[[Path], Project]
) -> None:
    corpus_project.store.close()
    project = kept(corpus_project.folder)
    before = recorded(project)
    assert REPEATED[act](project) == ""
    after = recorded(project)
    assert (after - before).total() == 1
    assert REPEATED[act](project) == "This was done at 14:13 UTC by the command line: nothing is left to do."
    assert recorded(project) == after


def test_a_repeated_act_that_changes_something_is_recorded(corpus_project: Project) -> None:
    rewrite_captions(corpus_project, OPERATOR, now=NOW)
    with corpus_project.store.writing() as db:
        db.conn.execute("UPDATE caption SET text = 'x' WHERE caption_id = "
                        "(SELECT max(caption_id) FROM caption WHERE kind = 'rewritten')")  # fmt: skip
    assert rewrite_captions(corpus_project, OPERATOR, now=NOW).done == ""
    assert recorded(corpus_project)["captions_rewritten"] == 2


@pytest.mark.parametrize("act", REPEATED)
def test_rows_and_event_are_written_together(
    corpus_project: Project, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = "\n".join(corpus_project.store.db.conn.iterdump())
    with monkeypatch.context() as patch:
        patch.setattr(events, "record", fail)
        with pytest.raises(MemoryError):
            REPEATED[act](corpus_project)
    assert "\n".join(corpus_project.store.db.conn.iterdump()) == before


def fail(*args: object, **kwargs: object) -> None:
    raise MemoryError


def test_an_import_and_what_follows_from_its_videos_are_one_act(
    corpus_project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text('{"video": "new", "start": 0.5, "end": 1, "caption": "A cat."}')
    (tmp_path / "videos").mkdir()
    write_source(tmp_path / "videos" / "new.mp4", range(40), Fraction(1, 25))
    before = "\n".join(corpus_project.store.db.conn.iterdump())
    with monkeypatch.context() as patch:
        patch.setattr(check, "settle", fail)
        with pytest.raises(MemoryError):
            import_corpus(corpus_project, OPERATOR, file, "jsonl", videos=tmp_path / "videos", now=NOW)
    assert "\n".join(corpus_project.store.db.conn.iterdump()) == before


@pytest.mark.parametrize("step", ["_decide", "_block", "_add_lists"])
def test_a_release_is_imported_as_one_act(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    settle(judging)
    export_release(judging.project, OPERATOR, tmp_path / "release", PARTLY, now=NOW)
    rows: list[int] = []

    def look(*args: object, **kwargs: object) -> None:
        with sqlite3.connect(tmp_path / "again" / "reelrank.db") as db:  # as another process sees it
            rows.extend(db.execute("SELECT count(*) FROM event").fetchone())
        raise MemoryError

    monkeypatch.setattr(importing, step, look)
    with pytest.raises(MemoryError):
        import_release(tmp_path / "release", tmp_path / "again", encoder="minilm", now=NOW)
    assert rows == [0]
    monkeypatch.undo()
    import_release(tmp_path / "release", tmp_path / "again", encoder="minilm", now=NOW)
    assert recorded(open_project(tmp_path / "again"))["corpus_imported"] == 1


def test_a_release_recorded_before_its_folder_was_complete_has_one_event(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(judging)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fail)
        with pytest.raises(MemoryError):
            export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, keep=False, now=NOW)
    assert export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, keep=False, now=LATER).again
    assert recorded(judging.project)["released"] == 1
    export_release(judging.project, OPERATOR, tmp_path / "elsewhere", PARTLY, keep=False, now=LATER)
    assert recorded(judging.project)["released"] == 2
