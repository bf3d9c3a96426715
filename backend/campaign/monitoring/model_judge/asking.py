"""Ask a model that sees pictures to grade pairs, and keep its answers apart from all judgements.

*Reads* pairs, queries, moments, videos, the guideline, model_grade. *Writes* model_grade and one event. Answers are
stored as they arrive, so asking can be stopped at any time, and the next run asks about the other pairs.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.monitoring.model_judge import rows
from backend.campaign.monitoring.model_judge.model import (
    MODEL_ASKED,
    AnswerOutcome,
    AskablePair,
    AskReport,
    Judge,
    JudgeSummary,
    ModelAnswer,
)
from backend.campaign.monitoring.model_judge.prompt import (
    FRAMES,
    LONGEST_PX,
    instruction,
    judge_of,
    material,
    said_between,
)
from backend.campaign.monitoring.model_judge.transcripts import Transcripts, read_transcripts
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, VideoUnreadable
from backend.core.ids import PairId
from backend.core.messages import said
from backend.core.progress import Progress, Steps, steps_of
from backend.language import chat
from backend.language.chat import ChatModel
from backend.language.judge import ClipAnswer, ClipQuestion, grade_clips
from backend.store import events
from backend.store.connection import writing

PAIRS, COST = "--most-pairs", "--most-cost"


@dataclass(frozen=True, slots=True)
class Budget:
    """What a judge may be asked in all, with earlier runs; None is no limit.

    Attributes:
        pairs: the most pairs.
        cost: the most that all answers may cost, in the currency of the prices.
        prices: the prices of a million tokens sent and received; needed with `cost`.
    """

    pairs: int | None = None
    cost: float | None = None
    prices: tuple[float, float] | None = None

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        """Return what tokens cost; 0 without prices.

        >>> Budget(prices=(2.5, 10.0)).cost_of(2_000, 100)
        0.006
        """
        price_in, price_out = self.prices or (0.0, 0.0)
        return (tokens_in * price_in + tokens_out * price_out) / 1_000_000


@in_charge
def list_judges(project: Project, by: Lead | Operator) -> list[JudgeSummary]:
    """Return a summary of each model that was asked, with its prompt; the one that was asked last comes first."""
    return rows.summaries(project.store.db)


@in_charge
def ask_model(
    project: Project,
    by: Lead | Operator,
    model: ChatModel,
    *,
    budget: Budget | None = None,
    settled: bool = False,
    transcripts: Path | None = None,
    again: bool = False,
    now: float,
    progress: Progress | None = None,
) -> AskReport:
    """Ask a model to grade the pairs that were handed out and that it has not answered yet.

    The model sees the query, frames of the moment, the guideline with its scale, and what is said if there are
    transcripts. Its grades are never judgements.

    Args:
        project: the project.
        by: who asks; their name goes on record.
        model: the model and how to call it.
        budget: what this judge may be asked in all.
        settled: whether to ask only about pairs with a relevance.
        transcripts: a CSV file with what is said in the videos; see `read_transcripts`.
        again: whether to ask again about pairs that it refused or failed to grade.
        now: seconds since 1970.
        progress: called with (current step, done, all).

    Raises:
        ProjectError: there is no pair to ask about, or the endpoint does not tell its tokens while the cost is limited.
        InputError: the file of transcripts is not valid.
        EndpointUnavailable: the model cannot be reached, or gives no usable answer. Answers received before are stored.
    """
    chat.require(model)
    spoken = read_transcripts(transcripts) if transcripts else None
    grading = project.campaign.grading
    judge = judge_of(model.model, grading, spoken.data if spoken else None)
    db = project.store.db
    pairs = rows.askable(db, settled=settled)
    if not pairs:
        raise ProjectError(
            said("no pair has a relevance yet: leave out --settled, or wait for grades")
            if settled
            else said("there are no pairs to ask about: choose candidates first")
        )
    told = instruction(grading, transcript=spoken is not None)
    asking = _Asking(
        project, judge, model.host, budget or Budget(), told, spoken, now, steps_of(progress, said("asking"))
    )
    asking.begin(pairs, again=again)
    try:
        grade_clips(model, asking.questions(), asking.keep)
    finally:
        asking.note(by)
    if asking.untold:
        raise ProjectError(
            said(
                "{host} does not tell how many tokens an answer took, so a limit of the cost cannot be kept: "
                "limit the pairs instead ({option})",
                host=model.host,
                option=PAIRS,
            )
        )
    return asking.report(pairs)


@dataclass
class _Asking:
    """The state of one run: what was asked, answered and spent.

    Attributes:
        answered: the outcome of each pair that the judge has answered, before or in this run.
        begun: pairs that were asked about before or in this run, answered or not.
        before: tokens that this judge sent and received in earlier runs.
        tokens: tokens sent and received in this run.
        dearest: the highest cost of an answer in this run.
        untold: whether the cost is limited and the endpoint did not tell the tokens of an answer.
    """

    project: Project
    judge: Judge
    host: str
    budget: Budget
    told: str
    spoken: Transcripts | None
    now: float
    steps: Steps | None
    todo: list[AskablePair] = field(default_factory=list)
    answered: dict[PairId, AnswerOutcome] = field(default_factory=dict)
    earlier: int = 0
    begun: set[PairId] = field(default_factory=set)
    under_way: int = 0
    outcomes: Counter[AnswerOutcome] = field(default_factory=Counter)
    unseen: list[str] = field(default_factory=list)
    requests: int = 0
    before: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)
    dearest: float = 0.0
    untold: bool = False
    ended_by: str = ""

    @property
    def spent(self) -> float:
        """The cost of all answers of this judge at the present prices."""
        return self.budget.cost_of(self.before[0] + self.tokens[0], self.before[1] + self.tokens[1])

    def begin(self, pairs: list[AskablePair], *, again: bool) -> None:
        """Find out which of these pairs are still to be asked about, and what this judge has cost."""
        db = self.project.store.db
        self.answered = rows.answered(db, self.judge)
        done = {pair for pair, outcome in self.answered.items() if outcome is AnswerOutcome.GRADED or not again}
        self.todo = [pair for pair in pairs if pair.pair_id not in done]
        self.earlier = len(pairs) - len(self.todo)
        self.begun = set(self.answered)
        before = next((one for one in rows.summaries(db) if one.judge == self.judge), None)
        if before:
            self.before = before.tokens_in, before.tokens_out

    def questions(self) -> Iterator[ClipQuestion[AskablePair]]:
        """Yield the questions, one when its request can be sent, until all are asked or the budget ends."""
        from backend.media.limits import within_bounds
        from backend.media.probe import require_unchanged
        from backend.media.strip import moment_frames

        self._tell()
        for pair in self.todo:
            if self._is_over(pair):
                return
            facts = corpus.video_facts(self.project.store.db, pair.video)
            if facts is None:
                self.unseen.append(said("{video}: no video file known", video=pair.video))
                continue
            source = self.project.source(facts)
            try:
                require_unchanged(source, facts.sha256)
                with within_bounds(source, pair.end_s - pair.start_s):
                    pictures = moment_frames(source, pair.start_s, pair.end_s, frames=FRAMES, longest_px=LONGEST_PX)
            except VideoUnreadable as error:
                self.unseen.append(str(error))
                continue
            words = said_between(self.spoken.cues, pair.video, pair.start_s, pair.end_s) if self.spoken else None
            self.begun.add(pair.pair_id)
            self.under_way += 1
            highest = self.project.campaign.scale.highest
            yield ClipQuestion(pair, self.told, material(pair.query, words), pictures, highest)

    def _is_over(self, pair: AskablePair) -> bool:
        budget = self.budget
        if self.untold:
            return True
        if budget.pairs is not None and pair.pair_id not in self.begun and len(self.begun) >= budget.pairs:
            self.ended_by = PAIRS
        # As many answers as are under way, and this one, may each cost as much as the dearest so far.
        if budget.cost is not None and (
            self.spent >= budget.cost or self.spent + (self.under_way + 1) * self.dearest > budget.cost
        ):
            self.ended_by = COST
        return bool(self.ended_by)

    def keep(self, pair: AskablePair, answer: ClipAnswer) -> None:
        """Store an answer."""
        outcome = AnswerOutcome.REFUSED if answer.refused else AnswerOutcome.FAILED
        if answer.grade is not None:
            outcome = AnswerOutcome.GRADED
        sent, received = answer.tokens
        told = sent is not None and received is not None
        cost = self.budget.cost_of(sent or 0, received or 0)
        self.under_way -= 1
        self.outcomes[outcome] += 1
        self.requests += answer.requests
        self.tokens = self.tokens[0] + (sent or 0), self.tokens[1] + (received or 0)
        self.dearest = max(self.dearest, cost)
        # An answer that never came, or that a filter refused, has no tokens.
        self.untold = self.untold or (self.budget.cost is not None and answer.grade is not None and not told)
        stored = ModelAnswer(
            pair_id=pair.pair_id,
            query=pair.query,
            outcome=outcome,
            grade=answer.grade,
            reason=answer.reason,
            tokens_in=sent,
            tokens_out=received,
            cost=cost if told and self.budget.prices else None,
            asked_at=self.now,
            requests=answer.requests,
        )
        with writing(self.project.store) as db:
            rows.add(db, self.judge, self.host, [stored])
        self._tell()

    def _tell(self) -> None:
        if self.steps:
            self.steps(self.earlier + self.outcomes.total(), self.earlier + len(self.todo))

    def note(self, by: Lead | Operator) -> None:
        """Record in the log what came of the run; nothing if it got no answer."""
        if not self.outcomes:
            return
        counts = {outcome.value: self.outcomes[outcome] for outcome in AnswerOutcome}
        with writing(self.project.store) as db:
            events.note(
                db,
                MODEL_ASKED,
                by,
                "models",
                now=self.now,
                model=self.judge.model,
                prompt_version=self.judge.prompt_version,
                host=self.host,
                **counts,
                requests=self.requests,
                tokens_in=self.tokens[0],
                tokens_out=self.tokens[1],
                cost=self.budget.cost_of(*self.tokens) if self.budget.prices else None,
            )

    def report(self, pairs: list[AskablePair]) -> AskReport:
        """Return what came of the run."""
        priced = self.budget.prices is not None
        return AskReport(
            judge=self.judge,
            graded=self.outcomes[AnswerOutcome.GRADED],
            refused=self.outcomes[AnswerOutcome.REFUSED],
            failed=self.outcomes[AnswerOutcome.FAILED],
            earlier=self.earlier,
            left=len(pairs) - self.earlier - self.outcomes.total(),
            unseen=tuple(self.unseen),
            requests=self.requests,
            tokens_in=self.tokens[0],
            tokens_out=self.tokens[1],
            cost=self.budget.cost_of(*self.tokens) if priced else None,
            cost_ever=self.spent if priced else None,
            ended_by=self.ended_by,
        )
