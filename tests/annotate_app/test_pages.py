"""The lead's pages as a person reads them, and the rules behind their sentences."""

import itertools
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import annotate_app
from annotate_app.language import trn
from annotate_app.plain import plain
from backend.campaign.corpus.captions.rows import BY_HAND
from backend.campaign.desk.exchange import exchange
from backend.campaign.judging.model import CLIP_REPORTED, SkipKind
from backend.campaign.judging.queue import offer_again, restore_clip
from backend.campaign.judging.rules import decide
from backend.campaign.judging.staffing import pause_person, suspend
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.monitoring.explore.tables import source_standings
from backend.campaign.monitoring.progress import progress as progress_progress
from backend.campaign.monitoring.progress.model import Barred, DayCount, Forecast, Stuck, Wait, WaitKind, WorkAhead
from backend.campaign.monitoring.quality.model import FLAG_MEANINGS, FlagKind
from backend.campaign.nouns import OPERATOR, Pause, PersonReview, Role, Verdict
from backend.campaign.qualification.exam.setting import start_trial
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.kept_releases import list_releases, release_file
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.review.adjudicating import adjudicate, confirm_discard
from backend.campaign.review.model import GivenGrade, PairReview
from backend.campaign.review.queries import query_pairs
from backend.campaign.selection.batches.next_batch import decline_batch
from backend.campaign.setup.people.accounts import invited, list_people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import begin_job, end_job, list_jobs
from backend.campaign.setup.serving.model import JobKind, JobOutcome, JobState
from backend.core.errors import StoreUnavailable
from backend.core.ids import QueryId
from backend.core.messages import said
from reading import KINDS, html, mounted, read
from served import FULL_DISK, fill_disk
from small_project import AGREED, BLOCKED, DISCARDED, ESCALATED, OPEN, SKIPPED, SmallProject
from support import NOW, new_campaign

Open = Callable[..., AppTest]


def sentences(app: AppTest) -> list[str]:
    return [read(element.value) for kind in KINDS for element in app.get(kind)]


PAGES = ("queries", "progress", "disputes", "people", "release")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_heading_of_its_name(open_page_of: Open, page: str) -> None:
    app = open_page_of(page)
    assert [title.value for title in app.title] == [page.capitalize()]
    assert not any("Simulated" in text for text in sentences(app))
    if page == "progress":
        assert not app.error, "there is room on the disk"
        assert not app.warning, "no bucket is away"
        assert "rr-videos" not in html(app)
        assert "Wrong videos in the pools" not in [title.value for title in app.header]


@pytest.mark.parametrize("page", PAGES)
def test_annotators_are_told_why_they_see_nothing(open_page_of: Open, page: str) -> None:
    app = open_page_of(page, "Ana")
    assert sentences(app) == ["This page is for leads. You are signed in as Ana (annotator)."]


@pytest.mark.parametrize("page", PAGES)
def test_who_was_signed_out_is_shown_the_way_back(open_page_of: Open, page: str) -> None:
    app = open_page_of(page, "nobody")
    assert sentences(app) == []
    assert "You are signed out." in html(app)
    assert 'href="/session/sign-in"' in html(app)


@pytest.mark.parametrize("page", PAGES)
def test_simulated_judgements_are_labelled(open_page_of: Open, real_project: SmallProject, page: str) -> None:
    real_project.unlock("judgement")
    real_project.sql("UPDATE judgement SET simulated = 1 WHERE annotator_id <> 3")
    assert any("**Simulated judgements**: 57 of the 112" in text for text in sentences(open_page_of(page)))


