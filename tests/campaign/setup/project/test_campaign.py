"""What a campaign is stands in one row, which every act reads anew; what may change any day stands in a file."""

import re
import sqlite3
from pathlib import Path

import pytest

from backend.campaign.doctor.database import migrate
from backend.campaign.judging.rules import RULE_VERSION
from backend.campaign.monitoring.activity.log import campaign_settings
from backend.campaign.nouns import FIRST_ROUND_SEATS, OPERATOR, RE_OPENED_SEATS, SECOND_ROUND_SEATS, Role
from backend.campaign.review.queries import list_queries
from backend.campaign.selection.batches.next_batch import open_batch
from backend.campaign.selection.candidates.choosing import choose_candidates
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.addresses import Address
from backend.core.errors import InputError, ProjectError, StoreUnavailable
from backend.media.jobs import ClipCache, ClipForm, Profile
from support import NOW, PEOPLE, Judging


def test_a_new_project_is_a_campaign_like_that_of_tvr_ranking(corpus_project: Project) -> None:
    campaign = corpus_project.campaign
    assert (campaign.batch_size, campaign.tolerance, campaign.rule_version) == (20, 1, RULE_VERSION)
    assert [meaning.label for meaning in campaign.scale.meanings] == [
        "Unrelated",
        "Touches",
        "Partly",
        "Well",
        "Exactly",
    ]
    assert (campaign.seats, campaign.further_seats) == (len(FIRST_ROUND_SEATS), len(SECOND_ROUND_SEATS))
    assert (campaign.exam.queries, campaign.exam.pairs, campaign.exam.most_missed) == (10, 10, 20.0)
    assert (campaign.gold.on, campaign.gold.share) == (False, 0.05)


def test_the_schema_has_the_seats_that_the_code_names(corpus_project: Project) -> None:
    """Two seats, two more, two more: a seat of another number has no place in the table."""
    every = (*FIRST_ROUND_SEATS, *SECOND_ROUND_SEATS, *RE_OPENED_SEATS)
    assert every == tuple(range(1, len(every) + 1))
    told = corpus_project.store.db.conn.execute("SELECT sql FROM sqlite_master WHERE name = 'seat'").fetchone()[0]
    assert f"CHECK (seat_no BETWEEN {min(every)} AND {max(every)})" in told
    told = corpus_project.store.db.conn.execute("SELECT sql FROM sqlite_master WHERE name = 'campaign'").fetchone()[0]
    assert f"CHECK (seats = {len(FIRST_ROUND_SEATS)})" in told
    assert f"CHECK (further_seats = {len(SECOND_ROUND_SEATS)})" in told


