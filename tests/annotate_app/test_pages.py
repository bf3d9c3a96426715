"""The lead's pages as a person reads them, against the fake api, and the rules behind their sentences."""

import itertools
import json
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import annotate_app
import fake_api
from annotate_app.plain import plain
from backend.campaign.corpus.captions.model import RewriteCounts
from backend.campaign.corpus.importing.model import Trouble
from backend.campaign.judging.model import ReportedClip
from backend.campaign.judging.rules import decide
from backend.campaign.monitoring.progress.model import (
    Ahead,
    Barred,
    DayCount,
    Forecast,
    PersonPace,
    QueryStuck,
    Stuck,
    Wait,
    WaitKind,
)
from backend.campaign.monitoring.quality.model import (
    FLAG_MEANINGS,
    BehindFlag,
    Flag,
    FlagKind,
    PersonFlags,
    Stretch,
)
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import Role, Verdict
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.review.model import GivenGrade
from backend.campaign.selection.pool_check.model import CheckFacts, CheckReport, PutInAs, Share, WrongVideo
from backend.campaign.setup.people.model import Pause
from backend.core.errors import StoreUnavailable
from backend.core.ids import AnnotatorId, PairKey, QueryId
from reading import read
from support import new_campaign

Open = Callable[..., AppTest]


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def open_page(open_screen: Open) -> Open:
    """Opens one page as somebody, as if their browser sent the cookie."""
    return open_screen


def sentences(app: AppTest) -> list[str]:
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success", "text")
    return [read(element.value) for kind in kinds for element in app.get(kind)]


def html(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def mounted(app: AppTest, what: str) -> str:
    """The HTML that a component of ours was given, the one that has this in it."""
    found = [json.loads(one.proto.json).get("html", "") for one in app.get("bidi_component") if one.proto.json]
    return next(text for text in found if what in text)


PAGES = ("queries", "progress", "disagreements", "people", "release")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_heading_of_its_name(open_page: Open, page: str) -> None:
    assert [title.value for title in open_page(page).title] == [page.capitalize()]


@pytest.mark.parametrize("page", PAGES)
def test_annotators_are_told_why_they_see_nothing(open_page: Open, page: str) -> None:
    app = open_page(page, "Ana")
    assert sentences(app) == ["This page is for leads. You are signed in as Ana (annotator)."]


@pytest.mark.parametrize("page", PAGES)
def test_who_was_signed_out_is_shown_the_way_back(open_page: Open, page: str) -> None:
    app = open_page(page, "nobody")
    assert sentences(app) == []
    assert "You are signed out." in html(app)
    assert 'href="/session/sign-in"' in html(app)


@pytest.mark.parametrize("page", PAGES)
def test_simulated_judgements_are_labelled(open_page: Open, project: fake_api.Project, page: str) -> None:
    assert not any("Simulated" in text for text in sentences(open_page(page)))
    project.status["simulated"] = 1204
    assert any("**Simulated judgements**: 1,204 of the 1,204" in text for text in sentences(open_page(page)))


@pytest.mark.parametrize("where", ["at the door", "in the page"])
def test_a_database_that_cannot_be_read_is_said_in_words(
    project: fake_api.Project, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate_app.session import auth
    from backend import api

    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(project.folder))
    monkeypatch.setattr(auth, "token", lambda: "token-of-Lea")
    if where == "at the door":
        project.unavailable = "not even to be read"
    else:

        def refuse(project: fake_api.Project, by: object, wanted: object) -> Any:
            raise StoreUnavailable("not even to be read")

        monkeypatch.setattr(api, "take_draft", lambda *of, now: {})
        monkeypatch.setattr(api, "count_queries", refuse)
    app = AppTest.from_file(str(Path(annotate_app.__file__).with_name("main.py")), default_timeout=60).run()
    assert not app.exception
    assert [error.value for error in app.error] == ["not even to be read"]


@pytest.mark.parametrize(
    ("page", "button"),
    [
        ("disagreements", "restore-blocked"),
        ("people", "suspend-2"),
        ("progress", "back_up"),
    ],
)
def test_a_button_that_meets_a_full_disk_says_so(
    open_page: Open, project: fake_api.Project, page: str, button: str
) -> None:
    app = open_page(page, show="blocked")
    project.unavailable = "The disk is full: make room."
    app.button(key=button).click().run()
    assert not app.exception
    assert [read(error.value) for error in app.error] == ["The disk is full: make room."]


@pytest.mark.parametrize(
    ("page", "button"), [("disagreements", "restore-blocked"), ("people", "suspend-2"), ("progress", "back_up")]
)
def test_a_button_of_somebody_who_is_no_lead_any_more_does_nothing(
    open_page: Open, project: fake_api.Project, page: str, button: str
) -> None:
    app = open_page(page, show="blocked")
    project.people["Lea"] = replace(project.people["Lea"], role=Role.ANNOTATOR)
    app.button(key=button).click().run()
    assert len(project.blocked) == 1
    assert not project.people["Ana"].suspended
    assert not (project.folder / "backups").exists()


# The rule in words


def graded(project: fake_api.Project, *grades: int, tolerance: int = 1) -> Any:
    given = tuple(GivenGrade(f"A{seat}", grade, 1, fake_api.NOON, 4000) for seat, grade in enumerate(grades))
    decision = decide(grades, tolerance)
    pair = project.pairs[QueryId(1)][0]
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
def test_why_a_pair_has_its_verdict(project: fake_api.Project, grades: tuple[int, ...], sentence: str) -> None:
    from annotate_app.shared import wording

    assert wording.why(graded(project, *grades), new_campaign().grading) == sentence


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
    project: fake_api.Project, grades: tuple[int, ...], sentence: str
) -> None:
    from annotate_app.shared import wording

    grading = replace(new_campaign().grading, tolerance=0)
    assert wording.why(graded(project, *grades, tolerance=0), grading) == sentence