@pytest.mark.parametrize("where", ["at the door", "in the page"])
def test_a_database_that_cannot_be_read_is_said_in_words(
    real_project: SmallProject, browser_of: Callable[[str], None], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser_of("Lea")
    said = "not even to be read"
    if where == "at the door":
        real_project.project.store.close()
        (real_project.folder / "reelrank.db").write_bytes(b"no database" * 1000)
        said = f"{real_project.folder}/reelrank.db is damaged, or not a ReelRank database"
    else:

        def refuse(project: Project, by: object, wanted: object) -> Any:
            raise StoreUnavailable(said)

        monkeypatch.setattr("annotate_app.screens.queries.count_queries", refuse)
    app = AppTest.from_file(str(Path(annotate_app.__file__).with_name("main.py")), default_timeout=60).run()
    assert not app.exception
    assert [read(error.value).startswith(said) for error in app.error] == [True]


BUTTONS = [("disputes", "restore"), ("people", "suspend-2"), ("backups", "back_up")]


def press(app: AppTest, key: str) -> AppTest:
    """The button with this key; one for a pair has the pair behind that."""
    (button,) = (one for one in app.button if one.key == key or str(one.key).startswith(f"{key}-"))
    return button.click().run()


@pytest.mark.parametrize(("page", "button"), BUTTONS)
def test_a_button_that_meets_a_full_disk_says_so(
    open_page_of: Open, monkeypatch: pytest.MonkeyPatch, page: str, button: str
) -> None:
    app = open_page_of(page, show="blocked")
    fill_disk(monkeypatch)
    press(app, button)
    assert not app.exception
    assert [read(error.value) for error in app.error] == [FULL_DISK]


def people(project: SmallProject) -> dict[str, PersonReview]:
    """Everybody as they stand now."""
    return {one.person.name: one for one in list_people(project.project, OPERATOR)}


# The rule in words


@pytest.fixture
def pair(real_project: SmallProject) -> PairReview:
    """A pair, whose grades do not matter."""
    return real_project.pair(1, 1)


def graded(pair: PairReview, *grades: int, tolerance: int = 1) -> PairReview:
    given = tuple(GivenGrade(f"A{seat}", grade, 1, NOW, 4000) for seat, grade in enumerate(grades))
    decision = decide(grades, tolerance)
    return replace(pair, grades=given, verdict=decision.verdict, relevance=decision.relevance, mean=decision.mean)


@pytest.mark.parametrize(
    ("grades", "sentence"),
    [
        ((), "None of two grades so far."),
        ((3,), "One of two grades so far."),
        ((3, 4), "3 and 4 differ by at most 1; their mean 3.5, half up, is 4."),
        ((2, 2), "2 and 2 differ by at most 1; their mean is 2."),
        (
            (0, 4, 2, 3),
            "Without the lowest (0) and the highest (4) of four grades, 2 and 3 differ by at most 1; "
            "their mean 2.5, half up, is 3.",
        ),
        (
            (0, 4),
            "The first two grades differ by more than 1, so two further annotators grade it: two still to come.",
        ),
        (
            (0, 4, 0, 3),
            "Without the lowest and the highest of the four grades, 0 and 3 remain. "
            "They differ by more than 1: there is no consensus.",
        ),
    ],
)
def test_why_a_pair_has_its_verdict(pair: PairReview, grades: tuple[int, ...], sentence: str) -> None:
    from annotate_app.shared import wording

    assert wording.why(graded(pair, *grades), new_campaign().grading) == sentence


@pytest.mark.parametrize(
    ("grades", "sentence"),
    [
        ((1, 1), "Both are 1."),
        ((1, 0), "The first two grades differ, so two further annotators grade it: two still to come."),
        ((0, 1, 1, 1), "Without the lowest (0) and the highest (1) of four grades, both are 1."),
        (
            (0, 1, 0, 1),
            "Without the lowest and the highest of the four grades, 0 and 1 remain. "
            "They differ: there is no consensus.",
        ),
    ],
)
def test_where_only_equal_grades_agree_the_sentence_says_so(
    pair: PairReview, grades: tuple[int, ...], sentence: str
) -> None:
    from annotate_app.shared import wording

    grading = replace(new_campaign().grading, tolerance=0)
    assert wording.why(graded(pair, *grades, tolerance=0), grading) == sentence


def test_the_sentence_ends_with_the_relevance_of_the_rule_for_all_grades(pair: PairReview) -> None:
    from annotate_app.shared import wording

    for count in (2, 4):
        for grades in itertools.product(range(5), repeat=count):
            decided = graded(pair, *grades)
            if decided.verdict is Verdict.CONSENSUS:
                assert wording.why(decided, new_campaign().grading).endswith(f"is {decided.relevance}."), grades


# Progress


def test_progress_shows_the_counts_of_status_and_what_is_left(open_page_of: Open, real_project: SmallProject) -> None:
    real_project.unlock("judgement")
    real_project.sql("UPDATE judgement SET imported = 1 WHERE judgement_id = 1")
    pair = real_project.pair(3, ESCALATED[0])
    adjudicate(real_project.project, real_project.lead, pair.pair, 2, "seen twice", now=NOW)
    exchange(real_project.project, real_project.person("Ana"), [], [], now=NOW)
    app = open_page_of("progress")
    shown = html(app)
    for count, words in (
        (50, "consensus"),
        (1, "adjudicated by a lead"),
        (1, "discarded"),
        (3, "escalated"),
        (4, "open"),
    ):
        assert f"<b>{count}</b> {words}" in shown
    assert "60 pairs: 50 consensus, 1 adjudicated by a lead, 1 discarded, 3 escalated, 4 open, 1 blocked" in shown
    for words, count, share in (("settled by two", 50, "83.3 %"), ("sent to two more annotators", 5, "8.3 %")):
        assert re.search(rf"<span>{words}</span>.*?<b>{count}</b> <small>{share}</small>", shown), words
    # Seven pairs lack two grades. Those of the three disputed ones, and of about one more, can come only from Dee and
    # Eli, who gave one grade on the day of all 111.
    assert {metric.label: metric.value for metric in app.metric} == {
        "Grades still needed": "14",
        "Forecast": "about 4 days",
        "Judgements a day": "111",
        "Pairs on desks": "3",
    }
    assert "Not shown: 1 imported from earlier campaigns." in sentences(app)


def test_progress_tells_of_a_disk_that_is_nearly_full_and_of_a_bucket_that_is_away(
    open_page_of: Open, real_project: SmallProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=12 << 20))
    trouble = "s3://lab/clips cannot be reached."
    monkeypatch.setattr("backend.media.clip_bucket.troubles", lambda _: [trouble])
    app = open_page_of("progress")
    assert [read(one.value).partition(". Soon")[0] for one in app.error] == [
        f"The disk of {real_project.folder}/cache/clips has 12 MB left"
    ]
    assert [one.value for one in app.warning] == [plain(trouble)]


def test_progress_lists_the_videos_with_something_wrong(open_page_of: Open, real_project: SmallProject) -> None:
    (video,) = real_project.project.store.db.conn.execute("SELECT video_id FROM video WHERE name = 'v1'").fetchone()
    real_project.sql("UPDATE video SET name = '<b>dog</b>' WHERE video_id = ?", video)
    real_project.sql(
        "INSERT INTO video_check (video_id, trouble, message) VALUES (?, 'changed', 'dog.mp4 has changed')", video
    )
    shown = html(open_page_of("progress"))
    assert "<b>&lt;b&gt;dog&lt;/b&gt;</b>" in shown
    assert "2 pairs wait for it. 4 pairs were graded with the former content; their grades stay." in shown


def test_progress_shows_who_judged_how_much(open_page_of: Open, real_project: SmallProject) -> None:
    real_project.join("Fay")
    for rank in OPEN[:2]:
        real_project.grade(0, real_project.pair(3, rank).pair, 3)
    app = open_page_of("progress")
    assert "<td>Ana</td><td>2</td><td><span class='rr-pace' style='--share:1.000'>57</span>" in html(app)
    assert "<td>Ben</td><td>0</td><td><span class='rr-pace' style='--share:0.965'>55</span>" in html(app)
    assert "Fay" not in html(app)
    assert "1 other annotator gave no judgement in the last 7 days." in sentences(app)


NOTHING_AHEAD = WorkAhead(0, 0, None, (), Forecast(0.0))


@pytest.mark.parametrize(
    ("needed", "found", "words"),
    [
        (1200, Forecast(12.0), "about 12 days"),
        (1201, Forecast(12.01), "about 13 days"),
        (100, Forecast(1.0000001), "about 1 day"),
        (60, Forecast(0.6), "less than a day"),
        (60, Forecast(None, idle=60), "unknown"),
        (60, Forecast(None, exam=60), "after the exam"),
        (60, Forecast(3.0, exam=20), "after the exam"),
        (60, Forecast(3.0, exam=20, stuck=1), "cannot finish"),
        (0, Forecast(0.0), "nothing is left"),
        (60, Forecast(0.6, stuck=14), "cannot finish"),
        (60, Forecast(None, stuck=60), "cannot finish"),
        (60, Forecast(3.0, idle=2), "cannot finish"),
        (60, Forecast(3.0, over_quota=2), "cannot finish"),
        (60, Forecast(3.0, disputes=2, disputes_lack=1), "cannot finish"),
    ],
)
def test_the_forecast_in_words(needed: int, found: Forecast, words: str) -> None:
    from annotate_app.shared import waiting

    assert waiting.forecast(replace(NOTHING_AHEAD, needed=needed, forecast=found)) == words


