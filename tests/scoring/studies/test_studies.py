"""Studies on made-up values: against plain loops, SciPy and simulation."""

import itertools
import statistics

import msgspec
import numpy as np
import pytest

from backend.core.where import HERE, Where
from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.presets import settle
from backend.scoring.statistics import distributions
from backend.scoring.studies import noise, stability
from backend.scoring.studies.study import SystemValues, generator_of

RNG = np.random.default_rng(2)
MEASURES, SYSTEMS, QUERIES = 3, 5, 24
TABLE = SystemValues(
    tuple("xyz"),
    tuple("abcde"),
    np.concatenate(
        [
            RNG.random((1, SYSTEMS, QUERIES)) + np.linspace(0, 0.4, SYSTEMS)[None, :, None],
            RNG.integers(0, 2, (1, SYSTEMS, QUERIES)).astype(float),
            np.full((1, SYSTEMS, QUERIES), 0.25),
        ]
    ),
)


def test_agreement_is_the_matrix_of_kendalls_tau_with_reasons() -> None:
    from scipy import stats

    rows = stability.agreement(TABLE)
    assert [(row["first"], row["second"]) for row in rows] == list(itertools.product("xyz", repeat=2))
    for row in rows:
        i, j = "xyz".index(str(row["first"])), "xyz".index(str(row["second"]))
        if 2 in (i, j):
            assert row["tau_b"] is None
            assert row["reason"] == "z ties all systems"
        else:
            assert row["tau_b"] == pytest.approx(stats.kendalltau(TABLE.means[i], TABLE.means[j]).statistic, abs=1e-12)


def test_one_mean_summed_in_another_order_is_a_tie() -> None:
    assert distributions.pair_signs(np.array([0.1 + 0.2, 0.3])).tolist() == [0]


