"""Measure label noise: how far imprecise moment boundaries in the truth move a measure.

A noisy test set treats every truth moment as if five people had marked it: its start and end are replaced by the
medians of five drawn starts and ends. A system's error under a measure is the root mean square of its means on many
noisy sets around its mean on the given truth.

There are three noise models, all with start ~ N(t_s, sigma^2):

- `exp_length`, the text of AxIoU (Togashi et al., CVPR 2022), section 6.4: length ~ Exp(mean = true length). Even
  without start noise it leaves a mean IoU of about .61 with the true moment.
- `shifted_length`, what the authors' published notebook computes, which reproduces Figure 7: length = true length +
  Exp(mean = 1 s). It takes the medians of starts and lengths, and moments may leave their video.
- `gaussian_ends`: both ends move by N(0, sigma^2), and nothing else. It is ours and in no paper.

In the other two, noisy moments stay within their video, which the paper does not ask for. In all three they end after
they start, and are whole milliseconds, like annotations.

Closed forms give the effect of Gaussian noise in an IoU on R@1,theta and AxIoU@1. The observed IoU of the top moment is
r_hat ~ N(r, gamma^2), not cut to [0, 1]. The true R@1,theta is 1{r >= theta}; it is observed as 1 with probability
p = P(r_hat >= theta) = Phi((r - theta) / gamma), so

    bias = p - 1{r >= theta}     variance = p (1 - p)     MSE = bias^2 + variance

and MSE = 1 - p where theta <= r, p elsewhere. AxIoU@1 is r_hat itself: bias 0, variance = MSE = gamma^2.
Source: AxIoU (Togashi et al., CVPR 2022), supplement, appendix C and Figure 2, which write the threshold as >=. (In the
arXiv version this is Figure 10.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from backend.core.parallel import run_units
from backend.core.progress import Steps
from backend.core.timespan import Floats, iou_float64
from backend.core.where import HERE, Where
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import Settings
from backend.scoring.scores import prepare_run, prepare_truth, score
from backend.scoring.studies.study import Cell, SystemValues, generator_of

Noise = Literal["exp_length", "shifted_length", "gaussian_ends"]
NOISE_NAMES: dict[Noise, str] = {
    "exp_length": "exp_length",
    "shifted_length": "shifted_length (the authors' code)",
    "gaussian_ends": "gaussian_ends (ours)",
}
SIGMAS_S = (1.0, 2.0, 3.0, 4.0)
"""Noise levels of AxIoU's Figure 7."""
SETS = 100
DRAWS = 5
MEAN_OF_SYSTEMS = "mean of systems"
_SHORTEST_MS = 10.0


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """A model of label noise: how the start and end of a truth moment are drawn.

    `kind` is `exp_length` (AxIoU's model: normal start, exponential length), `shifted_length` (its authors' code) or
    `gaussian_ends` (both ends move by normal noise). `sigma_s` is the standard deviation of a drawn boundary, in
    seconds. `draws` is the number of draws of each boundary.
    """

    kind: Noise
    sigma_s: float
    draws: int = DRAWS


@dataclass(frozen=True, slots=True)
class NoisySet:
    """One noisy copy of the truth to draw and score, as a job for a worker process.

    `number` counts the copies. Copies of the same number share their random numbers, whatever their noise model.
    """

    seed: int
    number: int
    model: NoiseModel


@dataclass(frozen=True, slots=True)
class NoiseInputs:
    """What all noisy copies of the truth have in common: the truth, the runs to score, and the settings.

    `duration_s` holds the duration of each truth moment's video, in seconds, infinite where unknown.
    """

    truth: Truth
    runs: tuple[Run, ...]
    settings: Settings
    duration_s: Floats


