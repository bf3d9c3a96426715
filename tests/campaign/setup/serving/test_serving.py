"""What several front ends share, each with a store of its own over one file: attempts, the desk's window, drafts."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.campaign.desk.exchange import exchange
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.setup.people import accounts
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving import jobs as serving_jobs
from backend.campaign.setup.serving import rows
from backend.campaign.setup.serving.jobs import (
    begin_job,
    dismiss_job,
    end_job,
    job_lock,
    job_result,
    list_jobs,
    report_progress,
    run_job,
)
from backend.campaign.setup.serving.model import Delay, Job, JobKind, JobOutcome, JobState, OutcomeTable
from backend.campaign.setup.serving.server import missing_for_serving
from backend.campaign.setup.serving.shared_state import attempt_succeeded, begin_attempt, keep_draft, take_draft
from backend.core.errors import NotAllowed, ProjectError
from backend.core.messages import Said, said
from backend.core.progress import Progress
from backend.store.connection import writing
from postgres import SQLITE_FIRST
from support import NOW, Judging

Begin = Callable[..., Delay]


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both."""
    return str(request.param)


@pytest.fixture
def front_ends(judging: Judging) -> tuple[Project, Project]:
    """Two that know nothing of each other."""
    return judging.project, open_project(judging.project.folder)


class TestAttempts:
    @pytest.fixture
    def begin(self, front_ends: tuple[Project, Project]) -> Begin:
        """An attempt, at one front end and the other in turn."""
        turn = [*front_ends]

        def begun(name: str, address: str, at: float, browser: str | None = None) -> Delay:
            turn.reverse()
            return begin_attempt(turn[0], name, address, browser, now=NOW + at)

        return begun

    def test_failures_of_a_name_from_an_address_double_the_wait(self, begin: Begin) -> None:
        assert [begin("Ana", "10.0.0.1", 0.0).refused_s for _ in range(4)] == [0, 0, 0, 1]
        spelled = zip((" aNA ", "A\u200bna", "\uff21na", "An\ufe0fa", "Ana"), (0.5, 1.0, 1.5, 3.0, 3.0), strict=True)
        assert [begin(name, "10.0.0.1", at).refused_s for name, at in spelled] == [1, 0, 2, 0, 4]
        assert begin("Ana", "10.0.0.2", 3.0).refused_s == 0, "nobody else is locked out"
        assert begin("Ben", "10.0.0.1", 3.0).refused_s == 0
        assert begin("Ana", "10.0.0.1", 3.0 + 3600).refused_s == 0, "forgotten after an hour"

    def test_a_flood_against_a_name_or_from_an_address_holds_others_back_for_seconds(self, begin: Begin) -> None:
        for n in range(500):
            begin("Ana", f"10.0.{n // 250}.{n % 250}", 0.0)
            begin(f"guess {n}", "10.9.9.9", 0.0)
        assert begin("Ana", "10.0.9.9", 0.0) == Delay(0, 10.0)
        assert begin("Ben", "10.9.9.9", 0.0) == Delay(0, 10.0)
        assert begin("Ana", "10.0.9.8", 0.0, browser="her cookie") == Delay(0, 0.0)
        assert begin("Ben", "10.0.9.8", 0.0) == Delay(0, 0.0)

    def test_a_known_browser_has_its_own_delay(self, begin: Begin) -> None:
        assert [begin("Ana", "10.0.0.1", 0.0, browser="c").refused_s for _ in range(4)] == [0, 0, 0, 1]
        assert begin("Ana", "10.0.0.1", 0.0).refused_s == 0

    def test_a_success_forgets_ones_own_failures_and_changes_nothing_that_others_see(
        self, begin: Begin, front_ends: tuple[Project, Project]
    ) -> None:
        for n in range(11):
            begin("Ana", f"10.0.1.{n}", 0.0)
        assert begin("Ana", "10.0.0.1", 0.0) == Delay(0, 2.0)
        attempt_succeeded(front_ends[0], "ana", "10.0.0.1", None)
        assert [begin("Ana", "10.0.0.1", 0.0).refused_s for _ in range(4)] == [0, 0, 0, 1]
        attempt_succeeded(front_ends[0], "ana", "10.0.0.1", None)
        assert begin("Ana", "10.0.0.2", 0.0) == Delay(0, 8.0), "13 of the name count on: only two succeeded"

    def test_nothing_that_was_typed_is_kept_and_nothing_at_all_for_longer_than_it_counts(
        self, begin: Begin, judging: Judging
    ) -> None:
        begin("my password", "10.0.0.1", 0.0)
        kept = judging.project.store.db.conn.execute("SELECT kind, who FROM sign_in_attempt").fetchall()
        assert sorted(row["kind"] for row in kept) == ["address", "name", "pair"]
        assert not any("my" in row["who"] or "10." in row["who"] for row in kept)
        begin("Ben", "10.0.0.2", 3600.0)
        assert judging.project.store.db.conn.execute("SELECT count(*) FROM sign_in_attempt").fetchone()[0] == 3


