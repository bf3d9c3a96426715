"""The system clock jumps: no lease, lock, wait or session outlives its length by the new clock. On both engines."""

from pathlib import Path

import pytest

import annotate_app
from backend.campaign.desk.exchange import desk
from backend.campaign.judging.grades import TOO_LATE
from backend.campaign.judging.model import CORRECTION_S, Assignment
from backend.campaign.judging.staffing import assign
from backend.campaign.monitoring.webhooks.managing import add_webhook, send_test
from backend.campaign.monitoring.webhooks.model import BACKOFF_S, CHOOSABLE
from backend.campaign.monitoring.webhooks.rounds import is_due
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.qualification.answers import rows as answers
from backend.campaign.qualification.guideline.practice_pairs import choose_practice_pair, practice_figures
from backend.campaign.review.queries import take_back_queries
from backend.campaign.setup.people import accounts, permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.serving import rules
from backend.campaign.setup.serving.jobs import begin_job, list_jobs
from backend.campaign.setup.serving.model import JobKind
from backend.campaign.setup.serving.shared_state import begin_attempt, keep_draft, take_draft
from backend.campaign.setup.tokens import personal_tokens
from backend.campaign.setup.tokens.model import TokenScope
from backend.store.connection import writing
from postgres import SQLITE_FIRST
from support import Judging

