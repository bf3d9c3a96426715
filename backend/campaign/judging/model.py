"""The annotator's desk as values: what is on it, what comes back from it.

Units stand in the names. Instants are seconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from backend.campaign.nouns import Split
from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.ids import PairKey, QueryId
from backend.core.messages import joined, said, said_n

First = TypeVar("First")

CORRECTION_S = 15 * 60.0
"""For how long the person whose grade decided a pair may still take it back (nobody having gone on from it)."""


@dataclass(frozen=True, slots=True)
class DeskItem:
    """One pair in an annotator's hands, with nothing in it that could bias the grade.

    `position` of `total` counts this person's pairs of the query; `grade` is the person's own earlier grade
    when the pair is offered again for correction. The clip is the `whole` video where the moment is.
    """

    pair: PairKey
    query: str
    position: int
    total: int
    duration_s: float
    """Whole tenths: more digits would tell which moment it is."""
    grade: int | None = None
    whole: bool = False
    note: str = ""
    """What this person wrote with that grade."""

    def __post_init__(self) -> None:
        """Round what is measured, whoever makes the item."""
        object.__setattr__(self, "duration_s", round(self.duration_s, 1))


class DeskState(StrEnum):
    """Why an annotator's queue is as it is; the screen says it in words."""

    READY = "ready"
    FINISHED = "finished"
    """This person has graded everything they may grade."""
    WAITING = "waiting"
    """All that is left is held by other people just now."""
    NOTHING = "nothing"
    """No batch is open yet."""
    PAUSED = "paused"
    """This person takes no pairs until a lead lets them go on."""
    GUIDELINE = "guideline"
    """The guideline comes first: this person was not shown the version that stands."""
    QUOTA_TODAY = "quota_today"
    """This person has given as many grades today as a lead wants of them."""
    QUOTA = "quota"
    """The same in all."""
    ASSIGNED = "assigned"
    """Nothing is left of what a lead assigned to this person; there is other work."""
    EXAM = "exam"
    """The exam comes first, and just now it has no clip to show; `Desk.exam` tells why."""


@dataclass(frozen=True, slots=True)
class Desk(Generic[First]):
    """An annotator's desk: what to grade next, and how far they are.

    `previous` is the last pair this person graded, if they may still correct it (undo after a reload).
    """

    state: DeskState
    items: tuple[DeskItem, ...]
    previous: DeskItem | None
    today: int
    in_all: int
    waiting: int = 0
    """How many pairs this person could still grade but others hold just now."""
    skipped: int = 0
    """With nothing to grade: how many open pairs this person skipped, which are left to others."""
    replies: int = 0
    """Replies to this person's notes that they have not read; only of pairs that are settled for good."""
    warned: bool = False
    """Whether the person is to be told that their grades were often far from what is right; not of which pairs."""
    elsewhere: bool = False
    """Whether another window of this person has taken the desk since the one that asks did."""
    quota_today: int | None = None
    """How many grades a lead asks of this person in a day; None for any number."""
    quota_in_all: int | None = None
    exam: First | None = None
    """While something else comes before any pair (the exam), what it has to say; the items may be its own."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a lead gave an annotator: the queries for which all holds that is said, and at most so many grades.

    Queries are dealt into `parts` in judging order, one to each in turn; later ones as well.
    """

    split: Split | None = None
    part: int | None = None
    """From 1 to `parts`."""
    parts: int | None = None
    queries: tuple[QueryId, ...] | None = None
    """Those chosen by name."""
    a_day: int | None = None
    in_all: int | None = None
    at: float = 0.0
    by: str = ""
    """The lead who gave it."""
    assignment_id: int = 0

    @property
    def narrows(self) -> bool:
        """Whether it leaves out queries; one of quotas alone does not."""
        return self.split is not None or self.parts is not None or self.queries is not None

    def room(self, today: int, in_all: int) -> int | None:
        """How many more grades are wanted now from somebody who has given so many; None for any number.

        >>> Assignment(a_day=50, in_all=60).room(20, 55), Assignment(a_day=50).room(70, 70), Assignment().room(1, 1)
        (5, 0, None)
        """
        left = [most - given for most, given in ((self.a_day, today), (self.in_all, in_all)) if most is not None]
        return max(min(left), 0) if left else None


@dataclass(frozen=True, slots=True)
class GradeEvent:
    """A grade as a browser sends it; `key` is made once per key press, so that sending twice changes nothing."""

    pair: PairKey
    grade: int
    key: str
    active_ms: int = 0
    """Time of work on the pair: a hidden tab, and more than 30 s without any input, left out."""
    elapsed_ms: int | None = None
    """All time from the first painted frame to the key press; None where nobody measured it."""
    contexts: int = 0
    """How often the seconds around the moment were looked at before the key press."""
    note: str | None = None
    """What the person wrote for the lead; None leaves what they wrote before, an empty text takes it back."""


class SkipKind(StrEnum):
    """Why somebody does not judge a pair. None of them is a grade."""

    SKIP = "skip"
    """This person rather not; others may."""
    CANNOT_JUDGE = "cannot_judge"
    """Query or clip give no ground for a grade."""
    BROKEN_CLIP = "broken_clip"
    """The clip cannot be shown. Once two people say so of a moment, nobody gets it until a lead hands it out again."""


@dataclass(frozen=True, slots=True)
class SkipEvent:
    """A skip as a browser sends it, with a key like a grade's."""

    pair: PairKey
    kind: SkipKind
    reason: str
    key: str