def label_noise(
    inputs: NoiseInputs,
    table: SystemValues,
    models: Sequence[NoiseModel],
    *,
    sets: int = SETS,
    seed: int = 0,
    where: Where = HERE,
    progress: Steps | None = None,
) -> list[dict[str, Cell]]:
    """Compute how far noise in the truth's moments changes the mean of every system, over noisy copies of the truth.

    There is a row for each noise model, measure and system, and one for the mean over all systems. A row has the root
    mean square error, `rmse`. `sets` is the number of noisy copies for each model. `median_iou` says how strong the
    noise of a model is. It is the median IoU between the given and the noisy moments of a copy, averaged over the
    copies. Moments of relevance 0 count as well.
    """
    units = [NoisySet(seed, number, model) for model in models for number in range(sets)]
    noisy_sets = run_units(noisy_scores, inputs, units, where, progress=progress)
    reference = table.means
    rows: list[dict[str, Cell]] = []
    for n, model in enumerate(models):
        model_sets = noisy_sets[n * sets : (n + 1) * sets]
        errors = rmse(np.array([noisy_set.means for noisy_set in model_sets]), reference)
        median_iou = float(np.mean([noisy_set.median_iou for noisy_set in model_sets]))
        for measure, true, error in zip(table.measures, reference, errors, strict=True):
            systems = [*zip(table.systems, true, error, strict=True), (MEAN_OF_SYSTEMS, true.mean(), error.mean())]
            rows += [
                {
                    "noise": model.kind,
                    "sigma_s": model.sigma_s,
                    "median_iou": median_iou,
                    "measure": measure,
                    "system": system,
                    "mean": float(mean),
                    "rmse": float(value),
                }
                for system, mean, value in systems
            ]
    return rows


