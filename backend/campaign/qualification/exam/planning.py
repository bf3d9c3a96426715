"""Plan an exam or a calibration round: choose its pairs and its answer key before anybody takes it.

*Reads* pairs, consensus, the campaign's settings. *Writes* nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from backend.campaign.qualification.answers import rows as answers
from backend.campaign.qualification.answers.key_file import LONGEST_TEXT, KeyFile, read_key
from backend.campaign.qualification.exam.model import ExamKey, ExamPurpose
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.qualification.exam.rules.drawing import Open, draw_top
from backend.campaign.qualification.exam.rules.drawing import draw as draw_settled
from backend.campaign.qualification.exam.rules.marking import Guesses, guesses, require_telling
from backend.campaign.setup.project import rows as project_rows
from backend.core.errors import ProjectError
from backend.core.ids import PairId, QueryId
from backend.core.messages import said, said_n
from backend.core.typed_text import tidy
from backend.store.connection import Database

SEED = 1
SETTLED = said("settled pairs")
OPEN = said("open pairs")
Item = tuple[PairId, int | None, str]
"""(pair, right grade if it is known, explanation)"""


_NO_SETTLED = said(
    "no settled pair can be asked yet: it needs a clip and a final grade, and nobody may be "
    "grading it. Settle more pairs, hold an exam of open pairs, or bring the answer key in a file"
)
_NO_OPEN = said(
    "no open pair can be asked: it needs a clip, no grade yet, and nobody may be grading it. Hold "
    "an exam of settled pairs instead"
)


@dataclass(frozen=True, slots=True)
class ExamDraw:
    """The choices for drawing an exam or a calibration round. A choice of None stands for the campaign's setting.

    Args:
        queries: how many queries to draw.
        pairs: the most pairs to draw of each query.
        seed: the seed of the draw.
        most_missed: percent of the answers that may miss the key.
        key: where the right grades come from.
        spread: whether to draw settled pairs as evenly over the grades as possible.
        among: the only queries to draw from, for pairs that nobody has graded; empty for all.
    """

    queries: int | None = None
    pairs: int | None = None
    seed: int = SEED
    most_missed: float | None = None
    key: ExamKey = ExamKey.SETTLED
    spread: bool = True
    among: frozenset[QueryId] = frozenset()

    @property
    def purpose(self) -> ExamPurpose:
        """The purpose of the round: exam or calibration."""
        return self.key.purpose


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned exam or calibration round.

    Each item is (pair id, right grade or None, explanation). `asked` is the requested (number of queries, pairs of each
    query); None if the pairs come from a file. `source` says where the pairs come from. `most_missed` is the percentage
    of answers that may miss the right grade.
    """

    items: Sequence[Item]
    key: ExamKey
    asked: tuple[int, int] | None
    source: str
    seed: int | None
    most_missed: float

    @property
    def right(self) -> list[int]:
        """The right grade of each item; an empty list while the exam has no answer key."""
        return [right for _, right, _ in self.items if right is not None]

    @property
    def digest(self) -> str:
        """A hash of the pairs, their right grades and the pass mark. Different plans have different hashes."""
        content = repr((sorted((pair, right) for pair, right, _ in self.items), self.most_missed))
        return blake2b(content.encode(), digest_size=8).hexdigest()


def plan_draw(db: Database, draw: ExamDraw, *, now: float) -> Plan:
    """Return a plan for an exam or a calibration round whose pairs are drawn at random.

    Raises:
        ProjectError: no pair can be asked, or a requested number or percentage is out of range.
    """
    (queries, pairs), most_missed = _with_defaults(db, draw.queries, draw.pairs, draw.most_missed)
    items: list[Item]
    if draw.key is ExamKey.SETTLED:
        settled = answers.settled(db, now=now)
        drawn = draw_settled(settled, queries=queries, pairs=pairs, seed=draw.seed, spread=draw.spread)
        items, source = [(known.pair_id, known.right, "") for known in drawn], SETTLED
    else:
        open_pairs = _open_pairs(db, draw, now=now)
        items = [
            (pair.pair_id, None, "") for pair in draw_top(open_pairs, queries=queries, pairs=pairs, seed=draw.seed)
        ]
        source = OPEN
    if not items:
        raise ProjectError(_NO_SETTLED if draw.key is ExamKey.SETTLED else _NO_OPEN)
    return Plan(items, draw.key, (queries, pairs), source, draw.seed, most_missed)


def plan_file(db: Database, file: KeyFile, *, most_missed: float | None, now: float) -> Plan:
    """Return a plan for an exam whose pairs and right grades come from a file.

    Raises:
        InputError: the file has problems, all of which are listed.
        ProjectError: `most_missed` is not a percentage from 0 to 100.
    """
    _, most_missed = _with_defaults(db, None, None, most_missed)
    return Plan(read_key(db, file, now=now), ExamKey.SETTLED, None, file.name, None, most_missed)


