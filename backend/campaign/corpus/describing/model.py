"""Define the data types of describing, in which annotators mark moments in videos and write a sentence for each.

A description is a marked moment with its sentence. A describer is an annotator who writes descriptions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup
from backend.core.ids import AnnotatorId, MomentId
from backend.core.messages import said

LONGEST_SENTENCE = 500
"""The most characters of a sentence; far more than one needs."""
LONGEST_WORDS = 500
"""The most characters of a lead's comment to an author."""


class DescriptionStatus(StrEnum):
    """The status of a description (a marked moment with its sentence)."""

    WAITING = "waiting"
    """The description waits for a lead."""
    RETURNED = "returned"
    """A lead sent it back to its author with a comment."""
    ACCEPTED = "accepted"
    """A lead accepted the description; it is now the caption of a moment."""
    WITHDRAWN = "withdrawn"
    """The author withdrew the description; it stays on record, and only the author sees it."""


class DescriptionAct(StrEnum):
    """An action on a description (a marked moment with its sentence).

    The author writes and withdraws it; a lead takes all other actions.
    """

    WRITTEN = "written"
    WITHDRAWN = "withdrawn"
    ACCEPTED = "accepted"
    RETURNED = "returned"
    TAKEN_BACK = "taken_back"
    """A lead undid the last decision."""


class DescribeKind(StrEnum):
    """What an annotator did on the page for describing: write a description, change it, or withdraw it."""

    DESCRIBE = "describe"
    REDESCRIBE = "redescribe"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True)
class DescribeEvent:
    """An action on the page for describing, as a browser sends it: a description is written, changed or withdrawn.

    `key` identifies the action, so that sending it twice changes nothing. `description` is a key that the browser made
    for the description, and `video` the id of the video as text. `start_s` is the time of the first frame marked, and
    `end_s` that of the first frame after the moment. Both are in seconds on the video's time line. `elapsed_ms` is the
    time from the mark or the last save to this save, in milliseconds; None if it was not measured. `active_ms` is the
    part of it in which the tab was on screen and the annotator was active.
    """

    key: str
    kind: DescribeKind
    video: str
    description: str
    start_s: float = 0.0
    end_s: float = 0.0
    sentence: str = ""
    elapsed_ms: int | None = None
    active_ms: int = 0


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An action of an annotator that the server refused, with the reason, addressed to the annotator.

    `key` is the key of the action. The action is kept in the event log.
    """

    key: str
    message: str


@dataclass(frozen=True, slots=True)
class MyDescription:
    """A description (a marked moment with its sentence) as its author sees it.

    `words` is the lead's comment if the lead sent the description back. `notes` are hints, such as that the sentence
    may contain a name; the author may ignore them.
    """

    description: str
    video: str
    start_s: float
    end_s: float
    sentence: str
    status: DescriptionStatus
    words: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DescribeAnswer:
    """The server's answer to the actions that a describer's browser sent.

    `accepted` are the keys of saved actions, and `refused` are the refused ones with reasons. `mine` are the
    descriptions that the actions were about, in their current state. `returned` are all descriptions that leads sent
    back to this person.
    """

    accepted: Sequence[str]
    refused: Sequence[RefusedEvent]
    returned: Sequence[MyDescription]
    mine: Sequence[MyDescription]


@dataclass(frozen=True, slots=True)
class VideoWork:
    """A video that one annotator may describe, with what the page shows about it.

    `key` is its id as text. `clip` is the address of the whole video as a clip whose times start at 0. `frames` is the
    address of a list of the times of all frames, in seconds; the first time may differ from 0. `shots` and `taken`
    (what others described) are spans in seconds. `mine` are this person's descriptions. `wanted` is how many
    descriptions the video should have from all people together, None if there is no limit; `written` is how many it
    has. `ready` means that the clip exists; otherwise the first request has to wait until it is made.
    """

    key: str
    name: str
    duration_s: float
    fps: float
    clip: str
    frames: str
    shots: Sequence[tuple[float, float]]
    mine: Sequence[MyDescription]
    taken: Sequence[tuple[float, float]]
    wanted: int | None
    written: int
    ready: bool


@dataclass(frozen=True, slots=True)
class DescribingGuideline:
    """A version of the instructions for describers, who mark moments in videos and write a sentence for each.

    `text` has one rule a line. `seen` says whether the person who asks was shown this version. `reason` says why the
    version replaced the one before, and `since` when, in seconds since 1970. `by` is the name of its author.
    """

    version: int
    text: str
    reason: str = ""
    seen: bool = True
    since: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class DescriberSelf:
    """An annotator who describes videos, with the numbers of their descriptions.

    `written` counts their descriptions without withdrawn ones, `accepted` those that leads accepted.
    """

    person: AnnotatorId
    name: str
    written: int
    accepted: int


@dataclass(frozen=True, slots=True)
class DescribeWork:
    """What the page for describing shows to an annotator: the next videos and the guideline.

    `more` is how many other videos they may describe. `me` is the annotator with their counts.
    """

    videos: Sequence[VideoWork]
    more: int
    guideline: DescribingGuideline
    me: DescriberSelf


@dataclass(frozen=True, slots=True)
class DescribingChoice:
    """A lead's settings for describing: who may describe which videos, and how many descriptions are wanted.

    Describing is possible while `open` is True. With `people` None, all annotators may describe. With `videos` None,
    all videos may be described. At most one of `per_video` (descriptions) and `per_minute` (descriptions a minute of
    video) is set. `at` is when the settings were made (seconds since 1970), and `by` the lead's name; empty for the
    command line.
    """

    open: bool = False
    people: tuple[AnnotatorId, ...] | None = None
    videos: tuple[str, ...] | None = None
    per_video: int | None = None
    per_minute: float | None = None
    at: float | None = None
    by: str = ""


class DescriptionSort(StrEnum):
    """The key by which the lead's list of descriptions (marked moments, each with a sentence) is sorted."""

    AGE = ""
    """By arrival, the oldest first."""
    SENTENCE = "sentence"
    VIDEO = "video"
    AUTHOR = "author"