def rmse(noisy: Floats, reference: Floats) -> Floats:
    """Return the root of the mean of (noisy - reference) squared, over the first axis of `noisy`.

    >>> float(rmse(np.array([[0.25], [0.75]]), np.array([0.5]))[0])
    0.25
    """
    return np.asarray(np.sqrt(np.mean((noisy - reference) ** 2, axis=0)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class NoisyScores:
    """The scores of all systems on one noisy copy of the truth.

    `means` has shape (measures, systems). `median_iou` is the median IoU between the noisy and the given moments.
    """

    means: Floats
    median_iou: float


def noisy_scores(inputs: NoiseInputs, unit: NoisySet) -> NoisyScores:
    """Draw one noisy copy of the truth and score all systems on it."""
    truth = inputs.truth
    start_s, end_s = noisy_spans(
        truth.start_s, truth.end_s, inputs.duration_s, unit.model, generator_of(unit.seed, unit.number)
    )
    settings = inputs.settings
    # Moments of `shifted_length` may begin before 0 s: let them overlap predictions as usual.
    lenient = replace(settings, conventions=replace(settings.conventions, invalid="zero"))
    key = prepare_truth(replace(truth, start_s=start_s, end_s=end_s), lenient)
    means = [score(key, prepare_run(run, key, settings), settings).values.mean(axis=1) for run in inputs.runs]
    near = np.median(iou_float64(truth.start_s, truth.end_s, start_s, end_s))
    return NoisyScores(np.array(means).T, float(near))


def noisy_spans(
    start_s: Floats, end_s: Floats, duration_s: Floats, model: NoiseModel, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw noisy starts and ends of N moments, in seconds, start < end, and within 0..duration unless `shifted_length`.

    Args:
        start_s: true starts, shape (N,).
        end_s: true ends, shape (N,).
        duration_s: duration of each moment's video, shape (N,); infinite where unknown.
        model: the noise model.
        generator: the source of random numbers.
    """
    shape = (model.draws, len(start_s))
    starts = start_s + model.sigma_s * generator.standard_normal(shape)
    start, first_ms = np.median(starts, axis=0), 0.0
    if model.kind == "exp_length":
        end = np.median(starts + (end_s - start_s) * generator.standard_exponential(shape), axis=0)
    elif model.kind == "shifted_length":
        end = start + (end_s - start_s) + np.median(generator.standard_exponential(shape), axis=0)
        duration_s, first_ms = np.full(len(start_s), np.inf), -np.inf
    else:
        end = np.median(end_s + model.sigma_s * generator.standard_normal(shape), axis=0)
    # A video shorter than the shortest moment is taken to be as long as that moment.
    last_ms = np.maximum(np.floor(duration_s * 1000), _SHORTEST_MS)
    start_ms = np.clip(np.rint(start * 1000), first_ms, last_ms - _SHORTEST_MS)
    end_ms = np.minimum(np.maximum(np.rint(end * 1000), start_ms + _SHORTEST_MS), last_ms)
    return start_ms / 1000, end_ms / 1000


def durations(truth: Truth, known_s: Mapping[str, float]) -> Floats:
    """Return the duration of each truth moment's video, shape (N,), in seconds, infinite where unknown.

    If a moment ends after its video's known duration, its end is used instead. Otherwise its noisy copies would be cut
    shorter than it.
    """
    of_video = np.array([known_s.get(video, np.inf) for video in truth.videos], dtype=np.float64)
    return np.maximum(of_video[truth.video], truth.end_s)


_erfc = np.vectorize(math.erfc, otypes=[np.float64])
Over = Literal["r", "theta"]
AXIOU, RECALL = "axiou@1", "recall@1,theta"
STEPS = 101
"""Number of points on a curve over r or theta, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Error:
    """The error of a measure when IoUs are noisy: squared bias, variance and mean squared error (`mse`).

    The mean squared error is the sum of the other two. All have one shape.
    """

    squared_bias: Floats
    variance: Floats
    mse: Floats


def recall_error(r: Floats, theta: Floats, gamma: Floats) -> Error:
    """Return the error of R@1,theta at true IoU r, if IoUs are seen with noise of standard deviation gamma > 0.

    R@1,theta is 1 if the first prediction's IoU is at least theta, otherwise 0. The noise is Gaussian, and the
    arguments broadcast. If r is on the threshold, half of the draws fall below it:

    >>> recall_error(np.array(0.5), np.array(0.5), np.array(0.1))
    Error(squared_bias=array(0.25), variance=array(0.25), mse=array(0.5))
    """
    # Compute the probability of the wrong side directly: 1 - p would lose digits where it is tiny.
    wrong = _erfc(np.abs(r - theta) / gamma / math.sqrt(2)) / 2
    squared_bias, variance = np.asarray(wrong**2), np.asarray(wrong * (1 - wrong))
    return Error(squared_bias, variance, np.asarray(wrong))


def axiou_error(gamma: Floats) -> Error:
    """Return the error of AxIoU@1, if IoUs are seen with Gaussian noise of standard deviation gamma.

    AxIoU@1 is the IoU of the first prediction. Its error does not depend on the true IoU.
    """
    return Error(np.zeros(np.shape(gamma)), np.asarray(gamma**2), np.asarray(gamma**2))


def closed_forms(thetas: Sequence[float], gammas: Sequence[float], steps: int = STEPS) -> list[dict[str, Cell]]:
    """Compute the errors of R@1 and AxIoU@1 for true IoUs r from 0 to 1, if IoUs are measured with Gaussian noise.

    R@1 is 1 if the first prediction's IoU r is at least theta, otherwise 0. AxIoU@1 is r itself.

    There is a row for each standard deviation gamma of the noise, measure and r. R@1 is computed at each of `thetas`;
    AxIoU@1 has no theta. `steps` is the number of values of r.
    """
    r = np.linspace(0, 1, steps)
    rows: list[dict[str, Cell]] = []
    for gamma in gammas:
        for theta in thetas:
            error = recall_error(r, np.array(theta), np.array(gamma))
            rows += _curve(f"recall@1,{theta!r}", gamma, error, r=r.tolist(), theta=[theta] * steps)
        rows += _curve(AXIOU, gamma, axiou_error(np.full(steps, gamma)), r=r.tolist(), theta=[None] * steps)
    return rows


def closed_forms_over_theta(rs: Sequence[float], gammas: Sequence[float], steps: int = STEPS) -> list[dict[str, Cell]]:
    """Compute the errors of R@1 and AxIoU@1 for thresholds theta from 0 to 1, if IoUs are measured with Gaussian noise.

    R@1 is 1 if the first prediction's IoU r is at least theta, otherwise 0. AxIoU@1 is r itself.

    There is a row for each standard deviation gamma of the noise, true IoU in `rs`, and theta. The error of AxIoU@1 is
    the same at every theta and r. `steps` is the number of values of theta.
    """
    theta = np.linspace(0, 1, steps)
    rows: list[dict[str, Cell]] = []
    for gamma in gammas:
        for r in rs:
            error = recall_error(np.array(r), theta, np.array(gamma))
            rows += _curve(RECALL, gamma, error, r=[r] * steps, theta=theta.tolist())
        rows += _curve(AXIOU, gamma, axiou_error(np.full(steps, gamma)), r=[None] * steps, theta=theta.tolist())
    return rows


def _curve(
    measure: str, gamma: float, error: Error, *, r: list[float | None], theta: list[float | None]
) -> list[dict[str, Cell]]:
    columns = zip(r, theta, error.squared_bias, error.variance, error.mse, strict=True)
    return [
        {
            "measure": measure,
            "gamma": gamma,
            "r": iou,
            "theta": level,
            "squared_bias": float(bias),
            "variance": float(variance),
            "mse": float(mse),
        }
        for iou, level, bias, variance, mse in columns
    ]
