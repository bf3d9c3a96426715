"""Background jobs: every lead sees them while they run and afterwards, even if their process dies."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from fractions import Fraction
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app.server import job_functions, jobs
from annotate_app.server.job_functions import HowToMeasure
from backend.campaign import demo
from backend.campaign.monitoring.progress.progress import cut_clips_as_job
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.monitoring.quality.model import WHOLE, AgreementBoard
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.serving import jobs as serving_jobs
from backend.campaign.setup.serving.jobs import begin_job, cancel_job, job_result, list_jobs
from backend.campaign.setup.serving.model import Job, JobKind, JobOutcome, JobState
from backend.core import processes
from backend.core.errors import NotAllowed, ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
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

    def alone(work: Callable[..., None], *arguments: object, niceness: int) -> Future[None]:
        future: Future[None] = Future()
        begun.append((future, lambda: work(*arguments)))
        return future

    monkeypatch.setattr(processes, "alone", alone)
    return begun


def found(project: Project, lead: Person) -> Job:
    return list_jobs(project, lead, now=time.time())[0]


def three_steps(project: Project, lead: Person, told: list[Job], *, progress: Progress) -> JobOutcome:
    for done in range(4):
        progress("counting", done, 3)
        while (job := found(project, lead)).done != done or not job.total:
            time.sleep(0.01)  # it is told by a thread beside
        told.append(job)
        assert jobs.in_menu(project, lead) == {"Set up": ("0 %", "33 %", "66 %", "100 %")[done]}
    return JobOutcome(["Three were counted."])


def refuses(project: Project, lead: Person, *, progress: Progress) -> JobOutcome:
    raise ProjectError("this cannot be done: do that first")


def in_one_transaction(project: Project, lead: Person, *, progress: Progress) -> JobOutcome:
    with writing(project.store):
        progress("writing", 1, 2)
        time.sleep(0.1)  # long enough for the thread beside to try
        progress("writing", 2, 2)
    return JobOutcome(["Written."])


def test_everybody_sees_how_far_a_job_is_and_what_came_of_it(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving_jobs, "REPORT_EVERY_S", 0.01)
    now, told = time.time(), list[Job]()
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Counting", three_steps, told, asked={"file": "a.csv"}, now=now)
    key = found(project, lead).key
    begun = Job(key, JobKind.SET_UP, "a step", "Counting", "Lea", now, asked={"file": "a.csv"})
    assert found(project, lead) == begun
    with pytest.raises(ProjectError, match="Lea started “Counting”, which is still running: wait until it is done"):
        jobs.begin(project, lead, JobKind.RELEASE, "", "More", refuses, now=now)
    assert jobs.in_menu(project, lead) == {"Set up": "working"}
    ((future, do),) = futures
    do()
    assert {(one.state, one.what, one.total) for one in told} == {(JobState.UNDER_WAY, "counting", 3)}
    future.set_result(None)
    assert jobs.in_menu(project, lead) == {}
    ended = found(project, lead)
    assert (ended.state, ended.outcome.sentences, ended.asked) == (
        JobState.DONE,
        ["Three were counted."],
        {"file": "a.csv"},
    )


def test_a_job_may_report_in_the_middle_of_its_transaction(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving_jobs, "REPORT_EVERY_S", 0.01)
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Writing", in_one_transaction, now=time.time())
    futures[0][1]()
    assert (found(project, lead).state, found(project, lead).outcome.sentences) == (JobState.DONE, ["Written."])


def waits_then_adds(project: Project, lead: Person, *, progress: Progress) -> JobOutcome:
    """Adds somebody, and goes on for ever in the middle of it."""
    with writing(project.store):
        people.add(project.store, OPERATOR, "Half", Role.ANNOTATOR, now=NOW)
        while True:
            progress("adding people", 1, 2)
            time.sleep(0.01)


def test_a_job_that_is_cancelled_leaves_nothing_half_done(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving_jobs, "REPORT_EVERY_S", 0.01)
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Adding", waits_then_adds, now=time.time())
    job = found(project, lead)
    cancel_job(project, lead, job.key)
    assert found(project, lead).is_cancelled
    futures[0][1]()
    futures[0][0].set_result(None)
    told = found(project, lead)
    assert (told.state, told.outcome) == (JobState.CANCELLED, JobOutcome())
    assert [row.person.name for row in people.list_people(project, OPERATOR)] == ["Lea"]
    assert jobs.in_menu(project, lead) == {"Set up": "cancelled"}
    with pytest.raises(ProjectError, match="This job has ended already"):
        cancel_job(project, lead, job.key)
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Counting", refuses, now=time.time())


def test_a_job_past_its_last_step_is_done_all_the_same(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Writing", in_one_transaction, now=time.time())
    cancel_job(project, lead, found(project, lead).key)
    futures[0][1]()  # it is over before its process next looks
    assert found(project, lead).state is JobState.DONE


def test_a_real_process_stops_when_it_is_cancelled(project: Project, lead: Person, tmp_path: Path) -> None:
    folder = project.folder / "videos"
    folder.mkdir()
    for number in range(60):
        for clip in sorted(demo.clip_folder().glob("*.mp4")):
            (folder / f"{number} {clip.name}").write_bytes(clip.read_bytes() + bytes([number]))
    measured = jobs.begin(
        *(project, lead, JobKind.SET_UP, "videos", "Measuring"),
        *(job_functions.add_videos, folder, HowToMeasure(Fraction(3), True)),
        now=time.time(),
    )
    assert measured is not None
    cancel_job(project, lead, found(project, lead).key)
    measured.result(60)
    assert found(project, lead).state is JobState.CANCELLED
    assert project.store.db.conn.execute("SELECT count(*) FROM video").fetchone()[0] == 0


def test_a_job_that_is_silent_for_long_says_that_it_is_there(
    project: Project, lead: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_jobs, "REPORT_EVERY_S", 0.01)
    monkeypatch.setattr(serving_jobs, "ALIVE_EVERY_S", 0.02)
    heard: list[tuple[str, int, int]] = []
    monkeypatch.setattr(serving_jobs, "report_progress", lambda p, key, *told, now: heard.append(told))
    with serving_jobs.reporting(project, "a key"):
        while len(heard) < 3:
            time.sleep(0.01)
    assert heard[:3] == [("", 0, 0)] * 3


def test_a_refusal_is_shown_and_the_next_job_may_begin(
    project: Project, lead: Person, futures: list[tuple[Future[None], Callable[[], None]]]
) -> None:
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Counting", refuses, now=time.time())
    futures[0][1]()
    futures[0][0].set_result(None)
    told = found(project, lead)
    assert (told.state, told.refusal) == (JobState.REFUSED, "this cannot be done: do that first")
    assert jobs.in_menu(project, lead) == {"Set up": "refused"}
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Counting", refuses, now=time.time())
    assert found(project, lead).state is JobState.UNDER_WAY


def test_a_process_that_dies_is_told(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Counting", refuses, now=time.time())
    futures[0][0].set_exception(MemoryError("killed"))
    assert found(project, lead).state is JobState.FAILED
    assert "Counting failed" in caplog.text


def test_the_function_of_a_job_checks_who_asks(project: Project, tmp_path: Path) -> None:
    nobody = Person(AnnotatorId(99), "Nobody", Role.LEAD)
    with pytest.raises(NotAllowed):
        job_functions.add_videos(project, nobody, tmp_path, USUAL, progress=lambda what, done, total: None)


def test_in_a_process_of_its_own_it_goes_on_without_anybody(project: Project, lead: Person, tmp_path: Path) -> None:
    folder = project.folder / "no videos"
    folder.mkdir()
    begun = time.time()
    measured = jobs.begin(
        *(project, lead, JobKind.SET_UP, "videos", "Measuring"),
        *(job_functions.add_videos, folder, USUAL),
        now=begun,
    )
    assert measured is not None
    measured.result(60)
    told = found(project, lead)
    assert (told.state, told.refusal) == (JobState.REFUSED, f"{folder}: the folder has no video files")


def test_a_job_whose_server_is_asked_to_stop_is_interrupted_and_no_failure(
    project: Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    jobs.begin(project, lead, JobKind.SET_UP, "a step", "Counting", three_steps, [], now=time.time())
    monkeypatch.setattr(processes, "is_ending", lambda: True)
    futures[0][0].set_exception(KeyboardInterrupt())
    assert found(project, lead).state is JobState.INTERRUPTED
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_intervals_of_a_server_that_was_killed_are_interrupted_within_ten_seconds_and_can_be_started_again(
    judging: Judging, tmp_path: Path
) -> None:
    project, lead = judging.project, judging.lead
    judging.grade(0, judging.pairs()[0].pair, 3)
    (tmp_path / "slow.py").write_text(
        "import time\n\n\ndef intervals(project, lead, *, progress):\n"
        "    progress('resampling', 1, 2)\n    time.sleep(600)\n"
    )
    code = f"""
