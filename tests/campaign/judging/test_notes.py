"""Notes with grades: kept with the judgement, read by leads with the pair, answered once the pair is settled."""

import csv
import io
import json
import sqlite3

import pytest

from backend.campaign.desk import exchange
from backend.campaign.judging.grades import LONGEST_NOTE
from backend.campaign.judging.model import CORRECTION_S, GradeEvent, Receipt, ReceiptStatus
from backend.campaign.release.export.freezing import export_release
from backend.campaign.review.adjudicating import (
    LONGEST_REPLY,
    adjudicate,
    my_replies,
    notes_csv,
    read_replies,
    reply_to_note,
)
from backend.campaign.review.model import ReviewList
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import PairKey
from support import NOW, PARTLY, Judging, cases, sit

SETTLED = NOW + CORRECTION_S + 1


def grade(
    judging: Judging, who: int, pair: str, grade: int, note: str | None = None, *, key: str = "", at: float = NOW
) -> Receipt:
    sit(judging.project, judging.annotators[who], [pair], now=at)
    event = GradeEvent(PairKey(pair), grade, key or f"{who}-{pair}-{at}-{grade}", 1000, note=note)
    return exchange.record_grades(judging.project, judging.annotators[who], [event], now=at)[0]


def notes(judging: Judging, pair: str) -> list[str | None]:
    """The notes of a pair as a lead reads them, in the order of seats."""
    return [given.note.text if given.note else None for given in judging.state(pair).grades]


def stored(judging: Judging) -> list[str]:
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        return [row[0] for row in db.execute("SELECT text FROM note ORDER BY judgement_id")]


@pytest.fixture
def pair(judging: Judging) -> str:
    return judging.pairs()[0].pair


def test_a_note_is_kept_with_its_grade_and_sent_once(judging: Judging, pair: str) -> None:
    for _ in range(3):
        assert grade(judging, 0, pair, 3, "Is this a cup?", key="one press").status is ReceiptStatus.SAVED
    assert stored(judging) == ["Is this a cup?"]
    assert notes(judging, pair) == ["Is this a cup?"]


def test_most_grades_have_none(judging: Judging, pair: str) -> None:
    for who, note in enumerate((None, "", "  \t ")):
        grade(judging, who % 2, pair, 3, note, key=f"k{who}")
    assert stored(judging) == []
    assert cases(judging.project, judging.lead, ReviewList.NOTES) == []


def test_a_correction_leaves_changes_or_takes_back_the_note(judging: Judging, pair: str) -> None:
    grade(judging, 0, pair, 3, "Is this a cup?")
    grade(judging, 0, pair, 2)
    assert notes(judging, pair) == ["Is this a cup?"], "a correction that says nothing about it leaves it"
    grade(judging, 0, pair, 1, "It is a bowl.")
    assert notes(judging, pair) == ["It is a bowl."]
    desk = exchange.desk(judging.project, judging.annotators[0], now=NOW)
    assert (desk.previous.grade, desk.previous.note) == (1, "It is a bowl."), "to be looked at after a reload"
    grade(judging, 0, pair, 0, "")
    assert notes(judging, pair) == [None]
    assert stored(judging) == ["Is this a cup?", "It is a bowl.", ""], "nothing that was written is erased"


def test_what_is_too_long_is_cut_and_what_controls_a_terminal_is_left_out(judging: Judging, pair: str) -> None:
    grade(judging, 0, pair, 3, "a\x00b\x1b[31m <b>\n\tc " + "far " * 1000)
    assert notes(judging, pair)[0] is not None
    (text,) = stored(judging)
    assert text.startswith("ab[31m <b> c far far")
    assert LONGEST_NOTE - 4 <= len(text) <= LONGEST_NOTE
    emoji = "👩‍👩‍👧 ok"
    grade(judging, 1, pair, 3, emoji)
    assert stored(judging)[1] == emoji


def test_the_note_of_a_grade_that_does_not_count_stays_in_the_log(judging: Judging, pair: str) -> None:
    for who in (0, 1):
        grade(judging, who, pair, 3)
    assert grade(judging, 2, pair, 3, "but look").status is ReceiptStatus.REFUSED
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        (payload,) = db.execute("SELECT payload FROM event WHERE kind = 'grade_refused'").fetchone()
    assert json.loads(payload)["note"] == "but look"
    assert stored(judging) == []


def test_no_annotator_learns_of_a_note_of_another(judging: Judging, pair: str) -> None:
    grade(judging, 0, pair, 3, "Is this a cup?")
    desk = exchange.desk(judging.project, judging.annotators[1], now=NOW)
    assert "cup" not in str(desk)
    assert my_replies(judging.project, judging.annotators[1], now=SETTLED) == []


def test_leads_read_notes_with_the_pair_and_list_them_the_newest_first(judging: Judging) -> None:
    first, second, bare = (pair.pair for pair in judging.pairs()[:3])
    grade(judging, 0, first, 3, "first")
    grade(judging, 0, second, 3, "second")
    grade(judging, 0, bare, 3)
    grade(judging, 1, first, 3, "third")
    assert [pair.pair for pair in cases(judging.project, judging.lead, ReviewList.NOTES)] == [first, second]
    assert notes(judging, first) == ["first", "third"]
    rows = list(csv.DictReader(io.StringIO(notes_csv(judging.project, judging.lead))))
    assert [(row["annotator"], row["grade"], row["note"], row["reply"]) for row in rows] == [
        (judging.annotators[0].name, "3", "first", ""),
        (judging.annotators[1].name, "3", "third", ""),
        (judging.annotators[0].name, "3", "second", ""),
    ]


