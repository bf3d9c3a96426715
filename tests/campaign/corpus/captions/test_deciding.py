"""What leads decide about rewrites that wait: who, when, once, and taken back."""

import csv
import json
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.campaign.corpus.captions.decisions import (
    accept_rewrites,
    decide_rewrite,
    rewrite_queue,
    rewrite_summary,
    take_back_rewrite,
    waiting_rewrites,
)
from backend.campaign.corpus.captions.model import RewriteSummary
from backend.campaign.corpus.captions.rewriting import rewrite_captions
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.folder import Project, open_project
from backend.core.errors import InputError, Overtaken, ProjectError
from backend.store.connection import writing
from support import NOW

WORDS = {"Anna": "a woman", "Boris": "a man", "Carla": "a woman"}
EXTRA = ["Then Dev waves at Dev.", " Then Dev waves at Dev. ", "Then  Dev sighs.", "Rain."]


@pytest.fixture
def project(corpus_project: Project) -> Project:
    """Rewritten with a cast that lacks Dev: 12 captions of the corpus wait, three more do, two of them of one text."""
    settings = corpus_project.folder / "reelrank.toml"
    with settings.open("a") as file:
        file.writelines(f'"{name}" = "{generic}"\n' for name, generic in WORDS.items())
    project = open_project(corpus_project.folder)
    lines = [
        json.dumps({"video": "new", "start": n, "end": n + 1, "caption": text, "duration": 99})
        for n, text in enumerate(EXTRA)
    ]
    (project.folder / "more.jsonl").write_text("\n".join(lines))
    import_corpus(project, OPERATOR, project.folder / "more.jsonl", "jsonl", now=NOW)
    rewrite_captions(project, OPERATOR, now=NOW)
    return project


@pytest.fixture
def leads(project: Project) -> list[Person]:
    with writing(project.store):
        return [people.add(project.store, OPERATOR, name, Role.LEAD, now=NOW) for name in ("Lea", "Lou")]


def rows(project: Project, published: str) -> list[tuple[object, ...]]:
    found = project.store.db.conn.execute(
        "SELECT c.text, c.rule_version LIKE 'rules-%', c.accepted, c.decided_at, a.name, c.proposal FROM caption c "
        "JOIN caption s ON s.caption_id = c.source_caption_id LEFT JOIN annotator a ON a.annotator_id = c.decided_by "
        "WHERE trim(s.text) = ? ORDER BY c.caption_id",
        [published],
    )
    return [tuple(row) for row in found]


def table(project: Project) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.store.db.conn.execute("SELECT * FROM caption ORDER BY caption_id")]


def waiting(project: Project, lead: Person, published: str) -> int:
    return next(item.caption_id for item in rewrite_queue(project, lead).items if item.published == published)


def test_the_queue_holds_what_waits_by_text_with_its_differences(project: Project, leads: list[Person]) -> None:
    queue = rewrite_queue(project, leads[0])
    assert (queue.counts.waiting, queue.counts.accepted, queue.counts.rewritten) == (15, 37, 52)
    assert (queue.fixed, queue.last) == (False, None)
    assert queue.then.startswith("reelrank queries ")
    assert [item.published for item in queue.items][12:] == ["Then Dev waves at Dev.", "Then  Dev sighs."]
    twice = queue.items[12]
    assert (twice.captions, twice.reason) == (2, "it still has a name: Dev")
    assert [item.caption_id for item in queue.items] == sorted(item.caption_id for item in queue.items)


def test_the_file_of_what_waits_can_be_handed_back_as_it_is(project: Project, leads: list[Person]) -> None:
    """Two captions of one text were two rows, of which the second was refused: the first had decided both."""
    queue = rewrite_queue(project, leads[0])
    found = waiting_rewrites(project)
    assert [text for text, _, _ in found] == [item.published for item in queue.items]
    file = project.folder / "waiting.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([("caption", "rewrite", "why it waits"), *found, found[12]])
    assert accept_rewrites(project, file, now=NOW) == queue.counts.waiting == 15
    assert waiting_rewrites(project) == []


