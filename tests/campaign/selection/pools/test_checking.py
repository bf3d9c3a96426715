"""From a file of pools to a project, and from grades to the share of wrong videos."""

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

import demo_pools
from backend.campaign.desk import exchange
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import Desk
from backend.campaign.nouns import OPERATOR, Role, Verdict
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.queries import take_back_queries
from backend.campaign.review.status import status_counts
from backend.campaign.selection.pools import checking as making
from backend.campaign.selection.pools.checking import make_pool_check, pool_check_report
from backend.campaign.setup.people.accounts import add_person, add_person_with_password
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.places import is_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, ProjectError
from backend.scoring.statistics.distributions import wilson
from support import NOW, PARTLY, Judging, have_read


@pytest.fixture
def pools(tmp_path: Path) -> Path:
    return demo_pools.write(tmp_path / "pools.json")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Judging:
    """What `check` copies."""
    folder = tmp_path_factory.mktemp("made")
    pools = demo_pools.write(folder / "pools.json")
    project, _ = make_pool_check(pools, folder / "check", demo_pools.CLIPS, seed=3, now=NOW)
    people = [
        add_person_with_password(project, OPERATOR, name, role, "long enough", now=NOW)
        for name, role in (("Lea", Role.LEAD), *((name, Role.ANNOTATOR) for name in ("Ana", "Ben", "Cleo", "Dan")))
    ]
    have_read(project)
    project.store.close()
    return Judging(project, people[0], people[1:])


@pytest.fixture
def check(made: Judging, tmp_path: Path) -> Judging:
    """A check of three queries, each with one added positive and two negatives."""
    project = open_project(shutil.copytree(made.project.folder, tmp_path / "check"))
    return Judging(project, made.lead, made.annotators)


def put_in_as(check: Judging) -> dict[str, str]:
    """By pair, straight from the file: query text and video tell it."""
    said = {}
    for video, sentence, positives, negatives in demo_pools.POOLS:
        text = sentence or demo_pools.moments()[video][0]["caption"]
        said |= {(text, other): "positive" for other in positives}
        said |= {(text, other): "negative" for other in negatives}
    return {str(pair.pair): said[pair.query, pair.video] for pair in check.pairs()}


@pytest.mark.long
def test_whole_videos_are_handed_out_and_none_is_the_querys_own(check: Judging) -> None:
    pairs = check.pairs()
    wanted = {
        (sentence or demo_pools.moments()[own][0]["caption"], video)
        for own, sentence, positives, negatives in demo_pools.POOLS
        for video in (*positives, *negatives)
    }
    assert {(pair.query, pair.video) for pair in pairs} == wanted
    lengths = {video: said[0]["duration"] for video, said in demo_pools.moments().items()}
    assert all(pair.start_s == 0 and abs(pair.end_s - lengths[pair.video]) < 0.1 for pair in pairs)
    assert check.project.campaign.scale.highest == 1
    assert check.project.campaign.batch_size == 3
    assert doctor(check.project, now=NOW).findings == ()


@pytest.mark.long
def test_pairs_keep_how_similar_query_and_video_are_under_a_named_encoder(check: Judging) -> None:
    with closing(sqlite3.connect(check.project.folder / "reelrank.db")) as db:
        found = db.execute(
            "SELECT query_id, rank, similarity, encoder FROM candidate ORDER BY query_id, rank"
        ).fetchall()
    assert all("minilm" in encoder.lower() for *_, encoder in found)
    for query_id in {row[0] for row in found}:
        own = [row for row in found if row[0] == query_id]
        assert [row[1] for row in own] == [1, 2, 3]
        assert [row[2] for row in own] == sorted((row[2] for row in own), reverse=True)
        assert all(-1 <= row[2] <= 1 for row in own)


def test_nothing_that_reaches_an_annotator_tells_as_what_a_video_was_put_in(check: Judging) -> None:
    desk: Desk[object] = exchange.desk(check.project, check.annotators[0], now=NOW)
    allowed = {"pair", "query", "position", "total", "duration_s", "grade", "whole", "note"}
    assert all(set(asdict(item)) <= allowed for item in desk.items)
    places = put_in_as(check)
    orders = set()
    for person in check.annotators:
        items = exchange.desk(check.project, person, now=NOW).items
        first = [item.pair for item in items if item.query == items[0].query]
        orders.add(tuple(places[str(pair)] for pair in first))
    assert len(orders) > 1, "each has an order of their own, so the order tells nothing either"


def grade_all(check: Judging, right: dict[str, int]) -> None:
    for pair in check.pairs():
        for who in (0, 1):
            assert check.grade(who, pair.pair, right[str(pair.pair)]).status == "saved"


