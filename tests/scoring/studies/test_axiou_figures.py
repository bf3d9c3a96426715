"""The studies against what the authors of AxIoU published: their six systems on Charades-STA, and their notebook.

Source: github.com/riktor/vmr-axiou, notebooks/ExperimentsOnCharadesSTA.ipynb (Togashi et al., CVPR 2022, section 6).
The scores are those of the published predictions on the 3,720 test queries, by the authors' own functions.
"""

import numpy as np
import pytest

from backend.scoring.evaluate import evaluate
from backend.scoring.presets import AXIOU_TEST_MEASURES, settle
from backend.scoring.studies import noise, stability
from backend.scoring.studies.study import SystemValues

SYSTEMS = ("2DTAN", "SCDM", "2DTAN nonms", "2DTAN rand", "2DTAN rand+nonms", "Blind")
QUERIES = 3720
HITS = {
    "recall_gt@1,0.3": (2129, 2419, 2129, 1991, 1991, 1535),
    "recall_gt@1,0.5": (1571, 1932, 1571, 1440, 1440, 1049),
    "recall_gt@1,0.7": (811, 1163, 811, 752, 752, 463),
    "recall_gt@5,0.3": (3427, 3036, 2588, 3161, 2481, 3218),
    "recall_gt@5,0.5": (2978, 2706, 2146, 2617, 2026, 2696),
    "recall_gt@5,0.7": (1913, 2088, 1486, 1730, 1363, 1385),
    "recall_gt@10,0.3": (3679, 3325, 2916, 3610, 2811, 3705),
    "recall_gt@10,0.5": (3505, 3010, 2511, 3347, 2361, 3474),
    "recall_gt@10,0.7": (2436, 2375, 1874, 2447, 1726, 1842),
}
AXIOU = {
    "axiou@1": (0.38556, 0.45566, 0.38556, 0.35973, 0.35973, 0.27158),
    "axiou@5": (0.54558, 0.55276, 0.46156, 0.49851, 0.43563, 0.44432),
    "axiou@10": (0.62709, 0.61000, 0.51726, 0.59026, 0.49128, 0.55751),
}
# The lower triangle of Figure 4, left, as the notebook prints it.
FIGURE_4 = """
 1.00
 1.00  1.00
 1.00  1.00  1.00
-0.07 -0.07 -0.07  1.00
 0.21  0.21  0.21  0.73  1.00
 0.64  0.64  0.64  0.33  0.60  1.00
-0.21 -0.21 -0.21  0.87  0.60  0.20  1.00
-0.07 -0.07 -0.07  1.00  0.73  0.33  0.87  1.00
 0.21  0.21  0.21  0.47  0.47  0.60  0.33  0.47  1.00
 1.00  1.00  1.00 -0.07  0.21  0.64 -0.21 -0.07  0.21  1.00
 0.64  0.64  0.64  0.33  0.60  1.00  0.20  0.33  0.60  0.64  1.00
 0.36  0.36  0.36  0.60  0.87  0.73  0.47  0.60  0.60  0.36  0.73  1.00
"""


def test_agreement_is_figure_4() -> None:
    means = [*(np.array(hits) / QUERIES for hits in HITS.values()), *map(np.array, AXIOU.values())]
    table = SystemValues((*HITS, *AXIOU), SYSTEMS, np.array(means)[:, :, None])
    assert table.measures == settle("axiou", None, [0.5], {}).keys
    taus = {(row["first"], row["second"]): float(str(row["tau_b"])) for row in stability.agreement(table)}
    for row, line in zip(table.measures, FIGURE_4.strip().splitlines(), strict=True):
        for column, printed in zip(table.measures, line.split(), strict=False):
            # Half of the last printed digit: 0.645 is printed as 0.64.
            assert taus[row, column] == taus[column, row] == pytest.approx(float(printed), abs=0.0055)


def test_r10_at_3_is_left_out_of_figure_8_because_it_is_nearly_1_even_for_blind() -> None:
    assert HITS["recall_gt@10,0.3"][-1] / QUERIES == pytest.approx(1, abs=0.01)
    assert set(HITS) - set(AXIOU_TEST_MEASURES) == {"recall_gt@10,0.3"}
    assert len(AXIOU_TEST_MEASURES) == 8


