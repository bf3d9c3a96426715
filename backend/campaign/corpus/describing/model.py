"""Describing as values: what a browser sends, a description's status, what a desk and a lead's list hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup
from backend.core.ids import AnnotatorId, MomentId
from backend.core.messages import said

LONGEST_SENTENCE = 500
"""Signs of a sentence; far more than one needs."""
LONGEST_WORDS = 500
"""Signs of what a lead writes to an author."""


class DescriptionStatus(StrEnum):
    """How a description stands."""

    WAITING = "waiting"
    """For a lead."""
    RETURNED = "returned"
    """To its author, with a lead's words."""
    ACCEPTED = "accepted"
    """It is a caption of a moment."""
    WITHDRAWN = "withdrawn"
    """By its author; kept, and shown to nobody else."""


class DescriptionAct(StrEnum):
    """What somebody did about a description: the first two its author, the others a lead."""

    WRITTEN = "written"
    WITHDRAWN = "withdrawn"
    ACCEPTED = "accepted"
    RETURNED = "returned"
    TAKEN_BACK = "taken_back"
    """What a lead did last counts no more."""


class DescribeKind(StrEnum):
    """What a browser sends."""

    DESCRIBE = "describe"
    REDESCRIBE = "redescribe"
    WITHDRAW = "withdraw"


@dataclass(frozen=True, slots=True)
class DescribeEvent:
    """One act of a describer; `key` is made once by the browser, so that sending twice changes nothing.

    `description` is the name that the browser gave the description. `start_s` is the time of its first frame,
    `end_s` of the first frame after it, in seconds on the video's time line.
    """

    key: str
    kind: DescribeKind
    video: str
    description: str
    start_s: float = 0.0
    end_s: float = 0.0
    sentence: str = ""
    elapsed_ms: int | None = None
    """All time from the mark or the last save to this one; None where nobody measured it."""
    active_ms: int = 0
    """That of it with the tab on screen and somebody at the keys."""


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event that cannot count, and why, in words for its author. It is kept in the event log."""

    key: str
    message: str


@dataclass(frozen=True, slots=True)
class MyDescription:
    """A description as its author sees it.

    `words` are the lead's, of one that came back. `notes` say what to look at, such as a name in the sentence; they
    refuse nothing.
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
    """What becomes of sent events.

    `accepted` are keys of events that are saved; `mine` are the descriptions that were sent about, as they stand now;
    `returned` all that came back to this person from a lead.
    """

    accepted: Sequence[str]
    refused: Sequence[RefusedEvent]
    returned: Sequence[MyDescription]
    mine: Sequence[MyDescription]


@dataclass(frozen=True, slots=True)
class VideoWork:
    """A video to describe, for one person.

    `clip` and `frames` are addresses: the whole video, its first frame at 0; and the times in seconds of all its
    frames, where the first need not be 0. `shots` and `taken` (what others described) are spans in seconds. `wanted` is
    how many descriptions the video shall have, of everybody together, and None where nobody said; `written` how many
    it has. `ready` is whether the clip is there; else asking for it takes as long as making it.
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
    """What describers are told to do: a line a rule. `seen` is whether this person was shown this version."""

    version: int
    text: str
    reason: str = ""
    seen: bool = True
    since: float | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class DescriberSelf:
    """Who describes, and how much they have: all that stand, and those accepted."""

    person: AnnotatorId
    name: str
    written: int
    accepted: int


@dataclass(frozen=True, slots=True)
class DescribeWork:
    """What somebody may describe: the nearest videos, how many more there are, the guideline."""

    videos: Sequence[VideoWork]
    more: int
    guideline: DescribingGuideline
    me: DescriberSelf


@dataclass(frozen=True, slots=True)
class DescribingChoice:
    """What a lead chose. `people` and `videos` are None for everybody and for all.

    At most one of `per_video` (descriptions) and `per_minute` (descriptions a minute of video) is said.
    """

    open: bool = False
    people: tuple[AnnotatorId, ...] | None = None
    videos: tuple[str, ...] | None = None
    per_video: int | None = None
    per_minute: float | None = None
    at: float | None = None
    by: str = ""


class DescriptionSort(StrEnum):
    """By what a lead's list is sorted."""

    AGE = ""
    """As descriptions came in, the oldest first."""
    SENTENCE = "sentence"
    VIDEO = "video"
    AUTHOR = "author"


@dataclass(frozen=True, slots=True)
class DescriptionFilter:
    """Which descriptions a lead looks for. `status` None is all but withdrawn ones.

    `text` is looked for in sentence, video and author, in any case.
    """

    status: DescriptionStatus | None = DescriptionStatus.WAITING
    text: str = ""
    sort: DescriptionSort = DescriptionSort.AGE
    down: bool = False
    """From the last to the first."""


@dataclass(frozen=True, slots=True)
class DescriptionLine:
    """A row of a lead's list. `sentence` is the caption of one that is accepted."""

    description: str
    video: str
    start_s: float
    end_s: float
    sentence: str
    author: str
    status: DescriptionStatus


@dataclass(frozen=True, slots=True)
class BesideIt:
    """What shows the same seconds: another description, or a moment of the project with its captions.

    `moment_id` is None for a description that is no moment (yet), `description` empty for a moment.
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

    `sentence` is its author's, `caption` what a lead accepted. `words` went with it to its author. `notes` say what to
    look at; `beside` what shows the same seconds (an IoU of .7 or more). `last` is what was done last, by whom, when.
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
    beside: Sequence[BesideIt]
    last: tuple[DescriptionAct, str, float]


@dataclass(frozen=True, slots=True)
class DescriberFigures:
    """What one person described: how many stand, by how they stand, and the time it took."""

    name: str
    waiting: int
    returned: int
    accepted: int
    active_h: float


@dataclass(frozen=True, slots=True)
class DescribingFigures:
    """How far describing is.

    `enough` of the `videos` that were chosen have as many descriptions as are wanted; None where nobody said how many.
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
"""(empty): nobody may describe"""
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
"""video, start_s, end_s, sentence: what became a caption; author; edited: whether the lead changed the words"""
DESCRIPTION_RETURNED = Event("description_returned", EventGroup.MATERIAL, said("sent a description back: “{words}”"))
"""words: what the lead wrote to the author; author"""
DESCRIPTION_TAKEN_BACK = Event(
    "description_taken_back", EventGroup.MATERIAL, said("undid a decision about a description ({what})")
)
"""what: accepted, or returned"""
DESCRIBING_REWORDED = Event(
    "describing_reworded", EventGroup.TRAINING, said("wrote version {version} of the guideline for describers")
)
"""version, reason: what describers are told from now on"""