@dataclass(frozen=True, slots=True)
class DescriptionFilter:
    """Which descriptions a lead's list shows, and in which order.

    With `status` None, the list shows all but withdrawn ones. Each word of `text` has to occur in the sentence, the
    video's name or the author's name, ignoring case.
    """

    status: DescriptionStatus | None = DescriptionStatus.WAITING
    text: str = ""
    sort: DescriptionSort = DescriptionSort.AGE
    down: bool = False
    """In descending order."""


@dataclass(frozen=True, slots=True)
class DescriptionLine:
    """A row of the lead's list of descriptions: a marked moment with its sentence.

    If the description is accepted, `sentence` is the caption that it became. `description` is its key, and `author` the
    annotator's name.
    """

    description: str
    video: str
    start_s: float
    end_s: float
    sentence: str
    author: str
    status: DescriptionStatus


@dataclass(frozen=True, slots=True)
class SameSeconds:
    """Another description, or a moment of the project, that shows nearly the same seconds as a given description.

    For a moment of the project, `sentence` has its captions, and `description` is empty. For a description,
    `description` is its key, and `moment_id` is None unless it was accepted as a moment.
    """

    start_s: float
    end_s: float
    sentence: str
    author: str = ""
    description: str = ""
    status: DescriptionStatus | None = None
    moment_id: MomentId | None = None


@dataclass(frozen=True, slots=True)
class DescriptionReview:
    """A description (a marked moment with its sentence), with all that a lead needs to accept it or send it back.

    `sentence` is the author's text. `caption` is the text that a lead accepted; empty until then. `revision` counts the
    author's versions, from 1. `words` is the comment with which a lead sent it back. `notes` are hints about the
    sentence. `beside` lists other moments and descriptions of the same seconds (IoU 0.7 or more). `last` is (last
    action, who did it, when in seconds since 1970).
    """

    description: str
    video: str
    start_s: float
    end_s: float
    sentence: str
    author: str
    status: DescriptionStatus
    revision: int
    written_at: float
    caption: str
    words: str
    notes: Sequence[str]
    beside: Sequence[SameSeconds]
    last: tuple[DescriptionAct, str, float]


@dataclass(frozen=True, slots=True)
class DescriberFigures:
    """One annotator's numbers of descriptions by status, and the time spent on describing in hours."""

    name: str
    waiting: int
    returned: int
    accepted: int
    active_h: float


@dataclass(frozen=True, slots=True)
class DescribingFigures:
    """The progress of describing, overall and for each annotator.

    `videos` counts the videos that may be described, and `described` those with at least one description. `enough`
    counts those with as many descriptions as the lead wanted; it is None if the lead set no number.
    """

    videos: int
    described: int
    enough: int | None
    people: Sequence[DescriberFigures]


DESCRIBING_OPENED = Event(
    "describing_opened",
    EventGroup.MATERIAL,
    said("opened describing; people: {people}, videos: {videos} (– means all)"),
)
"""people, videos: how many, null for all; per_video, per_minute: how many descriptions, null for any"""
DESCRIBING_CLOSED = Event("describing_closed", EventGroup.MATERIAL, said("closed describing"))
"""(empty): nobody may describe any more"""
DESCRIPTION_REFUSED = Event(
    "description_refused",
    EventGroup.DESK,
    said("described “{sentence}”, which does not count: {why}"),
    tells_reason=True,
)
"""event_key, why, kind, video, start_s, end_s, sentence: kept here so that nothing a person typed is lost"""
DESCRIPTION_ACCEPTED = Event(
    "description_accepted", EventGroup.MATERIAL, said("accepted “{sentence}” for {video}, {start_s}–{end_s} s")
)
"""video, start_s, end_s, sentence: of the new caption; author; edited: whether the lead changed the sentence"""
DESCRIPTION_RETURNED = Event("description_returned", EventGroup.MATERIAL, said("sent a description back: “{words}”"))
"""words: what the lead wrote to the author; author"""
DESCRIPTION_TAKEN_BACK = Event(
    "description_taken_back", EventGroup.MATERIAL, said("undid a decision about a description ({what})")
)
"""what: accepted or returned, the decision that was undone"""
DESCRIBING_REWORDED = Event(
    "describing_reworded", EventGroup.TRAINING, said("wrote version {version} of the guideline for describers")
)
"""version, reason: of the new guideline"""