@dataclass(frozen=True, slots=True)
class ReportedClip:
    """A clip that one person reported as broken and that is still shown to others: the server can play its file."""

    pair: PairKey
    video: str
    start_s: float
    end_s: float
    by: str
    """Name of the person who reported it."""
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class LiftedSkips:
    """How many skips of a person a lead lifted, and how many blocked clips are shown again because of it."""

    skips: int
    clips: int


class ActKind(StrEnum):
    """What a lead may do about a pair."""

    DECIDED = "decided"
    """The relevance is this one, whatever the rule says."""
    DISCARD_CONFIRMED = "discard_confirmed"
    """Its discard is right, and nothing is left to decide."""
    RE_OPENED = "re_opened"
    """Two more people shall grade it."""
    TAKEN_BACK = "taken_back"
    """An earlier act counts no more."""


class ReceiptStatus(StrEnum):
    """What became of a grade event."""

    SAVED = "saved"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to one `GradeEvent`: saved means committed, refused says why in words for the annotator."""

    key: str
    status: ReceiptStatus
    message: str = ""


@dataclass(frozen=True, slots=True)
class MyReply:
    """A lead's reply to a note of the person: nothing in it but their own grade and note, and the lead's words."""

    reply_id: int
    query: str
    grade: int
    note: str
    text: str
    at: float
    is_new: bool


def _claimed_words(payload: Payload) -> str:
    return said_n("took {n} pair to grade", "took {n:,} pairs to grade", len(payload.get("pairs") or ()))


def _suspension_words(payload: Payload) -> str:
    return said("suspended") if payload.get("suspended", True) else said("reinstated")


def _assignment_words(payload: Payload) -> str:
    parts = [
        said("the queries of {split}", split=value_text(payload["split"])) if payload.get("split") else "",
        said("part {part} of {parts}", part=value_text(payload.get("part")), parts=value_text(payload["parts"]))
        if payload.get("parts")
        else "",
        said("{queries} chosen queries", queries=value_text(payload["queries"])) if payload.get("queries") else "",
        said("at most {grades} grades a day", grades=value_text(payload["a_day"])) if payload.get("a_day") else "",
        said("at most {grades} grades in all", grades=value_text(payload["in_all"])) if payload.get("in_all") else "",
    ]
    work = joined(", ", filter(None, parts)) or said("any work")
    return said("assigned {work}", work=work)


SEATS_CLAIMED = Event("seats_claimed", EventGroup.DESK, _claimed_words)
"""pairs, in the order in which they are shown"""
ESCALATED = Event("escalated", EventGroup.DESK, said("escalated the pair: the grades {grades} do not agree"))
"""grades that do not agree"""
DE_ESCALATED = Event(
    "de_escalated", EventGroup.DESK, said("ended the escalation of the pair: the grades {grades} agree")
)
"""grades after a correction, before anybody else had sat down"""
GRADE_REFUSED = Event(
    "grade_refused", EventGroup.DESK, said("gave {grade}, which does not count: {why}"), tells_reason=True
)
"""grade, event_key, why, note if there is one: kept here so that nothing a person typed is lost"""
SKIPPED = Event("skipped", EventGroup.DESK, said("skipped ({kind})"))
"""kind, reason"""
OFFERED_AGAIN = Event(
    "offered_again", EventGroup.DECISIONS, said("offered the pair again to those who had skipped it ({people})")
)
"""people: how many had skipped the pair"""
SKIPS_LIFTED = Event(
    "skips_lifted", EventGroup.DECISIONS, said("undid {skips} skips and reports, and showed {clips} clips again")
)
"""skips: how many of this person's, reports_only: of broken clips alone, clips: how many are handed out again"""
CLIP_REPORTED = Event("clip_reported", EventGroup.DESK, said("reported a clip that cannot be shown"))
"""reason"""
CLIP_RESTORED = Event("clip_restored", EventGroup.DECISIONS, said("unblocked the clip"))
"""(empty): a lead hands the moment out again"""
JUDGEMENTS_IMPORTED = Event(
    "judgements_imported", EventGroup.MATERIAL, said("imported {rows} judgements of {pairs} pairs from {file}")
)
"""file, sha256, pairs_file, rows, pairs, people, sent_on: pairs that were given two further seats"""
PERSON_SUSPENDED = Event("person_suspended", EventGroup.PEOPLE, _suspension_words)
"""suspended"""
PERSON_ARCHIVED = Event("person_archived", EventGroup.PEOPLE, said("archived {name}"))
"""name: somebody with work on record was taken off the lists of people"""
PERSON_REMOVED = Event("person_removed", EventGroup.PEOPLE, said("removed {name}, who had done nothing yet"))
"""name, role"""
PERSON_PAUSED = Event("person_paused", EventGroup.PEOPLE, said("paused"))
"""reason; no actor where the program paused somebody by a rule"""
PERSON_UNPAUSED = Event("person_unpaused", EventGroup.PEOPLE, said("ended the pause"))
"""(empty): a lead lets somebody go on"""
ASSIGNED = Event("assigned", EventGroup.PEOPLE, _assignment_words)
"""split, part, parts, queries: how many chosen by name, a_day, in_all; what is null is not said"""
UNASSIGNED = Event("unassigned", EventGroup.PEOPLE, said("removed the assignment"))
"""(empty): somebody grades whatever there is again"""
SIGNED_OUT_EVERYWHERE = Event(
    "signed_out_everywhere", EventGroup.PEOPLE, said("signed out everywhere: {sessions} sessions")
)
"""sessions: how many ended"""
