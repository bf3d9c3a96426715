"""How much of each run a pooled truth has judged, and which run it may punish for what nobody has graded.

A truth is taken to be pooled where it is graded: where not all its moments have relevance 1. Reads and writes nothing.
"""

from collections.abc import Mapping
from dataclasses import replace

from backend.scoring.matching.columns import Truth
from backend.scoring.measures import MEASURES
from backend.scoring.presets import Settings
from backend.scoring.scores import AnswerKey, RankedRun, score

GAP = 0.05
"""How much less of a run than of another is judged before it is worth a warning."""


def judged_key(truth: Truth, settings: Settings) -> str | None:
    """The key of Judged@K that is told of each run, at the middle K and mu; None where NDCG or pooled truth is not."""
    pooled = bool((truth.relevance != 1).any())
    return MEASURES["judged"].key(*settings.middle) if pooled and "ndcg" in settings.measures else None


def punished(
    key: AnswerKey,
    runs: Mapping[str, RankedRun],
    means: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, float],
    settings: Settings,
) -> list[str]:
    """A warning for each run that NDCG puts below one of which more is judged, and bpref above it.

    Args:
        key: the truth.
        runs: by name.
        means: of each run, by key.
        judged: Judged@K of each run.
        settings: of the evaluation.
    """
    k, mu = settings.middle
    ndcg, bpref = MEASURES["ndcg"].key(k, mu), MEASURES["bpref"].key(None, mu)
    pairs = [
        (name, other)
        for name in runs
        for other in runs
        if ndcg in means[name]
        and ndcg in means[other]
        and means[name][ndcg] < means[other][ndcg]
        and judged[name] < judged[other] - GAP
    ]
    if not pairs:
        return []
    alone = replace(settings, k=(k,), mu=(mu,), measures=("bpref",), asked=None)
    fair = {
        name: score(key, runs[name], alone).mean(alone)[bpref] for name in {name for pair in pairs for name in pair}
    }
    found: dict[str, list[str]] = {}
    for name, other in pairs:
        if fair[name] > fair[other]:
            found.setdefault(name, []).append(other)
    return [
        f"{runs[name].run.file}: {judged[name]:.0%} of its {k} best predictions show a moment that somebody graded, of "
        + ", ".join(f"{other}'s {judged[other]:.0%}" for other in others)
        + f"; {ndcg} puts it below, {bpref}, which passes over what nobody graded, above: the truth may punish it for "
        "moments that nobody has looked at"
        for name, others in found.items()
    ]
