"""Data types of describing: what a browser sends, the status of descriptions, and what people are shown."""

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
    """The status of a description."""

    WAITING = "waiting"
    """The description waits for a lead."""
    RETURNED = "returned"
    """A lead sent it back to its author with a comment."""
    ACCEPTED = "accepted"
    """A lead accepted the description; it is now the caption of a moment."""
    WITHDRAWN = "withdrawn"
    """The author withdrew the description; it stays on record, and only the author sees it."""


class DescriptionAct(StrEnum):
    """An action on a description. Its author writes and withdraws it; a lead takes all other actions."""

    WRITTEN = "written"
    WITHDRAWN = "withdrawn"
    ACCEPTED = "accepted"
    RETURNED = "returned"
    TAKEN_BACK = "taken_back"
    """A lead undid the last decision."""


class DescribeKind(StrEnum):
    """The kinds of events that a browser sends."""

    DESCRIBE = "describe"
    REDESCRIBE = "redescribe"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True)
class DescribeEvent:
    """An action of a describer. The browser makes `key` once for each, so that sending an event twice changes nothing.

    `description` is the name that the browser gave the description. `start_s` is the time of its first frame, and
    `end_s` that of the first frame after it, in seconds on the video's time line.
    """

    key: str
    kind: DescribeKind
    video: str
    description: str
    start_s: float = 0.0
    end_s: float = 0.0
    sentence: str = ""
    elapsed_ms: int | None = None
    """Time from the mark, or the last save, to this save; None if it was not measured."""
    active_ms: int = 0
    """The part of that time with the tab on screen and the person active."""


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event that cannot count, and the reason, worded for its author. It is kept in the event log."""

    key: str
    message: str


@dataclass(frozen=True, slots=True)
class MyDescription:
    """A description as its author sees it.

    `words` is the lead's comment on a returned description. `notes` are hints, such as a name in the sentence; they
    never block.
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
    """The answer to the events that a browser sent.

    `accepted` are the keys of saved events. `mine` are the descriptions that these events were about, in their current
    state. `returned` are all descriptions that leads sent back to this person.
    """

    accepted: Sequence[str]
    refused: Sequence[RefusedEvent]
    returned: Sequence[MyDescription]
    mine: Sequence[MyDescription]


@dataclass(frozen=True, slots=True)
class VideoWork:
    """A video for one person to describe.

    `clip` is the address of the whole video as a clip, which starts at 0. `frames` is the address of the times of all
    its frames, in seconds; the first need not be 0. `shots` and `taken` (what others described) are spans in seconds.
    `wanted` is how many descriptions of all people together the video should have, None if there is no limit; `written`
    is how many it has. `ready` means that the clip exists; otherwise the first request has to wait until it is made.
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
    """The guideline for describers, one rule a line. `seen` means that this person was shown this version."""

    version: int
    text: str
    reason: str = ""
    seen: bool = True
    since: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class DescriberSelf:
    """A describer. `written` counts their descriptions without withdrawn ones, `accepted` those that leads accepted."""

    person: AnnotatorId
    name: str
    written: int
    accepted: int


@dataclass(frozen=True, slots=True)
class DescribeWork:
    """The work for one describer: the next videos, how many more there are, and the guideline."""

    videos: Sequence[VideoWork]
    more: int
    guideline: DescribingGuideline
    me: DescriberSelf


@dataclass(frozen=True, slots=True)
class DescribingChoice:
    """A lead's settings for describing: `people` may describe `videos` while `open` is True.

    With `people` None, everybody may describe. With `videos` None, all videos may be described.

    At most one of `per_video` (descriptions) and `per_minute` (descriptions a minute of video) is set.
    """

    open: bool = False
    people: tuple[AnnotatorId, ...] | None = None
    videos: tuple[str, ...] | None = None
    per_video: int | None = None
    per_minute: float | None = None
    at: float | None = None
    by: str = ""


class DescriptionSort(StrEnum):
    """The orders of a lead's list."""

    AGE = ""
    """By arrival, the oldest first."""
    SENTENCE = "sentence"
    VIDEO = "video"
    AUTHOR = "author"


@dataclass(frozen=True, slots=True)
class DescriptionFilter:
    """The descriptions that a lead wants to see. With the `status` None, these are all but withdrawn ones.

    `text` is searched in sentence, video and author, ignoring case.
    """

    status: DescriptionStatus | None = DescriptionStatus.WAITING
    text: str = ""
    sort: DescriptionSort = DescriptionSort.AGE
    down: bool = False
    """In descending order."""


@dataclass(frozen=True, slots=True)
class DescriptionLine:
    """A row of a lead's list. `sentence` of an accepted description is its caption."""

    description: str
    video: str
    start_s: float
    end_s: float
    sentence: str
    author: str
    status: DescriptionStatus


@dataclass(frozen=True, slots=True)
class SameSeconds:
    """A description, or a moment of the project with its captions, that shows the same seconds as a given description.

    `moment_id` is None for a description that is no moment (yet). `description` is empty for a moment.
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
    """A description as a lead sees it.

    `sentence` is the author's, `caption` is the text that a lead accepted. `words` is the comment with which a lead
    sent it back. `notes` are hints about the sentence. `beside` lists what shows the same seconds (an IoU of .7 or
    more). `last` is the last action: which, by whom, and when.
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
    """One person's descriptions by their status, and the time spent on them."""

    name: str
    waiting: int
    returned: int
    accepted: int
    active_h: float


@dataclass(frozen=True, slots=True)
class DescribingFigures:
    """The progress of describing.

    `videos` counts the chosen videos, and `described` those of them with a description. `enough` counts the chosen
    videos with as many descriptions as are wanted; it is None if no number was set.
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
