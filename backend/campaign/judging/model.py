"""Define the data types of judging: what the grading page shows, grades, skips, assignments, and events in the log.

The ends of field names give the units. Times are in seconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from backend.campaign.nouns import Split
from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.core.messages import joined, said, said_n

First = TypeVar("First")

LONGEST_LEASE_S = 7 * 86_400.0
"""The longest time for which the setting `lease_minutes` lets a pair be reserved, in seconds."""
CORRECTION_S = 15 * 60.0
"""Seconds for which a person may still change a grade that settled a pair, unless somebody has acted on the grade."""


@dataclass(frozen=True, slots=True)
class DeskItem:
    """One pair to grade, as the grading page gets it, without anything that could bias the grade.

    `position` and `total` count this person's pairs of the query that are handed out together, as in "7 of 20". `grade`
    is the person's own earlier grade if they come back to correct it. `whole` says that the moment is the whole video.
    """

    pair: PairKey
    query: str
    position: int
    total: int
    duration_s: float
    """Rounded to tenths: more digits would identify the moment."""
    grade: int | None = None
    whole: bool = False
    note: str = ""
    """The note that this person wrote with that grade."""

    def __post_init__(self) -> None:
        """Round the duration to tenths of a second."""
        object.__setattr__(self, "duration_s", round(self.duration_s, 1))


class DeskState(StrEnum):
    """Whether an annotator has pairs to grade, or else why not; the page shows it in words."""

    READY = "ready"
    FINISHED = "finished"
    """This person has graded everything they may grade."""
    WAITING = "waiting"
    """Other people hold every pair that this person could still grade."""
    NOTHING = "nothing"
    """No batch is open yet."""
    PAUSED = "paused"
    """This person gets no pairs until a lead ends their pause."""
    GUIDELINE = "guideline"
    """This person first has to read the guideline: they have not seen the version in force."""
    QUOTA_TODAY = "quota_today"
    """This person has reached the quota of grades that a lead set for a day."""
    QUOTA = "quota"
    """This person has reached the quota of grades that a lead set in all."""
    ASSIGNED = "assigned"
    """This person has finished their assignment; there is work outside it."""
    EXAM = "exam"
    """This person first has to take the exam, which has no clip to show now; `Desk.exam` says why."""


@dataclass(frozen=True, slots=True)
class Desk(Generic[First]):
    """What the grading page shows to an annotator: the pairs to grade next, and their progress.

    Attributes:
        state: whether there are pairs to grade, or else why not.
        items: the pairs to grade next, or items of the exam if it comes first.
        previous: the pair that they graded last, if they may still correct it (for undo after a reload).
        today: the number of pairs that they have graded today.
        in_all: the number of pairs that they have graded in all.
        waiting: the number of pairs that they could still grade but that others hold now. It is 0 if there are `items`.
        skipped: the number of pairs that they skipped and that others will grade. It is 0 if there are `items`.
        replies: the number of unread replies to their notes. Only pairs that are settled for good count.
        warned: whether to warn them, without naming pairs, that their grades were often far from the right ones.
        elsewhere: whether they now work in another browser window than the one that asks.
        quota_today: the most grades that a lead wants from them in a day; None for any number.
        quota_in_all: the most grades that a lead wants from them in all; None for any number.
        exam: the state of the exam while it comes before any pair.
    """

    state: DeskState
    items: tuple[DeskItem, ...]
    previous: DeskItem | None
    today: int
    in_all: int
    waiting: int = 0
    skipped: int = 0
    replies: int = 0
    warned: bool = False
    elsewhere: bool = False
    quota_today: int | None = None
    quota_in_all: int | None = None
    exam: First | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """The queries that a lead gave an annotator to grade, and limits on their number of grades.

    The queries are selected by up to three conditions: `split`, `part` and `queries` (those that the lead chose one by
    one). A query is selected if it meets all conditions that are not None. With `parts`, all queries are divided into
    that many parts, and `part` is one of them, from 1. In the order of grading, the first query goes to part 1, the
    second to part 2, and so on in turn. Queries added later are divided in the same way. `a_day` is the most grades
    wanted in a day, `in_all` the most grades wanted in all; None sets no limit.
    """

    split: Split | None = None
    part: int | None = None
    parts: int | None = None
    queries: tuple[QueryId, ...] | None = None
    a_day: int | None = None
    in_all: int | None = None
    at: float = 0.0
    by: str = ""
    """The lead who gave it."""
    assignment_id: int = 0

    @property
    def narrows(self) -> bool:
        """Whether the assignment leaves out any queries; False if it only limits the number of grades."""
        return self.split is not None or self.parts is not None or self.queries is not None

    def room(self, today: int, in_all: int) -> int | None:
        """Return how many more grades the limits `a_day` and `in_all` allow now; None for any number.

        Args:
            today: how many grades the person gave today.
            in_all: how many grades they gave in all.

        >>> Assignment(a_day=50, in_all=60).room(20, 55), Assignment(a_day=50).room(70, 70), Assignment().room(1, 1)
        (5, 0, None)
        """
        left = [most - count for most, count in ((self.a_day, today), (self.in_all, in_all)) if most is not None]
        return max(min(left), 0) if left else None


@dataclass(frozen=True, slots=True)
class GradeEvent:
    """A grade as a browser sends it.

    Attributes:
        key: identifies the key press, so that sending the grade twice changes nothing.
        active_ms: milliseconds of work on the pair, without times when the tab was hidden or had no input for over
            30 s.
        elapsed_ms: milliseconds from the first frame on screen to the key press; None if not measured.
        contexts: how often, before the key press, the annotator watched the seconds around the moment.
        note: the note for the lead. None keeps the earlier note; an empty text removes it.
    """

    pair: PairKey
    grade: int
    key: str
    active_ms: int = 0
    elapsed_ms: int | None = None
    contexts: int = 0
    note: str | None = None


class SkipKind(StrEnum):
    """Why an annotator skips a pair instead of grading it. A skip is never a grade."""

    SKIP = "skip"
    """This person prefers not to judge the pair; others may."""
    CANNOT_JUDGE = "cannot_judge"
    """The query or the clip gives no basis for a grade."""
    BROKEN_CLIP = "broken_clip"
    """The clip cannot be shown. After two people reported a moment, nobody gets it until a lead restores it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One stored grade of an annotator for a pair, or one correction of it.

    `annotator` is the annotator's number, as in the raw annotations of a release; `name` is None unless it was asked
    for. `round` is 1 for the first two annotators of the pair, 2 for the two after a dispute, and 3 for the two that a
    lead added. `graded_at` is in UTC, such as `2026-03-14T09:26:53Z`.

    `active_ms`, `elapsed_ms` (None if unknown) and `contexts` mean the same as in `GradeEvent`.
    """

    pair_id: PairId
    query_id: QueryId | None
    """None if only the number of the pair is known, as in some earlier campaigns."""
    annotator: AnnotatorId
    name: str | None
    grade: int
    round: int
    revision: int
    """1 for the first grade; each correction adds 1."""
    current: bool
    """Whether this is the annotator's newest revision, which is the one that counts."""
    graded_at: str
    active_ms: int
    elapsed_ms: int | None
    contexts: int
    simulated: bool
    """Whether a program gave it, for a demonstration."""
    imported: bool
    """Whether it comes from an earlier campaign."""
    probe: bool
    """Whether the pair is graded only to learn how deep judging must go. No release has such judgements."""