def nobody_left(project: SmallProject) -> None:
    """Of the two people who could settle what is escalated, Dee is paused, and Eli is away."""
    pause_person(project.project, project.lead, project.person("Dee").annotator_id, "too fast", now=NOW)
    suspend(project.project, project.lead, project.person("Eli").annotator_id, True, now=NOW)


def test_progress_says_what_is_stuck_and_why_and_what_waits(open_page_of: Open, real_project: SmallProject) -> None:
    assert "rr-stuck" not in html(open_page_of("progress"))
    nobody_left(real_project)
    app = open_page_of("progress")
    shown = re.sub(r"<[^>]+>", "|", html(app))
    for sentence in (
        "4 pairs are stuck: they need two more annotators for the third and fourth grade.",
        "Dee could grade all of them, but is paused.",
        "You can also adjudicate them yourself.",
        "1 discarded pair waits for your decision.",
        "The rule recommends 1 further batch.",
        "1 annotator is paused.",
    ):
        assert f"|{sentence}|" in shown, sentence
    assert 'href="/disputes?show=discarded"' in html(app)
    assert 'href="/queries?show=next"' in html(app)
    assert {metric.label: metric.value for metric in app.metric}["Forecast"] == "cannot finish"
    assert any("9 grades have nobody left to give them" in one.value for one in app.warning)


@pytest.mark.usefixtures("flagged")
def test_the_inbox_lists_what_did_not_finish_and_whose_work_is_flagged_the_newest_first(
    open_page_of: Open, real_project: SmallProject
) -> None:
    project, lead = real_project.project, real_project.lead
    job = begin_job(project, lead, JobKind.RELEASE, "", said("Making release 1"), {}, now=NOW + 60)
    assert job
    end_job(project, job, JobState.FAILED, JobOutcome(), now=NOW + 61)
    real_project.note("Ana", 1, 1, "Is this <b>a cup?")
    rows = re.findall(r"<li><span>(.*?)<small>", html(open_page_of("progress")))
    assert rows[0] == "Making release 1 failed. The server&#x27;s log has the reason."
    assert "1 note has no reply." in rows[1:]
    assert "“Is this &lt;b&gt;a cup?” · Ana · " in html(open_page_of("progress"))
    assert any(row.startswith("Ana has ") and "quality flag" in row for row in rows)
    assert 'href="/people?who=2&amp;flag=' in html(open_page_of("progress"))
    app = open_page_of("progress")
    app.button(key=f"dismiss-{job}").click().run()
    assert "Making release 1" not in html(app)
    assert not list_jobs(project, lead, now=NOW)


def test_an_unsettled_exam_is_named_with_its_cure(open_page_of: Open, real_project: SmallProject) -> None:
    real_project.sql(
        "INSERT INTO exam (set_at, source, most_missed, key_from, closed_at) VALUES (?, 'open pairs', 20, 'own', ?)",
        *(NOW, NOW),
    )
    for rank in OPEN:
        pair = real_project.pair(3, rank).pair_id
        real_project.sql("INSERT INTO exam_item (exam_id, pair_id, right_grade) VALUES (1, ?, 3)", pair)
    app = open_page_of("progress")
    shown = html(app)
    assert "3 pairs of the exam are not settled.<small>Count the exam answers as judgements." in shown
    assert '<a href="/exam" target="_self">Count the answers</a>' in shown
    assert "Not counted: 3 pairs that an exam or a calibration round reserves." in sentences(app)


def test_what_is_stuck_is_said_in_words() -> None:
    from annotate_app.shared import waiting

    out = ((Barred.PAUSED, ("Ben",), 5), (Barred.EXAM, ("Cem", "Dee", "Eli", "Fay", "Gus"), 7))
    stuck = (Stuck((3, 4), 7, 2, 9, out), Stuck((2,), 1, 1, 1, ()))
    left = Forecast(3.0, stuck=10, over_quota=1, idle=4, disputes=12, disputes_lack=1)
    ahead = WorkAhead(90, 48, 0.2, stuck, left, set_aside=3)
    assert [line.text for line in waiting.stuck_lines(ahead)] == [
        "7 pairs are stuck: they need two more annotators for the third and fourth grade.",
        "Ben could grade 5 of them, but is paused.",
        "Cem, Dee, Eli and 2 others could grade all of them, but failed the exam.",
        "You can also adjudicate them yourself.",
        "1 pair is stuck: it needs one more annotator for the second grade.",
        "Open a query to see which of its pairs are stuck.",
        "1 grade exceeds the quotas.",
        "About 12 more pairs will be disputed at this rate, and need one more annotator.",
    ]
    told = waiting.unfinished_reason(ahead)
    assert "10 grades have nobody left to give them" in told
    assert "4 grades can only come from annotators who gave none in the last seven days" in told
    assert "about 3 days" in told
    assert {trn(*waiting.SHORT[kind], 1).partition(" ")[0] for kind in WaitKind} == {"1"}
    assert trn(*waiting.SHORT[WaitKind.NOTES], 1) == "1 note without a reply"
    (line,) = waiting.wait_lines([Wait(WaitKind.DISCARDED, 1204)])
    assert line.text == "1,204 discarded pairs wait for your decision."


def test_queries_tells_in_a_line_what_waits_and_is_stuck(open_page_of: Open, real_project: SmallProject) -> None:
    project, lead = real_project.project, real_project.lead
    confirm_discard(project, lead, real_project.pair(3, DISCARDED).pair, now=NOW)
    offer_again(project, lead, real_project.pair(3, SKIPPED).pair, now=NOW)
    restore_clip(project, lead, real_project.pair(3, BLOCKED).pair, now=NOW)
    for query in (1, 2):
        decline_batch(project, lead, QueryId(query), "enough", number=2, now=NOW)
    assert "rr-waiting" not in html(open_page_of("queries"))
    for rank in (1, 2, 3):
        real_project.note("Ana", 1, rank, "Is this a cup?")
    nobody_left(real_project)
    from annotate_app.shared import waiting

    waiting.drop_counts()
    shown = html(open_page_of("queries"))
    link = '<a href="/disputes?show=notes" target="_self">3 notes without a reply</a>'
    assert re.search(f"Waits for you: .*{re.escape(link)}", shown)
    assert '<b>4 pairs are stuck.</b> <a href="/progress"' in shown


