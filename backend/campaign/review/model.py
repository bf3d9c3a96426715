"""Data types of the review pages: pairs with their grades, queries, filters, and events of leads' decisions."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NotRequired, TypedDict

from backend.campaign.judging.model import ActKind, SkipKind
from backend.campaign.nouns import Split, Verdict
from backend.campaign.selection.candidates.model import FoundBy
from backend.core.events import Event, EventGroup
from backend.core.ids import PairId, PairKey, QueryId
from backend.core.messages import said


class StatusCounts(TypedDict):
    """The counts of a project, as `reelrank status --json` prints them."""

    videos: int
    moments: int
    moments_from: dict[str, int]
    """Moments by origin."""
    captions: int
    descriptions: NotRequired[dict[str, int]]
    """The sentences that annotators wrote for moments, by state."""
    queries: dict[str, int]
    """Queries by split."""
    batches: dict[str, int]
    """The queries that have a first batch open, and those that have a second one."""
    queries_by_batches: dict[str, dict[str, int]]
    """For each split, the queries with exactly one open batch, with two and so on."""
    pairs: dict[str, int]
    """Pairs by state; every pair is counted once."""
    probes: dict[str, int]
    """The pairs that are graded only to learn down to which rank grading is worthwhile."""
    judgements: int
    """Grades, a corrected grade once."""
    simulated: int
    """How many of the judgements the demo made up."""
    skipped: int
    """The pairs that an annotator refuses to grade."""
    annotators: int
    encoder: str | None
    """The encoder that chose the candidates; None if no encoder has."""
    sources: list[str]
    """Where candidates come from: encoders and runs."""
    schema: str
    """The version of the database."""


@dataclass(frozen=True, slots=True)
class InUse:
    """Which optional parts of a campaign are in use; the menu shows only their pages."""

    captions: bool
    """There are captions, which a lead may correct."""
    rewrites: bool
    """A caption was rewritten."""
    descriptions: bool
    """Describing was opened, or somebody has described a moment."""
    gold: bool
    """A pair has a relevance, so that gold can be chosen; or gold was chosen."""


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A lead's reply to an annotator's note. `at` is the time of the reply, in seconds since 1970."""

    reply_id: int
    lead: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class GivenNote:
    """An annotator's note on a grade, with the newest reply. `note` is the id of the judgement with the note."""

    note: int
    text: str
    reply: GivenReply | None = None


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """One annotator's current judgement of a pair, for review pages.

    `round` is 1 for the first two annotators of the pair. It is 2 for the two who were added because those grades
    differed too much. It is 3 for the two who were added when a lead re-opened the pair. `at` is in seconds since 1970.
    """

    annotator: str
    grade: int
    round: int
    at: float
    active_ms: int
    """Active time of all revisions of the judgement together."""
    too_fast: bool = False
    """Whether it was given in less time than the clip can be seen in; see `backend.campaign.judging.rules.too_fast`."""
    note: GivenNote | None = None


@dataclass(frozen=True, slots=True)
class GivenSkip:
    """An annotator's refusal to grade a pair, still in force. `at` is in seconds since 1970."""

    annotator: str
    kind: SkipKind
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class GivenAct:
    """One entry in the record of leads' decisions on a pair.

    `kind` says what the lead did: decide a relevance, confirm a discard, re-open the pair, or take back an earlier
    entry. `stands` is False for an entry that was taken back: it has no effect any more. `relevance` is None except for
    a decided relevance. `at` is in seconds since 1970.
    """

    lead: str
    kind: ActKind
    relevance: int | None
    reason: str
    at: float
    stands: bool = True


@dataclass(frozen=True, slots=True)
class PairReview:
    """One pair as leads review it: its moment, grades, refusals to grade, lead decisions and verdict."""

    pair: PairKey
    pair_id: PairId
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    caption: str | None
    """The first published caption of the moment; None where it has none."""
    rank: int
    similarity: float | None
    """None where a run found the moment and no caption did."""
    verdict: Verdict
    relevance: int | None
    mean: float | None
    grades: tuple[GivenGrade, ...]
    acts: tuple[GivenAct, ...] = ()
    """The acts of leads, the oldest first."""
    fault: str = ""
    """Why the clip cannot be shown."""
    skips: tuple[GivenSkip, ...] = ()
    probe: bool = False
    """Whether the pair is judged only for the probe of its query."""
    batch: int = 1
    """The number of its batch; 0 if the batch is a probe's."""
    part: int = 1
    """1 unless its batch is of a later pooling."""
    found_by: tuple[FoundBy, ...] = ()
    """The candidate sources that found the pair, the best rank first; empty for pairs of an earlier campaign."""

    @property
    def counts(self) -> GivenAct | None:
        """The newest lead decision that was not taken back, or None. It is the one that a lead would take back next."""
        return next((act for act in reversed(self.acts) if act.stands), None)

    @property
    def decisions(self) -> tuple[GivenAct, ...]:
        """All lead decisions that gave the pair a relevance, including those taken back later."""
        return tuple(act for act in self.acts if act.kind is ActKind.DECIDED)

    @property
    def reason(self) -> str:
        """The reason that a lead gave for the pair's current relevance; empty if no lead decided it."""
        act = self.counts
        return act.reason if act is not None and act.kind is ActKind.DECIDED else ""

    @property
    def confirmed(self) -> bool:
        """Whether a lead confirmed the discard of the pair."""
        act = self.counts
        return act is not None and act.kind is ActKind.DISCARD_CONFIRMED

    @property
    def re_opened(self) -> bool:
        """Whether a lead re-opened the pair for two more annotators."""
        return any(act.stands and act.kind is ActKind.RE_OPENED for act in self.acts)


