"""Find an encoder's thresholds from labelled pairs of texts, and draw its similarities (Figure 8 of the MVMR paper).

A pair is labelled alike or different. *Reads* labelled pairs and the cached vectors of their sentences. *Writes* a new
folder: the file of thresholds that `build_pools` reads, the figure, and its numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from math import isnan
from pathlib import Path

import msgspec
import numpy as np

from backend.campaign.selection.pools.files import ALIKE_ABOVE, RULE, ScoredPair, StoredThresholds, read_labelled
from backend.campaign.selection.pools.model import LabelledPair
from backend.campaign.selection.pools.rules import Doubles, Thresholds, calibrate, evaluate_thresholds
from backend.campaign.selection.pools.similarity import PoolVectors, round_similarities
from backend.campaign.selection.pools.violins import Violin, violin_chart
from backend.core.atomic_output import new_folder, require_new_folder
from backend.core.errors import InputError
from backend.core.messages import as_text
from backend.core.progress import Progress, Steps, steps_of
from backend.core.text_files import csv_text
from backend.core.where import HERE, Where, placed
from backend.encoders import cache
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder, load_named
from backend.scoring.pools.model import Pools

THRESHOLDS, NUMBERS, FIGURE = "thresholds.json", "calibration.csv", "calibration"
POSITIVE, NEGATIVE = "positive", "negative"
_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


def calibrate_thresholds(
    labelled: Path,
    out: Path,
    *,
    alike_above: float | None = None,
    encoder: str | Encoder | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    where: Where = HERE,
    progress: Progress | None = None,
) -> StoredThresholds:
    """Find an encoder's thresholds for alike and different texts, and write them with a figure into a new folder.

    The files are `thresholds.json`, `calibration.csv`, `calibration.png` and `calibration.svg`.

    Args:
        labelled: pairs of texts that are labelled alike or different: a file of semantic textual similarity (STS), or a
            file of pools.
        out: the folder to make.
        alike_above: pairs of an STS file with a higher score are alike, all others are different; None is the paper's
            3. A file of pools has labels, so it takes none.
        encoder: an encoder or its name, as in a project's settings; None is SimCSE from the model hub.
        kind: kind of the encoder that `encoder` names.
        embeddings: the folder in which vectors are cached; None is the user's cache folder.
        where: where sentences are encoded.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: the file has problems, lacks alike or different pairs, or is a file of pools and `alike_above` is
            given.
        ProjectError: the folder is not new.
        EncoderUnavailable: the encoder cannot be found or built.
    """
    require_new_folder(out)
    pairs = read_labelled(labelled, alike_above)
    if not isinstance(pairs, Pools):
        alike_above = ALIKE_ABOVE if alike_above is None else alike_above
    encoder = placed(load_named(encoder, kind), where)
    embeddings = embeddings or cache.shared_folder()
    with new_folder(out) as part:
        if isinstance(pairs, Pools):
            measured = list(_measure_pools(pairs, encoder, embeddings, progress))
        else:
            measured = list(_measure_pairs(pairs, encoder, embeddings, steps_of(progress, "encoding sentences")))
        alike, different = _split_alike(measured)
        if not len(alike) or not len(different):
            missing = "positive in another video" if not len(alike) else "negative"
            raise InputError.single(labelled.name, f"has no {missing}, which the thresholds need")
        thresholds = calibrate(alike, different)
        stored = StoredThresholds(
            encoder=encoder.identity,
            labels=labelled.name,
            rule=RULE if alike_above is None else f"scores above {alike_above:g} against all others, {RULE}",
            held_out=held_out_shares(measured),
            alike_above=alike_above,
            **asdict(thresholds),
        )
        text = msgspec.json.format(msgspec.json.encode(stored, enc_hook=as_text), indent=1)
        (part / THRESHOLDS).write_bytes(text + b"\n")
        write_figure(measured, stored, part / NUMBERS, [part / f"{FIGURE}.{kind}" for kind in ("png", "svg")])
    return stored


def held_out_shares(measured: Sequence[LabelledPair]) -> tuple[float, float] | None:
    """Test thresholds on pairs from which they were not computed; return the shares of pairs that they keep.

    Thresholds are computed from each half of the pairs, and tested on the other half. `t_pos` and `t_neg` are the two
    thresholds. A pair labelled alike is kept if its similarity is `t_pos` or more, a pair labelled different if it is
    `t_neg` or less.

    Returns:
        The share of the alike pairs that are kept, and that of the different pairs. None if a half has no pairs
        labelled alike, or none labelled different.
    """
    halves = [_split_alike([pair for pair in measured if pair.first_half is half]) for half in (True, False)]
    if not all(len(similarities) for half in halves for similarities in half):
        return None
    results: list[Thresholds] = []
    for train, test in (halves, halves[::-1]):
        thresholds = calibrate(*train)
        results.append(evaluate_thresholds(thresholds.t_pos, thresholds.t_neg, *test))
    alike, different = (sum(getattr(result, count) for result in results) for count in ("alike", "different"))
    return (
        sum(result.kept_alike * result.alike for result in results) / alike,
        sum(result.kept_different * result.different for result in results) / different,
    )


def _split_alike(measured: Sequence[LabelledPair]) -> tuple[Doubles, Doubles]:
    alike, different = ([pair.similarity for pair in measured if pair.alike is label] for label in (True, False))
    return np.array(alike), np.array(different)


def _measure_pairs(
    pairs: Sequence[ScoredPair], encoder: Encoder, embeddings: Path, progress: Steps | None
) -> Iterator[LabelledPair]:
    texts = sorted({text for pair in pairs for text in (pair.one, pair.other)})
    row = {text: n for n, text in enumerate(texts)}
    vectors = encode_cached(encoder, texts, embeddings, progress=progress)
    firsts, seconds = ([row[text] for text in side] for side in zip(*((p.one, p.other) for p in pairs), strict=True))
    similarities = round_similarities(np.einsum("pd,pd->p", vectors[firsts], vectors[seconds]))
    for pair, similarity in zip(pairs, similarities.tolist(), strict=True):
        yield LabelledPair(similarity, pair.alike, pair.label, _in_first_half(pair.one))


def _measure_pools(
    pools: Pools, encoder: Encoder, embeddings: Path, progress: Progress | None
) -> Iterator[LabelledPair]:
    """Yield a labelled pair for each query and each other video of its pool, with their similarity.

    A positive video counts as alike, a negative one as different. Videos without sentences are left out.
    """
    other_videos = [query.videos[1:] for query in pools.queries]
    scores = PoolVectors(pools, encoder, embeddings, progress).scores(pools.queries, other_videos)
    for query, videos, s_te in zip(pools.queries, other_videos, scores, strict=True):
        positive, half = {*query.positive_videos}, _in_first_half(query.own.video)
        for video, similarity in zip(videos, round_similarities(s_te).tolist(), strict=True):
            if not isnan(similarity):
                alike = video in positive
                yield LabelledPair(similarity, alike, POSITIVE if alike else NEGATIVE, half)


def _in_first_half(name: str) -> bool:
    """Return whether pairs belong to the first half of all pairs. A hash of `name` decides.

    `name` is the video of the pairs, or their first sentence. Pairs with the same name are always in the same half.
    """
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] < 128


def write_figure(
    measured: Sequence[LabelledPair], stored: StoredThresholds, numbers: Path, charts: Sequence[Path]
) -> None:
    """Draw the similarities of the labelled pairs as violins, and write the quantiles for each label as CSV.

    `numbers` is the path of the CSV file. The figure is written to each path in `charts`, as PNG or SVG by its ending.
    """
    from backend.scoring.drawing import save  # charts take as long to load as everything else together

    by_label: dict[str, list[float]] = {}
    for pair in measured:
        by_label.setdefault(pair.label, []).append(pair.similarity)
    scored = stored.alike_above is not None
    labels = sorted(by_label, key=float if scored else str)
    violins = [Violin(label, np.array(by_label[label])) for label in labels]
    rows = [_quantile_row(violin) for violin in violins]
    numbers.write_text(csv_text(list(rows[0]), [row.values() for row in rows]), "utf-8", newline="")
    axis, widths = "Label", "All violins are equally wide."
    if stored.alike_above is not None:
        axis = f"Score that people gave, from 0 to 5; above {stored.alike_above:g} is alike"
        widths = "The more pairs have a score, the wider is its violin."
    about = [
        f"{len(measured):,} pairs of {stored.labels}. {widths}",
        "Points: medians; bars: the middle half; lines: from 5 % to 95 %.",
    ]
    if not all(label.isdigit() for label in labels) and scored:
        about.append("Scores are rounded up to half points.")
    thresholds = {"t_pos": stored.t_pos, "t_neg": stored.t_neg}
    chart = violin_chart(violins, rows, thresholds, axis, about, by_count=scored).to_dict()
    for path in charts:
        save(chart, path)


def _quantile_row(violin: Violin) -> dict[str, str | float]:
    quantiles = {name: round(float(np.quantile(violin.similarities, share)), 5) for name, share in _QUANTILES.items()}
    return {"label": violin.label, "pairs": len(violin.similarities), **quantiles}