def test_a_query_says_which_of_its_pairs_are_stuck_and_why(open_page_of: Open, real_project: SmallProject) -> None:
    assert "**Stuck**" not in sentences(open_page_of("queries", query="1"))
    suspend(real_project.project, real_project.lead, real_project.person("Eli").annotator_id, True, now=NOW)
    skip(real_project, "Dee", SkipKind.SKIP, 3, *ESCALATED[:3])
    start_trial(real_project.project, real_project.lead, queries=1, pairs=2, seed=1, chosen=[], now=NOW)
    app = open_page_of("queries", query="3")
    assert "**Stuck**" in sentences(app)
    shown = re.sub(r"<[^>]+>", "|", html(app))
    for sentence in (
        "4 pairs are stuck: they need two more annotators for the third and fourth grade. Ranks 2, 4, 7 and 10.",
        "Dee skipped 3 of them.",
        "Cem and Eli could grade all of them, but are suspended.",
        "1 pair is blocked: its clip cannot be shown. Rank 17.",
        "2 pairs are reserved for an exam or a calibration round. Ranks 14 and 18.",
    ):
        assert f"|{sentence}|" in shown, sentence
    assert 'href="/disputes?show=blocked"' in html(app)
    listed = mounted(open_page_of("queries", show="stuck"), "aria-label='Queries'")
    assert re.findall(r"data-opens='(\d+)'", listed) == ["3"]


def skip(project: SmallProject, name: str, kind: SkipKind, query: int, *ranks: int) -> None:
    """Somebody skips these pairs of a query."""
    for rank in ranks:
        project.sql(
            "INSERT INTO skip (pair_id, annotator_id, kind, reason, skipped_at, event_key)"
            " SELECT pair_id, ?, ?, '*black*', ?, ? || pair_id FROM pair WHERE query_id = ? AND rank = ?",
            *(project.person(name).annotator_id, kind.value, NOW, f"{name} skips ", query, rank),
        )


def test_the_menu_counts_what_waits_behind_each_page() -> None:
    from annotate_app.pages import GROUPS, PAGES
    from annotate_app.shared import waiting

    every = [Wait(kind, 1000 + nth) for nth, kind in enumerate(WaitKind)]
    found = waiting.counts(every, (Stuck((1, 2), 7, 2, 14, ()), Stuck((2,), 1, 1, 1, ())))
    assert found == {
        "Disputes": "5,021",
        "Queries": "1,004",
        "Exam": "5,050",
        "Calibration": "1,016",
        "Captions": "2,015",
        "People": "1,009",
        "Gold": "1,010",
        "Progress": "8 stuck",
        "Team": "1,009",
        "Training": "7,076",
        "Data": "2,015",
    }
    assert set(found) < {page.title for page in PAGES} | set(GROUPS)
    assert waiting.counts((), ()) == {}
    assert waiting.counts(every[:2], ())["Progress"] == "2", "so many things wait in the inbox"
    assert waiting.counts([Wait(WaitKind.TEAM, 60)], ()) == {"Progress": "1"}, "no page has 60 things to do"


