"""The schedule of a training: how many epochs it has, when it is evaluated, and the learning rate of each step.

A step is one update of the weights, by one batch.
"""

import math

_PASSES, _EPOCHS_BETWEEN = 4000, 20
"""Epochs, and epochs from one evaluation to the next, for N = 1."""


def default_epochs(top: int) -> int:
    """Return the number of epochs for the training set `train_topN.json`, with N = `top`: 4,000 / N, at least 1.

    TVR-Ranking (Liang et al. 2024, appendix C.1) has 4,000 epochs for N = 1, 200 for N = 20 and 100 for N = 40. Their
    product with N is always 4,000. As an epoch has N times as many pairs, each training has as many steps. The rule
    keeps that for every other N.
    """
    return max(1, round(_PASSES / top))


def default_evaluate_every(top: int) -> float:
    """Return the number of epochs from one evaluation to the next, for N = `top`: 20 / N.

    TVR-Ranking (appendix C.1) evaluates every 20 epochs for N = 1, every epoch for N = 20 and twice an epoch for
    N = 40. With `default_epochs` these are 200 evaluations for every N.
    """
    return _EPOCHS_BETWEEN / top


def rate_factor(step: int, steps: int, warmup: float) -> float:
    """Return the factor of the learning rate for a step: it rises from 0 to 1, then falls to 0 at the end.

    With p = step / steps and w = `warmup`, the factor is p / w while p < w, then (1 - p) / (1 - w). Source: the
    optimiser of the published code of ReLoCLNet and TVR-Ranking (BertAdam, schedule `warmup_linear`, w = 0.01). The
    paper says only "with a warmup phase".

    Args:
        step: the number of the step, from 0.
        steps: the number of steps of the whole training.
        warmup: the share of all steps in which the rate rises, in [0, 1).

    Example: of 200 steps with w = 0.01, the first has the factor 0, the second 0.5, the third 1, and the last
    (1 - 0.995) / 0.99 = 0.005.
    """
    progress = step / steps
    return progress / warmup if progress < warmup else (1 - progress) / (1 - warmup)


def is_evaluated(step: int, steps: int, epoch_steps: int, every: float) -> bool:
    """Return whether the model is evaluated after a step.

    That is after the first step at which k times `every` epochs are over, for k = 1, 2, ..., and after the last step.

    Args:
        step: the number of steps done, from 1.
        steps: the number of steps of the whole training.
        epoch_steps: the number of steps of an epoch.
        every: the number of epochs from one evaluation to the next; 0.5 is twice an epoch.

    Example: with 5 steps an epoch and `every` = 0.5, the model is evaluated after steps 3, 5, 8, 10, ...
    """
    interval = every * epoch_steps
    # 0.1 epochs of 30 steps are 3.0000000000000004 steps.
    over = [math.floor(done / interval + 1e-9) for done in (step - 1, step)]
    return step == steps or over[1] > over[0]