def require_same(plan: Plan, previewed: str) -> None:
    """Refuse a plan that differs from the one that a lead previewed.

    Args:
        plan: the plan that is about to be used.
        previewed: the `digest` of the previewed plan; an empty text if nobody looked at a preview.

    Raises:
        ProjectError: something has changed since the preview.
    """
    if previewed and previewed != plan.digest:
        raise ProjectError(said("the {source} have changed since you looked: check the draw again", source=plan.source))


def score_guesses(db: Database, key: Sequence[int], most_missed: float) -> Guesses:
    """Return how well an annotator would do in an exam by giving one grade throughout, or random grades.

    `key` lists the right grades. The scale and the tolerance are the campaign's.
    """
    campaign = project_rows.campaign(db)
    return guesses(key, campaign.scale.grades, most_missed, campaign.tolerance)


def check_guessing(db: Database, key: Sequence[int], most_missed: float, although: str) -> dict[str, object]:
    """Refuse an exam that somebody could pass by guessing, unless the lead gives a reason to hold it anyway.

    Returns what the event log records about it: `weak` (how guessing passes) and `although` (the lead's reason). The
    dict is empty if guessing neither passes nor nearly passes.

    Raises:
        ProjectError: one grade throughout, or random grades, would pass or nearly pass, and `although` is blank.
    """
    scores = score_guesses(db, key, most_missed)
    require_telling(scores, although)
    return {"weak": scores.weak, "although": one_line(although)} if scores.weak else {}


def shortage(requested: tuple[int, int] | None, items: int, query_count: int) -> str:
    """Return a sentence that compares the pairs requested with those available; an empty text if there are enough.

    Args:
        requested: how many (queries, pairs of each) were requested; None if no number was requested.
        items: how many pairs are available.
        query_count: how many queries these pairs belong to.

    >>> shortage((2, 4), 4, 1)
    'Asked for 2 queries with 4 pairs each; only 4 pairs of 1 query are available.'
    >>> shortage((2, 4), 8, 2)
    ''
    """
    if requested is None or items >= requested[0] * requested[1]:
        return ""
    queries, pairs = requested
    return said_n(
        "Asked for {queries} with {pairs} each; only {n} pair of {found} is available.",
        "Asked for {queries} with {pairs} each; only {n} pairs of {found} are available.",
        items,
        queries=said_n("{n} query", "{n} queries", queries),
        pairs=said_n("{n} pair", "{n} pairs", pairs),
        found=said_n("{n} query", "{n} queries", query_count),
    )


def one_line(text: str) -> str:
    """Return a lead's text joined into one line, without surplus spaces.

    Raises:
        ProjectError: the text is longer than `LONGEST_TEXT`.
    """
    text = tidy(text)
    if len(text) > LONGEST_TEXT:
        raise ProjectError(
            said(
                "the text has {length} characters: use at most {longest}",
                length=len(text),
                longest=LONGEST_TEXT,
            )
        )
    return text


def _open_pairs(db: Database, draw: ExamDraw, *, now: float) -> list[Open]:
    """Return the pairs that nobody has graded, of the queries in `draw.among`, or of all queries if it is empty.

    Raises:
        ProjectError: a query in `draw.among` has no such pair.
    """
    open_pairs = exams.open_pairs(db, now=now, replaced=draw.purpose)
    if missing := set(draw.among) - {pair.query_id for pair in open_pairs}:
        raise ProjectError(
            said("query {missing} has no open pair to ask", missing=", ".join(map(str, sorted(missing))))
        )
    return [pair for pair in open_pairs if not draw.among or pair.query_id in draw.among]


def _with_defaults(
    db: Database, queries: int | None, pairs: int | None, most_missed: float | None
) -> tuple[tuple[int, int], float]:
    """Replace each argument of None by the campaign's setting, and check the numbers.

    Returns ((queries, pairs per query), percentage of answers that may miss the right grade).

    Raises:
        ProjectError: a number is out of range.
    """
    usual = project_rows.campaign(db).exam
    queries = usual.queries if queries is None else queries
    pairs = usual.pairs if pairs is None else pairs
    most_missed = usual.most_missed if most_missed is None else most_missed
    if not 0 <= most_missed <= 100:
        raise ProjectError(
            said("{most_missed:g} is not a percentage of answers: give 0 to 100", most_missed=most_missed)
        )
    if queries < 1 or pairs < 1:
        raise ProjectError(said("an exam needs at least one query and one pair of each"))
    return (queries, pairs), most_missed
