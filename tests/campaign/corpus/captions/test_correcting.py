"""A lead corrects captions in use, with their history, until annotators get pairs of them."""

from dataclasses import replace

import pytest

from backend.campaign.corpus.captions.correcting import (
    accepted_caption,
    accepted_captions,
    correct_caption,
    count_accepted_captions,
)
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import Overtaken, ProjectError
from backend.store.connection import writing
from support import NOW, Judging


@pytest.fixture
def lead(corpus_project: Project) -> Person:
    with writing(corpus_project.store):
        return people.add(corpus_project.store, OPERATOR, "Lea", Role.LEAD, now=NOW)


def test_a_correction_counts_from_then_on_and_is_kept(corpus_project: Project, lead: Person) -> None:
    project = corpus_project
    first = accepted_captions(project, lead, most=1)[0]
    assert count_accepted_captions(project, lead, first.text) >= 1
    correct_caption(project, lead, first.caption_id, " A dog  sleeps. ", "typo", seen=first.text, now=NOW + 5)
    found = accepted_caption(project, lead, first.caption_id)
    assert found is not None
    now, corrections = found
    assert now == replace(first, text="A dog sleeps.")
    assert [(one.by, one.before, one.text, one.reason, one.at) for one in corrections] == [
        ("Lea", first.text, "A dog sleeps.", "typo", NOW + 5)
    ]
    entry = find_activity(project, lead, ActivityFilter(), first=0, most=1)[0]
    assert entry.words == f"corrected “{first.text}” to “A dog sleeps.” (“typo”)"


@pytest.mark.parametrize(
    ("text", "why"), [("  ", "is empty"), ("x" * 1001, "1001 characters"), (None, "already has this text")]
)
def test_a_text_that_cannot_stand_is_refused(corpus_project: Project, lead: Person, text: str | None, why: str) -> None:
    first = accepted_captions(corpus_project, lead, most=1)[0]
    with pytest.raises(ProjectError, match=why):
        correct_caption(
            corpus_project, lead, first.caption_id, first.text if text is None else text, "", seen=first.text, now=NOW
        )
    with pytest.raises(Overtaken, match="Somebody else changed this caption"):
        correct_caption(corpus_project, lead, first.caption_id, "Rain.", "", seen="Another text", now=NOW)


def test_later_rewriting_leaves_a_corrected_rewrite_alone(corpus_project: Project, lead: Person) -> None:
    settings = corpus_project.folder / "reelrank.toml"
    settings.write_text(settings.read_text() + '"Anna" = "a woman"\n"Boris" = "a man"\n"Carla" = "a woman"\n')
    corpus_project = open_project(corpus_project.folder)
    rewrite_captions(corpus_project, OPERATOR, now=NOW)
    first = next(one for one in accepted_captions(corpus_project, lead, most=500) if one.published)
    correct_caption(corpus_project, lead, first.caption_id, "Rain falls.", "", seen=first.text, now=NOW)
    rewrite_captions(corpus_project, OPERATOR, now=NOW + 1)
    found = accepted_caption(corpus_project, lead, first.caption_id)
    assert found is not None
    assert found[0].text == "Rain falls."


def test_a_caption_is_fixed_once_a_pair_of_it_was_handed_out(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    drawn = project.store.db.conn.execute(
        "SELECT q.query_id, q.caption_id, q.text FROM query q ORDER BY q.query_id"
    ).fetchone()
    found = accepted_caption(project, lead, drawn[1])
    assert found is not None
    assert not found[0].fixed
    correct_caption(project, lead, drawn[1], "Rain falls on a roof.", "", seen=found[0].text, now=NOW)
    query = project.store.db.conn.execute("SELECT text FROM query WHERE query_id = ?", [drawn[0]]).fetchone()[0]
    assert query == "Rain falls on a roof.", "the query drawn from it has the same words"
    with writing(project.store) as db:
        db.conn.execute(
            "UPDATE seat SET annotator_id = ?, lease_until = ? WHERE seat_no = 1 AND pair_id = "
            "(SELECT min(pair_id) FROM pair WHERE query_id = ?)",
            [judging.annotators[0].annotator_id, NOW + 60, drawn[0]],
        )
    with pytest.raises(ProjectError, match="Annotators already have pairs"):
        correct_caption(project, lead, drawn[1], "Snow falls.", "", seen="Rain falls on a roof.", now=NOW)
