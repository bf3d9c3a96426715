"""Passwords, links and sessions of people who are here already, against the rows of the database."""

import json
import sqlite3

import pytest

from backend.campaign.desk.exchange import desk
from backend.campaign.judging.staffing import sign_out, sign_out_everywhere, suspend
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people_rows
from backend.campaign.setup.people.accounts import (
    accept_invitation,
    add_person,
    add_person_with_password,
    change_password,
    invited,
    list_people,
    new_invitation,
)
from backend.campaign.setup.people.permissions import person_for, sign_in
from backend.core.errors import NotAllowed, ProjectError, SignInRefused, StoreUnavailable
from support import NOW, Judging

OLD, NEW = "the old password", "the new password"


@pytest.fixture
def anna(judging: Judging) -> Person:
    """Somebody with a password."""
    person = judging.annotators[0]
    _, link = new_invitation(judging.project, judging.lead, person.annotator_id, now=NOW)
    sign_out(judging.project, accept_invitation(judging.project, link, OLD, now=NOW), now=NOW)
    return person


def sessions(judging: Judging) -> int:
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        return int(db.execute("SELECT count(*) FROM session").fetchone()[0])


def events(judging: Judging, kind: str) -> list[tuple[int, str, dict[str, int]]]:
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        rows = db.execute("SELECT actor, subject, payload FROM event WHERE kind = ? ORDER BY event_id", [kind])
        return [(actor, subject, json.loads(payload)) for actor, subject, payload in rows]


@pytest.mark.usefixtures("passwords_hash_as_served")
def test_who_knows_the_password_may_change_it_and_goes_on_alone(judging: Judging, anna: Person) -> None:
    project = judging.project
    here, elsewhere = (sign_in(project, anna.name, OLD, now=NOW) for _ in range(2))
    going_on = change_password(project, here, OLD, NEW, now=NOW)
    assert person_for(project, going_on, now=NOW) == anna
    assert person_for(project, here, now=NOW) is None, "a stolen copy of the old cookie is worth nothing"
    assert person_for(project, elsewhere, now=NOW) is None
    with pytest.raises(SignInRefused):
        sign_in(project, anna.name, OLD, now=NOW)
    assert sign_in(project, anna.name, NEW, now=NOW)
    with sqlite3.connect(project.folder / "reelrank.db") as db:
        stored = db.execute("SELECT password_hash FROM annotator WHERE name = ?", [anna.name]).fetchone()[0]
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$"), "RFC 9106, section 4, for machines of little memory"
    assert len(events(judging, "password_set")) == 2


@pytest.mark.parametrize(
    ("old", "new", "refusal", "sentence"),
    [
        ("not the password", NEW, SignInRefused, "The current password is wrong."),
        (OLD, "short", ProjectError, "at least 8 characters"),
        (OLD, OLD, ProjectError, "choose another"),
    ],
)
def test_a_password_is_not_changed_otherwise(
    judging: Judging, anna: Person, old: str, new: str, refusal: type[Exception], sentence: str
) -> None:
    session = sign_in(judging.project, anna.name, OLD, now=NOW)
    with pytest.raises(refusal, match=sentence):
        change_password(judging.project, session, old, new, now=NOW)
    assert person_for(judging.project, session, now=NOW) == anna
    assert sign_in(judging.project, anna.name, OLD, now=NOW)


def test_a_session_that_is_over_changes_no_password(judging: Judging, anna: Person) -> None:
    session = sign_in(judging.project, anna.name, OLD, now=NOW)
    suspend(judging.project, judging.lead, anna.annotator_id, True, now=NOW)
    with pytest.raises(SignInRefused, match="signed out"):
        change_password(judging.project, session, OLD, NEW, now=NOW)


