"""Compare the scores of systems by fewer grades with those by all grades, with intervals."""

import numpy as np

from backend.campaign.release.replay.model import ScoreChange
from backend.core.timespan import Floats
from backend.scoring.statistics.bootstrap import interval
from backend.scoring.statistics.distributions import pair_signs, tau_b
from backend.scoring.statistics.resampling import bootstrap_means, percentile_interval


def outcome(full: Floats, fewer: Floats, *, resamples: int, seed: int) -> ScoreChange:
    """Return how the systems' means and their order change.

    A sample draws the queries with replacement, the same ones for both truths. The interval holds the middle 95 % of
    the samples of all draws together.

    Args:
        full: the score of each system at each query by all grades, shape [systems, queries].
        fewer: the same by fewer grades, for each draw of the policy, shape [draws, systems, queries].
        resamples: the number of samples.
        seed: the seed of the generator.
    """
    before, after = full.mean(axis=1), fewer.mean(axis=2)
    moved = (after - before).mean(axis=0)
    largest = int(np.abs(moved).argmax())
    drawn = bootstrap_means(np.concatenate([full[None], fewer]), resamples=resamples, seed=seed)
    base, means = drawn[:, :1], drawn[:, 1:]
    low, high = percentile_interval((means - base).mean(axis=2).ravel())
    taus = tau_b(np.broadcast_to(before, after.shape), after)
    tau = None
    if not np.isnan(taus).all() and (bounds := interval(tau_b(np.broadcast_to(base, means.shape), means).ravel())):
        tau = float(np.nanmean(taus)), *bounds
    swapped = (pair_signs(np.broadcast_to(before, after.shape)) * pair_signs(after) < 0).sum(axis=1).mean()
    change = float(moved.mean()), float(low), float(high)
    return ScoreChange(change, (float(moved[largest]), largest), tau, float(swapped))
