"""Queries drawn, brought and taken back, in a project."""

import json
from pathlib import Path

import pytest

from backend.campaign.desk.exchange import desk, record_skips
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import SkipEvent, SkipKind
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.release.board.truths import truth_of_project
from backend.campaign.release.export.freezing import export_release, write_pseudo_train
from backend.campaign.review.queries import take_back_queries
from backend.campaign.review.status import status_counts
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.selection.queries.model import Repeats, Stratum
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, ProjectError
from support import MOMENTS, NOW, Judging

OWN = "text,split,source\nA cat sleeps.,val,survey 2026\nSomebody sings.,test,\nA dog barks.,train,survey 2026\n"


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute(sql)]


def written(tmp_path: Path, text: str, name: str = "own.csv") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def importing(project: Project, tmp_path: Path, captions: list[tuple[str, str]]) -> None:
    """Captions as (video, text), each of a moment of its own."""
    lines = [
        json.dumps({"video": video, "start": n, "end": n + 0.5, "caption": text, "duration": 500.0})
        for n, (video, text) in enumerate(captions)
    ]
    import_corpus(project, OPERATOR, written(tmp_path, "\n".join(lines), "more.jsonl"), "jsonl", now=NOW)


def test_own_queries_stand_beside_drawn_ones_with_their_source(corpus_project: Project, tmp_path: Path) -> None:
    report = draw_queries(corpus_project, OPERATOR, val=2, test=1, seed=5, own=written(tmp_path, OWN), now=NOW)
    assert (report.val, report.test, report.train, report.own) == (3, 2, 46, 3)
    assert rows(corpus_project, "SELECT text, split, source, position FROM query WHERE caption_id IS NULL") == [
        ("A cat sleeps.", "val", "survey 2026", 1),
        ("Somebody sings.", "test", "own.csv", 2),
        ("A dog barks.", "train", "survey 2026", 3),
    ]
    assert status_counts(corpus_project, OPERATOR)["queries"] == {"val": 3, "test": 2, "train": 46}


def test_own_queries_take_the_place_of_a_draw_and_bar_their_text_from_training(
    corpus_project: Project, tmp_path: Path
) -> None:
    text = f"{MOMENTS[7].caption}\nWhere is the tea?\n"
    report = draw_queries(corpus_project, OPERATOR, own=written(tmp_path, text, "q.txt"), own_split=Split.VAL, now=NOW)
    assert (report.val, report.test, report.train, report.removed) == (2, 0, 47, 1)
    assert rows(corpus_project, "SELECT text FROM query WHERE split = 'val' ORDER BY position") == [
        (MOMENTS[7].caption,),
        ("Where is the tea?",),
    ]


def test_a_project_of_own_queries_goes_through_all_stages(judging: Judging, tmp_path: Path) -> None:
    project = judging.project
    take_back_queries(project, OPERATOR, now=NOW)
    draw_queries(project, OPERATOR, own=written(tmp_path, OWN), now=NOW)
    assert choose_candidates(project, OPERATOR, now=NOW).pairs == 40
    for pair in judging.pairs():
        judging.grade(0, pair.pair, 3)
        judging.grade(1, pair.pair, 4)
    out = tmp_path / "release"
    assert export_release(project, OPERATOR, out, now=NOW).selection.moments == 40
    assert [query["query"] for query in json.loads((out / "test.json").read_text())] == ["Somebody sings."]
    assert "A dog barks." in {query["query"] for query in json.loads((out / "train_top01.json").read_text())}
    assert doctor(project, now=NOW).findings == ()
    assert truth_of_project(project, OPERATOR, "val")


def test_nothing_of_a_file_with_a_problem_is_taken(corpus_project: Project, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"q\.txt, row 3: this text is also in row 1"):
        draw_queries(corpus_project, OPERATOR, own=written(tmp_path, "A cat.\n\nA cat.\n", "q.txt"), now=NOW)
    assert rows(corpus_project, "SELECT count(*) FROM query") == [(0,)]


def test_own_queries_may_come_later_but_not_after_the_lists(corpus_project: Project, tmp_path: Path) -> None:
    draw_queries(corpus_project, OPERATOR, val=2, test=1, seed=5, now=NOW)
    [(training,)] = rows(corpus_project, "SELECT text FROM query WHERE split = 'train' LIMIT 1")
    [(asked,)] = rows(corpus_project, "SELECT text FROM query WHERE split = 'test'")
    file = written(tmp_path, f"A cat.\n{training}\n{asked}\n", "q.txt")
    with pytest.raises(InputError) as refusal:
        draw_queries(corpus_project, OPERATOR, own=file, now=NOW)
    assert str(refusal.value).splitlines() == [
        "q.txt, row 2: this text is already a train query of the project, in split train, but here in test: "
        "use one split",
        "q.txt, row 3: this text is already a test query of the project: remove one of them",
    ]
    draw_queries(corpus_project, OPERATOR, own=written(tmp_path, "A cat.\n", "q.txt"), now=NOW)
    assert rows(corpus_project, "SELECT split, count(*) FROM query GROUP BY split ORDER BY split") == [
        *(("test", 2), ("train", 45), ("val", 2))
    ]
    choose_candidates(corpus_project, OPERATOR, now=NOW)
    with pytest.raises(ProjectError, match="candidate lists already exist"):
        draw_queries(corpus_project, OPERATOR, own=written(tmp_path, "A dog.\n", "q.txt"), now=NOW)


