"""Personal tokens: what they give, what ends them, and that nothing stores or tells them. On both engines."""

import hmac
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.doctor.database import backup, restore
from backend.campaign.judging.removal import remove_person
from backend.campaign.judging.staffing import pause_person, sign_out, sign_out_everywhere, suspend
from backend.campaign.nouns import OPERATOR, Lead, Person, Role
from backend.campaign.review.status import review_counts
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people.accounts import accept_invitation, add_person, change_password, new_invitation
from backend.campaign.setup.people.accounts import add_person_with_password as add
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.tokens import personal_tokens
from backend.campaign.setup.tokens.model import (
    LISTED_DAYS,
    LONGEST_NAME,
    MOST_DAYS,
    MOST_TOKENS,
    TokenScope,
)
from backend.campaign.setup.tokens.personal_tokens import (
    create_token,
    has_password,
    holds_token,
    limited_to,
    list_tokens,
    own_tokens,
    revoke_own_token,
    revoke_token,
    token_for,
    token_key,
)
from backend.core.errors import NotAllowed, ProjectError, SignInRefused, StoreUnavailable
from backend.store.sqlite import SqliteStore
from postgres import SQLITE_FIRST
from support import NOW, Judging

PASSWORD, NEWER = "long enough for Ada", "another one for Ada"
DAY = 86_400.0


@pytest.fixture(params=SQLITE_FIRST)
def engine(request: pytest.FixtureRequest) -> str:
    """Both."""
    return str(request.param)


@pytest.fixture
def project(judging: Judging) -> Project:
    return judging.project


@pytest.fixture
def ada(project: Project) -> Person:
    """An annotator with a password."""
    return add(project, OPERATOR, "Ada", Role.ANNOTATOR, PASSWORD, now=NOW)


def make(
    project: Project, person: Person, name: str = "script", scope: TokenScope = TokenScope.ACT, days: int = 30
) -> str:
    return create_token(project, person, PASSWORD, name, scope, days, now=NOW)[1]


def rows(project: Project, query: str) -> list[Any]:
    return [tuple(row) for row in project.store.db.conn.execute(query)]


def works(project: Project, token: str, at: float = NOW + 1) -> bool:
    return token_for(project, token, now=at) is not None


def test_a_token_names_its_person_and_its_scope_and_remembers_its_last_use(project: Project, ada: Person) -> None:
    text = make(project, ada, "  nightly\tcounts ", TokenScope.READ)
    assert re.fullmatch("rr_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}", text)
    (listed,) = own_tokens(project, ada)
    assert (listed.name, listed.used_at, listed.expires_at) == ("nightly counts", None, NOW + 30 * DAY)
    assert listed.key == text.split("_")[1] == token_key(text)
    found = token_for(project, text, now=NOW + 100)
    assert found is not None
    assert (found.owner, found.scope) == (ada, TokenScope.READ)
    assert own_tokens(project, ada)[0].used_at == NOW + 100
    token_for(project, text, now=NOW + 130)
    assert own_tokens(project, ada)[0].used_at == NOW + 100, "stored once a minute"
    token_for(project, text, now=NOW + 160)
    assert own_tokens(project, ada)[0].used_at == NOW + 160


def test_only_the_whole_token_works(project: Project, ada: Person) -> None:
    text = make(project, ada)
    _, key, secret = text.split("_")
    other = make(project, ada, "other").split("_")
    changed = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    wrong = [
        *("", "rr_", key, secret, f"{key}_{secret}", f"rr_{key}_", text[:-1], f"{text}a", f" {text}", f"{text}\n"),
        *(f"rr_{key}_{changed}", f"rr_{key}_{other[2]}", f"rr_{other[1]}_{secret}", text.swapcase(), text.upper()),
        *(
            f"rr_{key}_{secret}\0",
            f"rr_{key}_{'%' * 43}",
            f"rr_{key}_{'é' * 43}",
            "x" * 1_000_000,
            f"rr_{key}_' OR 1=1",
        ),
    ]
    assert [bad for bad in wrong if works(project, bad)] == []
    assert works(project, text)


