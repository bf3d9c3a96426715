"""Intervals and p-values of queries that are not independent, by drawing and flipping whole clusters one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.evaluate import compare
from backend.scoring.statistics.resampling import bootstrap_means, holm, paired_t, percentile_interval, sign_flip_p
from backend.scoring.statistics.resampling import compare as compare_values

RNG = np.random.default_rng(5)
CLUSTERS = st.lists(st.integers(0, 4), min_size=1, max_size=12).map(
    lambda chosen: np.unique(chosen, return_inverse=True)[1]
)


def brute_bootstrap(values, clusters, resamples, seed):
    """Draw clusters from the same generator, lay their queries in a list, and take its mean."""
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    count = int(clusters.max()) + 1
    means = []
    for _ in range(resamples):
        sample = [value for drawn in generator.integers(0, count, count) for value in values[clusters == drawn]]
        means.append(sum(sample) / len(sample))
    return np.array(means)


def brute_sign_flip(differences, clusters):
    """Try every pattern of signs, one sign a cluster."""
    count = int(clusters.max()) + 1
    totals = [
        abs(sum(signs[cluster] * value for cluster, value in zip(clusters, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=count)
    ]
    return np.mean([total >= abs(differences.sum()) - 1e-9 for total in totals])


@settings(max_examples=40, deadline=None)
@given(CLUSTERS, st.integers(0, 3))
def test_a_bootstrap_sample_is_whole_clusters(clusters, seed):
    values = np.random.default_rng(seed).random((2, len(clusters)))
    found = bootstrap_means(values, resamples=30, seed=seed, clusters=clusters)
    for number, row in enumerate(values):
        np.testing.assert_allclose(found[:, number], brute_bootstrap(row, clusters, 30, seed), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(CLUSTERS, st.integers(0, 3))
def test_the_signs_of_a_cluster_are_flipped_together(clusters, seed):
    values = np.random.default_rng(seed).random((1, 2, len(clusters)))
    ((found,),) = compare_values(values, [(0, 1)], resamples=50, clusters=clusters)
    assert found.p == pytest.approx(brute_sign_flip(values[0, 0] - values[0, 1], clusters))
    assert found.exact
    assert (found.t, found.p_t, found.reason) == (None, None, "no t-test: it takes queries as independent")
    low, high = percentile_interval(
        brute_bootstrap(values[0, 0], clusters, 50, 0) - brute_bootstrap(values[0, 1], clusters, 50, 0)
    )
    assert (found.low, found.high) == pytest.approx((low, high))


@given(st.integers(1, 40), st.integers(0, 3))
def test_clusters_of_one_query_are_no_clusters(queries, seed):
    values = np.random.default_rng(seed).random((2, queries))
    alone = np.arange(queries)
    plain = bootstrap_means(values, resamples=20, seed=seed)
    np.testing.assert_array_equal(bootstrap_means(values, resamples=20, seed=seed, clusters=alone), plain)


def test_copies_of_a_query_tell_nothing_new():
    """Each of 12 queries is there five times. As clusters, they are as sure as 12 queries; singly, they seem surer."""
    values = RNG.random((1, 2, 12))
    values[0, 0] += 0.2
    copies = np.repeat(values, 5, axis=2)
    ((once,),) = compare_values(values, [(0, 1)], resamples=2000)
    ((clustered,),) = compare_values(copies, [(0, 1)], resamples=2000, clusters=np.repeat(np.arange(12), 5))
    ((singly,),) = compare_values(copies, [(0, 1)], resamples=2000)
    assert clustered.p == once.p
    assert (clustered.low, clustered.high) == pytest.approx((once.low, once.high))
    assert singly.high - singly.low < 0.6 * (once.high - once.low)


TRUTH = {f"q{n}": [{"video": f"v{n % 9}", "start": 10, "end": 20, "relevance": 1 + n % 4}] for n in range(36)}
RUNS = {
    name: {
        query: [[moments[0]["video"], 10 + late, 20 + late, 1]]
        for (query, moments), late in zip(TRUTH.items(), RNG.exponential(blur, 36).tolist(), strict=True)
    }
    for name, blur in (("sharp", 1), ("middle", 2), ("blurred", 6))
}


ASKED = {"k": 1, "mu": 0.5, "measures": ["axiou", "ndcg"], "resamples": 400}


class TestCompare:
    def test_clusters_of_the_truth_are_drawn(self):
        found = compare(TRUTH, RUNS, **ASKED, baseline="blurred", clusters="video", by="relevance")
        values = {name: np.array([one.per_query[q]["axiou@1"] for q in TRUTH]) for name, one in found.items()}
        clusters = np.arange(36) % 9
        summary = found.summary["runs"][0]
        low, high = percentile_interval(brute_bootstrap(values["sharp"], clusters, 400, 0))
        assert summary["intervals"]["axiou@1"] == pytest.approx({"low": low, "high": high})
        p = brute_sign_flip(values["sharp"] - values["blurred"], clusters)
        told = found.differences["sharp", "blurred"]["axiou@1"]
        assert told["p"] == pytest.approx(p)
        assert told["p_t"] is None
        ones = np.arange(36) % 4 == 0
        within = clusters[ones]
        low, high = percentile_interval(
            brute_bootstrap(values["sharp"][ones], np.unique(within, return_inverse=True)[1], 400, 0)
        )
        frame = found.to_frame(by="relevance")
        assert frame.loc["sharp", "1"][["queries", "axiou@1 low", "axiou@1 high"]].tolist() == pytest.approx(
            [9, low, high]
        )
        assert found.summary["statistics"]["clusters"] == {"by": "video", "count": 9}
        assert any("in 9 whole clusters by video" in note for note in found.summary["statistics"]["notes"])
        assert "bootstrap intervals, in whole clusters by video." in found.to_latex()

    def test_a_mapping_is_a_property_too(self):
        by_name = compare(TRUTH, RUNS, **ASKED, intervals=True, clusters="video")
        own = {query: f"v{int(query[1:]) % 9}" for query in TRUTH}
        by_mapping = compare(TRUTH, RUNS, **ASKED, intervals=True, clusters=own)
        assert by_mapping.summary["runs"] == by_name.summary["runs"]

    def test_intervals_stay_with_the_groups_that_they_are_of(self):
        half = {query: "low" if int(query[1:]) < 18 else "high" for query in TRUTH}
        found = compare(TRUTH, RUNS, **ASKED, intervals=True, by=half)
        assert "axiou@1 low" in found.to_frame(by=half)
        other = {query: "low" if int(query[1:]) < 9 else "high" for query in TRUTH}
        assert "axiou@1 low" not in found.to_frame(by=other)
        assert "axiou@1 low" not in found.to_frame(by="video")
        with pytest.raises(
            InputError, match=r"by: group is there twice; give mappings as \{property: \{query: group\}\}"
        ):
            compare(TRUTH, RUNS, **ASKED, by=[half, other])

    def test_a_group_in_one_cluster_has_no_interval(self):
        found = compare(TRUTH, RUNS, **ASKED, intervals=True, clusters="video", by="video")
        group = found["sharp"].groups["video"]["v0"]
        assert group["queries"] == 4
        assert "intervals" not in found.summary["runs"][0]["by"]["video"]["groups"]["v0"]

    def test_all_pairs_are_compared_and_adjusted_together(self):
        found = compare(TRUTH, RUNS, **ASKED, pairs="all")
        names = list(itertools.combinations(RUNS, 2))
        assert list(found.differences) == names
        for key in ("axiou@1", "ndcg@1,0.5"):
            values = {name: np.array([one.per_query[q][key] for q in TRUTH]) for name, one in found.items()}
            gaps = [values[first] - values[second] for first, second in names]
            p = np.array([float(sign_flip_p(gap, flips=400)) for gap in gaps])
            told = [found.differences[pair][key] for pair in names]
            assert [one["p"] for one in told] == p.tolist()
            assert [one["p_holm"] for one in told] == holm(p).tolist()
            assert [one["p_t"] for one in told] == pytest.approx([float(paired_t(gap)[1]) for gap in gaps])
        frame = found.to_frame(differences=True)
        assert frame.index.names == ["first", "second", "key"]
        assert (
            frame.loc["sharp", "blurred", "axiou@1"]["p_holm"]
            == found.differences["sharp", "blurred"]["axiou@1"]["p_holm"]
        )
        assert len(frame) == 6
        assert any("over the 3 pairs of a measure" in note for note in found.summary["statistics"]["notes"])

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({"pairs": "some"}, "pairs: 'some' is not 'all' or None"),
            ({"clusters": "video"}, "clusters: need statistics: add intervals=True, a baseline, or pairs='all'"),
            ({"clusters": "place", "intervals": True}, "clusters: 'place' is not one of duration, show, video"),
            ({"clusters": "show", "intervals": True}, "clusters: show puts all queries into one cluster, other"),
            ({"clusters": {"q0": 1}, "intervals": True}, "clusters: 35 queries of the truth have no group: q1, q2"),
        ],
    )
    def test_what_cannot_be_asked_is_told(self, asked, message):
        with pytest.raises(InputError) as refused:
            compare(TRUTH, RUNS, **asked)
        assert str(refused.value).startswith(message)

    def test_a_frame_of_differences_needs_some(self):
        with pytest.raises(InputError, match=r'no runs were compared; give compare baseline=NAME or pairs="all"'):
            compare(TRUTH, RUNS).to_frame(differences=True)
        with pytest.raises(InputError, match="give only one of per_query, by and differences"):
            compare(TRUTH, RUNS).to_frame(differences=True, by="show")