def test_repeats_in_training_are_kept_or_merged_and_what_may_not_train_is_counted(
    corpus_project: Project, tmp_path: Path
) -> None:
    """By hand: 48 texts once, one text five times, one more: 50 texts, 54 captions."""
    importing(corpus_project, tmp_path, [("w", "It rains.")] * 5 + [("w", "It snows.")])
    found = {}
    for seed in (1, 2):
        report = draw_queries(corpus_project, OPERATOR, val=5, test=5, seed=seed, now=NOW)
        drawn = ("It rains.",) in rows(corpus_project, "SELECT text FROM query WHERE split <> 'train'")
        found[drawn] = (report.train, report.removed, report.repeats)
        take_back_queries(corpus_project, OPERATOR, now=NOW)
    assert found == {True: (40, 4, 0), False: (44, 0, 4)}, "choose seeds of which only one draws the repeated text"
    merged = draw_queries(corpus_project, OPERATOR, val=5, test=5, seed=2, repeats=Repeats.MERGE, now=NOW)
    assert (merged.train, merged.removed, merged.repeats, merged.merged) == (40, 0, 0, 4)
    # The one query that is left still finds every moment that its text describes, each with a similarity of 1.
    [path] = write_pseudo_train(corpus_project, tmp_path / "train", tops=[20])
    rain = next(query for query in json.loads(path.read_text()) if query["query"] == "It rains.")
    assert [(m["caption"], m["similarity"]) for m in rain["relevant_moment"][:5]] == [("It rains.", 1.0)] * 5
    assert doctor(corpus_project, now=NOW).findings == ()


def test_a_draw_is_spread_over_videos(corpus_project: Project) -> None:
    """Six videos of eight captions each: three validation and nine test queries are two a video."""
    draw_queries(corpus_project, OPERATOR, val=3, test=9, seed=2, stratum=Stratum.VIDEO, now=NOW)
    by_video = "SELECT count(*) FROM query JOIN caption USING (caption_id) JOIN moment USING (moment_id) "
    assert rows(corpus_project, f"{by_video} WHERE split <> 'train' GROUP BY video_id") == [(2,)] * 6
    assert {count for (count,) in rows(corpus_project, f"{by_video} WHERE split = 'val' GROUP BY video_id")} == {1}


def test_a_wrong_draw_is_taken_back_and_another_one_goes_on(judging: Judging) -> None:
    project = judging.project
    gone = take_back_queries(project, OPERATOR, now=NOW)
    assert (gone.queries, gone.candidates, gone.pairs) == (48, 120, 60)
    counts = status_counts(project, OPERATOR)
    assert counts["queries"] == {"val": 0, "test": 0, "train": 0}
    assert not sum(counts["pairs"].values())
    assert (counts["captions"], counts["encoder"]) == (48, None)
    assert rows(project, "SELECT payload FROM event WHERE kind = 'queries_taken_back'") == [
        ('{"val":2,"test":1,"train":45,"candidates":120,"pairs":60}',)
    ]
    assert doctor(project, now=NOW).findings == ()
    with pytest.raises(ProjectError, match="there are no queries to take back"):
        take_back_queries(project, OPERATOR, now=NOW)
    draw_queries(project, OPERATOR, val=1, test=1, seed=9, now=NOW)
    assert choose_candidates(project, OPERATOR, now=NOW).pairs == 40
    assert desk(project, judging.annotators[0], now=NOW).items


def test_queries_that_people_have_worked_on_stay(judging: Judging) -> None:
    project, key = judging.project, judging.pairs()[0].pair
    anna = judging.annotators[0]
    desk(project, anna, now=NOW)
    with pytest.raises(ProjectError, match=r"pairs are handed out to Anna right now: .* in 15 minutes"):
        take_back_queries(project, OPERATOR, now=NOW)
    held = desk(project, anna, now=NOW).items[0].pair
    record_skips(project, anna, [SkipEvent(held, SkipKind.SKIP, "not mine", "k1")], now=NOW)
    judging.grade(1, key, 3)
    later = NOW + 3600
    with pytest.raises(ProjectError, match="people have worked on them: 1 grades, 1 skips"):
        take_back_queries(project, OPERATOR, now=later)
    assert len(judging.pairs()) == 60


def test_a_lease_that_has_run_out_does_not_keep_the_queries(judging: Judging) -> None:
    desk(judging.project, judging.annotators[0], now=NOW)
    assert take_back_queries(judging.project, OPERATOR, now=NOW + 3600).pairs == 60