def test_the_report_counts_positives_that_do_not_match_and_negatives_that_do(check: Judging) -> None:
    empty = pool_check_report(check.project, check.lead)
    assert empty is not None
    assert (empty.positives.settled, empty.positives.share, empty.positives.waiting) == (0, None, 3)
    places = put_in_as(check)
    right = {pair: int(place == "positive") for pair, place in places.items()}
    wrong = [next(pair for pair, place in places.items() if place == kind) for kind in ("positive", "negative")]
    for pair in wrong:
        right[pair] = 1 - right[pair]
    grade_all(check, right)
    found = pool_check_report(check.project, check.lead)
    assert found is not None
    assert [(one.wrong, one.settled, one.waiting) for one in (found.positives, found.negatives, found.together)] == [
        *((1, 3, 0), (1, 6, 0), (2, 9, 0))
    ]
    assert found.together.share == pytest.approx(2 / 9)
    assert (found.together.low, found.together.high) == wilson(2, 9)
    by_key = {str(pair.pair): pair for pair in check.pairs()}
    assert {(one.query, one.video, one.put_in_as.value) for one in found.wrong} == {
        (by_key[pair].query, by_key[pair].video, places[pair]) for pair in wrong
    }
    assert all(one.source.startswith("pools.json ") and "#" in one.source for one in found.wrong)


def test_disagreements_go_to_two_more_and_what_stays_undecided_is_no_share_until_a_lead_decides(check: Judging) -> None:
    split, outvoted = [pair.pair for pair in check.pairs() if put_in_as(check)[str(pair.pair)] == "negative"][:2]
    for who, (mine, theirs) in enumerate(((0, 0), (1, 1), (1, 0), (0, 0))):
        check.grade(who, split, mine)
        check.grade(who, outvoted, theirs)
    assert check.state(split).verdict is Verdict.DISCARDED
    found = pool_check_report(check.project, OPERATOR)
    assert found is not None
    assert (found.negatives.settled, found.negatives.wrong, found.negatives.undecided) == (1, 0, 1)
    adjudicate(check.project, check.lead, split, 1, "at 0:07", now=NOW)
    found = pool_check_report(check.project, OPERATOR)
    assert found is not None
    assert (found.negatives.settled, found.negatives.wrong, found.negatives.undecided) == (2, 1, 0)


def test_a_project_that_checks_nothing_has_no_report(judging: Judging) -> None:
    assert pool_check_report(judging.project, judging.lead) is None