def test_what_the_menu_asks_for_is_by_page_and_counted_anew_only_after_a_while(
    real_project: SmallProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate_app.shared import waiting

    waiting.drop_counts()
    project, lead = real_project.project, real_project.lead
    first = waiting.menu_answer(project, lead)
    assert first["counts"] == {"/disputes": "3", "/queries": "1", "/progress": "4"}
    assert waiting.menu_answer(project, lead) == first, "nothing has happened"
    restore_clip(project, lead, real_project.pair(3, BLOCKED).pair, now=NOW)
    assert waiting.menu_answer(project, lead) == first, "counted just now"
    monkeypatch.setattr("time.time", lambda: NOW + 600)
    assert waiting.menu_answer(project, lead)["counts"] == {"/disputes": "2", "/queries": "1", "/progress": "3"}
    monkeypatch.setattr(waiting, "MORE_COUNTS", [lambda *_: {"Progress": "interrupted", "Release": "working"}])
    both = waiting.menu_answer(project, lead)["counts"]
    assert isinstance(both, dict)
    assert (both["/progress"], both["/release"]) == ("3, interrupted", "working"), "a job hides no count"


def test_every_wait_has_a_sentence() -> None:
    from annotate_app.shared import waiting

    every = [Wait(kind, 1000 + nth) for nth, kind in enumerate(WaitKind)]
    assert len(waiting.wait_lines(every)) == len(WaitKind)


def test_progress_of_a_check_of_pools_tells_how_many_videos_are_wrong(
    open_page_of: Open, real_project: SmallProject
) -> None:
    real_project.sql("UPDATE query SET text = 'A <b> waits.' WHERE query_id = 2")
    real_project.sql("INSERT INTO pool_check VALUES (1, 'pools.json', 'ab', 7, 812, 100, 5)")
    # A grade of 1 says that a video matches: it does of one of nine that were put in as negatives.
    for as_what, query, ranks in (
        ("positive", 3, OPEN),
        ("negative", 2, (5, 6, 7, 9, 10, 16, 17, 19, 20)),
        ("negative", 3, (DISCARDED,)),
    ):
        for rank in ranks:
            real_project.sql(
                "INSERT INTO pool_place (query_id, moment_id, put_in_as)"
                " SELECT query_id, moment_id, ? FROM pair WHERE query_id = ? AND rank = ?",
                *(as_what, query, rank),
            )
    app = open_page_of("progress")
    assert "Wrong videos in the pools" in [title.value for title in app.header]
    shown = html(app)
    assert "<td>none settled yet</td><td></td><td></td><td>3 waiting</td>" in shown
    assert "<td>1 of 9</td><td><b>11.1%</b></td><td>2.0% to 43.5%</td><td>1 undecided</td>" in shown
    video = real_project.pair(2, 5).video
    assert f"<td>A &lt;b&gt; waits.</td><td>{video}</td><td>negative, matches</td>" in shown
    assert [one.label for one in app.expander] == ["1 wrong video"]
    assert any(text.startswith("Checked: 100 queries of 812 in pools.json.") for text in sentences(app))


def test_progress_of_a_project_without_work_says_what_to_do(open_page_of: Open, without_work: SmallProject) -> None:
    app = open_page_of("progress")
    assert "No pairs have been handed out yet." in html(app)
    assert '<a href="/set-up" target="_self">Continue the setup</a>' in html(app)
    assert len(app.metric) + len(app.info) == 0, "what is empty takes no room"


def test_bars_of_simulated_judgements_are_told_apart(open_page_of: Open, real_project: SmallProject) -> None:
    from annotate_app.screens.progress import left_out

    progress = progress_progress.progress(real_project.project, OPERATOR, now=NOW)

    def told(judgements: int, simulated: int) -> list[str]:
        return left_out(replace(progress, imported=0, days=(DayCount("2025-10-09", judgements, simulated),)))

    assert told(3, 0) == []
    assert told(3, 40) == ["Not shown: 40 simulated judgements."]
    assert told(0, 40) == ["All judgements of the last 30 days are simulated (40)."]
    real_project.unlock("judgement")
    real_project.sql("UPDATE judgement SET simulated = 1")
    alts = [chart.proto.alt for chart in open_page_of("progress").get("vega_lite_chart")]
    assert alts == ["Bar chart of simulated judgements over the last 30 days: 112"]


def test_a_backup_is_made_and_offered_with_size_and_time(open_page_of: Open, real_project: SmallProject) -> None:
    app = open_page_of("backups")
    assert len(app.get("download_button")) == 0
    app.button(key="back_up").click().run()
    (made,) = (real_project.folder / "backups").glob("*.db")
    assert len(app.get("download_button")) == 1
    line = rf"{made.name} · {made.stat().st_size / 1e6:.1f} MB · made "
    assert any(read(one.value).startswith(line) for one in app.markdown)
    made.unlink()
    app.run()
    assert len(app.get("download_button")) == 0


def test_backups_of_before_are_listed_the_newest_first(open_page_of: Open, real_project: SmallProject) -> None:
    (real_project.folder / "backups").mkdir()
    for number in range(12):
        file = real_project.folder / "backups" / f"{number:02}.db"
        file.write_bytes(bytes(1000))
        os.utime(file, (NOW + number, NOW + number))
    app = open_page_of("backups")
    shown = [read(one.value).partition(" ")[0] for one in app.markdown if " MB · made " in one.value]
    assert shown == [f"{number:02}.db" for number in range(11, 1, -1)]
    assert "2 older ones in the folder backups/." in sentences(app)


# Queries


def test_queries_shows_the_counts_of_status(open_page_of: Open) -> None:
    shown = {metric.label: metric.value for metric in open_page_of("queries").metric}
    assert shown == {
        "Judgements": "112",
        "Pairs settled": "51 of 60",
        "Escalated": "4",
        "Discarded": "1",
        "Annotators": "5",
    }


def test_a_pair_without_a_verdict_is_not_charted_as_a_relevance_of_0(
    open_page_of: Open, real_project: SmallProject
) -> None:
    from annotate_app.screens.queries import figure as query_figure

    rows = mounted(open_page_of("queries"), "data-opens")
    assert rows.count("rr-ranks") == 3
    assert "aria-label='Relevances by rank: 4–3–21–00–4–3–21––––'" in rows
    pairs = query_pairs(real_project.project, OPERATOR, QueryId(3))
    bars = query_figure.columns(pairs, 5, new_campaign().scale)
    assert [bar["relevance"] for bar in bars] == [AGREED.get(rank) for rank in range(1, 21)]
    signs = "".join(bar["sign"] for bar in bars)
    assert signs == "4–3–21–00–4×3–21––––", "a discarded pair is settled, and has no relevance either"
    assert [bar["Rank"] for bar in bars if bar["colour"] == query_figure.LAST] == [16, 17, 18, 19, 20]
    assert [bar["Similarity"] for bar in bars] == [pair.similarity for pair in pairs]


def test_the_query_in_the_url_is_shown(open_page_of: Open) -> None:
    assert open_page_of("queries").header.len == 0
    app = open_page_of("queries", query="2")
    assert app.header[0].value == "Two people argue in a kitchen"
    assert "the last five, ranks 16–20" in html(app)
    assert open_page_of("queries", query="nonsense").header.len == 0
    app = open_page_of("queries", query="999")
    assert app.header.len == 0
    assert app.info[0].value == "This query does not exist, or has no candidates yet."


def test_a_candidate_tells_its_grades_the_rule_and_its_frames(open_page_of: Open, real_project: SmallProject) -> None:
    shown = mounted(open_page_of("queries", query="1"), "rr-board")
    assert shown.count("<article") == 20
    second = shown.split("<article")[2]
    assert "4 and 4 differ by at most 1; their mean is 4." in second
    assert second.count("<span class='rr-grade rr-r4'>4</span>") == 2
    assert "Ana" in second
    pair = real_project.pair(1, 2)
    assert f"similarity {pair.similarity:.3f}" in second
    assert second.count(f"src='/clips/{pair.pair}.webp'") == 8
    times = [float(at) for at in re.findall(r"<figcaption>([\d.]+) s</figcaption>", second)]
    # The middles of eighths of two and a half seconds.
    assert times == pytest.approx([pair.start_s + 2.5 * (eighth + 0.5) / 8 for eighth in range(8)], abs=0.051)


def test_what_found_a_candidate_is_told_with_its_ranks(open_page_of: Open, real_project: SmallProject) -> None:
    from annotate_app.screens.explore.lists import source_row

    # A pooled run found rank 2 of a query, and a moment that captions had not found.
    run = "INSERT INTO source (source_id, kind, name, sha256, depth, part) VALUES (9, 'run', 'our-system', 'ab', 20, 2)"
    real_project.sql(run)
    for rank in (2, 20):
        real_project.sql(
            "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s)"
            " SELECT query_id, moment_id, 9, rank / 2, 1, 0, 1 FROM pair WHERE query_id = 1 AND rank = ?",
            rank,
        )
    real_project.sql("DELETE FROM candidate_source WHERE query_id = 1 AND source_id <> 9 AND rank = 20")
    real_project.sql("UPDATE pair SET similarity = NULL, encoder = NULL WHERE query_id = 1 AND rank = 20")
    shown = mounted(open_page_of("queries", query="1"), "rr-board").split("<article")
    assert "found by our-system (rank 1), captions (rank 2)" in shown[2]
    assert "found by our-system (rank 10)" in shown[20]
    assert "similarity" not in shown[20].partition("rr-steps")[0]
    later = next(one for one in source_standings(real_project.project, OPERATOR) if one.source.name == "our-system")
    assert source_row(later)[0] == "our-system<br><small>pooled run, depth 20, added later</small>"


def test_probe_pairs_are_told_of_and_in_no_list(open_page_of: Open, real_project: SmallProject) -> None:
    real_project.sql("INSERT INTO batch (batch_id, query_id, number, opened_at) VALUES (9, 1, NULL, ?)", NOW)
    real_project.sql("UPDATE pair SET batch_id = 9 WHERE query_id = 1 AND rank > 18")
    app = open_page_of("queries", query="1")
    assert mounted(app, "rr-board").count("<article") == 18
    told = "This query is a probe: 2 further pairs are graded to find out how many candidates are needed. "
    assert any(caption.value.startswith(told) for caption in app.caption)


def test_an_opened_candidate_shows_its_clip_its_grades_and_the_rule(open_page_of: Open) -> None:
    assert "Ana" not in html(open_page_of("queries", query="1"))
    app = open_page_of("queries", query="1", pair="3")
    assert "2 and 3 differ by at most 1; their mean 2.5, half up, is 3." in " ".join(sentences(app))
    assert "<span class='rr-grade rr-r3'>3</span>" in html(app)
    assert open_page_of("queries", query="1", pair="99").markdown.len < app.markdown.len


def test_filters_of_the_address_choose_the_queries(open_page_of: Open) -> None:
    def listed(**address: str) -> list[str]:
        return re.findall(r"data-opens='(\d+)'", mounted(open_page_of("queries", **address), "data-opens"))

    assert listed() == ["1", "2", "3"]
    assert listed(show="work") == ["3"]
    assert listed(show="next", q="kitchen") == ["2"]
    assert listed(split="val") == ["1"]
    assert open_page_of("queries", q="no such words").info[0].value == "No queries in this list."


def test_next_and_previous_keep_to_the_filter(open_page_of: Open) -> None:
    app = open_page_of("queries", query="1", show="next", pair="3")
    assert app.button(key="query-previous").disabled
    assert "1 of 2 queries" in sentences(app)
    app.button(key="query-next").click().run()
    assert {name: "".join(value) for name, value in app.query_params.items()} == {"query": "2", "show": "next"}
    assert app.header[0].value == "Two people argue in a kitchen"
    assert app.button(key="query-next").disabled
    app.button(key="all_queries").click().run()
    assert "query" not in app.query_params
    assert "not in this list of 1 query" in sentences(open_page_of("queries", query="2", show="work"))


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        *[(1, "pair", "1 pair"), (1204, "pair", "1,204 pairs"), (1, "query", "1 query"), (0, "query", "0 queries")],
        *[(1, "person", "1 person"), (2, "person", "2 people")],
    ],
)
def test_a_count_has_the_noun_of_its_number(count: int, noun: str, words: str) -> None:
    from annotate_app.shared import wording

    assert wording.count_of(count, noun) == words