class ReviewList(StrEnum):
    """The lists of pairs that leads review, such as pairs to decide, skipped pairs and pairs with notes."""

    TO_DECIDE = "to_decide"
    """Escalated pairs, and discarded ones whose discard is not confirmed."""
    DISCARDED = "discarded"
    """Discarded by the rule, and the discard is not confirmed."""
    ESCALATED = "escalated"
    """Waiting for further grades. Pairs that a lead re-opened are among them."""
    DECIDED = "decided"
    """Decided by a lead."""
    CONFIRMED = "confirmed"
    """Discarded, and a lead confirmed that."""
    SKIPPED = "skipped"
    """Skipped, and the skip is still in force. Pairs that wait for a verdict come first."""
    NOTES = "notes"
    """With a note that somebody wrote with a grade. Pairs with a note that waits for a reply come first."""
    MODEL = "model"
    """Settled by the rule, and a model's grade differs from the relevance by 2 or more."""
    BLOCKED = "blocked"
    """With a clip that cannot be shown. Pairs that wait for a verdict come first."""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One pair in a list for leads. A `PairReview` has everything about the pair.

    `grades` are the current grades, ordered by the annotators' seats (numbered places on the pair). `fault` says why
    the clip cannot be shown, and is empty if it can be shown. `note` is the newest note, preferring one without a
    reply. It is empty in every list but that of notes.
    """

    pair: PairKey
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    verdict: Verdict
    relevance: int | None
    grades: tuple[int, ...]
    re_opened: bool
    fault: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """One page of a list of pairs for leads.

    `start` is the position of its first row in the whole list, counted from 0. `count` is the length of the whole list.
    """

    rows: tuple[ReviewRow, ...]
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class QueryReview:
    """One query in the leads' list, with counts of its pairs by state. An escalated pair waits for more grades.

    A batch is a group of a query's pairs that is given to annotators together.

    `relevances` has the relevance of each pair given to annotators, in rank order; None where there is none yet. Pairs
    that were added later from runs (ranked results of systems) are left out. `more_candidates` says whether a further
    batch exists and may be opened now, because the open ones are settled. `speak` is how many of the lowest-ranked
    relevances decide whether another batch is worth opening; see `backend.campaign.selection.batches`.
    """

    query_id: QueryId
    query: str
    split: Split
    pairs: int
    settled: int
    escalated: int
    discarded: int
    grades: int
    relevances: tuple[int | None, ...]
    batches_open: int
    more_candidates: bool
    speak: int

    @property
    def last(self) -> tuple[int | None, ...]:
        """The relevances of the lowest-ranked pairs handed out, which decide whether the next batch is worth opening.

        There are at most `speak` of them: of 20 pairs, for example, ranks 16 to 20. None stands for a missing
        relevance.
        """
        return self.relevances[-self.speak :]


class QueryShow(StrEnum):
    """The filters of a lead's list of queries: all, those with unsettled pairs, or those with a certain next batch.

    A batch is a group of a query's pairs that is handed out together. `next` shows queries whose next batch may be
    opened now. `declined` shows queries for which a lead decided not to open the next batch.
    """

    ALL = "all"
    IN_WORK = "work"
    NEXT_BATCH = "next"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """The filter and the order of a lead's list of queries.

    `search` holds words that must all be in the query, or the number of a query. `sort` is a column: query, split,
    settled, pairs, escalated, discarded or batches. A `-` before it puts the largest first. If `sort` is empty, queries
    are in judging order, the order in which they are handed out. `only` keeps only these queries.
    """

    show: QueryShow = QueryShow.ALL
    split: Split | None = None
    search: str = ""
    sort: str = ""
    only: frozenset[QueryId] | None = None


@dataclass(frozen=True, slots=True)
class QueryPlace:
    """The position of a query in a list of queries, and its neighbours there.

    `number` counts from 1, and `count` is the length of the list. `number` is None if the query is not in the list;
    `before` and `after` are then the two queries that it would stand between.
    """

    number: int | None
    count: int
    before: QueryId | None
    after: QueryId | None


NOTE_ANSWERED = Event("note_answered", EventGroup.DECISIONS, said("replied to a note"))
"""judgement: the judgement whose note the lead replied to"""
MODEL_SEEN = Event("model_seen", EventGroup.DECISIONS, said("opened what a model said about the pair"))
"""models: the names of the models whose grades were shown"""
ADJUDICATED = Event("adjudicated", EventGroup.DECISIONS, said("adjudicated: relevance {relevance}"))
"""relevance, reason; model_seen: true if this lead had opened what a model said about the pair before"""
DISCARD_CONFIRMED = Event("discard_confirmed", EventGroup.DECISIONS, said("confirmed the discard"))
"""reason, which may be empty"""
RE_OPENED = Event("re_opened", EventGroup.DECISIONS, said("re-opened the pair for two more people"))
"""reason"""
TAKEN_BACK = Event("taken_back", EventGroup.DECISIONS, said("took back a decision ({what})"))
"""what (decided, discard_confirmed, re_opened) was taken back, its reason, and why it was taken back"""
