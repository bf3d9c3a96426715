"""Build a pool of positive and negative videos for each sentence of a corpus.

*Reads* a corpus, vectors of its sentences, and its videos if EMScore (similarity of text and video frames) decides too.
*Writes* a new folder: the pools, the pairs of query and video with their similarities, and a manifest that records how
the pools were built.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np

from backend import __version__
from backend.campaign.selection.pools.model import CaptionedCorpus, PoolOptions, VisualBounds
from backend.campaign.selection.pools.rules import (
    DEPARTURES,
    Doubles,
    EmScorer,
    Numbers,
    Selection,
    Sentences,
    draw_negative,
    select,
    text_negatives,
)
from backend.campaign.selection.pools.similarity import iterate_similarities, sentence_vectors
from backend.core.atomic_output import new_folder
from backend.core.captioned import query_id
from backend.core.errors import ProjectError
from backend.core.messages import as_text
from backend.core.progress import Progress, Steps, steps_of
from backend.core.text_files import csv_text
from backend.encoders.sentence import Encoder, FloatArray
from backend.scoring.pools.files import write_pools
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools, occurrences

POOLS, PAIRS, MANIFEST = "pools.json", "pairs.csv", "manifest.json"
TEXT_ALONE = "text alone"


class VisualScores(Protocol):
    """The source of EMScores, which tell how similar a text is to the frames of a video under CLIP.

    Videos of the corpus are numbered in order of name.
    """

    @property
    def identity(self) -> str:
        """The CLIP model and the number of frames a second, as one text."""
        ...

    def scorer(self, text: str) -> EmScorer:
        """Return a function that takes the numbers of videos and returns their EMScores with the text."""
        ...


@dataclass(frozen=True, slots=True)
class BuildReport:
    """The result of building a pool of videos for each sentence of a corpus.

    `sentences` counts the sentences of the corpus, and `queries` those that have a pool in the file. `positives` is the
    mean number of positive videos in a pool. `short` lists the queries whose pool is not full. The file leaves them
    out, unless the option `as_published` is set. `without_distractor` lists the queries in whose pool every video is
    positive. `bounds` are the EMScores that a positive video must reach and a negative one must not exceed. They are
    None if the build did not use EMScore. `left_out` has remarks on what was left out of the corpus.
    """

    sentences: int
    videos: int
    queries: int
    positives: float
    short: tuple[str, ...]
    without_distractor: tuple[str, ...]
    encoder: str
    captions: str
    visual: str
    bounds: VisualBounds | None
    left_out: tuple[str, ...]


def require_valid(options: PoolOptions, corpus: CaptionedCorpus) -> None:
    """Refuse sizes and thresholds that are out of range, or too large for the corpus.

    Raises:
        ProjectError: names the first such option.
    """
    if options.pool < 2:
        raise ProjectError(f"--pool is {options.pool}: a pool needs 2 videos or more")
    if options.positives < 1:
        raise ProjectError(f"--positives is {options.positives}: write 1 or more, because the own video is positive")
    if not -1 <= options.t_neg < options.t_pos <= 1:
        raise ProjectError(
            f"a video is negative up to t_neg and positive from t_pos on, so t_neg {options.t_neg:g} has to be below "
            f"t_pos {options.t_pos:g}, both from -1 to 1"
        )
    if len(corpus.moments) < options.pool:
        raise ProjectError(f"{corpus.source} has {len(corpus.moments):,} videos: use at most that many for --pool")


def build(
    corpus: CaptionedCorpus,
    encoder: Encoder,
    out: Path,
    options: PoolOptions,
    *,
    embeddings: Path,
    visual: VisualScores | None = None,
    thresholds_from: str = "given",
    now: float,
    progress: Progress | None = None,
) -> BuildReport:
    """Build the pools of a corpus and write them into a new folder, which is removed if the build fails.

    Args:
        corpus: the corpus; each of its sentences becomes a query.
        encoder: the sentence encoder.
        out: the folder to make.
        options: sizes, thresholds and seed.
        embeddings: the folder in which vectors are cached.
        visual: computes EMScore; if None, the text alone decides.
        thresholds_from: the origin of the thresholds, for the manifest.
        now: seconds since 1970.
        progress: called with (name of the step, number done, number of all).

    Raises:
        ProjectError: an option is out of range, the folder is not new, or no query has a full pool.
        EncoderUnavailable: the model cannot be built.
    """
    require_valid(options, corpus)
    with new_folder(out) as part:
        sentences = Sentences(list(corpus.moments.items()), options.seed)
        vectors = sentence_vectors(sentences, encoder, embeddings, steps_of(progress, "encoding sentences"))
        bounds = None
        if visual is not None:
            bounds = _measure_bounds(sentences, vectors, options, visual, steps_of(progress, "measuring EMScore"))
        all_pools = _select_pools(
            corpus, sentences, vectors, options, visual, bounds, steps_of(progress, "choosing videos")
        )
        sizes = [len(pool.query.videos) for pool in all_pools]
        if max(sizes) < options.pool:
            raise ProjectError(
                f"no query has a pool of {options.pool} videos, the largest has {max(sizes)}: use a smaller "
                "--pool or a higher --t-neg"
            )
        short = tuple(pool.query.query_id for pool, size in zip(all_pools, sizes, strict=True) if size < options.pool)
        chosen = [pool for pool in all_pools if options.as_published or len(pool.query.videos) == options.pool]
        queries = tuple(pool.query for pool in chosen)
        report = BuildReport(
            sentences=len(sentences.moments),
            videos=len(corpus.moments),
            queries=len(queries),
            positives=sum(len(query.positive_videos) for query in queries) / len(queries),
            short=short,
            without_distractor=tuple(query.query_id for query in queries if not query.negatives),
            encoder=encoder.identity,
            captions=corpus.captions,
            visual=TEXT_ALONE if visual is None else visual.identity,
            bounds=bounds,
            left_out=tuple(corpus.left_out),
        )
        in_file = {name: tuple(moments) for name, moments in corpus.moments.items()}
        write_pools(Pools(queries, corpus.durations, in_file), part / POOLS)
        header = ("query_id", "video", "role", "s_te", "s_tv")
        rows = (row for pool in chosen for row in pool.rows())
        (part / PAIRS).write_text(csv_text(header, rows), "utf-8", newline="")
        manifest = _make_manifest(part, corpus.source, options, thresholds_from, report, now)
        (part / MANIFEST).write_bytes(
            msgspec.json.format(msgspec.json.encode(manifest, enc_hook=as_text), indent=1) + b"\n"
        )
    return report


def _measure_bounds(
    sentences: Sentences, vectors: FloatArray, options: PoolOptions, visual: VisualScores, progress: Steps | None
) -> VisualBounds:
    """Return the EMScores that a positive video must reach and that a negative one must not exceed.

    `VisualBounds` says of which pairs they are the means. Queries with equal texts are compared with the videos once.
    """
    same_text: dict[str, list[int]] = {}
    for number, moment in enumerate(sentences.moments):
        same_text.setdefault(moment.sentence, []).append(number)
    every_video = np.arange(len(sentences.names))
    positive: list[float] = []
    total, pairs = 0.0, 0
    firsts = [numbers[0] for numbers in same_text.values()]
    for done, (first, _, s_te) in enumerate(iterate_similarities(sentences, vectors, firsts), start=1):
        text = sentences.moments[first].sentence
        own_videos = sentences.video[same_text[text]]
        if options.as_published:
            drawn = (draw_negative(number, s_te, sentences, options) for number in same_text[text])
            negatives = np.array([video for video in drawn if video is not None], dtype=np.int64)
            looked_at = np.union1d(own_videos, negatives)
        else:
            # The queries of a text have the same negatives: their own videos have its sentence, so they are none.
            negatives = np.tile(np.flatnonzero(text_negatives(s_te, int(own_videos[0]), options)), len(own_videos))
            looked_at = every_video
        scores = np.full(len(every_video), np.nan)
        scores[looked_at] = visual.scorer(text)(looked_at, weighted=True)
        positive += scores[own_videos].tolist()
        total += float(scores[negatives].sum())
        pairs += len(negatives)
        if progress:
            progress(done, len(firsts))
    if not pairs:
        raise ProjectError(f"no video is at most {options.t_neg:g} similar to any query: use a higher --t-neg")
    return VisualBounds(float(np.mean(positive)), total / pairs)


@dataclass(frozen=True, slots=True)
class _ChosenPool:
    """The pool of one query, with the similarities of its videos in the order of the pool.

    `others` counts the positive videos besides the query's own one. `s_te` has the highest similarity of the query to a
    sentence of each video. `s_tv` has the EMScores (similarity to the video's frames); it is None if the text alone
    decided.
    """

    query: PoolQuery
    others: int
    s_te: Doubles
    s_tv: Doubles | None

    def rows(self) -> Iterator[tuple[str, str, str, float, float | None]]:
        """Yield (query id, video, role, s_te, s_tv) of each video in the pool.

        The role is `own`, `positive` or `negative`. s_te is the similarity by text, and s_tv the EMScore, None if not
        used.
        """
        for n, video in enumerate(self.query.videos):
            role = "own" if n == 0 else "positive" if n <= self.others else "negative"
            s_tv = None if self.s_tv is None else round(float(self.s_tv[n]), 6)
            yield self.query.query_id, video, role, float(self.s_te[n]), s_tv


class _ScoreCache:
    """A cache of the EMScores of one query, used to select its videos and again to write the file of pairs."""

    def __init__(self, emscore: EmScorer) -> None:
        self._emscore = emscore
        self._scores: dict[bool, dict[int, float]] = {True: {}, False: {}}

    def __call__(self, videos: Numbers, *, weighted: bool) -> Doubles:
        scores = self._scores[weighted]
        new = np.array([n for n in videos.tolist() if n not in scores], dtype=np.int64)
        if len(new):
            scores.update(zip(new.tolist(), self._emscore(new, weighted=weighted).tolist(), strict=True))
        return np.array([scores[n] for n in videos.tolist()])


def _select_pools(
    corpus: CaptionedCorpus,
    sentences: Sentences,
    vectors: FloatArray,
    options: PoolOptions,
    visual: VisualScores | None,
    bounds: VisualBounds | None,
    progress: Steps | None,
) -> list[_ChosenPool]:
    """Select a pool of videos for each sentence, even if it is not full; return them in the order of the corpus."""
    in_file = {name: tuple(moments) for name, moments in corpus.moments.items()}
    pools: dict[tuple[str, int], _ChosenPool] = {}
    for own, similarities, s_te in iterate_similarities(sentences, vectors):
        emscore = None if visual is None else _ScoreCache(visual.scorer(sentences.moments[own].sentence))
        selection = select(own, similarities, s_te, sentences, options, emscore, bounds)
        videos = np.array([own_video := int(sentences.video[own]), *sentences.video[[*selection.positives]]])
        videos = np.concatenate([videos, np.array(selection.negatives, dtype=np.int64)])
        pools[sentences.names[own_video], int(sentences.place[own])] = _ChosenPool(
            _pool_query(own, selection, sentences, in_file, options),
            len(selection.positives),
            s_te[videos],
            None if emscore is None else emscore(videos, weighted=True),
        )
        if progress:
            progress(own + 1, len(sentences.moments))
    return [pools[name, n] for name, moments in in_file.items() for n in range(len(moments))]


def _pool_query(
    own: int,
    selection: Selection,
    sentences: Sentences,
    in_file: dict[str, tuple[PoolMoment, ...]],
    options: PoolOptions,
) -> PoolQuery:
    moment, place = sentences.moments[own], int(sentences.place[own])
    in_own = (moment,) if options.as_published else occurrences(in_file[moment.video], place)
    other_moments = [sentences.moments[n] for n in selection.positives]
    return PoolQuery(
        query_id=query_id(moment.video, place),
        text=moment.sentence,
        own=moment,
        positives=(*in_own, *other_moments),
        videos=(
            moment.video,
            *(other.video for other in other_moments),
            *(sentences.names[n] for n in selection.negatives),
        ),
    )


def _make_manifest(
    part: Path, source: str, options: PoolOptions, thresholds_from: str, report: BuildReport, now: float
) -> dict[str, Any]:
    settings = asdict(options) | {"as_published": list(DEPARTURES) if options.as_published else []}
    figures = asdict(report)
    figures["positives_mean"] = figures.pop("positives")  # the option `positives` is the most that a pool may have
    return {
        "format": "mvmr",
        "created_at": datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
        "reelrank": __version__,
        "source": source,
        **settings,
        "thresholds": thresholds_from,
        **figures,
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(part.iterdir())},
    }