def test_a_query_without_any_relevance_has_its_similarities_charted(
    open_page_of: Open, real_project: SmallProject
) -> None:
    real_project.unlock("judgement")
    for table in ("consensus", "judgement"):
        real_project.sql(f"DELETE FROM {table}")
    app = open_page_of("queries", query="3")
    assert len(app.get("vega_lite_chart")) == 1
    assert "no relevance yet: <b>20</b>" in html(app)


@pytest.mark.usefixtures("without_work")
def test_a_project_without_candidates_says_what_to_do(open_page_of: Open) -> None:
    assert open_page_of("queries").info[0].value.startswith("No query has candidates yet.")


# People


def test_somebody_new_gets_a_link_that_only_its_lead_sees(
    open_page_of: Open, real_project: SmallProject, browser_of: Callable[[str], None]
) -> None:
    app = open_page_of("people")
    app.text_input(key="new_name").input("Fay")
    app.selectbox(key="new_role").select("lead")
    app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    fay = people(real_project)["Fay"].person
    assert fay.role is Role.LEAD
    _, _, token = app.session_state["invitations"][0].url.partition("/session/invitation/")
    assert invited(real_project.project, token, now=NOW) == fay
    assert "**Send this link to Fay**" in sentences(app)
    browser_of("Max")  # who got hold of the session
    assert "**Send this link to Fay**" not in sentences(app.run())


def test_a_row_tells_how_much_and_how_fast_a_person_works(open_page_of: Open, real_project: SmallProject) -> None:
    for rank in OPEN:
        real_project.grade(0, real_project.pair(3, rank).pair, 3)
    shown = html(open_page_of("people"))
    row = {"Judgements": "58", "Today": "3", "Median active": "6.0 s", "Skips": "1"}
    assert "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in row.items()) in shown
    assert "<dt>Median active</dt><dd>not measured</dd>" in shown
    assert shown.count("<dl") == 5, "the leads do not grade"


@pytest.fixture
def flagged(real_project: SmallProject) -> SmallProject:
    """Ana gives 3 most of the time; of 30 of her pairs nothing but the number is known."""
    real_project.unlock("judgement", "seat", "pair")
    ana = real_project.person("Ana").annotator_id
    real_project.sql(
        "UPDATE judgement SET grade = 3 WHERE annotator_id = ? AND pair_id IN"
        " (SELECT pair_id FROM pair WHERE query_id = 1 OR query_id = 2 AND rank <= 10)",
        ana,
    )
    for pair in range(1001, 1031):
        real_project.sql("INSERT INTO pair (pair_id, pair_key) VALUES (?, ?)", pair, f"known by number {pair}")
        real_project.sql("INSERT INTO seat (pair_id, seat_no, annotator_id) VALUES (?, 1, ?)", pair, ana)
        real_project.sql(
            "INSERT INTO judgement (pair_id, seat_no, annotator_id, revision, grade, graded_at, event_key, imported)"
            " VALUES (?, 1, ?, 1, 3, ?, ?, 1)",
            *(pair, ana, NOW - 1e6, f"earlier {pair}"),
        )
    return real_project


@pytest.mark.usefixtures("flagged")
def test_a_flag_leads_to_its_explanation_and_the_pairs_behind_it(open_page_of: Open) -> None:
    app = open_page_of("people")
    # 3 is 20 pairs of the first query, 10 of the second and three others; 30 by number. 63 of 85.
    assert [button.label for button in app.button if (button.key or "").startswith("flag-")] == [
        "One grade 74.1 %, n = 85"
    ]
    app.button(key="flag-2-one_grade").click().run()
    assert dict(app.query_params) == {"who": "2", "flag": "one_grade"}
    said = sentences(app)
    assert app.header[0].value == "Ana"
    assert [header.value for header in app.subheader] == ["One grade"]
    assert FLAG_MEANINGS[FlagKind.ONE_GRADE] in said
    assert any(text.startswith("74.1 % of 85 grades are 3; more than 45 % is a flag.") for text in said)
    assert len(app.get("vega_lite_chart")) == 1
    assert "**63 pairs.** Pairs with this grade, newest first." in said
    assert any(text.startswith("30 pairs cannot be shown") for text in said)
    assert len(app.get("bidi_component")) == 5, "a clip each"
    app.button(key="all_people").click().run()
    assert dict(app.query_params) == {}
    assert app.text_input(key="new_name")


