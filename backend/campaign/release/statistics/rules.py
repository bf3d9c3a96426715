"""Count words, verbs and hours of what was read elsewhere. Pure."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.core.progress import Steps

Span = tuple[str, float, float]
"""A moment: its video, and `[start_s, end_s)` in seconds."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a corpus, project or release holds.

    Attributes:
        queries: the texts of each part (a file, or a split), repeated ones repeated.
        pairs: every moment, and how often it goes with a query.
        durations: seconds of every video; None where nobody says it.
        notes: what a person should know about the reading of it.
    """

    queries: Mapping[str, Sequence[str]]
    pairs: Mapping[Span, int]
    durations: Mapping[str, float | None]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """One row: counts, hours, means in seconds, and the words by which they were counted.

    Attributes:
        parts: queries of each part (a file, or a split).
        queries: all queries, and `distinct_queries` their distinct texts.
        pairs: queries with a moment; a moment that goes with two queries counts twice.
        moments: distinct moments.
        videos: distinct videos; `videos_without_duration` of them are in no figure of hours.
        vocabulary: distinct words.
        verbs_at_least: distinct verbs in base form of which a form occurs that can be nothing but a verb.
        verbs_at_most: distinct verbs in base form of which any form occurs, though it may stand there as a noun.
        moment_hours: of the distinct moments, those that overlap counted twice.
        video_hours: of the distinct videos; None where no duration is known, like `mean_video_s`.
        mean_moment_s: over distinct moments; `mean_pair_s` over pairs, as papers give it.
        words_per_query: over all queries.
        tokeniser: how words were found.
        verb_list: where verbs were looked up.
        notes: what a person should know about the reading.
    """

    parts: Mapping[str, int]
    queries: int
    distinct_queries: int
    pairs: int
    moments: int
    videos: int
    videos_without_duration: int
    vocabulary: int
    verbs_at_least: int
    verbs_at_most: int
    moment_hours: float
    video_hours: float | None
    mean_moment_s: float
    mean_pair_s: float
    mean_video_s: float | None
    words_per_query: float
    tokeniser: str
    verb_list: str
    notes: tuple[str, ...]


TOKENISER = "lower-case runs of letters and digits, an apostrophe inside a word kept; punctuation is no word"

PartsOfSpeech = Callable[[str], Mapping[str, tuple[str, ...]]]
"""From a word to what it may be: its base forms by part of speech (`VERB`, `AUX`, `NOUN`, ...); nothing if unknown."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_STEP = 5_000


def words(text: str) -> list[str]:
    """The words of a text.

    >>> words("Phoebe's friends don't sit down: 2 T-shirts, “quoted”...")
    ["phoebe's", 'friends', "don't", 'sit', 'down', '2', 't', 'shirts', 'quoted']
    """
    return _WORD.findall(text.lower().replace("’", "'"))


def verbs(vocabulary: Iterable[str], parts_of_speech: PartsOfSpeech) -> tuple[set[str], set[str]]:
    """The verbs of a vocabulary in their base form: those that must be meant, and those that may be.

    No sentence is looked at. A word form that a lexicon knows as verb alone ("walked") must be a verb; one that it
    knows as something else too ("lights") may be one, and lets its verb count only where another form of it must.

    Args:
        vocabulary: distinct words.
        parts_of_speech: the lexicon.

    Returns:
        The verbs that must be meant, and all that may be; the first are among the second.

    >>> lexicon = {"walked": {"VERB": ("walk",)}, "lights": {"NOUN": ("light",), "VERB": ("light",)}}
    >>> must, may = verbs(["walked", "lights", "sofa"], lambda word: lexicon.get(word, {}))
    >>> must, sorted(may)
    ({'walk'}, ['light', 'walk'])
    """
    must: set[str] = set()
    may: set[str] = set()
    for word in vocabulary:
        found = parts_of_speech(word)
        if "VERB" in found:
            base = found["VERB"][0]
            may.add(base)
            if found.keys() <= {"VERB", "AUX"}:
                must.add(base)
    return must, may


def count(
    holdings: Holdings, parts_of_speech: PartsOfSpeech, verb_list: str, *, progress: Steps | None = None
) -> Statistics:
    """Count everything.

    Args:
        holdings: what there is; at least one query, one pair and one video.
        parts_of_speech: the lexicon, see `verbs`.
        verb_list: its name.
        progress: called with (distinct queries read, all of them).
    """
    texts = Counter(text.strip() for part in holdings.queries.values() for text in part)
    vocabulary: set[str] = set()
    running = 0
    for done, (text, times) in enumerate(texts.items(), start=1):
        found = words(text)
        vocabulary.update(found)
        running += len(found) * times
        if progress and (done % _STEP == 0 or done == len(texts)):
            progress(done, len(texts))
    must, may = verbs(vocabulary, parts_of_speech)
    known = [duration_s for duration_s in holdings.durations.values() if duration_s is not None]
    moments_s = math.fsum(end_s - start_s for _, start_s, end_s in holdings.pairs)
    pairs_s = math.fsum((end_s - start_s) * times for (_, start_s, end_s), times in holdings.pairs.items())
    queries, pairs = texts.total(), sum(holdings.pairs.values())
    return Statistics(
        parts={part: len(texts) for part, texts in holdings.queries.items()},
        queries=queries,
        distinct_queries=len(texts),
        pairs=pairs,
        moments=len(holdings.pairs),
        videos=len(holdings.durations),
        videos_without_duration=len(holdings.durations) - len(known),
        vocabulary=len(vocabulary),
        verbs_at_least=len(must),
        verbs_at_most=len(may),
        moment_hours=moments_s / 3600,
        video_hours=math.fsum(known) / 3600 if known else None,
        mean_moment_s=moments_s / len(holdings.pairs),
        mean_pair_s=pairs_s / pairs,
        mean_video_s=math.fsum(known) / len(known) if known else None,
        words_per_query=running / queries,
        tokeniser=TOKENISER,
        verb_list=verb_list,
        notes=holdings.notes,
    )
