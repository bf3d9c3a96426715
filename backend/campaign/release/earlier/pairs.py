"""Import the pairs of an earlier campaign: as new pairs, or as pairs that the project has already.

*Reads* the pairs of the earlier campaign; the project's pairs, queries, moments. *Writes* video, moment, caption,
query, batch, pair. Runs inside the transaction of `importing`, which adds the seats (annotators' places on the pairs).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from backend.campaign.corpus.captions import rows as captions_rows
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.model import CaptionedMoment
from backend.campaign.corpus.importing.rules import outside_fault
from backend.campaign.nouns import Split, Verdict
from backend.campaign.release.earlier import rows as earlier
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierPair, Span
from backend.campaign.release.earlier.rows import KnownPair, NewPair
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QueryRow
from backend.core.errors import Problem
from backend.store.connection import Database

DURATION_SLACK_S = 1.0
"""Seconds by which two files may differ in the duration of a video: published durations are often rounded."""


OPEN = (Verdict.OPEN.value, None)
"""Verdict and relevance of a pair without a row in the table `consensus`."""


@dataclass(frozen=True, slots=True)
class AddedPairs:
    """An earlier campaign's pairs to store, and counts of the videos, moments, queries and batches added for them."""

    pairs: list[NewPair]
    videos: int
    moments: int
    queries: int
    queries_renumbered: int
    """Queries of the file that have another number in this project."""
    batches: int


def clashes(db: Database, campaign: EarlierCampaign, known: dict[int, KnownPair | None]) -> Iterator[Problem]:
    """Yield a problem for each contradiction between an earlier campaign's file of pairs and the project.

    `known` has the (query, moment) of each pair in the project, by pair id.
    """
    taken = {query_moment: pair_id for pair_id, query_moment in known.items() if query_moment is not None}
    project_queries = _queries(db)
    known_s = corpus.video_durations(db)
    first = {pair.span[0]: pair.row for pair in reversed(campaign.pairs)}
    for video, here_s in campaign.durations.items():
        if video in known_s and abs(here_s - known_s[video]) > DURATION_SLACK_S:
            message = f"video {video} lasts {here_s} s here, but {known_s[video]} s in the project"
            yield Problem(campaign.pairs_file, first.get(video), message)
    durations = campaign.durations | known_s
    moments = {pair.span: pair for pair in campaign.pairs}  # far fewer than pairs
    misplaced = {span: _misplaced(pair, durations.get(span[0])) for span, pair in moments.items()}
    for pair in campaign.pairs:
        known_id = taken.get((pair.query, pair.span))
        faults = (
            _as_pair(pair, known, known_id),
            _as_query(pair, project_queries.get(pair.query)),
            misplaced[pair.span],
        )
        yield from (Problem(campaign.pairs_file, pair.row, fault) for fault in faults if fault)


def count_differing(pairs: Iterable[EarlierPair], verdicts: dict[int, tuple[str, int | None]]) -> int | None:
    """Return how many pairs have another verdict or relevance in the file than in the project.

    A verdict is the outcome of grading, such as `consensus` or `discarded`. `verdicts` has the (verdict, relevance) of
    the pairs in the project. The result is None if the file states neither.
    """
    stated = [pair for pair in pairs if (pair.verdict, pair.relevance) != (None, None)]
    if not stated:
        return None
    differing = 0
    for pair in stated:
        verdict, relevance = verdicts.get(pair.pair_id, OPEN)
        same_relevance = pair.relevance is None or _as_number(pair.relevance) == relevance
        differing += not (same_relevance and pair.verdict in (None, verdict))
    return differing


def _as_number(text: str) -> float | None:
    """Return a relevance text as a number, so that 3 equals 3.0; None if it is empty, -1.0 if it is no number."""
    try:
        return float(text)
    except ValueError:
        return None if text == "" else -1.0


def _as_pair(pair: EarlierPair, known: dict[int, KnownPair | None], known_id: int | None) -> str | None:
    if pair.pair_id in known and known[pair.pair_id] is None:
        return (
            f"pair {pair.pair_id} has judgements in the project, but no query and moment to compare: "
            "import into another project"
        )
    if pair.pair_id in known and known_id != pair.pair_id:
        return f"pair {pair.pair_id} has another query and moment in the project"
    if known_id not in (None, pair.pair_id):
        return f"this query and moment are pair {known_id} in the project"
    return None


def _as_query(pair: EarlierPair, project_query: QueryRow | None) -> str | None:
    if project_query is not None and project_query.split is Split.TRAIN:
        return (
            "this query is in split train of the project, and splits are fixed once drawn: import into another project"
        )
    if project_query is not None and pair.split not in (None, project_query.split):
        return (
            f"this query is in split {pair.split} here, but in {project_query.split} in the project, where splits "
            "are fixed once drawn"
        )
    return None


