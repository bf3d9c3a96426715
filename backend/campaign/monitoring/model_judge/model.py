"""Values of the model judge: what language models that see pictures answered about pairs."""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup
from backend.core.ids import MomentId, PairId, QueryId
from backend.core.messages import said

MODEL_ASKED = Event(
    "model_asked",
    EventGroup.RESULTS,
    said("asked the model {model}: {graded} grades, {refused} refusals, {failed} failures"),
)
"""model, prompt_version, host, graded, refused, failed, requests, tokens_in, tokens_out, cost"""


class AnswerOutcome(StrEnum):
    """What came of asking a model about a pair."""

    GRADED = "graded"
    REFUSED = "refused"
    """The model, or the filter of its endpoint, declined to answer."""
    FAILED = "failed"
    """No usable answer: not in the form that was asked for, or a grade that the scale does not have."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A model with all that it is told and shown beside query and clip; the unit that is measured against people.

    `prompt_version` names the prompt, the words of guideline and scale, and the number of frames. An answer under
    another version is another judge's.
    """

    model: str
    prompt_version: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a judge answered about one pair.

    Attributes:
        pair_id: the pair.
        query: the query's text when the judge was asked.
        outcome: what came of asking.
        grade: a grade of the campaign's scale; None unless `outcome` is `GRADED`.
        reason: the judge's one sentence, or what went wrong.
        tokens_in: tokens of all requests for this answer; None if the endpoint does not tell.
        tokens_out: tokens of all answers; None if the endpoint does not tell.
        cost: in the currency of the prices that the caller gave; None without prices or tokens.
        asked_at: seconds since 1970.
        requests: how many requests were sent, with retries.
    """

    pair_id: PairId
    query: str
    outcome: AnswerOutcome
    grade: int | None
    reason: str
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    asked_at: float
    requests: int = 1


@dataclass(frozen=True, slots=True)
class AskablePair:
    """A pair that a model may be asked about; `start_s` and `end_s` are the bounds of its moment in seconds."""

    pair_id: PairId
    query: str
    video: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class ModelGrade:
    """A judge's grade of a pair whose query still has the text that the judge saw.

    `start_s` and `end_s` are the bounds of the moment in seconds; the end is not part of it.
    """

    judge: Judge
    pair_id: PairId
    query_id: QueryId
    moment_id: MomentId
    video: str
    start_s: float
    end_s: float
    grade: int
    reason: str


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """How much a judge was asked, and what came of it.

    `tokens_in`, `tokens_out` and `cost` are sums of what is known. `first_at` and `last_at` are in seconds since 1970.
    """

    judge: Judge
    graded: int
    refused: int
    failed: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float
    first_at: float
    last_at: float

    @property
    def pairs(self) -> int:
        """The number of answers."""
        return self.graded + self.refused + self.failed


@dataclass(frozen=True, slots=True)
class AskReport:
    """What came of one command that asks a model.

    Attributes:
        judge: the model with its prompt.
        graded: pairs that got a grade this time.
        refused: pairs about which the model or its endpoint declined to answer this time.
        failed: pairs without a usable answer this time.
        earlier: pairs that this judge had answered before.
        left: pairs that it was not asked about, because the budget ended or their clip cannot be shown.
        unseen: why clips could not be shown, one message for each pair.
        requests: requests sent this time, with retries.
        tokens_in: tokens sent this time, as far as the endpoint tells.
        tokens_out: tokens received this time, as far as the endpoint tells.
        cost: this time, at the given prices; None without prices.
        cost_ever: of all that this judge was asked, at the given prices; None without prices.
        ended_by: the option whose limit was reached, such as `--most-pairs`; empty if none was.
    """

    judge: Judge
    graded: int
    refused: int
    failed: int
    earlier: int
    left: int
    unseen: tuple[str, ...]
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    cost_ever: float | None
    ended_by: str