def test_preset_axiou_has_the_strict_threshold_of_equation_1() -> None:
    truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
    found = evaluate(truth, {"q": [["v", 0, 5, 1.0], ["v", 0, 8, 0.5]]}, preset="axiou").mean
    assert list(found) == [*HITS, *AXIOU]
    assert found["recall_gt@1,0.5"] == 0  # An IoU of exactly theta.
    assert (found["recall_gt@1,0.3"], found["recall_gt@5,0.7"], found["axiou@5"]) == (1, 1, (0.5 + 4 * 0.8) / 5)


def test_shifted_length_is_the_noise_of_the_notebook() -> None:
    """Its length is the true one plus the median of five Exp(1), whose mean is 1/3 + 1/4 + 1/5; no end is clipped."""
    many = 200_000
    start, duration = np.full(many, 0.5), np.full(many, 4.0)
    model = noise.NoiseModel("shifted_length", 2.0)
    found_start, found_end = noise.noisy_spans(start, start + 3, duration, model, np.random.default_rng(3))
    assert np.mean(found_end - found_start) == pytest.approx(3 + 1 / 3 + 1 / 4 + 1 / 5, abs=0.005)
    assert np.mean(found_start) == pytest.approx(0.5, abs=0.01)
    assert np.std(found_start) == pytest.approx(2 * 0.2868**0.5, rel=0.01)
    assert found_start.min() < 0
    assert found_end.max() > 4


def test_noise_of_the_notebook_scores_moments_that_begin_before_their_video() -> None:
    """A prediction [0, 4] of a moment noted as [-1, 4] has the IoU .8."""
    from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping

    settings = settle("axiou", None, [0.5], {})
    truth = parse_truth_mapping({f"q{n}": [{"video": "v", "start": 0, "end": 4, "relevance": 1}] for n in range(400)})
    run = parse_run_mapping({f"q{n}": [["v", 0, 4, 1.0]] for n in range(400)})
    inputs = noise.NoiseInputs(truth, (run,), settings, np.full(400, 4.0))
    unit = noise.NoisySet(0, 0, noise.NoiseModel("shifted_length", 1.0))
    found = noise.noisy_scores(inputs, unit).means[settings.keys.index("axiou@1"), 0]
    start, end = noise.noisy_spans(
        truth.start_s, truth.end_s, inputs.duration_s, unit.model, noise.generator_of(unit.seed, unit.number)
    )
    by_hand = [
        max(0.0, min(4.0, e) - max(0.0, s)) / (max(4.0, e) - min(0.0, s)) for s, e in zip(start, end, strict=True)
    ]
    assert min(start) < 0
    assert found == pytest.approx(np.mean(by_hand), abs=1e-9)


def test_whole_compares_a_subset_with_all_queries() -> None:
    """Of four queries, all six pairs: tau-b of their order of the systems with that of all four, by SciPy."""
    from itertools import combinations

    from scipy import stats

    values = np.random.default_rng(7).random((1, 5, 4))
    row = stability.stability(SystemValues(("x",), tuple("abcde"), values), [2], trials=4000, subset_pairs="whole")[0]
    everything = values[0].sum(axis=1)
    taus = [
        stats.kendalltau(values[0][:, list(pair)].sum(axis=1), everything).statistic
        for pair in combinations(range(4), 2)
    ]
    assert row["subset_pairs"] == "whole"
    assert row["mean"] == pytest.approx(np.mean(taus), abs=0.02)
    assert row["variance"] == pytest.approx(np.var(taus), abs=0.02)


def test_noise_of_the_truth_leaves_impossible_predictions_to_the_option() -> None:
    """With `skip`, the second prediction moves up: R@1 is 1, and stays so under no noise."""
    from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping

    settings = settle("axiou", None, [0.5], {"invalid": "skip"})
    truth = parse_truth_mapping({"q": [{"video": "v", "start": 0, "end": 4, "relevance": 1}]})
    run = parse_run_mapping({"q": [["v", 3, 3, 1.0], ["v", 0, 4, 0.5]]})
    inputs = noise.NoiseInputs(truth, (run,), settings, np.full(1, 4.0))
    found = noise.noisy_scores(inputs, noise.NoisySet(0, 0, noise.NoiseModel("gaussian_ends", 0.0))).means
    assert (found == 1).all()
