"""What several front ends share, each with a store of its own over one file: attempts, the desk's window, drafts."""

import sqlite3
from collections.abc import Callable

import pytest

from backend.campaign.desk.exchange import exchange
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving import rows
from backend.campaign.setup.serving.jobs import begin_work, end_work, look_at_work, put_work_away, tell_work
from backend.campaign.setup.serving.model import Delay, LongWork, OutcomeTable, WorkOutcome, WorkState
from backend.campaign.setup.serving.server import not_ready
from backend.campaign.setup.serving.shared_state import attempt_succeeded, begin_attempt, keep_draft, take_draft
from backend.core.errors import NotAllowed, ProjectError
from backend.core.messages import Said, said
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


class TestLongWork:
    def test_is_one_for_all_front_ends(self, front_ends: tuple[Project, Project], judging: Judging) -> None:
        (one, other), lead = front_ends, judging.lead
        assert look_at_work(other, lead, now=NOW) is None
        key = begin_work(one, lead, "a step", "Counting", {"file": "a.csv"}, now=NOW)
        with pytest.raises(ProjectError, match="Counting is under way, begun by Lea: wait until it is done"):
            begin_work(other, lead, "another", "More", {}, now=NOW)
        put_work_away(other, lead, now=NOW)
        tell_work(one, key, "counting", 2, 3, now=NOW + 1)
        begun = LongWork("a step", "Counting", "Lea", NOW, what="counting", done=2, total=3, asked={"file": "a.csv"})
        assert look_at_work(other, lead, now=NOW + 1) == begun
        outcome = WorkOutcome(["Three."], [OutcomeTable(["Video"], [["a"]])])
        end_work(one, key, WorkState.DONE, outcome, now=NOW + 2)
        ended = look_at_work(other, lead, now=NOW + 9999)
        assert ended is not None
        assert (ended.state, ended.outcome) == (WorkState.DONE, outcome)
        put_work_away(other, lead, now=NOW + 9999)
        assert look_at_work(one, lead, now=NOW + 9999) is None

    def test_says_at_every_front_end_how_its_sentences_were_made(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        (one, other), lead = front_ends, judging.lead
        sentence = said("{file} has no query", file="a.csv")
        outcome = WorkOutcome([sentence, "plain"], [OutcomeTable([said("Video")], [["a", sentence]])])
        key = begin_work(one, lead, "a step", said("Importing {file}", file="a.csv"), {}, now=NOW)
        tell_work(one, key, said("reading {file}", file="a.csv"), 1, 2, now=NOW)
        end_work(one, key, WorkState.REFUSED, outcome, sentence, now=NOW)
        ended = look_at_work(other, lead, now=NOW)
        assert ended is not None
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

    def test_of_which_nothing_is_heard_was_cut_short_and_gives_way(
        self, front_ends: tuple[Project, Project], judging: Judging
    ) -> None:
        (one, other), lead = front_ends, judging.lead
        dead = begin_work(one, lead, "a step", "Counting", {}, now=NOW)
        tell_work(one, dead, "counting", 1, 3, now=NOW + 5)
        states = [look_at_work(other, lead, now=NOW + at) for at in (65, 65.1)]
        assert [one and one.state for one in states] == [WorkState.UNDER_WAY, WorkState.CUT_SHORT]
        begin_work(other, lead, "another", "More", {}, now=NOW + 66)
        tell_work(one, dead, "counting", 2, 3, now=NOW + 67)  # it was alive after all
        end_work(one, dead, WorkState.DONE, WorkOutcome(), now=NOW + 68)
        going = look_at_work(one, lead, now=NOW + 68)
        assert going is not None
        assert (going.title, going.state, going.done) == ("More", WorkState.UNDER_WAY, 0)

    def test_there_is_no_place_for_a_second(self, judging: Judging) -> None:
        begin_work(judging.project, judging.lead, "a step", "Counting", {}, now=NOW)
        with pytest.raises(sqlite3.IntegrityError), writing(judging.project.store) as db:
            db.conn.execute(
                "INSERT INTO long_work (one, work_key, step, title, begun_by, began_at, heard_at) "
                "VALUES (2, 'another', '', '', ?, 0, 0)",
                [judging.lead.annotator_id],
            )

    def test_is_for_leads(self, judging: Judging) -> None:
        with pytest.raises(NotAllowed):
            begin_work(judging.project, judging.annotators[0], "a step", "Counting", {}, now=NOW)
        assert look_at_work(judging.project, judging.lead, now=NOW) is None


def test_a_front_end_knows_the_schema_that_it_was_made_for(judging: Judging) -> None:
    store = judging.project.store
    assert not_ready(judging.project) == ()
    with writing(store) as db:
        db.conn.execute("UPDATE _sqlite_migrations SET name = 'm999_later' WHERE name = ?", [store.schema_level])
    assert not_ready(judging.project) == ("schema",)
    store.close()
