"""Find the thresholds of an encoder from labelled pairs, and show how its similarities lie (Figure 8 of the paper).

*Reads* labelled pairs, vectors of their sentences. *Writes* a new folder: the thresholds as `build` takes them, the
figure, and its numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from math import isnan
from pathlib import Path

import msgspec
import numpy as np

from backend.campaign.selection.pools.labelled_pairs import ScoredPair, read_labelled
from backend.campaign.selection.pools.model import Measured
from backend.campaign.selection.pools.rules import Doubles, Thresholds, calibrate, judged
from backend.campaign.selection.pools.similarity import PoolVectors, rounded
from backend.campaign.selection.pools.thresholds_file import RULE, StoredThresholds
from backend.core.atomic_output import new_folder, require_new_folder
from backend.core.errors import InputError
from backend.core.messages import as_text
from backend.core.progress import Progress, Steps, named
from backend.core.where import HERE, Where, placed
from backend.encoders import cache
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder, load_named
from backend.scoring.pools.model import Pools

THRESHOLDS, NUMBERS, FIGURE = "thresholds.json", "calibration.csv", "calibration"
POSITIVE, NEGATIVE = "positive", "negative"


def calibrate_thresholds(
    labelled: Path,
    out: Path,
    *,
    encoder: str | Encoder | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    where: Where = HERE,
    progress: Progress | None = None,
) -> StoredThresholds:
    """Find thresholds of an encoder from labelled pairs, and write them with a figure into a new folder.

    The files are `thresholds.json`, `calibration.csv`, `calibration.png` and `calibration.svg`.

    Args:
        labelled: an STS file, or a file of pools.
        out: the folder to make.
        encoder: by name as for a project, or loaded; SimCSE from the model hub if None.
        kind: of the encoder.
        embeddings: where vectors are kept; the person's cache folder if None.
        where: where sentences are encoded.
        progress: called with (what is done, done, all).

    Raises:
        InputError: the file has problems, or lacks pairs of one kind.
        ProjectError: the folder is not new.
        EncoderUnavailable: the encoder cannot be found or built.
    """
    require_new_folder(out)
    pairs = read_labelled(labelled)
    encoder = placed(load_named(encoder, kind), where)
    embeddings = embeddings or cache.shared_folder()
    with new_folder(out) as part:
        if isinstance(pairs, Pools):
            measured = list(_of_pools(pairs, encoder, embeddings, progress))
        else:
            measured = list(_of_pairs(pairs, encoder, embeddings, named(progress, "encoding sentences")))
        alike, different = _classes(measured)
        if not len(alike) or not len(different):
            which = "positive in another video" if not len(alike) else "negative"
            raise InputError.single(labelled.name, f"has no {which}, so nothing tells where a threshold should be")
        found = calibrate(alike, different)
        stored = StoredThresholds(
            encoder=encoder.identity,
            labels=labelled.name,
            rule=RULE,
            neither=sum(one.alike is None for one in measured),
            held_out=held_out(measured),
            **asdict(found),
        )
        told = msgspec.json.format(msgspec.json.encode(stored, enc_hook=as_text), indent=1)
        (part / THRESHOLDS).write_bytes(told + b"\n")
        # Charts take as long to load as everything else together.
        from backend.campaign.selection.pools import calibration_chart

        calibration_chart.write(
            measured, stored, part / NUMBERS, [part / f"{FIGURE}.{kind}" for kind in ("png", "svg")]
        )
    return stored


def held_out(measured: Sequence[Measured]) -> tuple[float, float] | None:
    """The shares of alike and of different pairs that thresholds of the other half keep; None if a half lacks some."""
    halves = [_classes([one for one in measured if one.first_half is half]) for half in (True, False)]
    if not all(len(some) for half in halves for some in half):
        return None
    kept: list[Thresholds] = []
    for here, there in (halves, halves[::-1]):
        learnt = calibrate(*here)
        kept.append(judged(learnt.t_pos, learnt.t_neg, *there))
    alike, different = (sum(getattr(one, what) for one in kept) for what in ("alike", "different"))
    return (
        sum(one.kept_alike * one.alike for one in kept) / alike,
        sum(one.kept_different * one.different for one in kept) / different,
    )


def _classes(measured: Sequence[Measured]) -> tuple[Doubles, Doubles]:
    alike, different = ([one.similarity for one in measured if one.alike is label] for label in (True, False))
    return np.array(alike), np.array(different)


def _of_pairs(
    pairs: Sequence[ScoredPair], encoder: Encoder, embeddings: Path, progress: Steps | None
) -> Iterator[Measured]:
    texts = sorted({text for pair in pairs for text in (pair.one, pair.other)})
    row = {text: n for n, text in enumerate(texts)}
    vectors = encode_cached(encoder, texts, embeddings, progress=progress)
    ones, others = ([row[text] for text in some] for some in zip(*((p.one, p.other) for p in pairs), strict=True))
    similarities = rounded(np.einsum("pd,pd->p", vectors[ones], vectors[others]))
    for pair, similarity in zip(pairs, similarities.tolist(), strict=True):
        yield Measured(similarity, pair.alike, pair.label, _half(pair.one))


def _of_pools(pools: Pools, encoder: Encoder, embeddings: Path, progress: Progress | None) -> Iterator[Measured]:
    """Each query with the videos of its pool but its own; one of which no sentence is known says nothing."""
    others = [query.videos[1:] for query in pools.queries]
    scores = PoolVectors(pools, encoder, embeddings, progress).scores(pools.queries, others)
    for query, videos, s_te in zip(pools.queries, others, scores, strict=True):
        positive, half = {*query.positive_videos}, _half(query.own.video)
        for video, similarity in zip(videos, rounded(s_te).tolist(), strict=True):
            if not isnan(similarity):
                alike = video in positive
                yield Measured(similarity, alike, POSITIVE if alike else NEGATIVE, half)


def _half(name: str) -> bool:
    """In which half a pair is: all of a video, or of a sentence, in one."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] < 128