@pytest.mark.parametrize(
    ("kind", "told", "done"),
    [
        (FlagKind.SKIPS, "31 of 86 pairs handed out were skipped (36 %)", "31 skips undone, 10 clips shown again."),
        (
            FlagKind.REPORTS,
            "10 of 86 pairs handed out were reported as broken (11.6 %)",
            "10 skips undone, 10 clips shown again.",
        ),
    ],
)
def test_a_lead_undoes_all_skips_or_all_reports_of_a_person_after_a_question(
    open_page_of: Open, real_project: SmallProject, kind: FlagKind, told: str, done: str
) -> None:
    skip(real_project, "Ana", SkipKind.SKIP, 1, *range(1, 21))
    for name in ("Ana", "Ben"):
        skip(real_project, name, SkipKind.BROKEN_CLIP, 2, *range(1, 11))
    reported = "FROM pair WHERE query_id = 2 AND rank <= 10"
    real_project.sql(
        f"INSERT INTO clip_fault (moment_id, reason, reported_at) SELECT moment_id, 'black', ? {reported}", NOW
    )
    real_project.sql(
        "INSERT INTO event (at, actor, kind, subject, payload)"
        f" SELECT ?, ?, ?, 'moment:' || moment_id, '{{}}' {reported}",
        *(NOW, real_project.person("Ben").annotator_id, CLIP_REPORTED.kind),
    )
    app = open_page_of("people")
    app.button(key=f"flag-2-{kind.value}").click().run()
    assert any(text.startswith(told) for text in sentences(app))
    assert any("shown to everybody again" in text for text in sentences(app)), "what it does, before it is done"
    app.button(key=f"lift-{kind.value}").click().run()
    assert [read(one.value) for one in app.success] == [done, "No pair raised this flag."]


def test_clips_that_one_person_reported_are_listed_and_kept_back_by_a_lead(
    open_page_of: Open, real_project: SmallProject
) -> None:
    pairs = [real_project.pair(3, rank) for rank in OPEN[:2]]
    skip(real_project, "Ana", SkipKind.BROKEN_CLIP, 3, *OPEN[:2])
    app = open_page_of("progress")
    lines = [
        f"<span>Ana reported a clip as broken: “*black*”<small>{one.video}, {one.start_s:.2f} to {one.end_s:.2f} s · "
        "others still get it until a second report · "
        for one in pairs
    ]
    assert [line in html(app) for line in lines] == [True, True]
    app.button(key=f"keep-{pairs[0].pair}").click().run()
    assert real_project.pair(3, OPEN[0]).fault == "*black*"
    assert [line in html(app) for line in lines] == [False, True]


@pytest.mark.usefixtures("flagged")
def test_the_flags_of_everybody_are_a_part_of_the_page(open_page_of: Open, real_project: SmallProject) -> None:
    skip(real_project, "Ben", SkipKind.SKIP, 1, *range(1, 21))
    app = open_page_of("people", part="flags")
    listed = [button.key for button in app.button if str(button.key).startswith("look-")]
    assert listed == ["look-2", "look-3"], "Ana and Ben, of five annotators"
    app.button(key=f"flag-3-{FlagKind.SKIPS.value}").click().run()
    assert app.header[0].value == "Ben"


@pytest.mark.usefixtures("flagged")
@pytest.mark.parametrize(
    ("screen", "asks"), [("progress", {}), ("people", {"part": "flags"}), ("people", {"who": "2"})]
)
def test_a_flag_is_dismissed_with_a_reason_wherever_it_is_listed(
    open_page_of: Open, real_project: SmallProject, screen: str, asks: dict[str, str]
) -> None:
    app = open_page_of(screen)
    app.query_params.update(asks)
    app.run()
    key = f"dismiss-2-{FlagKind.ONE_GRADE.value}"
    app.text_input(key=f"{key}-reason").set_value("She is *right*.")
    app.button(key=f"FormSubmitter:{key}-form-Dismiss").click().run()
    assert not app.exception
    assert read(app.success[0].value) == "Dismissed for Ana: One grade."
    assert "Ana has " not in html(app), "it left the inbox"
    assert not any(str(one.key).startswith("dismiss-2-") for one in app.button)
    person = open_page_of("people")
    person.query_params["who"] = "2"
    person.run()
    assert any(":gray-badge[dismissed]" in text for text in sentences(person))
    assert any("Dismissed by Lea, " in text and text.endswith("She is *right*.") for text in sentences(person))
    entry = find_activity(real_project.project, real_project.lead, ActivityFilter(), first=0, most=1)[0]
    assert entry.words == "dismissed the quality flag “One grade” (“She is *right*.”)"


@pytest.mark.usefixtures("flagged")
def test_another_figure_of_the_same_person(open_page_of: Open) -> None:
    app = open_page_of("people")
    app.button(key="look-3").click().run()
    assert app.header[0].value == "Ben"
    app = open_page_of("people")
    app.button(key="look-2").click().run()
    assert [header.value for header in app.subheader] == ["One grade"], "what is flagged is shown first"
    assert app.button(key="behind-one_grade").disabled
    app.button(key="behind-bias").click().run()
    assert [header.value for header in app.subheader] == ["Bias"]
    assert not any(button.key == "behind-drift" for button in app.button), "there is nothing behind what is undefined"
    app.query_params["flag"] = "drift"
    app.run()
    (info,) = app.info
    assert read(info.value).startswith("55 grades that can be compared are too few")


@pytest.mark.parametrize("who", ["99", "x"])
def test_an_address_of_nobody_leads_back(open_page_of: Open, who: str) -> None:
    app = open_page_of("people")
    app.query_params["who"] = who
    app.run()
    assert not app.exception
    if who == "99":
        assert [info.value for info in app.info] == ["This annotator is not in the project."]
        app.button(key="all_people").click().run()
    assert app.text_input(key="new_name")


@pytest.mark.parametrize(("name", "sentence"), [(" ", "Enter a name"), ("Ana", "there is already somebody named Ana")])
def test_a_name_that_cannot_be(open_page_of: Open, name: str, sentence: str) -> None:
    app = open_page_of("people")
    app.text_input(key="new_name").input(name)
    app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    assert read(app.error[0].value).startswith(sentence)
    assert "invitations" not in app.session_state


def test_suspending_and_reinstating(open_page_of: Open, real_project: SmallProject) -> None:
    app = open_page_of("people")
    assert [app.button(key=f"suspend-{number}").label for number in (1, 2, 4)] == [
        "Suspend",
        "Suspend",
        "Reinstate",
    ]
    assert app.button(key="suspend-1").disabled, "nobody locks themselves out"
    app.button(key="suspend-2").click().run()
    assert people(real_project)["Ana"].person.suspended
    assert app.button(key="suspend-2").label == "Reinstate"