def test_two_wordings_of_one_caption_are_refused(project: Project) -> None:
    file = project.folder / "waiting.csv"
    file.write_text("caption,rewrite\nThen Dev waves at Dev.,A man waves.\nThen Dev waves at Dev.,He waves.\n")
    with pytest.raises(
        InputError, match=r"waiting\.csv, row 3: row 2 has another rewrite of this caption: keep one of them"
    ):
        accept_rewrites(project, file, now=NOW)
    assert len(waiting_rewrites(project)) == 14


def test_accepting_PLACE_keeps_who_wrote_it_and_says_who_accepted(project: Project, leads: list[Person]) -> None:
    caption = waiting(project, leads[0], "Then  Dev sighs.")
    decide_rewrite(project, leads[0], caption, "Then  Dev sighs.", now=NOW + 5)
    assert rows(project, "Then  Dev sighs.") == [("Then  Dev sighs.", 1, 1, NOW + 5, "Lea", None)]
    counts = rewrite_queue(project, leads[0]).counts
    assert (counts.waiting, counts.accepted, counts.by_hand) == (14, 38, 0)


def test_own_words_count_for_all_captions_with_the_text_and_the_rules_leave_them_alone(
    project: Project, leads: list[Person]
) -> None:
    caption = waiting(project, leads[0], "Then Dev waves at Dev.")
    decide_rewrite(project, leads[0], caption, "  Then a man\nwaves. ", now=NOW + 5)
    mine = ("Then a man waves.", 0, 1, NOW + 5, "Lea", "Then Dev waves at Dev.")
    assert rows(project, "Then Dev waves at Dev.") == [mine, mine]
    counts = rewrite_queue(project, leads[0]).counts
    assert (counts.waiting, counts.accepted, counts.by_hand) == (13, 39, 2)
    rewrite_captions(project, OPERATOR, now=NOW)
    assert rows(project, "Then Dev waves at Dev.") == [mine, mine]
    assert rewrite_queue(project, leads[0]).counts == counts


def test_a_rejected_rewrite_makes_no_query_now_or_after_another_run(project: Project, leads: list[Person]) -> None:
    caption = waiting(project, leads[0], "Then Dev waves at Dev.")
    decide_rewrite(project, leads[0], caption, None, now=NOW)
    rewrite_captions(project, OPERATOR, now=NOW)
    assert rewrite_queue(project, leads[0]).counts.rejected == 2
    assert "Then Dev waves at Dev." not in [text for text, _, _ in waiting_rewrites(project)]
    draw_queries(project, OPERATOR, val=3, test=0, seed=1, now=NOW)
    texts = {row[0] for row in project.store.db.conn.execute("SELECT text FROM query")}
    assert not any("waves at" in text for text in texts)


@pytest.mark.parametrize(
    ("words", "why"),
    [("Then Anna waves.", "the rewrite still has a name: Anna"), ("  ", "the rewrite is empty"), ("", "is empty")],
)
def test_words_that_cannot_stand_are_refused(project: Project, leads: list[Person], words: str, why: str) -> None:
    before = rows(project, "Then Dev waves at Dev.")
    with pytest.raises(ProjectError, match=why):
        decide_rewrite(project, leads[0], waiting(project, leads[0], "Then Dev waves at Dev."), words, now=NOW)
    assert rows(project, "Then Dev waves at Dev.") == before


def test_the_second_lead_is_told_what_the_first_decided(project: Project, leads: list[Person]) -> None:
    lea, lou = leads
    caption = waiting(project, lea, "Then Dev waves at Dev.")
    decide_rewrite(project, lea, caption, "A man waves.", now=NOW)
    decide_rewrite(project, lea, caption, "A man waves.", now=NOW + 1)  # sent again, as nothing was answered
    told = "Lea accepted “A man waves.” for “Then Dev waves at Dev.” 2 minutes ago"
    with pytest.raises(Overtaken, match=told):
        decide_rewrite(project, lou, caption, None, now=NOW + 130)
    assert rows(project, "Then Dev waves at Dev.")[0][4] == "Lea"
    assert [event[0] for event in events(project, "rewrite_decided")] == ["Lea"]


