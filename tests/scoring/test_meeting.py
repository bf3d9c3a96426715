"""Who takes whom and what became of each moment, against plain loops with fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from backend.scoring.cases import Worth, build_case
from backend.scoring.fates import FATES, Fate, best_iou_of_queries, count_fates, fates, meet
from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.presets import settle
from backend.scoring.scores import prepare_run, prepare_truth, score

SPAN = st.tuples(st.integers(0, 8), st.integers(1, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))
VIDEO = st.sampled_from(["v1", "v2"])
TRUTH = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.lists(st.tuples(VIDEO, SPAN, st.integers(0, 4)), max_size=6), min_size=1
)
RUN = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.lists(st.tuples(st.sampled_from(["v1", "v2", "v3"]), SPAN), max_size=7)
)
MU = st.sampled_from([0.3, 0.5, 0.7])


def iou(one: tuple[int, int], other: tuple[int, int]) -> Fraction:
    inter = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return Fraction(inter, max(one[1] - one[0] + other[1] - other[0] - inter, 1))


def walk(moments: list, predictions: list, k: int, mu: Fraction, able: set[int]) -> dict[int, int]:
    """Greedy matching as the paper tells it: rank (from 1) of the prediction that takes each moment."""
    taken: dict[int, int] = {}
    for rank, (video, span) in enumerate(predictions[:k], start=1):
        open_ = [i for i in able if i not in taken and moments[i][0] == video]
        open_.sort(key=lambda i: (-iou(span, moments[i][1]), -moments[i][2], i))
        if open_ and iou(span, moments[open_[0]][1]) >= mu:
            taken[open_[0]] = rank
    return taken


def fate_of(i: int, moments: list, predictions: list | None, taken: dict[int, int], k: int, mu: Fraction) -> Fate:
    """The classes of the module, read literally."""
    video, span, relevance = moments[i]
    if not predictions:
        return Fate.NO_PREDICTIONS
    if i in taken:
        room = sum(other[2] >= relevance for other in moments)
        return Fate.IN_PLACE if taken[i] <= room else Fate.WRONG_RANK
    near = [iou(other, span) for name, other in predictions[:k] if name == video]
    if any(value >= mu for value in near):
        return Fate.TAKEN
    return Fate.WRONG_TIME if near else Fate.WRONG_VIDEO


def prepared(truth: dict, run: dict, k: int, mu: float, **options: object):
    settings = settle("paper", [k], [mu], {"unknown": "ignore", **options}, measures=["ndcg"])
    key = prepare_truth(
        parse_truth_mapping(
            {q: [{"video": v, "start": s, "end": e, "relevance": r} for v, (s, e), r in ms] for q, ms in truth.items()}
        ),
        settings,
    )
    ranked = prepare_run(
        parse_run_mapping({q: [[v, s, e, 1.0] for v, (s, e) in ps] for q, ps in run.items()}), key, settings
    )
    return settings, key, ranked, meet(key, ranked, settings, k, mu)


@given(TRUTH, RUN, st.integers(1, 8), MU, st.sampled_from(["absorb", "drop"]), st.integers(1, 4))
def test_every_relevant_moment_has_the_one_fate_that_the_definitions_give_it(
    truth: dict, run: dict, k: int, mu: float, zero: str, least: int
) -> None:
    _, key, _, found = prepared(truth, run, k, mu, zero_relevance=zero)
    exact = Fraction(str(mu))
    expected, taken_at = [], []
    for query, moments in truth.items():
        able = {i for i, moment in enumerate(moments) if moment[2] > 0 or zero == "absorb"}
        taken = walk(moments, run.get(query, []), k, exact, able)
        taken_at += [taken.get(i, 0) for i in range(len(moments))]
        for i, moment in enumerate(moments):
            fate = fate_of(i, moments, run.get(query), taken, k, exact)
            expected.append(FATES.index(fate) if moment[2] >= least else -1)
    assert found.taken_at.tolist() == taken_at
    assert fates(key, found, least).tolist() == expected
    counted = count_fates(key, found, least)
    assert counted.moments == sum(moment[2] >= least for moments in truth.values() for moment in moments)
    assert counted.total(*FATES) == counted.moments
    assert [int(n) for n in counted.counts.sum(axis=1)] == [expected.count(n) for n in range(len(FATES))]


@given(TRUTH, RUN, MU)
def test_a_query_is_perfect_where_all_its_moments_are_in_place(truth: dict, run: dict, mu: float) -> None:
    settings, key, ranked, found = prepared(truth, run, 40, mu)
    fate = fates(key, found)
    scores = score(key, ranked, settings)
    for number, value in zip(scores.query.tolist(), scores.values[0], strict=True):
        of_query = fate[key.truth.offsets[number] : key.truth.offsets[number + 1]]
        relevant = of_query[of_query >= 0]
        if len(relevant):
            assert (value > 1 - 1e-12) == bool((relevant == FATES.index(Fate.IN_PLACE)).all())


@given(TRUTH, RUN, st.integers(1, 8), MU)
def test_a_case_shows_every_moment_and_prediction_with_its_partner(truth: dict, run: dict, k: int, mu: float) -> None:
    _, key, ranked, found = prepared(truth, run, k, mu)
    exact = Fraction(str(mu))
    best = best_iou_of_queries(key, found)
    for number, (query, moments) in enumerate(truth.items()):
        case = build_case(number, key, {"run": (ranked, found)})
        answer = case.runs[0]
        shown = [(m.video, (int(m.start_s), int(m.end_s)), m.relevance) for m in case.moments]
        assert sorted(shown) == sorted(moments)
        assert [m.relevance for m in case.moments] == sorted((m[2] for m in moments), reverse=True)
        assert [p.rank for p in answer.predictions] == list(range(1, min(k, len(run.get(query, []))) + 1))
        taken = walk(moments, run.get(query, []), k, exact, set(range(len(moments))))
        by_rank = {rank: moments[i] for i, rank in taken.items()}
        for item in answer.predictions:
            span = (int(item.start_s), int(item.end_s))
            ious = [iou(span, moment[1]) for moment in moments if moment[0] == item.video]
            assert item.iou == (None if not ious else float(max(ious)))
            if item.rank in by_rank:
                assert item.takes is not None
                assert shown[item.takes - 1] == by_rank[item.rank]
                assert answer.found[item.takes - 1].rank == item.rank
                assert item.worth == (Worth.MATCH if by_rank[item.rank][2] else Worth.NOT_RELEVANT)
            else:
                reaches = any(value >= exact for value in ious)
                missed = Worth.TAKEN if reaches else Worth.WRONG_TIME if ious else Worth.WRONG_VIDEO
                assert (item.takes, item.worth) == (None, missed)
        assert best[number] == max((item.iou or 0.0 for item in answer.predictions), default=0.0)
        assert sum(found_.rank is not None for found_ in answer.found) == len(taken)
    assert np.count_nonzero(found.takes >= 0) == np.count_nonzero(found.taken_at)
