"""People are removed only if nothing tells of them; anybody else is archived, and their work stays."""

import pytest

from backend.campaign.judging.model import Assignment
from backend.campaign.judging.removal import remove_person
from backend.campaign.judging.staffing import assign, current_assignments, suspend
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.people.accounts import accept_invitation, add_person, invited, list_people, new_invitation
from backend.campaign.setup.people.permissions import person_for
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId
from support import NOW, Judging


def named(judging: Judging, name: str) -> Person | None:
    return next((one.person for one in list_people(judging.project, judging.lead) if one.person.name == name), None)


def archived(judging: Judging) -> list[str]:
    return [one.person.name for one in list_people(judging.project, judging.lead) if one.is_archived]


def judgements(judging: Judging) -> list[tuple[object, ...]]:
    return [tuple(row) for row in judging.project.store.db.conn.execute("SELECT * FROM judgement ORDER BY 1")]


def test_somebody_who_did_nothing_is_gone_with_their_link(judging: Judging) -> None:
    link = add_person(judging.project, judging.lead, "Zoe", Role.ANNOTATOR, now=NOW)
    zoe = named(judging, "Zoe")
    assert zoe is not None
    assert not remove_person(judging.project, judging.lead, zoe.annotator_id, now=NOW)
    assert named(judging, "Zoe") is None
    assert invited(judging.project, link, now=NOW) is None
    add_person(judging.project, judging.lead, "Zoe", Role.ANNOTATOR, now=NOW)  # the name is free again


def test_somebody_with_judgements_is_archived_and_can_come_back(judging: Judging) -> None:
    anna, who = judging.annotators[0], judging.annotators[0].annotator_id
    pair = judging.pairs()[0].pair
    judging.grade(0, pair, 3)
    _, link = new_invitation(judging.project, judging.lead, who, now=NOW)
    session = accept_invitation(judging.project, link, "a long password", now=NOW)
    _, open_link = new_invitation(judging.project, judging.lead, who, now=NOW)
    assign(judging.project, judging.lead, [who], Assignment(a_day=5), now=NOW)
    before = judgements(judging)

    assert remove_person(judging.project, judging.lead, who, now=NOW)
    assert archived(judging) == [anna.name]
    assert judgements(judging) == before
    assert person_for(judging.project, session, now=NOW) is None
    assert invited(judging.project, open_link, now=NOW) is None
    assert who not in current_assignments(judging.project, judging.lead)
    assert not judging.project.store.db.conn.execute(
        "SELECT 1 FROM seat WHERE annotator_id = ? AND lease_until IS NOT NULL", [who]
    ).fetchall()
    assert [one.grade for one in judging.state(pair).grades] == [3]

    suspend(judging.project, judging.lead, who, False, now=NOW)
    assert archived(judging) == []
    back = named(judging, anna.name)
    assert back is not None
    assert not back.suspended


def test_nobody_removes_themselves_or_somebody_who_is_not_there(judging: Judging) -> None:
    with pytest.raises(ProjectError, match="You cannot remove yourself"):
        remove_person(judging.project, judging.lead, judging.lead.annotator_id, now=NOW)
    with pytest.raises(ProjectError, match="there is no person 999"):
        remove_person(judging.project, judging.lead, AnnotatorId(999), now=NOW)