class TestWindows:
    def test_the_one_that_took_the_desk_last_has_it_at_every_front_end(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        one, other = front_ends

        def elsewhere(project: Project, who: int, window: str, takes: bool = False) -> bool:
            return exchange(project, judging.annotators[who], [], [], now=NOW, window=window, takes=takes)[1].elsewhere

        assert not elsewhere(one, 0, "a")  # nobody took it
        assert not elsewhere(one, 0, "a", takes=True)
        assert not elsewhere(other, 0, "a")
        assert elsewhere(other, 0, "b")  # it has not said that it takes it
        assert not elsewhere(other, 0, "b", takes=True)
        assert elsewhere(one, 0, "a")
        assert not elsewhere(one, 1, "a", takes=True)  # another person's
        assert not elsewhere(one, 0, "b")
        assert not elsewhere(one, 0, "a", takes=True)
        assert elsewhere(other, 0, "b")
        assert not elsewhere(other, 0, "")  # a program without windows


class TestDrafts:
    def test_are_given_back_once_to_whoever_typed_them_where_they_did(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        one, other = front_ends
        ana, ben, *_ = judging.annotators
        typed = {"reason": "wrote it", "seconds": 1.5, "count": 3, "chosen": frozenset({"b", "a"})}
        keep_draft(one, ana.annotator_id, "exam", {"reason": "an older one"}, now=NOW)
        keep_draft(one, ana.annotator_id, "exam", {**typed, "button": True, "file": object()}, now=NOW)
        assert take_draft(other, ben, "exam", now=NOW) == {}
        assert take_draft(other, ana, "gold", now=NOW) == {}
        assert take_draft(other, ana, "exam", now=NOW + 3599) == typed
        assert take_draft(one, ana, "exam", now=NOW + 3599) == {}

    def test_are_gone_after_an_hour_whoever_writes_next(self, judging: Judging) -> None:
        project, (ana, ben, *_) = judging.project, judging.annotators
        keep_draft(project, ana.annotator_id, "exam", {"reason": "wrote it"}, now=NOW)
        assert take_draft(project, ana, "exam", now=NOW + 3600) == {}
        keep_draft(project, ana.annotator_id, "exam", {"reason": "wrote it"}, now=NOW)
        keep_draft(project, ben.annotator_id, "exam", {"reason": "wrote it too"}, now=NOW + 3600)
        assert rows.has_draft(project.store.db, ben.annotator_id, "exam")
        assert not rows.has_draft(project.store.db, ana.annotator_id, "exam")


def begin(project: Project, lead: Person, kind: JobKind = JobKind.SET_UP, subject: str = "", at: float = 0) -> str:
    """Begin a job, and return its key."""
    key = begin_job(project, lead, kind, subject, "Counting", {}, now=NOW + at)
    assert key is not None
    return key


class TestJobs:
    def test_one_that_changes_the_project_excludes_others_at_every_front_end(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        (one, other), lead = front_ends, judging.lead
        assert list_jobs(other, lead, now=NOW) == []
        key = begin_job(one, lead, JobKind.SET_UP, "a step", "Counting", {"file": "a.csv"}, now=NOW)
        assert key
        with pytest.raises(ProjectError, match="Lea started “Counting”, which is still running: wait until it is done"):
            begin(other, lead, JobKind.RELEASE)
        dismiss_job(other, lead, key, now=NOW)
        report_progress(one, key, "counting", 2, 3, now=NOW + 1)
        begun = Job(
            *(key, JobKind.SET_UP, "a step", "Counting", "Lea", NOW),
            *(JobState.UNDER_WAY, "counting", 2, 3),
            asked={"file": "a.csv"},
        )
        assert list_jobs(other, lead, now=NOW + 1) == [begun]
        outcome = JobOutcome(["Three."], [OutcomeTable(["Video"], [["a"]])])
        end_job(one, key, JobState.DONE, outcome, now=NOW + 2)
        (ended,) = list_jobs(other, lead, now=NOW + 9999)
        assert (ended.state, ended.outcome) == (JobState.DONE, outcome)
        begin(other, lead, JobKind.RELEASE)
        dismiss_job(other, lead, key, now=NOW + 9999)
        assert [job.kind for job in list_jobs(one, lead, now=NOW)] == [JobKind.RELEASE]

    def test_one_that_only_reads_runs_beside_others_but_never_twice(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        (one, other), lead = front_ends, judging.lead
        begin(one, lead, JobKind.SET_UP)
        first = begin(one, lead, JobKind.INTERVALS, "all pairs")
        assert begin_job(other, lead, JobKind.INTERVALS, "all pairs", "Counting", {}, now=NOW) is None
        begin(other, lead, JobKind.INTERVALS, "those of a split")
        assert begin_job(other, OPERATOR, JobKind.CLIPS, "", "Cutting", {}, now=NOW)
        jobs = list_jobs(one, lead, now=NOW)
        assert [(job.kind.value, job.subject, job.by) for job in jobs] == [
            ("clips", "", "a command"),
            ("intervals", "those of a split", "Lea"),
            ("intervals", "all pairs", "Lea"),
            ("set up", "", "Lea"),
        ]
        end_job(one, first, JobState.FAILED, JobOutcome(), now=NOW)
        assert begin_job(other, lead, JobKind.INTERVALS, "all pairs", "Counting", {}, now=NOW)

    def test_two_leads_at_once_begin_one(self, front_ends: tuple[Project, Project], judging: Judging) -> None:
        leo = accounts.add(judging.project.store, OPERATOR, "Leo", Role.LEAD, now=NOW)
        both = threading.Barrier(2)

        def ask(project: Project, lead: Person) -> str | None:
            both.wait()
            try:
                return begin_job(project, lead, JobKind.COMPARISON, "", "Comparing", {}, now=NOW)
            finally:
                project.store.close()

        with ThreadPoolExecutor() as threads:
            keys = list(threads.map(ask, front_ends, (judging.lead, leo)))
        assert len([key for key in keys if key]) == 1
        assert len(list_jobs(judging.project, leo, now=NOW)) == 1

    def test_there_is_no_place_for_a_second(self, judging: Judging) -> None:
        begin(judging.project, judging.lead)
        begin(judging.project, judging.lead, JobKind.CLIPS)
        for kind, changes_project in (("release", 1), ("clips", 0)):
            with pytest.raises(sqlite3.IntegrityError), writing(judging.project.store) as db:
                db.conn.execute(
                    "INSERT INTO job (job_key, kind, subject, changes_project, title, began_at, heard_at) "
                    "VALUES ('another', ?, '', ?, '', 0, 0)",
                    [kind, changes_project],
                )

    def test_of_a_kind_the_newest_stay_with_their_results(self, judging: Judging) -> None:
        project, lead = judging.project, judging.lead
        keys = []
        for number in range(11):
            keys.append(begin(project, lead, JobKind.INTERVALS, str(number)))
            assert run_job(project, keys[-1], lambda progress: {"of": said("pair {n}", n=7)}) is None
        jobs = list_jobs(project, lead, now=NOW)
        assert [job.key for job in jobs] == keys[:-10:-1]
        assert {job.state for job in jobs} == {JobState.DONE}
        results = [job_result(project, lead, key, dict[str, str]) for key in keys]
        assert [result is None for result in results] == [True] * 2 + [False] * 9
        assert results[-1] is not None
        assert isinstance(results[-1]["of"], Said)
        assert len(list((project.folder / "cache").glob("job-*"))) == 9

    def test_a_result_of_another_release_counts_as_gone(
        self, judging: Judging, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project, lead = judging.project, judging.lead
        key = begin(project, lead, JobKind.COMPARISON)
        run_job(project, key, lambda progress: [1, 2])
        assert job_result(project, lead, key, list[int]) == [1, 2]
        monkeypatch.setattr(serving_jobs, "__version__", "0.0.1")
        assert job_result(project, lead, key, list[int]) is None

    @pytest.mark.parametrize(
        ("error", "state", "told"),
        [
            (ProjectError("do that first"), JobState.REFUSED, "do that first"),
            (MemoryError("killed"), JobState.FAILED, ""),
            (KeyboardInterrupt(), JobState.INTERRUPTED, ""),
        ],
    )
    def test_whatever_ends_a_job_is_noted(
        self, judging: Judging, error: BaseException, state: JobState, told: str
    ) -> None:
        project, lead = judging.project, judging.lead

        def work(progress: Progress) -> JobOutcome:
            raise error

        key = begin(project, lead)
        if state is JobState.REFUSED:
            assert run_job(project, key, work) is error
        else:
            with pytest.raises(type(error)):
                run_job(project, key, work)
        (job,) = list_jobs(project, lead, now=NOW)
        assert (job.state, job.refusal) == (state, told)

    def test_says_at_every_front_end_how_its_sentences_were_made(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        (one, other), lead = front_ends, judging.lead
        sentence = said("{file} has no query", file="a.csv")
        outcome = JobOutcome([sentence, "plain"], [OutcomeTable([said("Video")], [["a", sentence]])])
        key = begin_job(one, lead, JobKind.SET_UP, "", said("Importing {file}", file="a.csv"), {}, now=NOW)
        assert key
        report_progress(one, key, said("reading {file}", file="a.csv"), 1, 2, now=NOW)
        end_job(one, key, JobState.REFUSED, outcome, sentence, now=NOW)
        (ended,) = list_jobs(other, lead, now=NOW)
        [table] = ended.outcome.tables
        told = [ended.title, ended.what, ended.refusal, ended.outcome.sentences[0], table.head[0], table.rows[0][1]]
        assert [one.text for one in told if isinstance(one, Said)] == [
            "Importing {file}",
            "reading {file}",
            *["{file} has no query"] * 2,
            "Video",
            "{file} has no query",
        ]
        assert (ended.refusal, ended.outcome) == ("a.csv has no query", outcome)

    def test_of_which_nothing_is_heard_is_interrupted_and_gives_way(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        (one, other), lead = front_ends, judging.lead
        dead = begin(one, lead)
        report_progress(one, dead, "counting", 1, 3, now=NOW + 5)
        states = [list_jobs(other, lead, now=NOW + at)[0].state for at in (65, 65.1)]
        assert states == [JobState.UNDER_WAY, JobState.INTERRUPTED]
        begin(other, lead, JobKind.RELEASE, at=66)
        report_progress(one, dead, "counting", 2, 3, now=NOW + 67)  # it was alive after all
        end_job(one, dead, JobState.DONE, JobOutcome(), now=NOW + 68)
        going, late = list_jobs(one, lead, now=NOW + 68)
        assert (going.kind, going.state, going.done) == (JobKind.RELEASE, JobState.UNDER_WAY, 0)
        assert (late.key, late.state) == (dead, JobState.DONE)

    def test_of_a_front_end_that_was_killed_is_interrupted_within_seconds_and_can_be_begun_again(
        self, judging: Judging
    ) -> None:
        project, lead = judging.project, judging.lead
        key = begin(project, lead)
        code = f"""
import sys, time
from pathlib import Path
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.serving.jobs import job_lock
with job_lock(open_project(Path({str(project.folder)!r})), {key!r}):
    print("running", flush=True)
    sys.stdin.read()
"""
        front_end = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert front_end.stdout is not None
        assert front_end.stdout.readline() == "running\n"
        (going,) = list_jobs(project, lead, now=NOW + 999)  # silent, as in one long transaction, and there
        front_end.kill()
        front_end.communicate()
        (gone,) = list_jobs(project, lead, now=NOW + 6.5)
        assert [going.state, gone.state] == [JobState.UNDER_WAY, JobState.INTERRUPTED]
        again = begin(project, lead, at=6.5)
        with job_lock(project, again):
            assert [file.name for file in (project.folder / "cache").glob("job-*")] == [f"job-{again}.lock"]

    def test_is_for_leads(self, judging: Judging) -> None:
        with pytest.raises(NotAllowed):
            begin(judging.project, judging.annotators[0])
        assert list_jobs(judging.project, judging.lead, now=NOW) == []


def test_a_front_end_knows_the_schema_that_it_was_made_for(judging: Judging) -> None:
    store = judging.project.store
    assert missing_for_serving(judging.project) == ()
    with writing(store) as db:
        db.conn.execute("UPDATE _sqlite_migrations SET name = 'm999_later' WHERE name = ?", [store.schema_level])
    assert missing_for_serving(judging.project) == ("schema",)
    store.close()