@dataclass(frozen=True, slots=True)
class SkipEvent:
    """A skip of a pair as a browser sends it; `key` identifies it, so that sending it twice changes nothing."""

    pair: PairKey
    kind: SkipKind
    reason: str
    key: str


@dataclass(frozen=True, slots=True)
class ReportedClip:
    """A clip that somebody reported as broken, but that other annotators still get.

    `reason` is what a reporter wrote, and `at` the time of the last report, in seconds since 1970.
    """

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
    """How many skips of an annotator a lead undid, and how many clips are handed out again as a result."""

    skips: int
    clips: int


class ActKind(StrEnum):
    """The decisions that a lead can make about a pair."""

    DECIDED = "decided"
    """The lead set the relevance, which overrides the rule."""
    DISCARD_CONFIRMED = "discard_confirmed"
    """The lead confirmed that discarding the pair is right."""
    RE_OPENED = "re_opened"
    """The lead asked for grades from two more people."""
    TAKEN_BACK = "taken_back"
    """The lead took back an earlier decision, which no longer counts."""


class ReceiptStatus(StrEnum):
    """Whether a grade or a skip that a browser sent was stored."""

    SAVED = "saved"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The server's answer to one grade or skip that a browser sent; `key` is the key that came with it.

    SAVED means that it is stored. REFUSED comes with a `message` that tells the annotator why it is not.
    """

    key: str
    status: ReceiptStatus
    message: str = ""


@dataclass(frozen=True, slots=True)
class MyReply:
    """A lead's reply to a note that an annotator wrote with a grade.

    `grade` and `note` are the annotator's own. `at` is when the lead replied, in seconds since 1970. `is_new` means
    that the annotator has not read the reply.
    """

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
"""Payload: pairs (in the order in which the desk shows them)."""
ESCALATED = Event("escalated", EventGroup.DESK, said("escalated the pair: the grades {grades} do not agree"))
"""Payload: grades (those that do not agree)."""
DE_ESCALATED = Event(
    "de_escalated", EventGroup.DESK, said("ended the escalation of the pair: the grades {grades} agree")
)
"""Payload: grades (those after the correction, before anybody had graded a further seat)."""
GRADE_REFUSED = Event(
    "grade_refused", EventGroup.DESK, said("gave {grade}, which does not count: {why}"), tells_reason=True
)
"""Payload: grade, event_key, why, and note if there is one, so that nothing a person typed is lost."""
SKIPPED = Event("skipped", EventGroup.DESK, said("skipped ({kind})"))
"""Payload: kind, reason."""
OFFERED_AGAIN = Event(
    "offered_again", EventGroup.DECISIONS, said("offered the pair again to those who had skipped it ({people})")
)
"""Payload: people (the number of people who had skipped the pair)."""
SKIPS_LIFTED = Event(
    "skips_lifted", EventGroup.DECISIONS, said("undid {skips} skips and reports, and showed {clips} clips again")
)
"""Payload: skips (number undone), reports_only (only reports of broken clips), clips (number handed out again)."""
CLIP_REPORTED = Event("clip_reported", EventGroup.DESK, said("reported a clip that cannot be shown"))
"""Payload: reason."""
CLIP_RESTORED = Event("clip_restored", EventGroup.DECISIONS, said("unblocked the clip"))
"""No payload: a lead unblocked the moment."""
JUDGEMENTS_IMPORTED = Event(
    "judgements_imported", EventGroup.MATERIAL, said("imported {rows} judgements of {pairs} pairs from {file}")
)
"""Payload: file, sha256, pairs_file, rows, pairs, people, sent_on (number of pairs with two further seats), asked."""
PERSON_SUSPENDED = Event("person_suspended", EventGroup.PEOPLE, _suspension_words)
"""Payload: suspended."""
PERSON_ARCHIVED = Event("person_archived", EventGroup.PEOPLE, said("archived {name}"))
"""Payload: name (of a person with work on record, who no longer appears in lists of people)."""
PERSON_REMOVED = Event("person_removed", EventGroup.PEOPLE, said("removed {name}, who had done nothing yet"))
"""Payload: name, role."""
PERSON_PAUSED = Event("person_paused", EventGroup.PEOPLE, said("paused"))
"""Payload: reason; there is no actor if a rule paused the person."""
PERSON_UNPAUSED = Event("person_unpaused", EventGroup.PEOPLE, said("ended the pause"))
"""No payload: a lead ended the pause."""
ASSIGNED = Event("assigned", EventGroup.PEOPLE, _assignment_words)
"""Payload: split, part, parts, queries (how many the lead chose one by one), a_day, in_all; each null if not set."""
UNASSIGNED = Event("unassigned", EventGroup.PEOPLE, said("removed the assignment"))
"""No payload: the person may grade any pair again."""
SIGNED_OUT_EVERYWHERE = Event(
    "signed_out_everywhere", EventGroup.PEOPLE, said("signed out everywhere: {sessions} sessions")
)
"""Payload: sessions (the number of sessions that ended), tokens (the number of tokens that were revoked)."""
