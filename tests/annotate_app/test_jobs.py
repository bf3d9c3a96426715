"""Long work: one act at a time, told to everybody while it lasts and afterwards, whatever becomes of its process."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from fractions import Fraction
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.server import job_functions, jobs
from annotate_app.server.job_functions import HowToMeasure
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.serving.jobs import look_at_work
from backend.campaign.setup.serving.model import LongWork, WorkOutcome, WorkState
from backend.core import processes
from backend.core.errors import NotAllowed, ProjectError
from backend.core.ids import AnnotatorId
from backend.core.progress import Progress
from backend.store.connection import writing
from reading import words
from support import NOW, Judging

USUAL = HowToMeasure(Fraction(3), None)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "project", encoder="minilm")


@pytest.fixture
def lead(project: Project) -> Person:
    return people.add(project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)


@pytest.fixture
def futures(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Future[None], Callable[[], None]]]:
    """The processes that were begun: their futures, and what they would do."""
    begun: list[tuple[Future[None], Callable[[], None]]] = []

    def alone(work: Callable[..., None], *arguments: object) -> Future[None]:
        future: Future[None] = Future()
        begun.append((future, lambda: work(*arguments)))
        return future

    monkeypatch.setattr(processes, "alone", alone)
    monkeypatch.setattr("os.nice", lambda by: 0)
    return begun


def found(project: Project, lead: Person) -> LongWork:
    work = look_at_work(project, lead, now=time.time())
    assert work is not None
    return work


def three_steps(project: Project, lead: Person, told: list[LongWork], *, progress: Progress) -> WorkOutcome:
    for done in range(4):
        progress("counting", done, 3)
        while (work := found(project, lead)).done != done or not work.total:
            time.sleep(0.01)  # it is told by a thread beside
        told.append(work)
        assert jobs.in_menu(project, lead) == {"Set up": ("0 %", "33 %", "66 %", "100 %")[done]}
    return WorkOutcome(["Three were counted."])


def refuses(project: Project, lead: Person, *, progress: Progress) -> WorkOutcome:
    raise ProjectError("this cannot be done: do that first")


def in_one_transaction(project: Project, lead: Person, *, progress: Progress) -> WorkOutcome:
    with writing(project.store):
        progress("writing", 1, 2)
        time.sleep(0.1)  # long enough for the thread beside to try
        progress("writing", 2, 2)
    return WorkOutcome(["Written."])


def test_everybody_sees_how_far_it_is_and_what_came_of_it(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "_EVERY_S", 0.01)
    now, told = time.time(), list[LongWork]()
    jobs.begin(project, lead, "a step", "Counting", three_steps, told, asked={"file": "a.csv"}, now=now)
    assert found(project, lead) == LongWork("a step", "Counting", "Lea", now, asked={"file": "a.csv"})
    with pytest.raises(ProjectError, match="Counting is under way, begun by Lea: wait until it is done"):
        jobs.begin(project, lead, "another", "More", refuses, now=now)
    assert jobs.in_menu(project, lead) == {"Set up": "working"}
    ((future, do),) = futures
    do()
    assert {(one.state, one.what, one.total) for one in told} == {(WorkState.UNDER_WAY, "counting", 3)}
    future.set_result(None)
    assert jobs.in_menu(project, lead) == {}
    ended = found(project, lead)
    assert (ended.state, ended.outcome.sentences, ended.asked) == (
        WorkState.DONE,
        ["Three were counted."],
        {"file": "a.csv"},
    )


def test_an_act_may_tell_how_far_it_is_in_the_middle_of_its_transaction(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "_EVERY_S", 0.01)
    jobs.begin(project, lead, "a step", "Writing", in_one_transaction, now=time.time())
    futures[0][1]()
    assert (found(project, lead).state, found(project, lead).outcome.sentences) == (WorkState.DONE, ["Written."])


def test_what_is_silent_for_long_says_that_it_is_there(
    project: Project, lead: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_EVERY_S", 0.01)
    monkeypatch.setattr(jobs, "_HERE_S", 0.02)
    heard: list[tuple[str, int, int]] = []
    monkeypatch.setattr(jobs, "tell_work", lambda p, key, *told, now: heard.append(told))
    with jobs._Telling(project, "a key"):
        while len(heard) < 3:
            time.sleep(0.01)
    assert heard[:3] == [("", 0, 0)] * 3


def test_a_refusal_is_told_and_the_next_act_may_begin(
    project: Project, lead: Person, futures: list[tuple[Future[None], Callable[[], None]]]
) -> None:
    jobs.begin(project, lead, "a step", "Counting", refuses, now=time.time())
    futures[0][1]()
    futures[0][0].set_result(None)
    told = found(project, lead)
    assert (told.state, told.refusal) == (WorkState.REFUSED, "this cannot be done: do that first")
    assert jobs.in_menu(project, lead) == {"Set up": "refused"}
    jobs.begin(project, lead, "a step", "Counting", refuses, now=time.time())
    assert found(project, lead).state is WorkState.UNDER_WAY


def test_a_process_that_dies_is_told(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    jobs.begin(project, lead, "a step", "Counting", refuses, now=time.time())
    futures[0][0].set_exception(MemoryError("killed"))
    assert found(project, lead).state is WorkState.FAILED
    assert "Counting failed" in caplog.text


def test_the_act_asks_the_gate(project: Project, tmp_path: Path) -> None:
    nobody = Person(AnnotatorId(99), "Nobody", Role.LEAD)
    with pytest.raises(NotAllowed):
        job_functions.take_videos(project, nobody, tmp_path, USUAL, progress=lambda what, done, total: None)


def test_in_a_process_of_its_own_it_goes_on_without_anybody(project: Project, lead: Person, tmp_path: Path) -> None:
    folder = tmp_path / "no videos"
    folder.mkdir()
    begun = time.time()
    jobs.begin(project, lead, "videos", "Measuring", job_functions.take_videos, folder, USUAL, now=begun).result(60)
    told = found(project, lead)
    assert (told.state, told.refusal) == (WorkState.REFUSED, f"{folder}: no video file is in it")


def test_an_act_whose_server_is_asked_to_stop_is_cut_short_and_no_failure(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    jobs.begin(project, lead, "a step", "Counting", three_steps, [], now=time.time() - 120)
    monkeypatch.setattr(processes, "is_ending", lambda: True)
    futures[0][0].set_exception(KeyboardInterrupt())
    assert found(project, lead).state is WorkState.CUT_SHORT
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_release_is_a_job_that_every_lead_sees_and_can_start_again(
    judging: Judging,
    futures: list[tuple[Future[None], Callable[[], None]]],
    open_judging: Callable[..., AppTest],
) -> None:
    project, lea = judging.project, judging.lead
    leo = people.add(project.store, OPERATOR, "Leo", Role.LEAD, now=NOW)
    for annotator in (0, 1):
        judging.grade(annotator, judging.pairs()[0].pair, 3)
    page = open_judging("release")
    assert not page.checkbox(key="with_published").value, "names leave the project only where a lead says so"
    page.checkbox(key="release_unfinished").check().run()
    page.text_input(key="release_name").set_value("v2").run()
    page.button(key="make_release").click().run()
    for lead in (lea, leo):  # whoever looks, and after a reload
        page = open_judging("release", lead)
        assert page.button(key="make_release").disabled, "one at a time"
        assert "**Making a release**" in words(page)
        assert jobs.in_menu(project, leo) == {"Release": "working"}
    future, _ = futures[0]
    future.set_exception(RuntimeError("killed"))
    page = open_judging("release", leo)
    assert "**Making a release** failed." in words(page)
    page.button(key="release_again").click().run()
    futures[1][1]()
    page = open_judging("release", leo)
    assert "The release v2 is ready; it stands below." in words(page)
    (kept,) = list_releases(project, leo)
    assert (kept.name, kept.settings) == ("v2", ("with unfinished queries",))
