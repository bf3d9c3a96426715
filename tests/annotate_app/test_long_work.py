"""Long work: one act at a time, told to everybody while it lasts and afterwards, whatever becomes of its process."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from fractions import Fraction
from pathlib import Path

import pytest

from annotate_app.server import long_work, set_up_work
from annotate_app.server.long_work import LongWork, WorkOutcome, WorkState
from annotate_app.server.set_up_work import HowToMeasure
from backend import api
from backend.campaign.nouns import Person, Role
from backend.campaign.people import accounts as people
from backend.ground import processes
from backend.ground.errors import NotAllowed, ProjectError
from backend.ground.ids import AnnotatorId
from backend.ground.progress import Progress
from support import NOW

USUAL = HowToMeasure(Fraction(3), None)


@pytest.fixture
def project(tmp_path: Path) -> api.Project:
    return api.init_project(tmp_path / "project", encoder="minilm")


@pytest.fixture
def lead(project: api.Project) -> Person:
    return people.add(project.store, api.OPERATOR, "Lea", Role.LEAD, now=NOW)


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


def found(project: api.Project) -> LongWork:
    work = long_work.look(project)
    assert work is not None
    return work


def three_steps(project: api.Project, lead: Person, told: list[LongWork], *, progress: Progress) -> WorkOutcome:
    for done in range(4):
        progress("counting", done, 3)
        told.append(found(project))
        if done in (0, 3):  # what comes in between may be told a moment later
            assert long_work.in_menu(project) == {"Set up": "100 %" if done else "0 %"}
    return WorkOutcome(["Three were counted."])


def refuses(project: api.Project, lead: Person, *, progress: Progress) -> WorkOutcome:
    raise ProjectError("this cannot be done: do that first")


def test_everybody_sees_how_far_it_is_and_what_came_of_it(
    project: api.Project, lead: Person, futures: list[tuple[Future[None], Callable[[], None]]]
) -> None:
    assert long_work.look(project) is None
    told: list[LongWork] = []
    long_work.begin(project, lead, "a step", "Counting", three_steps, told, asked={"file": "a.csv"}, now=NOW)
    assert found(project) == LongWork("a step", "Counting", "Lea", NOW, asked={"file": "a.csv"})
    long_work.put_away(project)
    with pytest.raises(ProjectError, match="Counting is under way, begun by Lea: wait until it is done"):
        long_work.begin(project, lead, "another", "More", refuses, now=NOW)
    assert long_work.in_menu(project) == {"Set up": "working"}
    ((future, do),) = futures
    do()
    assert {(one.state, one.what, one.total) for one in told} == {(WorkState.UNDER_WAY, "counting", 3)}
    assert (told[0].done, told[-1].done) == (0, 3)
    future.set_result(None)
    assert long_work.in_menu(project) == {}
    ended = found(project)
    assert (ended.state, ended.outcome.sentences, ended.asked) == (
        WorkState.DONE,
        ["Three were counted."],
        {"file": "a.csv"},
    )
    long_work.put_away(project)
    assert long_work.look(project) is None


def test_a_refusal_is_told_and_the_next_act_may_begin(
    project: api.Project, lead: Person, futures: list[tuple[Future[None], Callable[[], None]]]
) -> None:
    long_work.begin(project, lead, "a step", "Counting", refuses, now=NOW)
    futures[0][1]()
    futures[0][0].set_result(None)
    assert (found(project).state, found(project).refusal) == (WorkState.REFUSED, "this cannot be done: do that first")
    assert long_work.in_menu(project) == {"Set up": "refused"}
    long_work.begin(project, lead, "a step", "Counting", refuses, now=NOW + 1)
    assert found(project).state is WorkState.UNDER_WAY


def test_a_process_that_dies_is_told(
    project: api.Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    long_work.begin(project, lead, "a step", "Counting", refuses, now=NOW)
    futures[0][0].set_exception(MemoryError("killed"))
    assert found(project).state is WorkState.FAILED
    assert "Counting failed" in caplog.text


def test_a_server_that_starts_again_says_that_the_work_was_cut_short(
    project: api.Project,
    lead: Person,
    futures: list[tuple[Future[None], Callable[[], None]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long_work.begin(project, lead, "a step", "Counting", refuses, now=NOW)
    monkeypatch.setattr(long_work, "_running", {})  # a new process knows of nothing
    assert found(project).state is WorkState.CUT_SHORT
    long_work.begin(project, lead, "a step", "Counting", refuses, now=NOW + 1)
    assert found(project).began_at == NOW + 1


def test_what_cannot_be_read_is_nothing(project: api.Project) -> None:
    project.work.parent.mkdir(exist_ok=True)
    project.work.write_text('{"of": "another version"}')
    assert long_work.look(project) is None


def test_the_act_asks_the_gate(project: api.Project, tmp_path: Path) -> None:
    nobody = Person(AnnotatorId(99), "Nobody", Role.LEAD)
    with pytest.raises(NotAllowed):
        set_up_work.take_videos(project, nobody, tmp_path, USUAL, progress=lambda what, done, total: None)


def test_in_a_process_of_its_own_it_goes_on_without_anybody(project: api.Project, lead: Person, tmp_path: Path) -> None:
    folder = tmp_path / "no videos"
    folder.mkdir()
    long_work.begin(project, lead, "videos", "Measuring", set_up_work.take_videos, folder, USUAL, now=NOW)
    future = long_work._running[project.work]
    future.result(timeout=60)
    while found(project).state is WorkState.UNDER_WAY:  # it tells once its process has ended
        time.sleep(0.01)
    assert (found(project).state, found(project).refusal) == (WorkState.REFUSED, f"{folder}: no video file is in it")