def test_secrets_are_compared_in_constant_time(project: Project, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the key is known or not, one comparison of whole hashes by `hmac.compare_digest` decides."""
    text = make(project, ada)
    compared: list[tuple[str, str]] = []
    really = hmac.compare_digest

    def compare(one: str, other: str) -> bool:
        compared.append((one, other))
        return really(one, other)

    monkeypatch.setattr(personal_tokens.hmac, "compare_digest", compare)
    for sent in (text, f"{text[:-1]}!", f"{text[:-2]}zz", f"rr_{'0' * 12}_{'0' * 43}"):
        token_for(project, sent, now=NOW)
    assert len(compared) == 3, "what has not the form of a token is not looked up"
    assert {len(part) for pair in compared for part in pair} == {64}


def test_a_token_ends_with_its_time_and_is_listed_for_a_while(project: Project, ada: Person) -> None:
    text = make(project, ada, days=1)
    assert works(project, text, NOW + DAY - 1)
    assert not works(project, text, NOW + DAY)
    create_token(project, ada, PASSWORD, "later", TokenScope.READ, 1, now=NOW + DAY * LISTED_DAYS)
    assert [token.name for token in own_tokens(project, ada)] == ["later", "script"]
    create_token(project, ada, PASSWORD, "latest", TokenScope.READ, 1, now=NOW + DAY * (LISTED_DAYS + 1))
    assert [token.name for token in own_tokens(project, ada)] == ["latest", "later"]


@pytest.mark.parametrize("days", [0, -1, MOST_DAYS + 1, 10**15])
def test_no_token_works_for_ever(project: Project, ada: Person, days: int) -> None:
    with pytest.raises(ProjectError, match="works for 1 to 365 days"):
        make(project, ada, days=days)
    assert own_tokens(project, ada) == []


@pytest.mark.parametrize("name", ["", " ", "\u200b", "x" * (LONGEST_NAME + 1)])
def test_a_token_has_a_name(project: Project, ada: Person, name: str) -> None:
    with pytest.raises(ProjectError, match="name the token in 1 to 60 characters"):
        make(project, ada, name)


def test_tokens_are_few_and_their_names_differ(project: Project, judging: Judging, ada: Person) -> None:
    for n in range(MOST_TOKENS):
        make(project, ada, f"number {n}")
        if not n:
            with pytest.raises(ProjectError, match="named number 0 already"):
                make(project, ada, "number 0")
    with pytest.raises(ProjectError, match="20 tokens, which is the most"):
        make(project, ada)
    make(project, judging.lead, "number 0")


def test_making_one_asks_for_the_password_of_whoever_has_one(project: Project, judging: Judging, ada: Person) -> None:
    for wrong in ("", NEWER):
        with pytest.raises(SignInRefused, match="current password is wrong"):
            create_token(project, ada, wrong, "script", TokenScope.READ, 1, now=NOW)
    (colleague, *_) = judging.annotators
    assert (has_password(project, ada), has_password(project, colleague)) == (True, False)
    create_token(project, colleague, "", "script", TokenScope.READ, 1, now=NOW)


@pytest.mark.parametrize("act", ["suspend", "new password", "sign out everywhere", "remove"])
def test_none_is_made_by_who_loses_their_tokens_while_the_password_is_checked(
    project: Project, judging: Judging, ada: Person, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes a tenth of a second or more. A token made after it would outlive what ends all others."""
    session, matches = sign_in(project, "Ada", PASSWORD, now=NOW), permissions.password_matches

    def slow(hashed: str, password: str) -> bool:
        monkeypatch.setattr(permissions, "password_matches", matches)
        if act == "new password":
            change_password(project, session, PASSWORD, NEWER, now=NOW)
        elif act == "sign out everywhere":
            sign_out_everywhere(project, session, now=NOW)
        elif act == "remove":
            remove_person(project, judging.lead, ada.annotator_id, now=NOW)
        else:
            suspend(project, judging.lead, ada.annotator_id, True, now=NOW)
        return matches(hashed, password)

    monkeypatch.setattr(permissions, "password_matches", slow)
    with pytest.raises(SignInRefused, match="You are signed out"):
        create_token(project, ada, PASSWORD, "script", TokenScope.ACT, 9, session=session, now=NOW)
    assert list_tokens(project, OPERATOR) == []


def test_everybody_revokes_their_own_and_leads_and_the_operator_anybodys(
    project: Project, judging: Judging, ada: Person
) -> None:
    texts = [make(project, ada, name) for name in ("one", "two", "three")]
    keys = [text.split("_")[1] for text in texts]
    bert = judging.annotators[0]
    with pytest.raises(ProjectError, match="no such token"):
        revoke_own_token(project, bert, keys[0], now=NOW)
    with pytest.raises(NotAllowed):
        list_tokens(project, bert)
    with pytest.raises(NotAllowed):
        revoke_token(project, bert, keys[0], now=NOW)
    assert own_tokens(project, bert) == []
    assert [(token.owner.name, token.name) for token in list_tokens(project, judging.lead)] == [
        *(("Ada", "three"), ("Ada", "two"), ("Ada", "one"))
    ]
    assert revoke_own_token(project, ada, keys[0], now=NOW) == "one"
    assert revoke_token(project, judging.lead, keys[1], now=NOW) == "two"
    assert revoke_token(project, OPERATOR, keys[2], now=NOW) == "three"
    assert [works(project, text) for text in texts] == [False] * 3
    with pytest.raises(ProjectError, match="no such token"):
        revoke_token(project, OPERATOR, keys[2], now=NOW)
    noted = rows(project, "SELECT kind, actor, subject FROM event WHERE kind LIKE 'token%' ORDER BY event_id")
    me, about = ada.annotator_id, f"annotator:{ada.annotator_id}"
    made = [("token_made", me, about)] * 3
    assert noted == [
        *made,
        *(("token_revoked", who, about) for who in (me, judging.lead.annotator_id, None)),
    ]


def test_what_ends_a_persons_tokens(project: Project, judging: Judging, ada: Person) -> None:
    """A new password, by whatever way, signing out everywhere, suspension, removal; not signing out, not a pause."""
    text = make(project, ada)
    others = make(project, judging.lead)
    sign_out(project, sign_in(project, "Ada", PASSWORD, now=NOW), now=NOW)
    pause_person(project, judging.lead, ada.annotator_id, "away", now=NOW)
    assert works(project, text)

    session = change_password(project, sign_in(project, "Ada", PASSWORD, now=NOW), PASSWORD, NEWER, now=NOW)
    assert not works(project, text)
    text = create_token(project, ada, NEWER, "again", TokenScope.ACT, 9, now=NOW)[1]
    sign_out_everywhere(project, session, now=NOW)
    assert not works(project, text)
    text = create_token(project, ada, NEWER, "again", TokenScope.ACT, 9, now=NOW)[1]
    _, link = new_invitation(project, judging.lead, ada.annotator_id, now=NOW)
    assert works(project, text), "the link is not used yet"
    accept_invitation(project, link, PASSWORD, now=NOW)
    assert not works(project, text)
    text = make(project, ada)
    suspend(project, judging.lead, ada.annotator_id, True, now=NOW)
    assert not works(project, text)
    suspend(project, judging.lead, ada.annotator_id, False, now=NOW)
    assert not works(project, text), "reinstating brings no token back"
    text = make(project, ada)
    assert remove_person(project, judging.lead, ada.annotator_id, now=NOW), "archived"
    assert not works(project, text)
    assert works(project, others)
    payloads = [json.loads(row[0]) for row in rows(project, "SELECT payload FROM event WHERE kind = 'password_set'")]
    assert [payload["tokens"] for payload in payloads] == [0, 1, 1]


def test_a_suspended_person_has_no_token_even_if_a_row_was_left(
    project: Project, judging: Judging, ada: Person
) -> None:
    text = make(project, ada)
    with project.store.writing() as db:
        db.conn.execute("UPDATE annotator SET suspended = 1 WHERE annotator_id = ?", [ada.annotator_id])
    assert not works(project, text)


def test_somebody_who_did_nothing_is_removed_with_their_tokens(project: Project) -> None:
    add_person(project, OPERATOR, "Eve", Role.ANNOTATOR, now=NOW)
    ((number,),) = rows(project, "SELECT annotator_id FROM annotator WHERE name = 'Eve'")
    with project.store.writing() as db:
        db.conn.execute(
            "INSERT INTO personal_token (annotator_id, token_key, secret_hash, name, scope, created_at, expires_at) "
            "VALUES (?, ?, ?, 'x', 'read', 1, 2)",
            [number, "k" * 12, "0" * 64],
        )
    assert not remove_person(project, OPERATOR, number, now=NOW)
    assert list_tokens(project, OPERATOR) == []


def test_a_token_gives_what_its_person_may_do_now(project: Project, judging: Judging) -> None:
    """The role of the moment of the call counts, as for everybody."""
    lou = add(project, OPERATOR, "Lou", Role.LEAD, PASSWORD, now=NOW)
    token = token_for(project, make(project, lou), now=NOW)
    assert token is not None
    review_counts(project, token.owner)
    with project.store.writing() as db:
        db.conn.execute("UPDATE annotator SET role = 'annotator' WHERE annotator_id = ?", [lou.annotator_id])
    with pytest.raises(NotAllowed):
        review_counts(project, token.owner)
    assert type(token.owner) is Person
    assert not isinstance(token.owner, Lead)


def test_a_token_that_only_reads_changes_nothing(project: Project, judging: Judging, ada: Person) -> None:
    """Whatever function a route calls: the transaction that would write is refused."""
    lead = judging.lead
    before = rows(project, "SELECT count(*) FROM event")
    with limited_to(TokenScope.READ):
        assert review_counts(project, lead)
        with pytest.raises(NotAllowed, match="this token may only read"):
            suspend(project, lead, ada.annotator_id, True, now=NOW)
        with pytest.raises(NotAllowed, match="this token may only read"):
            create_token(project, ada, PASSWORD, "more", TokenScope.ACT, 9, now=NOW)
    assert rows(project, "SELECT count(*) FROM event") == before
    with limited_to(TokenScope.ACT):
        suspend(project, lead, ada.annotator_id, True, now=NOW)


def test_reading_goes_on_where_nothing_can_be_written(
    project: Project, ada: Person, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = make(project, ada)
    if engine == "sqlite":

        def refuse(_store: SqliteStore) -> object:
            raise StoreUnavailable("The disk is full: make room.")

        monkeypatch.setattr(SqliteStore, "writing", refuse)
    assert works(project, text)


def test_nothing_stores_or_tells_a_token(project: Project, judging: Judging, ada: Person, tmp_path: Path) -> None:
    """Neither the database nor its log of events nor a copy. Copies have no row, so a restored one opens nothing."""
    text = make(project, ada)
    token = token_for(project, text, now=NOW)
    secret, hashed = text.split("_")[2], rows(project, "SELECT secret_hash FROM personal_token")[0][0]
    assert secret not in repr(token)
    assert hashed not in repr(token)
    assert all(secret not in row[0] for row in rows(project, "SELECT payload FROM event"))
    copy = tmp_path / "monday.db"
    backup(project, copy)
    files = [copy, *project.folder.glob("reelrank.db*")]
    assert [file.name for file in files if secret.encode() in file.read_bytes()] == []
    assert hashed.encode() not in copy.read_bytes()
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute("SELECT count(*) FROM personal_token").fetchone() == (0,)


@pytest.mark.parametrize("engine", ["postgresql"])
def test_no_dump_of_postgresql_has_the_hash_of_a_token(
    project: Project, judging: Judging, ada: Person, tmp_path: Path, engine: str
) -> None:
    make(project, ada)
    hashed = rows(project, "SELECT secret_hash FROM personal_token")[0][0]
    backup(project, tmp_path / "monday.dump")
    assert hashed.encode() not in (tmp_path / "monday.dump").read_bytes()


@pytest.mark.parametrize("engine", ["sqlite"])
def test_a_restored_project_has_no_tokens(judging: Judging, ada: Person, tmp_path: Path, engine: str) -> None:
    """Otherwise a token that was revoked since the backup would work again."""
    project = judging.project
    text = make(project, ada)
    backup(project, tmp_path / "monday.db")
    revoke_own_token(project, ada, text.split("_")[1], now=NOW)
    project.store.close()
    restore(project.folder, tmp_path / "monday.db", now=NOW)
    restored = open_project(project.folder)
    assert not works(restored, text)
    assert list_tokens(restored, OPERATOR) == []
    restored.store.close()


def test_scanners_find_a_token_in_a_text(project: Project, ada: Person) -> None:
    text = make(project, ada)
    assert holds_token(f"https://lab.example.org/api/me?access_token={text}&x=1")
    assert holds_token(text[:20])
    assert not holds_token("https://lab.example.org/queries?sort=rr_up")