import sys, time
from pathlib import Path
import slow
from annotate_app.server import jobs
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.serving.model import JobKind
project = open_project(Path({str(project.folder)!r}))
lead = next(row.person for row in list_people(project, OPERATOR) if row.person.role is Role.LEAD)
jobs.begin(project, lead, JobKind.INTERVALS, "all", "Computing", slow.intervals, now=time.time())
sys.stdin.read()
"""
    paths = os.pathsep.join((str(tmp_path), *sys.path))
    server = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}
    )
    until = time.monotonic() + 60
    while not ((all_jobs := list_jobs(project, lead, now=time.time())) and all_jobs[0].done):
        assert time.monotonic() < until
        time.sleep(0.1)
    server.kill()
    server.communicate()
    until = time.monotonic() + 10
    while found(project, lead).state is not JobState.INTERRUPTED:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert jobs.in_menu(project, lead) == {"Agreement": "interrupted"}
    again = jobs.begin(
        *(project, lead, JobKind.INTERVALS, "all", "Computing"),
        *(job_functions.agreement_intervals, WHOLE),
        now=time.time(),
    )
    assert again is not None
    again.result(60)
    board = job_result(project, lead, found(project, lead).key, AgreementBoard)
    assert board == agreement_board(project, lead)


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
    assert "The release v2 is ready. Download it below." in words(page)
    (kept,) = list_releases(project, leo)
    assert (kept.name, kept.settings) == ("v2", ("with unfinished queries",))


def test_clips_that_a_command_cut_are_a_job_that_leads_see_and_start_again(
    judging: Judging,
    futures: list[tuple[Future[None], Callable[[], None]]],
    open_judging: Callable[..., AppTest],
) -> None:
    project, lead = judging.project, judging.lead
    report = cut_clips_as_job(project, OPERATOR, next_batches=True, now=NOW)
    assert report.without_file, "no video of this project has a file"
    page = open_judging("progress")
    assert "**Cutting clips** is done." in words(page)
    assert "0 clips: 0 existed, 0 were cut, 0 failed." in words(page)
    page.button(key="dismiss_job").click().run()
    assert list_jobs(project, lead, now=NOW) == []

    begun = begin_job(
        project,
        OPERATOR,
        JobKind.CLIPS,
        "",
        said("Cutting clips"),
        {"next_batches": "yes", "everything": ""},
        now=NOW - 100,
    )
    assert begun
    page = open_judging("progress")
    assert "Cutting clips was interrupted, because the server stopped." in words(page)
    assert jobs.in_menu(project, lead) == {"Progress": "interrupted"}
    page.button(key="clips_again").click().run()
    assert "Started by Lea" in words(open_judging("progress"))
    with pytest.raises(ProjectError, match="clips are already being cut"):
        cut_clips_as_job(project, OPERATOR, now=NOW)
    futures[0][1]()
    futures[0][0].set_result(None)
    assert "**Cutting clips** is done." in words(open_judging("progress"))