def subsets(size: int, disjoint: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of sets of `size` of five queries."""
    sets = list(itertools.combinations(range(5), size))
    return [(a, b) for a in sets for b in sets if not (disjoint and set(a) & set(b))]


@pytest.mark.parametrize(
    ("size", "subset_pairs"), [(1, "disjoint"), (2, "disjoint"), (2, "independent"), (4, "disjoint")]
)
def test_stability_is_the_mean_over_all_pairs_of_subsets(size: int, subset_pairs: stability.SubsetPairs) -> None:
    """Of five queries all pairs of sets can be listed; two disjoint sets of four there are none, so any two."""
    from scipy import stats

    small = SystemValues(TABLE.measures, TABLE.systems, TABLE.values[:, :, :5])
    rows = stability.stability(small, [size], trials=20_000, subset_pairs=subset_pairs, seed=3)
    disjoint = subset_pairs == "disjoint" and size < 3
    assert {row["subset_pairs"] for row in rows} == {"disjoint" if disjoint else "independent"}
    for values, row in zip(small.values[:2], rows, strict=False):
        taus = np.array(
            [
                stats.kendalltau(*(values[:, list(chosen)].sum(axis=1).round(9) for chosen in pair)).statistic
                for pair in subsets(size, disjoint)
            ]
        )
        defined = taus[~np.isnan(taus)]
        assert row["mean"] == pytest.approx(defined.mean(), abs=0.02)
        assert row["variance"] == pytest.approx(defined.var(), abs=0.02)
        assert int(str(row["undefined"])) / 20_000 == pytest.approx(np.isnan(taus).mean(), abs=0.02)


def test_a_measure_that_ties_all_systems_has_no_stability() -> None:
    row = stability.stability(TABLE, [6], trials=50)[2]
    assert (row["mean"], row["variance"], row["undefined"]) == (None, None, 50)
    assert row["reason"] == "every trial ties all systems"


def test_all_queries_twice_agree_perfectly() -> None:
    row = stability.stability(TABLE, [QUERIES], trials=20)[0]
    assert (row["mean"], row["variance"]) == (1, 0)


def test_stability_does_not_depend_on_the_number_of_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stability, "_CELLS", 10 * QUERIES)
    alone = stability.stability(TABLE, [3, 8], trials=55, seed=4)
    shared_out = stability.stability(TABLE, [3, 8], trials=55, seed=4, where=Where(2))
    assert alone == shared_out
    assert alone != stability.stability(TABLE, [3, 8], trials=55, seed=5)


def test_units_of_one_size_do_not_repeat_each_other() -> None:
    first, second = (stability.self_agreement(TABLE.values, stability.Trials(0, 4, n, 30, "disjoint")) for n in (0, 1))
    assert not np.array_equal(first, second, equal_nan=True)


def test_a_size_has_the_same_trials_whatever_other_sizes_there_are() -> None:
    assert stability.stability(TABLE, [3, 8], trials=40)[3:] == stability.stability(TABLE, [8], trials=40)


def spans(model: noise.NoiseModel, length_s: float = 10.0, many: int = 200_000) -> tuple[np.ndarray, np.ndarray]:
    start = np.full(many, 1000.0)
    endless = np.full(many, np.inf)
    return noise.noisy_spans(start, start + length_s, endless, model, np.random.default_rng(8))


def test_exp_length_without_start_noise_leaves_the_mean_iou_of_its_design() -> None:
    """The median of five exponentials is the third of five order statistics; its mean IoU by quadrature is .61."""
    x = np.linspace(1e-6, 20, 400_001)
    density = 30 * (1 - np.exp(-x)) ** 2 * np.exp(-x) ** 3
    expected = float(np.trapezoid(density * np.minimum(x, 1 / x), x))
    start, end = spans(noise.NoiseModel("exp_length", 0.0))
    assert (start == 1000).all()
    length = end - start
    assert np.mean(np.minimum(length, 10) / np.maximum(length, 10)) == pytest.approx(expected, abs=0.003)
    assert expected == pytest.approx(0.61, abs=0.005)


def test_gaussian_ends_scatter_as_medians_of_five() -> None:
    """The variance of the median of five standard normals is 0.2868 (Harter and Balakrishnan, order statistics)."""
    start, end = spans(noise.NoiseModel("gaussian_ends", 0.5))
    for moved in (start - 1000, end - 1010):
        assert moved.mean() == pytest.approx(0, abs=0.005)
        assert moved.var() == pytest.approx(0.25 * 0.2868, rel=0.02)


def test_no_noise_is_no_change() -> None:
    start, end = spans(noise.NoiseModel("gaussian_ends", 0.0), many=3)
    assert start.tolist() == [1000.0] * 3
    assert end.tolist() == [1010.0] * 3


@pytest.mark.parametrize("kind", ["exp_length", "gaussian_ends"])
def test_noisy_moments_stay_in_their_video_and_after_their_start(kind: noise.Noise) -> None:
    rng = np.random.default_rng(5)
    duration = rng.uniform(0.02, 30, 20_000)
    start = rng.uniform(0, duration - 0.01)
    end = rng.uniform(start + 0.005, duration)
    noisy_start, noisy_end = noise.noisy_spans(start, end, duration, noise.NoiseModel(kind, 5.0), rng)
    assert (noisy_start >= 0).all()
    assert (noisy_end > noisy_start).all()
    assert (noisy_end <= duration).all()
    assert (np.rint(noisy_start * 1000) / 1000 == noisy_start).all()


def noise_inputs() -> tuple[noise.NoiseInputs, SystemValues]:
    rng = np.random.default_rng(6)
    truth = {
        f"q{q}": [
            {"video": f"v{n % 3}", "start": float(s), "end": float(s) + 8, "relevance": int(rng.integers(0, 5))}
            for n, s in enumerate(rng.integers(0, 50, 5))
        ]
        for q in range(6)
    }
    runs = [
        parse_run_mapping({q: [[m["video"], m["start"] + shift, m["end"], 1.0] for m in ms] for q, ms in truth.items()})
        for shift in (0.0, 3.0)
    ]
    settings = settle("paper", [3], [0.5, 0.8], {}, measures=["ndcg"])
    columns = parse_truth_mapping(truth)
    inputs = noise.NoiseInputs(columns, tuple(runs), settings, np.full(len(columns.video), 60.0))
    silent = noise.noisy_scores(inputs, noise.NoisySet(0, 0, noise.NoiseModel("gaussian_ends", 0.0))).means
    return inputs, SystemValues(settings.keys, ("exact", "shifted"), silent[:, :, None])


def test_label_noise_is_the_error_of_the_noisy_means() -> None:
    inputs, table = noise_inputs()
    model = noise.NoiseModel("gaussian_ends", 2.0)
    rows = noise.label_noise(inputs, table, [noise.NoiseModel("gaussian_ends", 0.0), model], sets=7, seed=2)
    quiet, noisy = rows[:6], rows[6:]
    assert all(row["rmse"] == 0 for row in quiet)
    scored = [noise.noisy_scores(inputs, noise.NoisySet(2, number, model)) for number in range(7)]
    sets = [one.means for one in scored]
    for measure in range(2):
        errors = [
            (sum((one[measure, system] - table.means[measure, system]) ** 2 for one in sets) / 7) ** 0.5
            for system in range(2)
        ]
        found = [row["rmse"] for row in noisy[3 * measure : 3 * measure + 3]]
        assert np.allclose(found, [*errors, sum(errors) / 2], rtol=0, atol=1e-12)
        assert min(errors) > 0
    assert {row["median_iou"] for row in quiet} == {1}
    assert {row["median_iou"] for row in noisy} == {sum(one.median_iou for one in scored) / 7}


def test_the_median_iou_is_that_of_the_moments_marked_anew() -> None:
    """Ends that move by 2 s, medians of five: by plain fractions, moment by moment."""
    inputs, _ = noise_inputs()
    truth, unit = inputs.truth, noise.NoisySet(2, 0, noise.NoiseModel("gaussian_ends", 2.0))
    starts, ends = noise.noisy_spans(
        truth.start_s, truth.end_s, inputs.duration_s, unit.model, generator_of(unit.seed, unit.number)
    )
    found = []
    for s, e, t, f in zip(truth.start_s, truth.end_s, starts, ends, strict=True):
        inter = max(0.0, min(e, f) - max(s, t))
        found.append(inter / (e - s + f - t - inter))
    assert noise.noisy_scores(inputs, unit).median_iou == pytest.approx(statistics.median(found), abs=1e-12)
    assert statistics.median(found) < 0.95


def test_the_median_iou_of_exp_length_is_the_iou_of_the_median_length() -> None:
    """Without start noise IoU is min(x, 1/x), x the median of five Exp(1): its median by quantiles of that density."""
    x = np.linspace(1e-6, 20, 400_001)
    density = 30 * (1 - np.exp(-x)) ** 2 * np.exp(-x) ** 3
    order = np.argsort(np.minimum(x, 1 / x))
    below = np.cumsum(density[order])
    expected = float(np.minimum(x, 1 / x)[order][np.searchsorted(below, below[-1] / 2)])
    truth = parse_truth_mapping(
        {"q": [{"video": f"v{n}", "start": 0, "end": 100, "relevance": 1} for n in range(20_000)]}
    )
    inputs = noise.NoiseInputs(truth, (), settle("paper", [3], [0.5], {}), np.full(20_000, np.inf))
    near = noise.noisy_scores(inputs, noise.NoisySet(0, 0, noise.NoiseModel("exp_length", 0.0))).median_iou
    assert near == pytest.approx(expected, abs=0.01)


def test_label_noise_does_not_depend_on_the_number_of_jobs() -> None:
    inputs, table = noise_inputs()
    models = [noise.NoiseModel("exp_length", 1.0)]
    assert noise.label_noise(inputs, table, models, sets=4) == noise.label_noise(
        inputs, table, models, sets=4, where=Where(2)
    )


def test_studies_are_the_same_on_a_cluster(on_cluster: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stability, "_CELLS", 10 * QUERIES)
    inputs, table = noise_inputs()
    models = [noise.NoiseModel("exp_length", 1.0)]
    here, there = (
        msgspec.json.encode(
            [
                stability.stability(TABLE, [3, 8], trials=55, seed=4, where=where),
                noise.label_noise(inputs, table, models, sets=4, where=where),
            ]
        )
        for where in (HERE, on_cluster)
    )
    assert here == there


def test_a_moment_beyond_its_videos_known_end_keeps_its_own() -> None:
    truth = parse_truth_mapping(
        {"q": [{"video": v, "start": 1, "end": 9, "relevance": 1} for v in ("long", "short", "unknown")]}
    )
    assert noise.durations(truth, {"long": 20.0, "short": 8.0}).tolist() == [20.0, 9.0, np.inf]


def test_model_selection_over_the_candidates_gives_the_z_of_what_was_selected() -> None:
    """Validation: x selects b, y ties a and c. Test means of x: 1, 2, 3 (z of b is 0); of y: 0, 0, 3."""
    validation = SystemValues(("x", "y"), tuple("abc"), np.array([[[0.1], [0.9], [0.5]], [[0.4], [0.2], [0.4]]]))
    test = SystemValues(("x", "y"), tuple("abc"), np.array([[[1.0], [2.0], [3.0]], [[0.0], [0.0], [3.0]]]))
    found = stability.model_selection(validation, test, "candidates")
    rows = {(r["validation_measure"], r["test_measure"]): r for r in found}
    assert rows["x", "x"]["selected"] == "b"
    assert rows["x", "x"]["z"] == pytest.approx(0)
    assert rows["x", "y"]["z"] == pytest.approx(-1 / 2**0.5)
    assert rows["y", "x"]["selected"] == "a; c"
    assert rows["y", "x"]["z"] == pytest.approx(0)
    assert rows["y", "y"]["z"] == pytest.approx((2**0.5 - 1 / 2**0.5) / 2)


def test_z_over_the_selected_models_counts_one_for_each_measure_that_selects_it() -> None:
    """x and y select a, z ties b and c: on test 1, 1 and (4 + 6) / 2 under w; candidate d plays no part."""
    from scipy import stats

    validation = SystemValues(
        tuple("xyz"), tuple("abcd"), np.array([[0.9, 0.1, 0.1, 0], [0.8, 0.1, 0.1, 0], [0, 0.5, 0.5, 0]])[:, :, None]
    )
    test = SystemValues(("w", "v"), tuple("abcd"), np.array([[1.0, 4, 6, 99], [2, 2, 2, 0]])[:, :, None])
    rows = stability.model_selection(validation, test)
    assert [row["z"] for row in rows if row["test_measure"] == "w"] == pytest.approx(stats.zscore([1, 1, 5]))
    assert [row["z"] for row in rows if row["test_measure"] == "v"] == [0, 0, 0]
    assert [row["selected"] for row in rows[::2]] == ["a", "a", "b; c"]


def test_z_scores_over_the_selected_models_sum_to_zero() -> None:
    """As in the paper: the values of one judging measure are z-scores of one another."""
    rows = stability.model_selection(TABLE, SystemValues(("w",), TABLE.systems, RNG.random((1, SYSTEMS, QUERIES))))
    assert sum(float(str(row["z"])) for row in rows) == pytest.approx(0, abs=1e-12)
    assert np.std([float(str(row["z"])) for row in rows]) == pytest.approx(1)


def test_one_mean_summed_in_another_order_is_selected_too() -> None:
    assert stability.selected(np.array([0.1 + 0.2, 0.3, 0.2])) == [0, 1]


def test_the_closed_forms_are_those_of_a_simulation() -> None:
    rng = np.random.default_rng(0)
    for r, theta, gamma in ((0.45, 0.5, 0.1), (0.5, 0.5, 0.2), (0.8, 0.7, 0.1)):
        seen = rng.normal(r, gamma, 400_000)
        hit, truth = seen >= theta, float(r >= theta)
        error = noise.recall_error(np.array(r), np.array(theta), np.array(gamma))
        assert float(error.squared_bias) == pytest.approx((hit.mean() - truth) ** 2, abs=0.003)
        assert float(error.variance) == pytest.approx(hit.var(), abs=0.003)
        assert float(error.mse) == pytest.approx(((hit - truth) ** 2).mean(), abs=0.003)
        assert float(noise.axiou_error(np.array(gamma)).mse) == pytest.approx(((seen - r) ** 2).mean(), rel=0.02)


def test_the_closed_form_of_recall_is_that_of_scipy_in_far_tails_too() -> None:
    from scipy.special import ndtr

    r = np.linspace(0, 1, 41)
    wrong = noise.recall_error(r, np.array(0.5), np.array(0.02)).mse
    assert np.allclose(wrong, ndtr(-np.abs(r - 0.5) / 0.02), rtol=1e-12, atol=0)


def test_a_curve_has_one_axiou_and_a_recall_for_each_theta() -> None:
    rows = noise.closed_forms([0.3, 0.5], [0.1], steps=3)
    assert [row["measure"] for row in rows] == ["recall@1,0.3"] * 3 + ["recall@1,0.5"] * 3 + ["axiou@1"] * 3
    assert [row["r"] for row in rows[:3]] == [0, 0.5, 1]


def test_curves_over_theta_cross_those_over_r_at_every_point() -> None:
    """One formula, walked in two directions: the same (r, theta, gamma) has the same three values."""
    fields = ("squared_bias", "variance", "mse")
    grid = [n / 10 for n in range(11)]
    over_r, over_theta = (
        {
            (round(float(str(row["r"])), 9), round(float(str(row["theta"])), 9)): [row[field] for field in fields]
            for row in rows
            if row["measure"] != noise.AXIOU
        }
        for rows in (
            noise.closed_forms(grid, [0.1], steps=11),
            noise.closed_forms_over_theta(grid, [0.1], steps=11),
        )
    )
    assert over_r.keys() == over_theta.keys()
    assert all(over_theta[at] == pytest.approx(values, abs=1e-12) for at, values in over_r.items())


def test_a_curve_over_theta_is_worst_at_the_true_iou() -> None:
    """There half of the draws fall on the wrong side; AxIoU@1 has no theta, so its error is flat."""
    rows = noise.closed_forms_over_theta([0.4, 0.6], [0.2], steps=6)
    recall = [row for row in rows if row["r"] == 0.4]
    assert max(recall, key=lambda row: float(str(row["mse"])))["theta"] == 0.4
    assert [row["mse"] for row in rows if row["measure"] == noise.AXIOU] == pytest.approx([0.04] * 6)