def test_the_draw_cannot_be_taken_back_and_the_record_not_be_changed(check: Judging) -> None:
    with pytest.raises(ProjectError, match="the queries of this project come from a file of pools"):
        take_back_queries(check.project, OPERATOR, now=NOW)
    with closing(sqlite3.connect(check.project.folder / "reelrank.db")) as db:
        for table in ("pool_check", "pool_place"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(f"DELETE FROM {table}")
        assert db.execute("SELECT seed, queries, drawn, negatives FROM pool_check").fetchall() == [(3, 3, 3, 5)]


def test_a_check_can_be_released(check: Judging, tmp_path: Path) -> None:
    grade_all(check, {pair: int(place == "positive") for pair, place in put_in_as(check).items()})
    export_release(check.project, check.lead, tmp_path / "release", PARTLY, now=NOW + 1000)
    test = json.loads((tmp_path / "release" / "test.json").read_text())
    assert Counter(moment["relevance"] for query in test for moment in query["relevant_moment"]) == {0: 6, 1: 3}


def test_whole_pools_of_fifty_videos_are_checked_in_even_batches(tmp_path: Path) -> None:
    """49 added videos of a query, as in the paper: more than a batch can have, so two batches share them."""
    clips = tmp_path / "clips"
    clips.mkdir()
    names = [f"v{n:02d}" for n in range(50)]
    for name in names:
        shutil.copy(demo_pools.CLIPS / "bedroom_morning.mp4", clips / f"{name}.mp4")
    found = {
        name: {
            "duration": 12.0,
            "timestamps": [[0, 2]],
            "sentences": ["A dog fetches." if n < 6 else f"Thing {n} is seen with a dog."],
            "pos_moments": [[[other, "A dog fetches.", [0, 2]] for other in names[1:5]] if n == 0 else []],
            "retrieval_pool": [names if n == 0 else []],
        }
        for n, name in enumerate(names)
    }
    (tmp_path / "pools.json").write_text(json.dumps(found))
    project, made = make_pool_check(tmp_path / "pools.json", tmp_path / "check", clips, negatives=None, seed=3, now=NOW)
    assert (made.queries, made.positives, made.negatives) == (1, 4, 45)
    assert project.campaign.batch_size == 25
    with closing(sqlite3.connect(project.folder / "reelrank.db")) as db:
        rows = db.execute(
            "SELECT b.number, o.put_in_as, p.rank FROM pair p JOIN batch b USING (batch_id) "
            "JOIN pool_place o ON o.query_id = p.query_id AND o.moment_id = p.moment_id ORDER BY p.rank"
        ).fetchall()
    assert [number for number, *_ in rows] == [1 + n % 2 for n in range(49)]
    in_both = Counter(number for number, put_in_as, _ in rows if put_in_as == "positive")
    assert in_both == {1: 2, 2: 2}, "the batch does not tell as what a video was put in"
    assert doctor(project, now=NOW).findings == ()
    report = pool_check_report(project, OPERATOR)
    assert report is not None
    assert (report.together.waiting, report.facts.negatives) == (49, 45)


# What is refused, with nothing left of it


def make(pools: Path, folder: Path, videos: Path = demo_pools.CLIPS, **options: int) -> None:
    make_pool_check(pools, folder, videos, now=NOW, **options)  # type: ignore[arg-type]


def test_all_videos_that_are_missing_are_named(pools: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    few.mkdir()
    shutil.copy(demo_pools.CLIPS / "park_fetch.mp4", few / "park_fetch.mp4")
    with pytest.raises(InputError) as refusal:
        make(pools, tmp_path / "check", few)
    [problem] = refusal.value.problems
    assert problem.message.startswith("8 videos of the sample are not here: ")
    for video in ("juice_morning", "rainy_street", "playground_catch", "dog_dinner", "front_door", "cafe_meeting"):
        assert video in problem.message
    assert not (tmp_path / "check").exists()


def test_a_folder_of_videos_that_is_not_there_is_refused(pools: Path, tmp_path: Path) -> None:
    with pytest.raises((ProjectError, InputError)):
        make(pools, tmp_path / "check", tmp_path / "nowhere")
    assert not (tmp_path / "check").exists()


def test_a_video_that_cannot_be_read_is_refused(pools: Path, tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    for clip in demo_pools.CLIPS.glob("*.mp4"):
        shutil.copy(clip, clips / clip.name)
    (clips / "cafe_meeting.mp4").unlink()
    (clips / "cafe_meeting.mp4").write_text("no video")
    with pytest.raises(InputError, match=r"cafe_meeting\.mp4 is not a video file"):
        make(pools, tmp_path / "check", clips)
    assert not (tmp_path / "check").exists()


def test_a_project_that_is_there_stays_as_it_is(pools: Path, tmp_path: Path) -> None:
    project = init_project(tmp_path / "check", encoder="minilm")
    add_person(project, OPERATOR, "Lea", Role.LEAD, now=NOW)
    with pytest.raises(ProjectError, match="is a project already"):
        make(pools, tmp_path / "check")
    assert status_counts(open_project(project.folder), OPERATOR)["videos"] == 0


@pytest.mark.parametrize(
    ("pool", "told"),
    [
        (["bedroom_morning", "nobody"], "nobody"),
        (["juice_morning"], "its own video bedroom_morning is not in its pool"),
        (["bedroom_morning"], "positive"),
    ],
)
def test_a_faulty_file_is_refused_with_query_and_video(tmp_path: Path, pool: list[str], told: str) -> None:
    found = demo_pools.document()
    number = found["bedroom_morning"]["sentences"].index("Zoe opens the curtains.")
    found["bedroom_morning"]["retrieval_pool"][number] = pool
    (tmp_path / "pools.json").write_text(json.dumps(found))
    with pytest.raises(InputError) as refusal:
        make(tmp_path / "pools.json", tmp_path / "check")
    assert f"bedroom_morning#{number}" in str(refusal.value)
    assert told in str(refusal.value)
    assert not (tmp_path / "check").exists()


def test_pools_without_any_other_video_cannot_be_checked(tmp_path: Path) -> None:
    found = demo_pools.document()
    for video, said in found.items():
        said["pos_moments"] = [[] for _ in said["sentences"]]
        said["retrieval_pool"] = [[video] if pool else [] for pool in said["retrieval_pool"]]
    (tmp_path / "pools.json").write_text(json.dumps(found))
    with pytest.raises(InputError, match="no query with a full pool and a video other than its own"):
        make(tmp_path / "pools.json", tmp_path / "check")


def test_a_query_with_nothing_to_look_at_is_refused(tmp_path: Path) -> None:
    found = demo_pools.document()
    said = found["park_fetch"]
    said["pos_moments"][0], said["retrieval_pool"][0] = [], ["park_fetch", "dog_dinner", "front_door", "rainy_street"]
    (tmp_path / "pools.json").write_text(json.dumps(found))
    with pytest.raises(InputError, match="query park_fetch#0 has no added positive: ask for negatives too"):
        make(tmp_path / "pools.json", tmp_path / "check", negatives=0)
    assert not (tmp_path / "check").exists()


def test_what_fails_while_it_is_written_leaves_no_project(
    pools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(making.rows, "add", cut)
        with pytest.raises(OSError, match="the disk is full"):
            make(pools, tmp_path / "check")
    assert not is_project(tmp_path / "check")
    make(pools, tmp_path / "check")
    assert is_project(tmp_path / "check")


def test_a_video_of_another_length_is_told(tmp_path: Path) -> None:
    found = demo_pools.document()
    found["cafe_meeting"]["duration"] = 99.0
    (tmp_path / "pools.json").write_text(json.dumps(found))
    _, made = make_pool_check(tmp_path / "pools.json", tmp_path / "check", demo_pools.CLIPS, now=NOW)
    assert any("cafe_meeting lasts" in note and "not 99.0 s" in note for note in made.notes)
    assert any("only 3 queries can be checked" in note for note in made.notes)