def reply(judging: Judging, pair: str, text: str = "It is.", *, seat: int = 0, seen: int = 0, at: float = NOW) -> None:
    note = judging.state(pair).grades[seat].note
    reply_to_note(judging.project, judging.lead, note.note, text, seen=seen, now=at)


def told(judging: Judging, who: int, at: float) -> list[tuple[str, int, str, str, bool]]:
    found = my_replies(judging.project, judging.annotators[who], now=at)
    unread = exchange.desk(judging.project, judging.annotators[who], now=at).replies
    assert unread == sum(one.is_new for one in found), "the desk counts what My work lists as new"
    return [(one.query, one.grade, one.note, one.text, one.is_new) for one in found]


def test_a_reply_reaches_its_person_once_the_pair_is_settled_for_good(judging: Judging, pair: str) -> None:
    query = judging.state(pair).query
    grade(judging, 0, pair, 3, "Is this a cup?")
    reply(judging, pair)
    late = NOW + 10 * CORRECTION_S
    assert told(judging, 0, late) == [], "the pair is open"
    grade(judging, 1, pair, 0, at=late)
    assert told(judging, 0, late + 2 * CORRECTION_S) == [], "the pair is escalated"
    grade(judging, 2, pair, 3, at=late + 1)
    grade(judging, 3, pair, 3, at=late + 2)
    assert told(judging, 0, late + 1 + CORRECTION_S) == [], "the last grade may still be taken back"
    at = late + 3 + CORRECTION_S
    assert told(judging, 0, at) == [(query, 3, "Is this a cup?", "It is.", True)]
    for other in (1, 2, 3):
        assert told(judging, other, at) == []
    read_replies(judging.project, judging.annotators[0], now=at)
    assert told(judging, 0, at) == [(query, 3, "Is this a cup?", "It is.", False)]
    read_replies(judging.project, judging.annotators[0], now=at)


def test_reading_does_not_use_up_what_has_not_reached_them(judging: Judging, pair: str) -> None:
    grade(judging, 0, pair, 3, "Is this a cup?")
    reply(judging, pair)
    read_replies(judging.project, judging.annotators[0], now=SETTLED)
    grade(judging, 1, pair, 3)
    assert told(judging, 0, SETTLED)[0][-1] is True


def test_a_reply_reaches_its_person_after_a_decision_and_after_a_discard(judging: Judging) -> None:
    decided, discarded = (pair.pair for pair in judging.pairs()[:2])
    for pair in (decided, discarded):
        grade(judging, 0, pair, 0, "why?")
        reply(judging, pair, "so")
    adjudicate(judging.project, judging.lead, decided, 2, "seen it", now=NOW)
    for who, given in ((1, 2), (2, 4), (3, 4)):
        grade(judging, who, discarded, given)
    assert judging.state(discarded).verdict.value == "discarded"
    assert [text for _, _, _, text, _ in told(judging, 0, SETTLED)] == ["so", "so"]


def test_the_newest_reply_counts_and_is_new_again(judging: Judging, pair: str) -> None:
    for who in (0, 1):
        grade(judging, who, pair, 3, "Is this a cup?")
    reply(judging, pair)
    read_replies(judging.project, judging.annotators[0], now=SETTLED)
    first = judging.state(pair).grades[0].note
    assert (first.reply.lead, first.reply.text) == (judging.lead.name, "It is.")
    reply(judging, pair, "It is a bowl.", seen=first.reply.reply_id, at=NOW + 60)
    assert [one[3:] for one in told(judging, 0, SETTLED)] == [("It is a bowl.", True)]
    assert told(judging, 1, SETTLED) == []


@pytest.mark.parametrize(
    ("text", "refusal", "sentence"),
    [
        (" ", ProjectError, "the reply is empty"),
        ("x" * (LONGEST_REPLY + 1), ProjectError, f"at most {LONGEST_REPLY} characters"),
        ("another one", Overtaken, "You replied just now: “It is.”"),
    ],
)
def test_a_reply_that_is_refused(
    judging: Judging, pair: str, text: str, refusal: type[Exception], sentence: str
) -> None:
    grade(judging, 0, pair, 3, "Is this a cup?")
    reply(judging, pair)
    reply(judging, pair)  # the same once more changes nothing
    with pytest.raises(refusal, match=sentence):
        reply(judging, pair, text)
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        assert db.execute("SELECT count(*) FROM note_reply").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM event WHERE kind = 'note_answered'").fetchone() == (1,)


def test_a_note_that_is_not_there_gets_no_reply(judging: Judging, pair: str) -> None:
    grade(judging, 0, pair, 3)
    with pytest.raises(ProjectError, match="this note no longer exists"):
        reply_to_note(judging.project, judging.lead, 1, "It is.", now=NOW)


def test_no_release_holds_a_note(judging: Judging, tmp_path: object) -> None:
    for who in (0, 1):
        grade(judging, who, judging.pairs()[0].pair, 3, "zebra-note")
    reply(judging, judging.pairs()[0].pair, "zebra-reply")
    folder = judging.project.folder / "out"
    export_release(judging.project, judging.lead, folder, PARTLY, now=SETTLED)
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert not any(b"zebra" in file.read_bytes() for file in files)


def test_notes_are_only_added(judging: Judging, pair: str) -> None:
    grade(judging, 0, pair, 3, "Is this a cup?")
    with sqlite3.connect(judging.project.folder / "reelrank.db") as db:
        for act in ("UPDATE note SET text = 'x'", "DELETE FROM note"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(act)