def test_a_suspension_while_the_password_is_hashed_wins(
    judging: Judging, anna: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sign_in(judging.project, anna.name, OLD, now=NOW)
    hashing = permissions.hash_password

    def meanwhile(password: str, name: str) -> str:
        suspend(judging.project, judging.lead, anna.annotator_id, True, now=NOW)
        return hashing(password, name)

    monkeypatch.setattr(permissions, "hash_password", meanwhile)
    with pytest.raises(SignInRefused, match="signed out"):
        change_password(judging.project, session, OLD, NEW, now=NOW)
    assert sessions(judging) == 0


@pytest.mark.parametrize("act", ["suspend", "new password"])
def test_nobody_signs_in_who_may_no_more_once_the_password_is_checked(
    judging: Judging, anna: Person, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a session would outlive what ends all others: it would work again after a reinstatement."""
    project, matches = judging.project, permissions.password_matches
    session = sign_in(project, anna.name, OLD, now=NOW)

    def slow(hashed: str, password: str) -> bool:
        monkeypatch.setattr(permissions, "password_matches", matches)
        if act == "suspend":
            suspend(project, judging.lead, anna.annotator_id, True, now=NOW)
        else:
            change_password(project, session, OLD, NEW, now=NOW)
        return matches(hashed, password)

    monkeypatch.setattr(permissions, "password_matches", slow)
    before = sessions(judging)
    with pytest.raises(SignInRefused, match="Name or password is wrong"):
        sign_in(project, anna.name, OLD, now=NOW)
    assert sessions(judging) == before - (act == "suspend")


def test_signing_out_everywhere_ends_all_sessions_and_gives_the_seats_back(judging: Judging, anna: Person) -> None:
    project = judging.project
    here, elsewhere = (sign_in(project, anna.name, OLD, now=NOW) for _ in range(2))
    desk(project, anna, now=NOW)
    other = accept_invitation(project, add_person(project, OPERATOR, "Zoe", anna.role, now=NOW), OLD, now=NOW)
    sign_out_everywhere(project, here, now=NOW)
    assert [person_for(project, token, now=NOW) for token in (here, elsewhere)] == [None, None]
    assert person_for(project, other, now=NOW) is not None
    with sqlite3.connect(project.folder / "reelrank.db") as db:
        assert db.execute("SELECT count(*) FROM seat WHERE lease_until IS NOT NULL").fetchone() == (0,)
    told = (anna.annotator_id, f"annotator:{anna.annotator_id}", {"sessions": 2, "tokens": 0})
    assert events(judging, "signed_out_everywhere") == [told]
    sign_out_everywhere(project, here, now=NOW)  # once more, by an old page: nothing happens
    assert events(judging, "signed_out_everywhere") == [told]


def test_a_new_link_makes_older_ones_void_and_leaves_the_password_until_it_is_used(
    judging: Judging, anna: Person
) -> None:
    project = judging.project
    first, second = (new_invitation(project, judging.lead, anna.annotator_id, now=NOW)[1] for _ in range(2))
    assert invited(project, first, now=NOW) is None
    assert invited(project, second, now=NOW) == anna
    session = sign_in(project, anna.name, OLD, now=NOW)
    accept_invitation(project, second, NEW, now=NOW)
    assert person_for(project, session, now=NOW) is None
    with pytest.raises(SignInRefused):
        sign_in(project, anna.name, OLD, now=NOW)
    subject = f"annotator:{anna.annotator_id}"
    assert events(judging, "invited")[1:] == [
        (judging.lead.annotator_id, subject, {"replaced": 0}),
        (judging.lead.annotator_id, subject, {"replaced": 1}),
    ]


def test_a_link_in_a_mail_is_void_once_the_password_was_changed(judging: Judging, anna: Person) -> None:
    _, link = new_invitation(judging.project, judging.lead, anna.annotator_id, now=NOW)
    session = sign_in(judging.project, anna.name, OLD, now=NOW)
    change_password(judging.project, session, OLD, NEW, now=NOW)
    assert invited(judging.project, link, now=NOW) is None


def test_only_leads_make_links_and_only_for_people_who_may_come(judging: Judging, anna: Person) -> None:
    project, lead = judging.project, judging.lead
    with pytest.raises(NotAllowed):
        new_invitation(project, judging.annotators[1], anna.annotator_id, now=NOW)
    with pytest.raises(ProjectError, match="no person 999"):
        new_invitation(project, lead, 999, now=NOW)  # type: ignore[arg-type]
    suspend(project, lead, anna.annotator_id, True, now=NOW)
    with pytest.raises(ProjectError, match="reinstate"):
        new_invitation(project, lead, anna.annotator_id, now=NOW)


def test_it_is_on_record_who_added_a_person(judging: Judging) -> None:
    add_person(judging.project, judging.lead, "Zoe", Role.ANNOTATOR, now=NOW)
    add_person_with_password(judging.project, OPERATOR, "Yan", Role.LEAD, OLD, now=NOW)
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        added = dict(db.execute("SELECT name, added_by FROM annotator WHERE name IN ('Yan', 'Zoe')"))
    assert added == {"Zoe": judging.lead.annotator_id, "Yan": None}
    assert [(actor, told) for actor, _, told in events(judging, "person_added")][-2:] == [
        (judging.lead.annotator_id, {"name": "Zoe", "role": "annotator"}),
        (None, {"name": "Yan", "role": "lead"}),
    ]


def test_a_person_whose_invitation_could_not_be_kept_is_not_added(
    judging: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was full after the person and before the link: the name was taken, by somebody nobody could invite."""

    def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(people_rows, "add_invitation", full)
        with pytest.raises(StoreUnavailable):
            add_person(judging.project, judging.lead, "Zoe", Role.ANNOTATOR, now=NOW)
    assert "Zoe" not in [row.person.name for row in list_people(judging.project, OPERATOR)]
    assert add_person(judging.project, judging.lead, "Zoe", Role.ANNOTATOR, now=NOW)


def test_signing_in_does_not_tell_who_is_here(judging: Judging, anna: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer, and the same slow work, for a wrong password, an invited name, a suspended one and nobody's."""
    project, suspended = judging.project, judging.annotators[1]
    _, link = new_invitation(project, judging.lead, suspended.annotator_id, now=NOW)
    accept_invitation(project, link, NEW, now=NOW)
    suspend(project, judging.lead, suspended.annotator_id, True, now=NOW)
    add_person(project, judging.lead, "Invited", Role.ANNOTATOR, now=NOW)
    work: list[str] = []

    class Counting:
        """Argon2, and what it was asked to do."""

        def __init__(self) -> None:
            self.real = permissions._hasher()

        def hash(self, password: str) -> str:
            work.append("hash")
            return self.real.hash(password)

        def verify(self, hashed: str, password: str) -> bool:
            work.append("verify")
            return self.real.verify(hashed, password)

    permissions.nobodys_hash.cache_clear()  # a server that has just begun
    hasher = Counting()
    monkeypatch.setattr(permissions, "_hasher", lambda: hasher)
    with pytest.raises(SignInRefused):
        sign_in(project, anna.name, "warm up", now=NOW)
    told = {}
    for name, password in (
        *((anna.name, "wrong"), ("Invited", "any"), ("Nobody", "any")),
        *((suspended.name, "wrong"), (suspended.name, NEW)),
    ):
        work.clear()
        with pytest.raises(SignInRefused) as refused:
            sign_in(project, name, password, now=NOW)
        told[name, password] = (str(refused.value), *work)
    answer = "Name or password is wrong, or the account is not open. If both are right, ask your lead."
    assert set(told.values()) == {(answer, "verify")}, told


# One password as four keyboards send it: composed, decomposed, full-width letters, no-break spaces.
COMPOSED = "d\u00e9j\u00e0 vu 42 \ud55c"
FORMS = [
    COMPOSED,
    "de\u0301ja\u0300 vu 42 \u1112\u1161\u11ab",
    "\uff44\u00e9j\u00e0 vu \uff14\uff12 \ud55c",
    "d\u00e9j\u00e0\u00a0vu\u300042 \ud55c",
]


@pytest.mark.parametrize("chosen", FORMS)
def test_a_password_is_the_same_whichever_form_a_keyboard_sends(judging: Judging, anna: Person, chosen: str) -> None:
    project = judging.project
    _, link = new_invitation(project, judging.lead, anna.annotator_id, now=NOW)
    session = accept_invitation(project, link, chosen, now=NOW)
    assert all(sign_in(project, anna.name, form, now=NOW) for form in FORMS)
    with pytest.raises(ProjectError, match="the new password is the same as the current one"):
        change_password(project, session, FORMS[1], FORMS[2], now=NOW)
    with pytest.raises(SignInRefused):
        sign_in(project, anna.name, "deja vu 42 \ud55c", now=NOW)


def test_a_password_that_an_earlier_release_hashed_as_it_was_typed_still_opens(judging: Judging, anna: Person) -> None:
    hashed = permissions._hasher().hash(FORMS[1])
    judging.project.store.db.conn.execute(
        "UPDATE annotator SET password_hash = ? WHERE annotator_id = ?", [hashed, anna.annotator_id]
    )
    session = sign_in(judging.project, anna.name, FORMS[1], now=NOW)
    assert change_password(judging.project, session, FORMS[1], "another password", now=NOW)


def test_the_length_of_a_password_is_that_of_its_normalised_form(judging: Judging) -> None:
    with pytest.raises(ProjectError, match="at least 8 characters"):
        add_person_with_password(
            judging.project, judging.lead, "Zoe", Role.ANNOTATOR, "e\u0301e\u0301e\u0301e\u0301", now=NOW
        )