Jump = tuple[float, float]
DAY_S = 86_400.0
PASSWORD = "long enough for Ada"


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both."""
    return str(request.param)


def test_nobody_waits_longer_for_a_sign_in_than_the_first_refusal_says(judging: Judging, jump: Jump) -> None:
    at, after = jump
    for _ in range(12):
        at += begin_attempt(judging.project, "Ana", "10.0.0.1", None, now=at).refused_s
        begin_attempt(judging.project, "Ana", "10.0.0.1", None, now=at)
    refused_s = begin_attempt(judging.project, "Ana", "10.0.0.1", None, now=after).refused_s
    assert 0 <= refused_s <= rules.MOST_DELAY_S["pair"]
    if refused_s:
        delay = begin_attempt(judging.project, "Ana", "10.0.0.1", None, now=after + refused_s)
        assert delay.refused_s == 0
        assert 0 <= delay.held_s <= rules.MOST_DELAY_S["name"]


def test_sessions_links_tokens_and_known_browsers_end(judging: Judging, jump: Jump) -> None:
    before, after = jump
    project = judging.project
    link = accounts.add_person(project, OPERATOR, "Eve", Role.ANNOTATOR, now=before)
    accounts.add_person_with_password(project, OPERATOR, "Ada", Role.ANNOTATOR, PASSWORD, now=before)
    session = permissions.sign_in(project, "Ada", PASSWORD, now=before)
    browser = permissions.remember_browser(project, session, "", now=before)
    ada = permissions.person_for(project, session, now=before)
    assert ada is not None
    _, token = personal_tokens.create_token(project, ada, PASSWORD, "script", TokenScope.READ, 1, now=before)

    def ended(at: float) -> list[bool]:
        return [
            accounts.invited(project, link, now=at) is None,
            permissions.person_for(project, session, now=at) is None,
            not permissions.knows_browser(project, "Ada", browser, now=at),
            personal_tokens.token_for(project, token, now=at) is None,
        ]

    assert ended(before) == [False] * 4
    lengths_s = (accounts.INVITATION_S, permissions.SESSION_S, permissions.BROWSER_S, DAY_S)
    assert [ended(after + 2 * length_s + 1)[n] for n, length_s in enumerate(lengths_s)] == [True] * 4
    if abs(after - before) <= 3600:
        assert ended(after) == [False] * 4, "a small jump ends none"


def test_a_draft_is_forgotten(judging: Judging, jump: Jump) -> None:
    before, after = jump
    keep_draft(judging.project, judging.lead.annotator_id, "/gold", {"reason": "typed"}, now=before)
    assert take_draft(judging.project, judging.lead, "/gold", now=after + 2 * rules.DRAFT_S + 1) == {}


def test_a_job_whose_process_died_elsewhere_is_interrupted(judging: Judging, jump: Jump) -> None:
    before, after = jump
    assert begin_job(judging.project, judging.lead, JobKind.SET_UP, "a step", "Counting", {}, now=before)
    later = after + rules.UNHEARD_S + 1
    assert [job.is_running for job in list_jobs(judging.project, judging.lead, now=later)] == [False]
    assert begin_job(judging.project, judging.lead, JobKind.SET_UP, "a step", "Counting", {}, now=later)


def test_a_message_to_a_webhook_is_sent_after_the_longest_wait_at_the_latest(judging: Judging, jump: Jump) -> None:
    before, after = jump
    number, _ = add_webhook(judging.project, OPERATOR, "https://hooks.example.org/", CHOOSABLE, now=before)
    send_test(judging.project, OPERATOR, number, now=before)
    assert is_due(judging.project, now=after + BACKOFF_S[-1])


def test_a_grade_is_final_a_quarter_of_an_hour_later(judging: Judging, jump: Jump) -> None:
    before, after = jump
    key = judging.pairs()[0].pair
    with writing(judging.project.store) as db:
        db.conn.execute(
            "UPDATE video SET path = 'videos/' || name, duration_s = 60, fps_num = 25, fps_den = 1, width_px = 640, "
            "height_px = 360, has_audio = 0, sha256 = name"
        )
    judging.grade(0, key, 3, at=before)
    judging.grade(1, key, 3, at=before)
    later = after + CORRECTION_S + 1
    assert judging.grade(1, key, 1, at=later).message == TOO_LATE
    assert desk(judging.project, judging.annotators[1], now=later).previous is None
    with writing(judging.project.store) as db:
        assert len(answers.settled(db, now=later)) == 1
        assert len(answers.well_known(db, now=later)) == 1
        assert answers.count_excluded(db, now=later) == {}


def test_a_daily_quota_is_that_of_a_day(judging: Judging, jump: Jump) -> None:
    before, after = jump
    person = judging.annotators[0]
    assign(judging.project, judging.lead, [person.annotator_id], Assignment(a_day=2), now=before)
    for item in desk(judging.project, person, now=before).items:
        judging.grade(0, item.pair, 3, at=before)
    assert desk(judging.project, person, now=before).items == ()
    assert len(desk(judging.project, person, now=after + 2 * DAY_S).items) == 2


def test_working_time_is_credited_again_with_the_second_grade(judging: Judging, jump: Jump) -> None:
    before, after = jump
    items = desk(judging.project, judging.annotators[0], now=before).items
    times = (before + 60, before + 120, after + 20, after + 40, after + 60)
    for item, at in zip(items, times, strict=False):
        judging.grade(0, item.pair, 3, at=at)
    rows = judging.project.store.db.conn.execute("SELECT active_ms FROM judgement ORDER BY judgement_id").fetchall()
    credited = [row[0] for row in rows]
    assert credited[:2] + credited[3:] == [1000] * 4
    assert 0 <= credited[2] <= 1000


def test_leads_wait_for_no_lease_that_is_over(judging: Judging, jump: Jump) -> None:
    before, after = jump
    held = desk(judging.project, judging.annotators[0], now=before).items
    with writing(judging.project.store) as db:
        pair = db.conn.execute("SELECT pair_id FROM pair WHERE pair_key = ?", [held[0].pair]).fetchone()[0]
        lease_s = judging.project.lease_s
        assert answers.fitness(db, pair).held_s(before, lease_s) == lease_s
        assert answers.fitness(db, pair).held_s(after, lease_s) < 0
        assert answers.fitness(db, pair).held_s(after) < 7 * DAY_S
    assert take_back_queries(judging.project, OPERATOR, now=after)


def test_a_settled_pair_becomes_practice_although_a_lease_of_before_is_left(judging: Judging, jump: Jump) -> None:
    before, after = jump
    key = judging.pairs()[0].pair
    for who in (0, 1):
        judging.grade(who, key, 3, at=before)
    with writing(judging.project.store) as db:
        db.conn.execute("UPDATE video SET path = 'videos/' || name, sha256 = name")
        db.conn.execute(
            "INSERT INTO seat (pair_id, seat_no, annotator_id, lease_until, claim_no, shown_at, claimed_at) "
            "SELECT pair_id, 3, ?, ?, 99, ?, ? FROM pair WHERE pair_key = ?",
            [judging.annotators[2].annotator_id, before + judging.project.lease_s, before, before, key],
        )
    choose_practice_pair(judging.project, judging.lead, key, 3, "A hand is seen.", now=after)
    assert len(practice_figures(judging.project, OPERATOR, now=after)) == 1


def test_the_newest_browser_is_remembered(judging: Judging, jump: Jump) -> None:
    (before, after), me = jump, judging.annotators[0].annotator_id
    with writing(judging.project.store) as db:
        for name in "abc":
            people.add_browser(db, me, name, at=before, most=3)
        for name in "de":
            people.add_browser(db, me, name, at=after, most=3)
        kept = {row[0] for row in db.conn.execute("SELECT browser_hash FROM known_browser")}
    assert len(kept) == 3
    assert kept > {"d", "e"}


def test_scripts_of_pages_use_no_clock_that_jumps() -> None:
    scripts = [*Path(annotate_app.__file__).parent.rglob("*.js")]
    assert scripts
    assert [script.name for script in scripts if "Date.now" in (text := script.read_text()) or "new Date" in text] == []