def test_the_sentence_ends_with_the_relevance_of_the_rule_for_all_grades(project: fake_api.Project) -> None:
    from annotate_app.shared import wording

    for count in (2, 4):
        for grades in itertools.product(range(5), repeat=count):
            pair = graded(project, *grades)
            if pair.verdict is Verdict.CONSENSUS:
                assert wording.why(pair, new_campaign().grading).endswith(f"is {pair.relevance}."), grades


# Progress


def test_progress_shows_the_counts_of_status_and_what_is_left(open_page: Open) -> None:
    app = open_page("progress")
    shown = html(app)
    for count, words in ((49, "consensus"), (1, "decided by a lead"), (2, "discarded"), (2, "escalated"), (6, "open")):
        assert f"<b>{count}</b> {words}" in shown
    assert "61 pairs: 49 consensus, 1 decided by a lead, 2 discarded, 2 escalated, 6 open, 1 blocked" in shown
    for words, count, share in (("settled by two", 45, "73.8 %"), ("went on to two more people", 9, "14.8 %")):
        assert re.search(rf"<span>{words}</span>.*?<b>{count}</b> <small>{share}</small>", shown), words
    assert {metric.label: metric.value for metric in app.metric} == {
        "Grades still needed": "1,200",
        "Forecast": "about 12 days",
        "Judgements a day": "100",
        "Pairs in people's hands": "5",
    }
    assert "Without 227,808 imported from earlier campaigns." in sentences(app)


def test_progress_tells_of_a_disk_that_is_nearly_full(open_page: Open, project: fake_api.Project) -> None:
    assert not open_page("progress").error
    project.little_room = "The disk of cache/clips has 12 MB left."
    (told,) = open_page("progress").error
    assert told.value.replace("\\", "") == project.little_room


def test_progress_tells_of_a_bucket_that_is_away(open_page: Open, project: fake_api.Project) -> None:
    assert not open_page("progress").warning
    project.bucket_troubles = ["s3://lab/clips cannot be reached."]
    (told,) = open_page("progress").warning
    assert told.value == plain(project.bucket_troubles[0])


def test_progress_lists_the_videos_with_something_wrong(open_page: Open, project: fake_api.Project) -> None:
    assert "rr-videos" not in html(open_page("progress"))
    facts = ("<b>dog</b>", "dog.mp4", 10.0, Fraction(25), 64, 48, "h264", False, 250, True)
    project.wrong_videos = [VideoState(*facts, Trouble.CHANGED, "dog.mp4 has changed", waiting=2, judged=1)]
    shown = html(open_page("progress"))
    assert "<b>&lt;b&gt;dog&lt;/b&gt;</b>" in shown
    assert "2 pairs wait for it. 1 pair was graded by the former content, and the grades stay." in shown


def test_progress_shows_who_judged_how_much(open_page: Open) -> None:
    app = open_page("progress")
    assert "<td>Ana</td><td>30</td><td><span class='rr-pace' style='--share:1.000'>420</span>" in html(app)
    assert "<td>Ben</td><td>0</td><td><span class='rr-pace' style='--share:0.500'>210</span>" in html(app)
    assert "Dee" not in html(app)
    assert "One other judged nothing in the last 7 days." in sentences(app)


