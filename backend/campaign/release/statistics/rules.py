"""Compute the statistics of a corpus, project or release: words, verbs, moments and hours. Pure functions."""

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
    """The queries, moments and videos of a data set, from which its statistics are computed.

    Attributes:
        queries: maps each part (a file, or a split) to its query texts, with repetitions.
        pairs: maps every moment to its number of queries.
        durations: maps every video to its duration in seconds; None where it is not known.
        notes: sentences for the reader of the statistics, such as about entries that were not counted.
    """

    queries: Mapping[str, Sequence[str]]
    pairs: Mapping[Span, int]
    durations: Mapping[str, float | None]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of one data set: counts, hours, means in seconds, and how words and verbs were counted.

    Attributes:
        parts: maps each part (a file, or a split) to its number of queries.
        queries: number of queries; `distinct_queries` is the number of their distinct texts.
        pairs: number of pairs of a query and a moment; a moment that goes with two queries counts twice.
        moments: number of distinct moments.
        videos: number of distinct videos. `videos_without_duration` of them are left out of the hours.
        vocabulary: number of distinct words.
        verbs_at_least: number of verbs (base forms) that certainly occur: in a form that can only be a verb.
        verbs_at_most: number of verbs (base forms) that may occur: in any form, even one that may be a noun.
        moment_hours: hours of the distinct moments; where moments overlap, the time counts for each.
        video_hours: hours of the distinct videos; None if no duration is known, like `mean_video_s`.
        mean_moment_s: mean over distinct moments; `mean_pair_s` is the mean over pairs, as papers give it.
        words_per_query: mean over all queries.
        tokeniser: how texts were split into words.
        verb_list: name of the lexicon that verbs were looked up in.
        notes: sentences for the reader of the statistics, such as about entries that were not counted.
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
"""Maps a word to its base forms by part of speech (`VERB`, `AUX`, `NOUN`, ...); empty for an unknown word."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_STEP = 5_000


def words(text: str) -> list[str]:
    """Return the words of a text in lower case. An apostrophe within a word is part of it.

    >>> words("Phoebe's friends don't sit down: 2 T-shirts, “quoted”...")
    ["phoebe's", 'friends', "don't", 'sit', 'down', '2', 't', 'shirts', 'quoted']
    """
    return _WORD.findall(text.lower().replace("’", "'"))


def verbs(vocabulary: Iterable[str], parts_of_speech: PartsOfSpeech) -> tuple[set[str], set[str]]:
    """Return the verbs of a vocabulary in base form: those that certainly occur, and those that may occur.

    Sentences are not considered. A word that the lexicon knows only as a verb ("walked") is certainly a verb. A word
    that it also knows as another part of speech ("lights") may be a verb.

    Args:
        vocabulary: distinct words.
        parts_of_speech: the lexicon.

    Returns:
        The verbs that certainly occur, and all that may occur. The second set includes the first.

    >>> lexicon = {"walked": {"VERB": ("walk",)}, "lights": {"NOUN": ("light",), "VERB": ("light",)}}
    >>> must, may = verbs(["walked", "lights", "sofa"], lambda word: lexicon.get(word, {}))
    >>> must, sorted(may)
    ({'walk'}, ['light', 'walk'])
    """
    must: set[str] = set()
    may: set[str] = set()
    for word in vocabulary:
        base_forms = parts_of_speech(word)
        if "VERB" in base_forms:
            base = base_forms["VERB"][0]
            may.add(base)
            if base_forms.keys() <= {"VERB", "AUX"}:
                must.add(base)
    return must, may


def count(
    holdings: Holdings, parts_of_speech: PartsOfSpeech, verb_list: str, *, progress: Steps | None = None
) -> Statistics:
    """Return the statistics of a data set.

    Args:
        holdings: the data set; at least one query, one pair and one video.
        parts_of_speech: the lexicon, see `verbs`.
        verb_list: name of the lexicon.
        progress: called with (distinct queries read, all distinct queries).
    """
    texts = Counter(text.strip() for part in holdings.queries.values() for text in part)
    vocabulary: set[str] = set()
    word_count = 0
    for done, (text, times) in enumerate(texts.items(), start=1):
        text_words = words(text)
        vocabulary.update(text_words)
        word_count += len(text_words) * times
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
        words_per_query=word_count / queries,
        tokeniser=TOKENISER,
        verb_list=verb_list,
        notes=holdings.notes,
    )
