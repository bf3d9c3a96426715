"""Compute the statistics of a corpus, project or release: words, verbs, moments and hours. Pure functions."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from backend.core.progress import Steps

Span = tuple[str, float, float]
"""A moment: its video, and `[start_s, end_s)` in seconds."""


TRAINING = re.compile(r"train_top(\d+)")
"""The name of a part that is a pseudo training set, with its largest number of moments of a query."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The queries, moments and videos of a data set, from which its statistics are computed.

    Attributes:
        queries: maps each part (a file, or a split) to its query texts, with repetitions.
        pairs: maps every moment to its number of queries.
        durations: maps every video to its duration in seconds; None where it is not known.
        notes: sentences for the reader of the statistics, such as about entries that were not counted.
        moments: maps each part to its distinct moments; empty if moments do not belong to parts.
    """

    queries: Mapping[str, Sequence[str]]
    pairs: Mapping[Span, int]
    durations: Mapping[str, float | None]
    notes: tuple[str, ...] = ()
    moments: Mapping[str, Collection[Span]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spread:
    """The minimum (`least`), mean and maximum (`most`) of `n` values."""

    n: int
    least: float
    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class Values:
    """The single values of a data set or a part of it; `Figures` has their counts, sums and means.

    `words` and `tokens` are the distinct ones. The lists are sorted: `query_words` and `query_tokens` have the number
    of words and tokens of each query, `moment_s` and `ratio` have a value for each distinct moment, `video_s` for each
    distinct video. `ratio` and `video_s` leave out videos of unknown duration. `videos` counts all videos.
    """

    words: frozenset[str]
    tokens: frozenset[str]
    query_words: Sequence[int]
    query_tokens: Sequence[int]
    moment_s: Sequence[float]
    video_s: Sequence[float]
    ratio: Sequence[float]
    videos: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of one part of a data set (TVR-Ranking, Tables 1 and 4).

    A `Spread` (minimum, mean and maximum) is None if there is nothing to count. Moments and videos count once, however
    many queries they go with: 228.91 hours of 94,259 moments are the mean of 8.74 s in the paper.

    Attributes:
        part: name of the part: a file or a split.
        queries: number of queries.
        moments: number of distinct moments; `videos` is the number of their distinct videos.
        vocabulary: number of distinct words of the queries; `token_vocabulary` is the number of distinct tokens.
        verbs_at_least: number of verbs that certainly occur; `verbs_at_most` is the number that may occur.
        moment_hours: hours of the distinct moments; where moments overlap, the time counts for each.
        video_hours: hours of the distinct videos; None if no duration is known.
        query_words: words per query, by `words`.
        query_tokens: tokens per query, by `tokens`: the paper's query length.
        moment_s: duration of a moment in seconds, over distinct moments.
        video_s: duration of a video in seconds, over distinct videos.
        ratio: a moment's share of its video's duration, over distinct moments.
    """

    part: str
    queries: int
    moments: int
    videos: int
    vocabulary: int
    token_vocabulary: int
    verbs_at_least: int
    verbs_at_most: int
    moment_hours: float
    video_hours: float | None
    query_words: Spread | None
    query_tokens: Spread | None
    moment_s: Spread | None
    video_s: Spread | None
    ratio: Spread | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of one data set: counts, hours, means in seconds, and how words and verbs were counted.

    Attributes:
        parts: maps each part (a file, or a split) to its number of queries.
        queries: number of queries; `distinct_queries` is the number of their distinct texts.
        pairs: number of pairs of a query and a moment; a moment that goes with two queries counts twice.
        moments: number of distinct moments.
        videos: number of distinct videos. `videos_without_duration` of them are left out of the hours.
        vocabulary: number of distinct words; `token_vocabulary` is the number of distinct tokens.
        verbs_at_least: number of verbs (base forms) that certainly occur: in a form that can only be a verb.
        verbs_at_most: number of verbs (base forms) that may occur: in any form, even one that may be a noun.
        moment_hours: hours of the distinct moments; where moments overlap, the time counts for each.
        video_hours: hours of the distinct videos; None if no duration is known, like `mean_video_s`.
        mean_moment_s: mean over distinct moments; `mean_pair_s` is the mean over pairs, as papers give it.
        words_per_query: mean over all queries; `tokens_per_query` is the mean number of tokens.
        tokeniser: how texts were split into words.
        verb_list: name of the lexicon that verbs were looked up in.
        notes: sentences for the reader of the statistics, such as about entries that were not counted.
        by_part: the figures of each part; empty if moments do not belong to parts.
    """

    parts: Mapping[str, int]
    queries: int
    distinct_queries: int
    pairs: int
    moments: int
    videos: int
    videos_without_duration: int
    vocabulary: int
    token_vocabulary: int
    verbs_at_least: int
    verbs_at_most: int
    moment_hours: float
    video_hours: float | None
    mean_moment_s: float
    mean_pair_s: float
    mean_video_s: float | None
    words_per_query: float
    tokens_per_query: float
    tokeniser: str
    verb_list: str
    notes: tuple[str, ...]
    by_part: tuple[Figures, ...] = ()


TOKENISER = "lower-case runs of letters and digits, an apostrophe inside a word kept; punctuation is no word"
TOKENS = "the Penn Treebank's split, as in the TVR-Ranking paper: punctuation counts, upper and lower case differ"

PartsOfSpeech = Callable[[str], Mapping[str, tuple[str, ...]]]
"""Maps a word to its base forms by part of speech (`VERB`, `AUX`, `NOUN`, ...); empty for an unknown word."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_OPENING_QUOTE = re.compile(r'(?<![^\s([{<])"')
_PUNCTUATION = re.compile(
    r"""\.{2,}|--|[][;@#$%&?!*(){}<>“”«»‘’„\u2012-\u2015]|[,:](?!\d)"""
    r"""|\.(?=[])}>'»”’\s]*$)"""  # the last full stop
    r"""|(?i:(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w))"""  # a quote before a word that is no ending
)
_ENDING = re.compile(r"(?i)(?<=[^'])('(?:s|m|d|ll|re|ve)?|n't)$")
_TWO_WORDS = re.compile(r"(?i)(can)(not)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(wan)(na)")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case. An apostrophe within a word is part of it.

    >>> words("Phoebe's friends don't sit down: 2 T-shirts, “quoted”...")
    ["phoebe's", 'friends', "don't", 'sit', 'down', '2', 't', 'shirts', 'quoted']
    """
    return _WORD.findall(text.lower().replace("’", "'"))


def tokens(text: str) -> list[str]:
    """Return the tokens of a text by the rules of the Penn Treebank, without a split into sentences.

    Punctuation marks are tokens, except inside numbers and a full stop before the end. "n't", "'s" and the like are
    tokens of their own. Upper case is kept. The TVR-Ranking paper counts so: its 500 validation queries have 994
    distinct tokens, and 7 to 35 tokens each with a mean of 14.11 (Tables 1 and 4).

    >>> tokens("Phoebe doesn't sit down, she stands.")
    ['Phoebe', 'does', "n't", 'sit', 'down', ',', 'she', 'stands', '.']
    """
    split: list[str] = []
    quoted = _OPENING_QUOTE.sub(" `` ", text).replace('"', " '' ")
    for chunk in _PUNCTUATION.sub(r" \g<0> ", quoted).split():
        if ending := _ENDING.search(chunk):
            split += chunk[: ending.start()], ending[0]
        elif halves := _TWO_WORDS.fullmatch(chunk):
            split += filter(None, halves.groups())
        else:
            split.append(chunk)
    return split


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


def values_of(queries: Iterable[str], moments: Iterable[Span], durations: Mapping[str, float | None]) -> Values:
    """Return the single values of some queries and distinct moments.

    `durations` maps each video that counts to its duration in seconds; None where it is not known.
    """
    vocabulary: set[str] = set()
    token_vocabulary: set[str] = set()
    query_words, query_tokens = [], []
    for text in queries:
        text_words, text_tokens = words(text), tokens(text)
        vocabulary.update(text_words)
        token_vocabulary.update(text_tokens)
        query_words.append(len(text_words))
        query_tokens.append(len(text_tokens))
    spans = [(end_s - start_s, durations.get(video)) for video, start_s, end_s in moments]
    return Values(
        words=frozenset(vocabulary),
        tokens=frozenset(token_vocabulary),
        query_words=sorted(query_words),
        query_tokens=sorted(query_tokens),
        moment_s=sorted(moment_s for moment_s, _ in spans),
        video_s=sorted(video_s for video_s in durations.values() if video_s is not None),
        ratio=sorted(moment_s / video_s for moment_s, video_s in spans if video_s),
        videos=len(durations),
    )


def figures(part: str, values: Values, parts_of_speech: PartsOfSpeech) -> Figures:
    """Return the figures of one part of a data set; `parts_of_speech` is the lexicon, see `verbs`."""
    must, may = verbs(values.words, parts_of_speech)
    return Figures(
        part=part,
        queries=len(values.query_words),
        moments=len(values.moment_s),
        videos=values.videos,
        vocabulary=len(values.words),
        token_vocabulary=len(values.tokens),
        verbs_at_least=len(must),
        verbs_at_most=len(may),
        moment_hours=math.fsum(values.moment_s) / 3600,
        video_hours=math.fsum(values.video_s) / 3600 if values.video_s else None,
        query_words=spread(values.query_words),
        query_tokens=spread(values.query_tokens),
        moment_s=spread(values.moment_s),
        video_s=spread(values.video_s),
        ratio=spread(values.ratio),
    )


def part_figures(holdings: Holdings, part: str, parts_of_speech: PartsOfSpeech) -> Figures:
    """Return the figures of one part of a data set whose moments belong to parts."""
    moments = holdings.moments[part]
    durations = {video: holdings.durations.get(video) for video, _, _ in moments}
    return figures(part, values_of(holdings.queries[part], moments, durations), parts_of_speech)


def spread(values: Collection[float]) -> Spread | None:
    """Return the minimum, mean and maximum of some values; None if there are none.

    The order of the values does not affect the result.
    """
    return Spread(len(values), min(values), math.fsum(values) / len(values), max(values)) if values else None


def count(
    holdings: Holdings, parts_of_speech: PartsOfSpeech, verb_list: str, *, progress: Steps | None = None
) -> Statistics:
    """Return the statistics of a data set.

    Args:
        holdings: the data set; at least one query, one pair and one video.
        parts_of_speech: the lexicon, see `verbs`.
        verb_list: name of the lexicon.
        progress: called with (queries read, all queries); with parts, each query is read for its part and again for
            the whole.
    """
    by_part = []
    queries = sum(map(len, holdings.queries.values()))
    steps, done = queries * 2 if holdings.moments else queries, 0
    for part in holdings.moments:
        by_part.append(part_figures(holdings, part, parts_of_speech))
        done += by_part[-1].queries
        if progress:
            progress(done, steps)
    texts = [text for part in holdings.queries.values() for text in part]
    values = values_of(texts, holdings.pairs, holdings.durations)
    whole = figures("all", values, parts_of_speech)
    if progress:
        progress(steps, steps)
    pairs_s = math.fsum((end_s - start_s) * times for (_, start_s, end_s), times in holdings.pairs.items())
    pairs = sum(holdings.pairs.values())
    return Statistics(
        parts={part: len(texts) for part, texts in holdings.queries.items()},
        queries=queries,
        distinct_queries=len({text.strip() for text in texts}),
        pairs=pairs,
        moments=whole.moments,
        videos=whole.videos,
        videos_without_duration=whole.videos - len(values.video_s),
        vocabulary=whole.vocabulary,
        token_vocabulary=whole.token_vocabulary,
        verbs_at_least=whole.verbs_at_least,
        verbs_at_most=whole.verbs_at_most,
        moment_hours=whole.moment_hours,
        video_hours=whole.video_hours,
        mean_moment_s=whole.moment_s.mean if whole.moment_s else 0.0,
        mean_pair_s=pairs_s / pairs,
        mean_video_s=whole.video_s.mean if whole.video_s else None,
        words_per_query=whole.query_words.mean if whole.query_words else 0.0,
        tokens_per_query=whole.query_tokens.mean if whole.query_tokens else 0.0,
        tokeniser=TOKENISER,
        verb_list=verb_list,
        notes=holdings.notes,
        by_part=tuple(by_part),
    )