def test_a_running_server_sees_the_batch_size_that_another_process_set(corpus_project: Project) -> None:
    """`serve`, then `candidates --batch-size 40` elsewhere, then "Open batch 2": it raised an IntegrityError."""
    served = open_project(corpus_project.folder)
    draw_queries(corpus_project, OPERATOR, val=1, test=0, seed=5, now=NOW)
    choose_candidates(open_project(corpus_project.folder), OPERATOR, batch_size=40, now=NOW)
    lead = people.add(served.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    judging = Judging(
        served, lead, [people.add(served.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in PEOPLE[:2]]
    )
    for pair in judging.pairs():
        for who in (0, 1):
            assert judging.grade(who, pair.pair, 2).status == "saved"
    with pytest.raises(
        ProjectError, match=r"^batch 2 of query \d+ cannot be opened: the query has no more candidates$"
    ):
        open_batch(served, lead, judging.pairs()[0].query_id, now=NOW)
    (query,) = list_queries(served, OPERATOR)
    assert len(query.relevances) == 40
    assert not query.more_candidates


@pytest.mark.parametrize(("size", "batches", "last"), [(10, 4, 2), (15, 3, 3), (1, 40, 1), (7, 6, 1), (40, 1, 10)])
def test_batches_of_any_size_are_opened_one_after_another_to_the_end_of_the_list(
    corpus_project: Project, size: int, batches: int, last: int
) -> None:
    """By hand: 40 candidates in batches of 15 are 15 + 15 + 10; a quarter of each speaks for the next, at least one."""
    draw_queries(corpus_project, OPERATOR, val=1, test=0, seed=5, now=NOW)
    choose_candidates(corpus_project, OPERATOR, batch_size=size, now=NOW)
    lead = people.add(corpus_project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    crowd = [people.add(corpus_project.store, OPERATOR, name, Role.ANNOTATOR, now=NOW) for name in PEOPLE[:2]]
    judging = Judging(corpus_project, lead, crowd)
    query_id = judging.pairs()[0].query_id
    for number in range(1, batches + 1):
        if number > 1:
            open_batch(corpus_project, lead, query_id, number=number, now=NOW)
        [query] = list_queries(corpus_project, OPERATOR)
        assert [pair.rank for pair in judging.pairs()] == list(range(1, min(number * size, 40) + 1))
        assert (query.batches_open, len(query.last), query.more_candidates) == (number, last, False)
        for pair in judging.pairs():
            if not pair.grades:
                assert [judging.grade(who, pair.pair, 2).status for who in (0, 1)] == ["saved"] * 2
        [query] = list_queries(corpus_project, OPERATOR)
        assert query.more_candidates is (number < batches)
    with pytest.raises(ProjectError, match="the query has no more candidates"):
        open_batch(corpus_project, lead, query_id, number=batches + 1, now=NOW)


@pytest.mark.parametrize("size", [0, 41, -3])
def test_a_batch_of_no_size_is_refused(corpus_project: Project, size: int) -> None:
    draw_queries(corpus_project, OPERATOR, val=1, test=0, seed=5, now=NOW)
    with pytest.raises(ProjectError, match=f"a batch has 1 to 40 candidates, not {size}"):
        choose_candidates(corpus_project, OPERATOR, batch_size=size, now=NOW)


def test_the_batch_size_is_not_changed_once_lists_exist(judging: Judging) -> None:
    with pytest.raises(ProjectError, match="candidate lists already exist"):
        choose_candidates(judging.project, OPERATOR, batch_size=40, now=NOW)
    assert judging.project.campaign.batch_size == 20


def test_the_grades_are_fixed_once_somebody_has_graded_and_their_words_are_not(judging: Judging) -> None:
    db = judging.project.store.db.conn
    judging.grade(0, judging.pairs()[0].pair, 3)
    for change in (
        "UPDATE scale SET grade = 3 WHERE grade = 4",
        "DELETE FROM scale WHERE grade = 4",
        "INSERT INTO scale VALUES (5, 'More', '', '', '')",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="the scale is fixed once somebody has graded"):
            db.execute(change)
    db.execute("UPDATE scale SET label = 'Nothing' WHERE grade = 0")
    assert judging.project.campaign.scale.meanings[0].label == "Nothing"
    with pytest.raises(sqlite3.IntegrityError, match="a project is one campaign"):
        db.execute("DELETE FROM campaign")


def test_a_batch_size_in_the_settings_is_refused_with_what_to_do(corpus_project: Project) -> None:
    folder = corpus_project.folder
    settings = folder / "reelrank.toml"
    settings.write_text("batch_size = 40\n" + settings.read_text())
    with pytest.raises(InputError, match=r"batch_size is in the database now: remove the line, or run `reelrank"):
        open_project(folder)
    assert migrate(folder) == ([], None)
    assert open_project(folder).campaign.batch_size == 20


def test_settings_that_cannot_be_written_to_the_end_stay_as_they_were(
    corpus_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up half way: the file was half a file from then on, and the project could not be opened."""
    settings = corpus_project.folder / "reelrank.toml"
    before = settings.read_text()

    def half(path: Path, data: str, **options: str) -> int:
        with path.open("w", **options) as file:
            file.write(data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", half)
        with pytest.raises(StoreUnavailable, match=r"reelrank\.toml cannot be written \(No space left on device\)"):
            projects.set_encoder(corpus_project, "my/model", "sup", "fp32")
    assert settings.read_text() == before
    assert not [*corpus_project.folder.glob("*.part*"), *corpus_project.folder.glob(".reelrank-*")]
    assert projects.set_encoder(corpus_project, "my/model", "sup", "fp32").settings.encoder == "my/model"


def test_settings_of_clips_are_what_clips_are_made_by(corpus_project: Project) -> None:
    path = corpus_project.folder / "reelrank.toml"
    before, there = re.subn(r"(?s)\[clips\].*?\n\n", "", path.read_text())
    assert there == 1
    usual = corpus_project.clips
    assert usual == ClipCache(corpus_project.folder / "cache" / "clips", secret=corpus_project.secret)
    path.write_text(f'{before}\n[clips]\nformat = "webm"\nheight = 480\ncontext_s = 3.5\ncache_gb = 0.5\n')
    changed = open_project(corpus_project.folder)
    assert changed.clips.profile == Profile(ClipForm.WEBM, 480)
    assert (changed.clips.context_s, changed.clips.max_bytes) == (3.5, 2**29)
    told = {one.name: one.value for one in campaign_settings(changed, OPERATOR)}
    assert told["Clips"] == "WebM (VP9 and Opus), at most 480 lines"
    assert (told["Context"], told["Disk space for clips"]) == ("3.5 seconds", "0.5 GB")
    assert told["Bucket for clips"] == "None"
    path.write_text(f'{before}\n[clips]\nbucket = "s3://lab/clips"\nsigned_s = 60\n')
    shared = open_project(corpus_project.folder)
    assert (shared.clips.bucket, shared.clips.signed_s) == (Address("s3://lab/clips"), 60)
    told = {one.name: one.value for one in campaign_settings(shared, OPERATOR)}
    assert told["Bucket for clips"] == "s3://lab/clips; browsers fetch from it with links valid for 60 seconds"
    for wrong in (
        *('format = "gif"', "height = 12", "context_s = 0", "cache_gb = 0", "lines = 7", "signed_s = 601"),
        *('bucket = "clips"', 'bucket = "https://a.example/clips"', 'bucket = "s3://key:secret@lab/clips"'),
    ):
        path.write_text(f"{before}\n[clips]\n{wrong}\n")
        with pytest.raises(InputError, match=r"reelrank\.toml: .*clips"):
            open_project(corpus_project.folder)
    path.write_text(before)  # a project of an earlier version has no such lines
    assert open_project(corpus_project.folder).clips == usual