@pytest.mark.parametrize(
    ("needed", "found", "words"),
    [
        (1200, Forecast(12.0), "about 12 days"),
        (1201, Forecast(12.01), "about 13 days"),
        (100, Forecast(1.0000001), "about 1 day"),
        (60, Forecast(0.6), "less than a day"),
        (60, Forecast(None, idle=60), "unknown"),
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

    assert waiting.forecast(replace(fake_api.NOTHING_AHEAD, needed=needed, forecast=found)) == words


def test_progress_says_what_is_stuck_and_why_and_what_waits(open_page: Open, project: fake_api.Project) -> None:
    assert "Nothing: those who may work can grade all that is handed out." in sentences(open_page("progress"))
    out = ((Barred.PAUSED, ("Ben",), 5), (Barred.EXAM, ("Cem", "Dee", "Eli", "Fay", "Gus"), 7))
    stuck = (Stuck((3, 4), 7, 2, 9, out), Stuck((2,), 1, 1, 1, ()))
    left = Forecast(3.0, stuck=10, over_quota=1, idle=4, disputes=12, disputes_lack=1)
    project.progress = replace(project.progress, ahead=Ahead(90, 48, 0.2, stuck, left, set_aside=3))
    project.waits = (Wait(WaitKind.DISCARDED, 1204), Wait(WaitKind.BATCHES, 1), Wait(WaitKind.PAUSED, 1))
    app = open_page("progress")
    shown = re.sub(r"<[^>]+>", "|", html(app))
    for sentence in (
        "7 pairs wait for a third and fourth person: two more annotators are needed.",
        "Ben is paused, else they could grade 5 of them.",
        "Cem, Dee, Eli and 2 others have not passed the exam, else they could grade all of them.",
        "1 pair waits for a second person: one more annotator is needed.",
        "1 grade is more than all quotas allow.",
        "4 grades can come only from people who gave none in the last seven days.",
        "About 12 pairs will be disputed, if as many are as so far: then one more annotator is needed.",
        "3 pairs are set aside while an exam or a trial asks for them.",
        "1,204 pairs are discarded, and nobody has said whether that is right.",
        "1 query is through, and has a further batch.",
        "1 annotator is paused.",
    ):
        assert f"|{sentence}|" in shown, sentence
    assert 'href="/disagreements?show=discarded"' in html(app)
    assert 'href="/queries?show=next"' in html(app)
    assert {metric.label: metric.value for metric in app.metric}["Forecast"] == "cannot finish"
    assert any(
        "nobody who may work can give 10 grades" in one.value and "about 3 days" in one.value for one in app.warning
    )


def test_queries_tells_in_a_line_what_waits_and_is_stuck(open_page: Open, project: fake_api.Project) -> None:
    assert "rr-waiting" not in html(open_page("queries"))
    project.waits = (Wait(WaitKind.NOTES, 3),)
    project.progress = replace(
        project.progress, ahead=replace(project.progress.ahead, stuck=(Stuck((3,), 7, 1, 7, ()),))
    )
    from annotate_app.shared import waiting

    waiting.forget()
    shown = html(open_page("queries"))
    link = '<a href="/disagreements?show=notes" target="_self">3 notes without a reply</a>'
    assert f"Waits for you: {link}." in shown
    assert '<b>7 pairs are stuck.</b> <a href="/progress"' in shown


def test_a_query_says_which_of_its_pairs_are_stuck_and_why(open_page: Open, project: fake_api.Project) -> None:
    assert "**Stuck**" not in sentences(open_page("queries", query="1"))
    out = ((Barred.SKIPPED, ("Ben",), 2),)
    project.query_stuck = QueryStuck(((Stuck((3, 4), 4, 1, 4, out), (2, 3, 4, 9)),), (5,), (7, 8))
    app = open_page("queries", query="1")
    assert "**Stuck**" in sentences(app)
    shown = re.sub(r"<[^>]+>", "|", html(app))
    for sentence in (
        "4 pairs wait for a third and fourth person: one more annotator is needed. Ranks 2–4 and 9.",
        "Ben skipped them, else they could grade 2 of them.",
        "1 pair is blocked: its clip cannot be shown. Rank 5.",
        "2 pairs are set aside while an exam or a trial asks for them. Ranks 7 and 8.",
    ):
        assert f"|{sentence}|" in shown, sentence
    assert 'href="/disagreements?show=blocked"' in html(app)
    listed = mounted(open_page("queries", show="stuck"), "aria-label='Queries'")
    assert re.findall(r"data-opens='(\d+)'", listed) == ["2"]


def test_the_menu_counts_what_waits_behind_each_page() -> None:
    from annotate_app.pages import PAGES
    from annotate_app.shared import waiting

    every = [Wait(kind, 1000 + nth) for nth, kind in enumerate(WaitKind)]
    found = waiting.counts(every, (Stuck((1, 2), 7, 2, 14, ()), Stuck((2,), 1, 1, 1, ())))
    assert found == {
        "Disagreements": "4,006",
        "Queries": "1,004",
        "Exam": "2,011",
        "Rewrites": "1,007",
        "Descriptions": "1,008",
        "People": "1,009",
        "Gold": "1,010",
        "Progress": "8 stuck",
    }
    assert set(found) < set({page.title for page in PAGES})
    assert waiting.counts((), ()) == {}


def test_what_the_menu_asks_for_is_by_page_and_counted_anew_only_after_a_while(project: fake_api.Project) -> None:
    from annotate_app.shared import menu_counts, waiting

    waiting.forget()
    lead = fake_api.person_for(project, "token-of-Lea", now=0.0)
    assert lead is not None
    project.waits = (Wait(WaitKind.NOTES, 1203),)
    first = menu_counts.told(project, lead)  # type: ignore[arg-type]  # the fake stands in for the real one
    assert first["counts"] == {"/disagreements": "1,203"}
    project.waits = ()
    assert menu_counts.told(project, lead) == first, "nothing has happened"  # type: ignore[arg-type]
    waiting.forget()
    assert menu_counts.told(project, lead)["counts"] == {}  # type: ignore[arg-type]


def test_every_wait_has_a_sentence() -> None:
    from annotate_app.shared import waiting

    every = [Wait(kind, 1000 + nth) for nth, kind in enumerate(WaitKind)]
    assert len(waiting.wait_lines(every)) == len(WaitKind)


def test_progress_of_a_check_of_pools_tells_how_many_videos_are_wrong(
    open_page: Open, project: fake_api.Project
) -> None:
    assert "Wrong videos in the pools" not in [title.value for title in open_page("progress").subheader]
    shares = (Share(20, 0, 0.0, 0.0, 0.1611, 3, 0), Share(29, 1, 1 / 29, 0.0061, 0.1718, 0, 2))
    together = Share(0, 0, None, None, None, 0, 0)
    wrong = (WrongVideo("A <b> waits.", "pools.json a#0", "clip_9", PutInAs.NEGATIVE),)
    facts = CheckFacts("pools.json", "ab", 7, 812, 100, 5)
    project.pool_check = CheckReport(facts, *shares, together, wrong)
    app = open_page("progress")
    assert "Wrong videos in the pools" in [title.value for title in app.subheader]
    shown = html(app)
    assert "<td>0 of 20</td><td><b>0.0%</b></td><td>0.0% to 16.1%</td><td>3 waiting</td>" in shown
    assert "<td>1 of 29</td><td><b>3.4%</b></td><td>0.6% to 17.2%</td><td>2 undecided</td>" in shown
    assert "<td>none settled yet</td><td></td><td></td><td>none</td>" in shown
    assert "<td>A &lt;b&gt; waits.</td><td>clip_9</td><td>negative, matches</td>" in shown
    assert [one.label for one in app.expander] == ["1 wrong video"]
    assert any(text.startswith("Of pools.json: 100 queries of 812.") for text in sentences(app))


def test_progress_of_a_project_without_work_says_what_to_do(open_page: Open, project: fake_api.Project) -> None:
    project.progress = replace(project.progress, people=(), days=(), imported=0)
    project.status["pairs"] = dict.fromkeys(project.status["pairs"], 0)
    app = open_page("progress")
    assert any(text.startswith("No pair has been handed out yet. Next: reelrank ") for text in sentences(app))
    told = [info.value for info in app.info]
    assert told[0].startswith("Nobody has judged anything in the last 30 days.")
    assert told[1].startswith("There is no annotator yet.")
    project.progress = replace(project.progress, people=(PersonPace("Ana", 0, 0),))
    assert open_page("progress").info[1].value == "Nobody has judged anything in the last 7 days."


def test_bars_of_simulated_judgements_are_told_apart(open_page: Open, project: fake_api.Project) -> None:
    from annotate_app.screens.progress import left_out

    def told(judgements: int, simulated: int) -> list[str]:
        return left_out(replace(project.progress, imported=0, days=(DayCount("2025-10-09", judgements, simulated),)))

    assert told(3, 0) == []
    assert told(3, 40) == ["Without 40 simulated ones."]
    assert told(0, 40) == ["All 40 of them are simulated; people have judged nothing in these 30 days."]


def test_a_backup_is_made_and_offered_with_size_and_time(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("progress")
    assert len(app.get("download_button")) == 0
    app.button(key="back_up").click().run()
    assert (project.folder / "backups" / "copy.db").is_file()
    assert len(app.get("download_button")) == 1
    assert any(read(one.value).startswith("copy.db · 2.4 MB · made ") for one in app.markdown)
    (project.folder / "backups" / "copy.db").unlink()
    app.run()
    assert len(app.get("download_button")) == 0


def test_backups_of_before_are_listed_the_newest_first(open_page: Open, project: fake_api.Project) -> None:
    (project.folder / "backups").mkdir()
    for number in range(12):
        file = project.folder / "backups" / f"{number:02}.db"
        file.write_bytes(bytes(1000))
        os.utime(file, (fake_api.NOON + number, fake_api.NOON + number))
    app = open_page("progress")
    shown = [read(one.value).partition(" ")[0] for one in app.markdown if " MB · made " in one.value]
    assert shown == [f"{number:02}.db" for number in range(11, 1, -1)]
    assert "And 2 older ones under backups/." in sentences(app)


# Queries


def test_queries_shows_the_counts_of_status(open_page: Open) -> None:
    shown = {metric.label: metric.value for metric in open_page("queries").metric}
    assert shown == {
        "Judgements": "1,204",
        "Pairs settled": "52 of 61",
        "Escalated": "2",
        "Discarded": "2",
        "Annotators": "3",
    }


def test_a_pair_without_a_verdict_is_not_charted_as_a_relevance_of_0(
    open_page: Open, project: fake_api.Project
) -> None:
    from annotate_app.screens.queries import figure as query_figure

    undecided = [4, None, 3, None, 2, 1, None, 0, 0, None] * 2
    assert list(project.queries[2].relevances) == undecided
    rows = mounted(open_page("queries"), "data-opens")
    assert rows.count("rr-ranks") == 3
    assert "aria-label='Relevances by rank: 4–3–21–00–4–3–21–00–'" in rows
    bars = query_figure.columns(project.pairs[QueryId(3)], 5, new_campaign().scale)
    assert [bar["relevance"] for bar in bars] == undecided
    signs = "".join(bar["sign"] for bar in bars)
    assert signs == "4–3–21–00–4×3–21–00–", "a discarded pair is settled, and has no relevance either"
    assert [bar["Rank"] for bar in bars if bar["colour"] == query_figure.LAST] == [16, 17, 18, 19, 20]
    assert [bar["Similarity"] for bar in bars] == [pair.similarity for pair in project.pairs[QueryId(3)]]


def test_the_query_in_the_url_is_shown(open_page: Open) -> None:
    assert open_page("queries").subheader.len == 0
    app = open_page("queries", query="2")
    assert app.subheader[0].value == "Two people argue in a kitchen"
    assert "the last five, ranks 16–20" in html(app)
    assert open_page("queries", query="nonsense").subheader.len == 0
    app = open_page("queries", query="999")
    assert app.subheader.len == 0
    assert app.info[0].value == "There is no such query, or it has no candidates yet."


def test_a_candidate_tells_its_grades_the_rule_and_its_frames(open_page: Open, project: fake_api.Project) -> None:
    shown = mounted(open_page("queries", query="1"), "rr-board")
    assert shown.count("<article") == 20
    second = shown.split("<article")[2]
    assert "4 and 4 differ by at most 1; their mean is 4." in second
    assert second.count("<span class='rr-grade rr-r4'>4</span>") == 2
    assert "Ana" in second
    assert "similarity 0.860" in second
    pair = project.pairs[QueryId(1)][1]
    assert second.count(f"src='/clips/{pair.pair}.webp'") == 8
    times = [float(at) for at in re.findall(r"<figcaption>([\d.]+) s</figcaption>", second)]
    assert times == [66.3, 68.1, 69.8, 71.6, 73.3, 75.1, 76.8, 78.5], "the middles of eighths of 65.47 to 79.42 s"


def test_probe_pairs_are_told_of_and_in_no_list(open_page: Open, project: fake_api.Project) -> None:
    pairs = project.pairs[QueryId(1)]
    project.pairs[QueryId(1)] = [*pairs[:18], *(replace(pair, probe=True) for pair in pairs[18:])]
    app = open_page("queries", query="1")
    assert mounted(app, "rr-board").count("<article") == 18
    told = "This query is probed: 2 further pairs of it are judged to see how deep judging has to go, "
    assert any(caption.value.startswith(told) for caption in app.caption)


def test_an_opened_candidate_shows_its_clip_its_grades_and_the_rule(open_page: Open) -> None:
    assert "Ana" not in html(open_page("queries", query="1"))
    app = open_page("queries", query="1", pair="3")
    assert "3 and 4 differ by at most 1; their mean 3.5, half up, is 4." in " ".join(sentences(app))
    assert "<span class='rr-grade rr-r3'>3</span>" in html(app)
    assert open_page("queries", query="1", pair="99").markdown.len < app.markdown.len


def test_filters_of_the_address_choose_the_queries(open_page: Open) -> None:
    def listed(**address: str) -> list[str]:
        return re.findall(r"data-opens='(\d+)'", mounted(open_page("queries", **address), "data-opens"))

    assert listed() == ["1", "2", "3"]
    assert listed(show="work") == ["3"]
    assert listed(show="next", q="kitchen") == ["2"]
    assert listed(split="val") == ["3"]
    assert open_page("queries", q="no such words").info[0].value == "No query is in this list just now."


def test_next_and_previous_keep_to_the_filter(open_page: Open) -> None:
    app = open_page("queries", query="1", show="next", pair="3")
    assert app.button(key="query-previous").disabled
    assert "1 of 2 queries" in sentences(app)
    app.button(key="query-next").click().run()
    assert {name: "".join(value) for name, value in app.query_params.items()} == {"query": "2", "show": "next"}
    assert app.subheader[0].value == "Two people argue in a kitchen"
    assert app.button(key="query-next").disabled
    app.button(key="all_queries").click().run()
    assert "query" not in app.query_params
    assert "not among the 1 query listed" in sentences(open_page("queries", query="2", show="work"))


def test_batch_2_opens_once(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("queries", query="1")
    assert "4 of 5 graded 3 or more :green-badge[open]" in "".join(sentences(app))
    app.button(key="open_batch").click().run()
    assert read(app.success[0].value) == "Batch 2 is open: 20 pairs went to the annotators."
    assert project.queries[0].batches_open == 2
    assert app.button(key="open_batch").disabled


def test_batch_2_says_why_it_cannot_be_opened(open_page: Open) -> None:
    app = open_page("queries", query="3")
    assert app.button(key="open_batch").disabled
    assert any("pairs are not settled yet." in caption.value for caption in app.caption)


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


def test_a_query_without_any_relevance_has_its_similarities_charted(open_page: Open, project: fake_api.Project) -> None:
    project.queries[2] = replace(project.queries[2], relevances=(None,) * 20)
    pairs = project.pairs[QueryId(3)]
    project.pairs[QueryId(3)] = [replace(one, relevance=None, verdict=Verdict.OPEN, grades=()) for one in pairs]
    app = open_page("queries", query="3")
    assert len(app.get("vega_lite_chart")) == 1
    assert "no relevance (yet): <b>20</b>" in html(app)


def test_a_project_without_candidates_says_what_to_do(open_page: Open, project: fake_api.Project) -> None:
    project.queries.clear()
    assert open_page("queries").info[0].value.startswith("No query has candidates yet.")


# People


def test_somebody_new_gets_a_link_that_is_shown_once(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("people")
    app.text_input(key="new_name").input("Fay")
    app.selectbox(key="new_role").select("lead")
    app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    assert project.people["Fay"].role is Role.LEAD
    assert app.code[0].value.endswith("/session/invitation/invite-Fay")
    assert "**Send this link to Fay**" in sentences(app)
    assert app.run().code.len == 0


def test_a_row_tells_how_much_and_how_fast_a_person_works(open_page: Open, project: fake_api.Project) -> None:
    project.flags = [flags_of(2, "Ana", ONE_GRADE, DRIFT_UNDEFINED, median_s=5.25)]
    shown = html(open_page("people"))
    row = {"Judgements": "120", "Today": "10", "Median active": "5.2 s", "Skips": "0"}
    assert "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in row.items()) in shown
    assert "<dt>Median active</dt><dd>not measured</dd>" in shown
    assert shown.count("<dl") == 3, "the lead does not grade"


ONE_GRADE = Flag(FlagKind.ONE_GRADE, 0.552, 1204, 0.45, raised=True, told="55.2 % of 1,204 grades are 3; *much*.")
BIAS = Flag(FlagKind.BIAS, -0.12, 900, 0.5, raised=False, told="On average 0.12 lower.", interval=(-0.2, -0.04))
DRIFT_UNDEFINED = Flag(
    FlagKind.DRIFT, None, 12, 0.25, raised=False, told="12 grades are too few.", reason="12 are few."
)


def flags_of(number: int, name: str, *flags: Flag, median_s: float | None = None) -> PersonFlags:
    return PersonFlags(AnnotatorId(number), name, 1204, median_s, flags)


@pytest.fixture
def flagged(project: fake_api.Project) -> fake_api.Project:
    """Ana gives one grade most of the time, and the pairs behind it are those of a query."""
    project.flags = [flags_of(2, "Ana", ONE_GRADE, BIAS, DRIFT_UNDEFINED), flags_of(3, "Ben", BIAS, BIAS, BIAS)]
    pairs = [pair for pairs in project.pairs.values() for pair in pairs]
    stretches = tuple(Stretch(fake_api.NOON + n, fake_api.NOON + n + 50, 40, 0.4 + n / 50) for n in range(6))
    project.behind = BehindFlag(stretches, tuple(pair.pair_id for pair in pairs), by_number=30)
    return project


def test_a_flag_leads_to_its_explanation_and_the_pairs_behind_it(open_page: Open, flagged: fake_api.Project) -> None:
    app = open_page("people")
    assert [button.label for button in app.button if (button.key or "").startswith("flag-")] == [
        "One grade 55.2 %, n = 1,204"
    ]
    app.button(key="flag-2-one_grade").click().run()
    assert dict(app.query_params) == {"who": "2", "flag": "one_grade"}
    said = sentences(app)
    assert [header.value for header in app.header] == ["Ana"]
    assert [subheader.value for subheader in app.subheader] == ["One grade"]
    assert FLAG_MEANINGS[FlagKind.ONE_GRADE] in said
    assert "55.2 % of 1,204 grades are 3; *much*." in said
    assert len(app.get("vega_lite_chart")) == 1
    count = len(flagged.behind.pairs)
    assert f"**{count + 30} pairs.** The pairs that got this grade, the newest first." in said
    assert any(text.startswith("Of 30 pairs nothing but the number is known") for text in said)
    assert len(app.get("bidi_component")) == min(5, count), "a clip each"
    app.button(key="all_people").click().run()
    assert dict(app.query_params) == {}
    assert app.text_input(key="new_name")


@pytest.mark.parametrize(("kind", "reports_only"), [(FlagKind.SKIPS, False), (FlagKind.REPORTS, True)])
def test_a_lead_undoes_all_skips_or_all_reports_of_a_person_after_a_question(
    open_page: Open, flagged: fake_api.Project, kind: FlagKind, reports_only: bool
) -> None:
    told = "149 of 160 pairs on the desk were skipped (93.1 %); more than 20 % is a flag."
    flagged.flags = [flags_of(2, "Ana", Flag(kind, 0.931, 160, 0.2, raised=True, told=told))]
    app = open_page("people")
    app.button(key=f"flag-2-{kind.value}").click().run()
    assert told in sentences(app)
    assert any("shown to everybody again" in text for text in sentences(app)), "what it does, before it is done"
    app.button(key=f"lift-{kind.value}").click().run()
    assert flagged.lifted == [(2, reports_only)]
    assert [toast.value for toast in app.toast] == ["40 skips undone, 39 clips shown again."]


def test_clips_that_one_person_reported_are_listed_and_kept_back_by_a_lead(
    open_page: Open, project: fake_api.Project
) -> None:
    clip = ReportedClip(PairKey("pair7"), "friends_s01.mp4", 12.0, 15.5, "Ana", "*black*", fake_api.NOON)
    project.reported_by_one = [clip, replace(clip, pair=PairKey("pair8"))]
    app = open_page("progress")
    assert "Clips that one person reported as broken" in [subheader.value for subheader in app.subheader]
    line = "**friends_s01.mp4**, 12.0\u201315.5 s, reported by Ana: *black*"
    assert sentences(app).count(line) == 2
    app.button(key="keep-pair7").click().run()
    assert project.reported == [("pair7", "*black*")]
    assert sentences(app).count(line) == 1


def test_another_figure_of_the_same_person(open_page: Open, flagged: fake_api.Project) -> None:
    app = open_page("people")
    app.button(key="look-3").click().run()
    assert [header.value for header in app.header] == ["Ben"]
    app = open_page("people")
    app.button(key="look-2").click().run()
    assert [subheader.value for subheader in app.subheader] == ["One grade"], "what is flagged is shown first"
    assert app.button(key="behind-one_grade").disabled
    app.button(key="behind-bias").click().run()
    assert [subheader.value for subheader in app.subheader] == ["Bias"]
    assert not any(button.key == "behind-drift" for button in app.button), "there is nothing behind what is undefined"
    app.query_params["flag"] = "drift"
    app.run()
    assert [info.value for info in app.info] == ["12 are few."]


@pytest.mark.parametrize("who", ["99", "x"])
def test_an_address_of_nobody_leads_back(open_page: Open, flagged: fake_api.Project, who: str) -> None:
    app = open_page("people")
    app.query_params["who"] = who
    app.run()
    assert not app.exception
    if who == "99":
        assert [info.value for info in app.info] == ["There is no such annotator here."]
        app.button(key="all_people").click().run()
    assert app.text_input(key="new_name")


@pytest.mark.parametrize(
    ("name", "sentence"), [(" ", "Please give a name"), ("Ana", "There is a person called Ana already")]
)
def test_a_name_that_cannot_be(open_page: Open, name: str, sentence: str) -> None:
    app = open_page("people")
    app.text_input(key="new_name").input(name)
    app.button(key="FormSubmitter:add_person-Add and invite").click().run()
    assert read(app.error[0].value).startswith(sentence)
    assert app.code.len == 0


def test_suspending_and_reinstating(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("people")
    assert [app.button(key=f"suspend-{number}").label for number in (1, 2, 4)] == [
        "Suspend",
        "Suspend",
        "Reinstate",
    ]
    assert app.button(key="suspend-1").disabled, "nobody locks themselves out"
    app.button(key="suspend-2").click().run()
    assert project.people["Ana"].suspended
    assert app.button(key="suspend-2").label == "Reinstate"


def test_pausing_with_a_reason_and_going_on(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("people")
    pausable = [key for key in ("pause-reason-1", "pause-reason-2") if any(box.key == key for box in app.text_input)]
    assert pausable == ["pause-reason-2"], "a lead takes no pairs"
    app.button(key="FormSubmitter:pause-2-Pause").click().run()
    assert read(app.error[0].value) == "a pause needs a reason: write one sentence about why"
    app.text_input(key="pause-reason-2").input("only 4s since <b>noon</b>")
    app.button(key="FormSubmitter:pause-2-Pause").click().run()
    assert not app.error
    assert project.pauses[AnnotatorId(2)].reason == "only 4s since <b>noon</b>"
    badge = next(text for text in (markdown.value for markdown in app.markdown) if "paused" in text)
    assert badge == ":orange-badge[paused]"
    assert not project.people["Ana"].suspended
    app.button(key="go-on-2").click().run()
    assert project.pauses == {}
    assert app.button(key="FormSubmitter:pause-2-Pause")


def test_who_paused_somebody_and_why() -> None:
    from annotate_app.screens.people import paused

    assert paused(Pause(fake_api.NOON, "Lea", "a word"), "UTC").endswith(", by Lea: a word")
    assert paused(Pause(fake_api.NOON, None, "9 of 20 missed"), "UTC").endswith(", by a rule: 9 of 20 missed")


def test_an_invitation_leads_to_the_address_the_lead_uses() -> None:
    from annotate_app.shared.inviting import invitation_url

    url = invitation_url("https://grade.example.org:8443/people?x=1", "abc")
    assert url == "https://grade.example.org:8443/session/invitation/abc"


# Release


def test_what_a_release_would_leave_out(open_page: Open) -> None:
    texts = open_page("release").warning[0].value.split("  \n")[1:]
    assert texts[0] == "1 query is left out: pairs of it still wait for grades, and would count as not relevant."
    assert texts[1] == "1 pair is decided by a lead, and marked as such."
    assert texts[2] == "8 pairs are not settled yet (6 open, 2 escalated)."
    assert texts[3].startswith("2 pairs are discarded")
    assert texts[4] == "1 pair is blocked, because the clip cannot be shown."


def test_a_lead_says_what_goes_into_a_release_and_sees_it_at_once(open_page: Open) -> None:
    app = open_page("release")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Queries for validation"].startswith("1 of ")
    assert shown["Pairs with a relevance"] == "40"
    assert list(app.table[0].value["Why"]) == ["8 of 20 pairs wait"]
    app.checkbox(key="release_unfinished").check().run()
    app.segmented_control(key="release_adjudicated").set_value("Left out").run()
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Queries for validation"].startswith("2 of ")
    assert shown["Pairs with a relevance"] == "51"
    texts = app.warning[0].value.split("  \n")[1:]
    assert texts[0].startswith("1 query is in it although pairs still wait")
    assert texts[1] == "1 pair is left out because a lead decided on them."


def test_what_became_of_rewrites_is_told_when_nothing_can_be_decided(
    open_page: Open, project: fake_api.Project
) -> None:
    project.rewrites = replace(project.rewrites, then="reelrank rewrite my_project")
    assert "No caption was rewritten yet. Next: reelrank rewrite my_project" in sentences(open_page("rewrites"))
    project.rewrites = replace(project.rewrites, fixed=True)
    as_published = "No caption was rewritten yet. Queries were drawn from the captions as published."
    assert as_published in sentences(open_page("rewrites"))
    project.rewrites = replace(project.rewrites, counts=RewriteCounts(1204, 42, 3, 15, 2))
    app = open_page("rewrites")
    assert "Queries were drawn from these captions, so their texts are fixed now." in sentences(app)
    assert [(metric.label, metric.value) for metric in app.metric] == [
        *(
            ("Accepted", "1,204"),
            ("By hand", "15"),
            ("Retried", "42"),
            ("Rejected", "2"),
            ("Never decided", "3"),
        ),
    ]


def test_releases_are_listed_and_one_whose_file_is_gone_says_so(open_page: Open, project: fake_api.Project) -> None:
    from annotate_app.screens.release.releases import told

    (kept,) = project.releases
    project.releases.append(replace(kept, name="v0", megabytes=None))
    app = open_page("release")
    assert len(app.get("download_button")) == 1
    assert any("**v0**" in one.value and "its file is gone" in one.value for one in app.markdown)
    text = told(kept, "UTC")
    assert "**v1** · 1 validation and 1 test query, 40 graded moments · with unfinished queries" in text
    assert "The first one" in text
    assert "`abababababababab` · 0.1 MB" in text


def test_making_a_release(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from annotate_app.server import export_worker

    future: Future[tuple[str, bool]] = Future()
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        export_worker, "start", lambda folder, person, *said: asked.append((person.name, *said[:-1])) or future
    )
    app = open_page("release")
    assert not app.checkbox(key="with_published").value, "names leave the project only where a lead says so"
    app.checkbox(key="with_published").check().run()
    app.text_input(key="release_name").set_value("v2").run()
    app.button(key="make_release").click().run()
    assert asked == [("Lea", ReleaseOptions(with_published=True), "v2", "")]
    assert app.button(key="make_release").disabled, "one at a time"
    assert app.info[0].value.startswith("The release is being made.")
    future.set_result(("v2", False))
    app.run()
    assert app.success[0].value == "The release v2 is ready; it stands below."
    assert not app.button(key="make_release").disabled
