"""Practice in a campaign in which nothing is settled yet, nor any query drawn."""

import sqlite3
from contextlib import closing

from backend.campaign.desk.exchange import desk
from backend.campaign.judging.model import DeskState
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.qualification.guideline.practice_pairs import choose_practice, practice_items, practice_offers
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project
from backend.core.ids import MomentId
from support import NOW, PEOPLE, have_read

WHY = "The boat is there, and so is the hand."


def test_an_empty_campaign_can_have_practice(corpus_project: Project) -> None:
    """No query is drawn, nothing is settled: any caption's moment will do."""
    lead = people.add(corpus_project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)
    with closing(sqlite3.connect(corpus_project.folder / "reelrank.db")) as db, db:
        db.execute(
            "UPDATE video SET path = name, fps_num = 25, fps_den = 1, width_px = 64, height_px = 36, has_audio = 0"
        )
    offers = practice_offers(corpus_project, lead, "Anna walks to a sofa in room 0.")
    choose_practice(corpus_project, lead, "Somebody walks.", MomentId(offers[0].moment_id), 4, WHY, now=NOW)
    new = people.add(corpus_project.store, OPERATOR, PEOPLE[0], Role.ANNOTATOR, now=NOW)
    assert [one.query for one in practice_items(corpus_project, new, now=NOW)] == ["Somebody walks."]
    have_read(corpus_project)
    assert desk(corpus_project, new, now=NOW).state is DeskState.NOTHING
