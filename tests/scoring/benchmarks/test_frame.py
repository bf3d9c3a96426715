"""What holds of every benchmark: what may be asked for beside it, and what its table says."""

from pathlib import Path

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.report import parts
from backend.scoring.scored_files import score_files
from backend.scoring.views.ranking import figures
from golden_benchmarks import Golden, read_golden, score


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Golden:
    return read_golden("charades_sta", tmp_path_factory.mktemp("charades"))


def test_a_sentence_without_predictions_is_refused_until_somebody_says_what_it_counts(
    golden: Golden, tmp_path: Path
) -> None:
    fewer = golden.without("q7", tmp_path)
    with pytest.raises(InputError, match="query q7 is missing"):
        score("charades-sta", fewer)
    assert score("charades-sta", fewer, missing="zero").keys() == score("charades-sta", golden).keys()


def test_what_the_benchmark_says_itself_cannot_be_asked_for(golden: Golden) -> None:
    with pytest.raises(InputError, match="charades-sta sets its own measures"):
        score("charades-sta", golden, k=[10])


def test_a_measure_added_to_a_benchmark_is_refused_before_any_file_is_read(golden: Golden) -> None:
    with pytest.raises(InputError, match=r"also: 'iou' is not one of .*miou"):
        score("charades-sta", golden, also=["iou"])
    with pytest.raises(InputError, match="also: adds measures to those of a benchmark"):
        score_files(golden.truth, [golden.run], also=["miou"])


def test_an_option_is_checked_against_those_of_the_benchmark(golden: Golden) -> None:
    padded = score("charades-sta", golden, iou_epsilon=1e-8)
    assert padded == score("charades-sta", golden, iou_epsilon=1e-8, arithmetic="float64_hull")
    assert padded != score("charades-sta", golden)
    with pytest.raises(InputError, match="iou_epsilon: exact arithmetic has none"):
        score("charades-sta", golden, iou_epsilon=1e-8, arithmetic="exact")
    figures = evaluate(golden.truth, golden.run, benchmark="charades-sta", iou_epsilon=1e-8).figures
    assert {name: f"{100 * figures[name]:.2f}" for name in padded} == padded


def test_an_unknown_benchmark_is_answered_with_those_there_are(golden: Golden) -> None:
    with pytest.raises(InputError, match=r"'charades' is not one of .*charades-sta"):
        score("charades", golden)


def test_the_table_says_how_each_figure_is_computed(golden: Golden) -> None:
    table = figures(golden.summary("charades-sta"))
    assert table.texts()[1][:2] == ["R@1, IoU=0.3", "R@1, IoU>=0.3"]
    strict = figures(golden.summary("charades-sta", iou_compare="gt"))
    assert "IoU>0.3" in strict.texts()[1][1]


def test_the_report_shows_the_figures_among_the_measures(golden: Golden) -> None:
    shown = parts.measures(golden.summary("charades-sta"))
    (band,) = shown["bands"]
    found = {row[0].text: row[2].text for row in band.rows}
    assert {name: found[name] for name in golden.printed["TALL"]} == golden.printed["TALL"]
    assert "Evaluator: TALL" in shown["notes"][0]