def test_pausing_with_a_reason_and_going_on(open_page_of: Open, real_project: SmallProject) -> None:
    app = open_page_of("people")
    pausable = [key for key in ("pause-reason-1", "pause-reason-2") if any(box.key == key for box in app.text_input)]
    assert pausable == ["pause-reason-2"], "a lead takes no pairs"
    app.button(key="FormSubmitter:pause-2-Pause").click().run()
    assert read(app.error[0].value) == "a pause needs a reason: write one sentence about why"
    app.text_input(key="pause-reason-2").input("only 4s since <b>noon</b>")
    app.button(key="FormSubmitter:pause-2-Pause").click().run()
    assert not app.error
    pause = people(real_project)["Ana"].pause
    assert pause.reason == "only 4s since <b>noon</b>"
    badge = next(text for text in (markdown.value for markdown in app.markdown) if "paused" in text)
    assert badge == ":orange-badge[paused]"
    assert not people(real_project)["Ana"].person.suspended
    app.button(key="go-on-2").click().run()
    assert people(real_project)["Ana"].pause is None
    assert app.button(key="FormSubmitter:pause-2-Pause")


def test_who_paused_somebody_and_why() -> None:
    from annotate_app.screens.people import pause_text

    assert pause_text(Pause(NOW, "Lea", "a word"), "UTC").endswith(", by Lea: a word")
    assert pause_text(Pause(NOW, None, "9 of 20 missed"), "UTC").endswith(", by a rule: 9 of 20 missed")


def test_an_invitation_leads_to_the_public_address_or_to_the_one_the_lead_uses(
    real_project: SmallProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate_app.session import auth
    from annotate_app.shared.inviting import invitation_url

    monkeypatch.setattr(auth, "project", lambda: real_project.project)
    page = "https://grade.example.org:8443/people?x=1"
    assert invitation_url(page, "abc") == "https://grade.example.org:8443/session/invitation/abc"
    settings = real_project.folder / "reelrank.toml"
    settings.write_text('public_address = "https://lab.example.org/annotate/"\n' + settings.read_text())
    assert invitation_url(page, "abc") == "https://lab.example.org/annotate/session/invitation/abc"


# Release


def test_what_a_release_would_leave_out(open_page_of: Open) -> None:
    texts = open_page_of("release").warning[0].value.split("  \n")[1:]
    assert texts[0] == "1 query is left out: some pairs still wait for grades, and would count as not relevant."
    assert texts[1] == "8 pairs are not settled yet (4 open, 4 escalated)."
    assert texts[2].startswith("1 pair is discarded")
    assert texts[3] == "1 pair is blocked, because the clip cannot be shown."


def test_a_lead_says_what_goes_into_a_release_and_sees_it_at_once(
    open_page_of: Open, real_project: SmallProject
) -> None:
    pair = real_project.pair(3, ESCALATED[0])
    adjudicate(real_project.project, real_project.lead, pair.pair, 2, "seen twice", now=NOW)
    app = open_page_of("release")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Queries for test"].startswith("1 of ")
    assert shown["Pairs with a relevance"] == "40"
    assert list(app.table[0].value["Why"]) == ["7 of 20 pairs waiting"]
    app.checkbox(key="release_unfinished").check().run()
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Queries for test"].startswith("2 of ")
    assert shown["Pairs with a relevance"] == "51"
    texts = app.warning[0].value.split("  \n")[1:]
    assert texts[0].startswith("1 query is included although some pairs still wait")
    assert texts[1] == "1 pair is adjudicated by a lead, and marked as such."
    app.segmented_control(key="release_adjudicated").set_value("Leave out").run()
    assert {metric.label: metric.value for metric in app.metric}["Pairs with a relevance"] == "50"
    assert app.warning[0].value.split("  \n")[2] == "1 pair is left out, because a lead adjudicated."


@pytest.mark.usefixtures("without_work")
def test_before_any_rewrite_the_page_says_what_comes_next(open_page_of: Open) -> None:
    assert any(
        text.startswith("No captions are rewritten yet. Next: reelrank ")
        for text in sentences(open_page_of("captions", part="rewrites"))
    )


def test_what_became_of_rewrites_is_told_when_nothing_can_be_decided(
    open_page_of: Open, real_project: SmallProject
) -> None:
    as_published = "No captions are rewritten yet. Queries are drawn from the captions as published."
    assert as_published in sentences(open_page_of("captions", part="rewrites"))
    # Of eight, five are accepted, two of these by hand; one is rejected, two wait. Three were tried again.
    for caption, (rule, accepted, decided_at, attempts) in enumerate(
        [
            *[("rule", 1, None, 1), ("rule", 1, None, 1), ("rule", 1, None, 2)],
            *[(BY_HAND, 1, NOW, 1), (BY_HAND, 1, NOW, 1)],
            *[("rule", 0, NOW, 2), ("rule", 0, None, 1), ("rule", 0, None, 3)],
        ],
        1,
    ):
        real_project.sql(
            "INSERT INTO caption"
            " (moment_id, text, kind, source_caption_id, rule_version, accepted, decided_at, attempts)"
            " SELECT moment_id, 'somebody ' || text, 'rewritten', caption_id, ?, ?, ?, ? FROM caption"
            " WHERE caption_id = ?",
            *(rule, accepted, decided_at, attempts, caption),
        )
    app = open_page_of("captions", part="rewrites")
    assert "Queries are drawn from these captions. Rewriting is closed." in sentences(app)
    assert [(metric.label, metric.value) for metric in app.metric] == [
        *(("Accepted", "5"), ("By hand", "2"), ("Retried", "3"), ("Rejected", "1"), ("Undecided", "2")),
    ]


def test_releases_are_listed_and_one_whose_file_is_gone_says_so(open_page_of: Open, real_project: SmallProject) -> None:
    from annotate_app.screens.release.sections import release_text

    project, lead = real_project.project, real_project.lead
    for name, notes, unfinished in (("v0", "", False), ("v1", "The first one", True)):
        options = ReleaseOptions(unfinished=unfinished)
        export_release(project, lead, None, options, name=name, notes=notes, now=NOW)
    release_file(project, lead, "v0").unlink()
    app = open_page_of("release")
    assert len(app.get("download_button")) == 1
    assert any("**v0**" in one.value and "its file is missing" in one.value for one in app.markdown)
    kept = list_releases(project, lead)[0]
    text = release_text(kept, "UTC")
    assert "**v1** · 1 validation and 2 test queries, 50 graded moments · with unfinished queries" in text
    assert "The first one" in text
    assert f"`{kept.sha256[:16]}` · 0.0 MB" in text