def test_of_two_leads_at_the_same_moment_one_decides(project: Project, leads: list[Person]) -> None:
    caption = waiting(project, leads[0], "Then Dev waves at Dev.")
    start, outcomes = threading.Barrier(2), []

    def act(lead: Person, text: str | None) -> None:
        own = open_project(project.folder)
        start.wait()
        try:
            decide_rewrite(own, lead, caption, text, now=NOW)
            outcomes.append("decided")
        except Overtaken:
            outcomes.append("told")
        own.store.close()

    threads = [threading.Thread(target=act, args=both) for both in zip(leads, ("A man waves.", None), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["decided", "told"]


def test_retried_are_those_that_took_more_than_one_attempt(project: Project, leads: list[Person]) -> None:
    assert rewrite_queue(project, leads[0]).counts.retried == 0
    with writing(project.store) as db:
        accepted = "SELECT caption_id FROM caption WHERE kind = 'rewritten' AND accepted = ? LIMIT 2"
        for kind in (0, 1):
            db.conn.execute(f"UPDATE caption SET attempts = 2 WHERE caption_id IN ({accepted})", [kind])
    assert rewrite_queue(project, leads[0]).counts.retried == 4


def test_each_lead_takes_back_their_own_decisions_from_the_last_on(project: Project, leads: list[Person]) -> None:
    lea, lou = leads
    before = {text: rows(project, text) for text in ("Then Dev waves at Dev.", "Then  Dev sighs.")}
    first, second = (waiting(project, lea, text) for text in before)
    decide_rewrite(project, lea, first, "A man waves.", now=NOW + 1)
    decide_rewrite(project, lea, second, None, now=NOW + 2)
    with pytest.raises(ProjectError, match="you have no decision"):
        take_back_rewrite(project, lou, now=NOW + 3)
    assert take_back_rewrite(project, lea, now=NOW + 3).text is None
    assert rows(project, "Then  Dev sighs.") == before["Then  Dev sighs."]
    assert rewrite_queue(project, lea).last == take_back_rewrite(project, lea, now=NOW + 4)
    assert rows(project, "Then Dev waves at Dev.") == before["Then Dev waves at Dev."]
    assert rewrite_queue(project, lea).counts.waiting == 15
    assert [event[1]["captions"] for event in events(project, "rewrite_taken_back")] == [1, 2]


def test_the_last_decision_is_the_last_one_although_the_clock_jumped(
    project: Project, leads: list[Person], jump: tuple[float, float]
) -> None:
    lea, texts = leads[0], ("Then Dev waves at Dev.", "Then  Dev sighs.")
    for text, at in zip(texts, jump, strict=True):
        decide_rewrite(project, lea, waiting(project, lea, text), None, now=at)
    taken = [take_back_rewrite(project, lea, now=jump[1]).published for _ in texts]
    assert taken == [*reversed(texts)]


@pytest.mark.parametrize("seed", range(5))
def test_taking_everything_back_leaves_what_was_there_before(project: Project, leads: list[Person], seed: int) -> None:
    """Whatever two leads did, in whatever order, also where captions of one moment get the same words."""
    draw = random.Random(seed)
    moment = {"video": "v0", "start": 50, "end": 51, "duration": 60}
    file = project.folder / "same.jsonl"
    file.write_text(
        "".join(json.dumps(moment | {"caption": f"{word} Dev nods."}) + "\n" for word in ("Now", "So", "Or"))
    )
    import_corpus(project, OPERATOR, file, "jsonl", now=NOW)
    rewrite_captions(project, OPERATOR, now=NOW)
    before, total = table(project), rewrite_queue(project, leads[0]).counts.rewritten
    for step in range(40):
        lead, now = draw.choice(leads), NOW + step
        items = rewrite_queue(project, lead).items
        if items and draw.random() < 0.7:
            item = draw.choice(items)
            text = draw.choice([None, item.proposal, "A man nods.", "Somebody is there."])
            decide_rewrite(project, lead, item.caption_id, text, now=now)
        elif rewrite_queue(project, lead).last:
            take_back_rewrite(project, lead, now=now)
        assert rewrite_queue(project, lead).counts.rewritten == total
        texts = "SELECT moment_id, text FROM caption WHERE kind = 'rewritten' AND accepted = 1"
        accepted = project.store.db.conn.execute(texts).fetchall()
        assert len(accepted) == len({tuple(row) for row in accepted})
    for lead in leads:
        while rewrite_queue(project, lead).last:
            take_back_rewrite(project, lead, now=NOW + 99)
    assert table(project) == before


def test_of_two_captions_of_a_moment_the_first_stands_for_both(project: Project, leads: list[Person]) -> None:
    line = {"video": "v0", "start": 50, "end": 51, "duration": 60}
    file = project.folder / "two.jsonl"
    file.write_text("".join(json.dumps(line | {"caption": text}) + "\n" for text in ("Dev nods.", "Now Dev nods.")))
    import_corpus(project, OPERATOR, file, "jsonl", now=NOW)
    rewrite_captions(project, OPERATOR, now=NOW)
    for text in ("Dev nods.", "Now Dev nods."):
        decide_rewrite(project, leads[0], waiting(project, leads[0], text), "A man nods.", now=NOW)
    assert [rows(project, text)[0][2] for text in ("Dev nods.", "Now Dev nods.")] == [1, 0]
    assert not any("nods" in text for text, _, _ in waiting_rewrites(project))


def test_once_queries_are_drawn_nothing_is_decided_or_taken_back(project: Project, leads: list[Person]) -> None:
    one, other = (waiting(project, leads[0], text) for text in ("Then Dev waves at Dev.", "Then  Dev sighs."))
    decide_rewrite(project, leads[0], one, "A man waves.", now=NOW)
    draw_queries(project, OPERATOR, val=3, test=0, seed=1, now=NOW)
    queue = rewrite_queue(project, leads[0])
    assert queue.fixed
    acts: list[Callable[[], object]] = [
        lambda: decide_rewrite(project, leads[0], other, None, now=NOW),
        lambda: take_back_rewrite(project, leads[0], now=NOW),
    ]
    for act in acts:
        with pytest.raises(ProjectError, match="texts are fixed"):
            act()
    assert rewrite_queue(project, leads[0]) == queue


def test_a_rewrite_that_another_run_replaced_is_gone(project: Project, leads: list[Person]) -> None:
    with pytest.raises(ProjectError, match="rewritten again"):
        decide_rewrite(project, leads[0], 9999, "A man.", now=NOW)


def test_the_file_of_the_command_decides_in_nobodys_name(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "waiting.csv"
    file.write_text("caption,rewrite\nThen Dev waves at Dev.,A man waves.\nThen  Dev sighs.,Boris sighs.\n")
    with pytest.raises(InputError, match=r"waiting\.csv, row 3: the rewrite still has a name: Boris"):
        accept_rewrites(project, file, now=NOW)
    assert events(project, "rewrite_decided") == []
    file.write_text("caption,rewrite\nThen Dev waves at Dev.,A man waves.\n")
    assert accept_rewrites(project, file, now=NOW) == 2
    assert [row[3:5] for row in rows(project, "Then Dev waves at Dev.")] == [(NOW, None)] * 2
    published = "Then Dev waves at Dev."
    assert events(project, "rewrite_decided") == [
        (None, {"published": published, "text": "A man waves.", "captions": 2})
    ]


def test_the_summary_counts_accepted_captions_alone(project: Project) -> None:
    found = rewrite_summary(project, OPERATOR)
    # 36 captions begin with one of the three names of the cast, and one is `Rain.`: 37 were accepted.
    assert (found.captions, found.changed) == (37, 36)
    assert found.replacements == (("a woman", 24), ("a man", 12))
    assert isinstance(found, RewriteSummary)
    assert found.words_after > found.words_before


def events(project: Project, kind: str) -> list[tuple[str | None, dict[str, object]]]:
    found = project.store.db.conn.execute(
        "SELECT name, payload FROM event LEFT JOIN annotator ON annotator_id = actor WHERE kind = ? ORDER BY event_id",
        [kind],
    )
    return [(row[0], json.loads(row[1])) for row in found]