def _misplaced(pair: EarlierPair, duration_s: float | None) -> str | None:
    if duration_s is None:
        return f"video {pair.span[0]} has no duration: add a column duration, or import its moments first"
    fault = outside_fault(*pair.span[1:], duration_s)
    return fault.message if fault else None


def add(
    db: Database, campaign: EarlierCampaign, known: dict[int, KnownPair | None], *, batch_size: int, now: float
) -> AddedPairs:
    """Add the videos, moments, queries and batches of the pairs that the project lacks, and return these pairs.

    `known` has the (query, moment) of each pair in the project, by pair id.
    """
    new = [pair for pair in campaign.pairs if pair.pair_id not in known]
    videos, added_moments = _add_moments(db, new, campaign.durations)
    moments = earlier.moment_ids(db)
    query_ids, added_queries, renumbered = _add_queries(db, campaign.pairs, moments, campaign.pairs_file)
    batch = [(query_ids[pair.query], (pair.rank - 1) // batch_size + 1) for pair in new]
    lacking = sorted(set(batch) - earlier.batch_ids(db).keys())
    earlier.add_batches(db, lacking, at=now)
    batch_ids = earlier.batch_ids(db)
    rows = [
        NewPair(pair.pair_id, batch_ids[at], at[0], moments[pair.span], pair.rank, pair.similarity)
        for pair, at in zip(new, batch, strict=True)
    ]
    return AddedPairs(rows, videos, added_moments, added_queries, renumbered, len(lacking))


def _add_moments(db: Database, pairs: list[EarlierPair], durations: dict[str, float]) -> tuple[int, int]:
    """Add the videos, moments and captions that the project lacks; return how many videos and moments were added."""
    moment_ids = earlier.moment_ids(db)
    lacking: dict[Span, CaptionedMoment] = {}
    for pair in pairs:
        if (span := pair.span) not in moment_ids:
            lacking.setdefault(span, _moment(pair))
    known_s = durations | corpus.video_durations(db)
    durations_s = {moment.video: known_s[moment.video] for moment in lacking.values()}
    videos, moments, _ = corpus.add_moments(db, lacking.values(), durations_s, {})
    return videos, moments


def _add_queries(
    db: Database, pairs: Sequence[EarlierPair], moments: dict[Span, int], source: str
) -> tuple[dict[str, int], int, int]:
    """Add the queries that the project lacks, in the order of the file of pairs, whose name is `source`.

    Returns:
        The project's query id by query text; how many queries are new; and how many have another id in the file.
    """
    numbers = {text: int(query.query_id) for text, query in _queries(db).items()}
    by_query: defaultdict[str, list[EarlierPair]] = defaultdict(list)
    for pair in pairs:
        by_query[pair.query].append(pair)
    file_numbers = {text: of_query[0].query_id for text, of_query in by_query.items()}
    lacking = [text for text in by_query if text not in numbers]
    taken = set(numbers.values())
    for text in lacking:
        number = file_numbers[text]
        if number is not None and number not in taken:
            numbers[text] = number
    following = count(max(numbers.values(), default=0) + 1)
    captions = _captions(db)
    rows = []
    for text in lacking:
        if text not in numbers:
            numbers[text] = next(following)
        nearest = sorted(by_query[text], key=lambda pair: pair.rank)
        offered = [caption for pair in nearest for caption in captions[moments[pair.span]]]
        first = offered[0][0] if offered else None
        own = next((caption_id for caption_id, words in offered if words == text), first)
        rows.append((numbers[text], text, own, nearest[0].split or Split.TEST))
    earlier.add_queries(db, rows, source)
    renumbered = sum(number is not None and number != numbers[text] for text, number in file_numbers.items())
    return numbers, len(lacking), renumbered


def _captions(db: Database) -> dict[int, list[tuple[int, str]]]:
    """Return the (caption id, text) of all captions by moment id: first published captions, then rewritten ones."""
    captions: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for caption in (*corpus.published_captions(db), *captions_rows.rewritten_captions(db)):
        captions[caption.moment_id].append((caption.caption_id, caption.text.strip()))
    return captions


def _queries(db: Database) -> dict[str, QueryRow]:
    return {query.text.strip(): query for query in queries.query_rows(db)}


def _moment(pair: EarlierPair) -> CaptionedMoment:
    """Return a pair's moment with its caption; the query text if the file has no caption."""
    return CaptionedMoment(*pair.span, pair.caption or pair.query, pair.row)
