"""What is in the figures of studies: which lines meet in one panel, and how many legends there are."""

from typing import Any

from backend.scoring.studies.figures import draw
from backend.scoring.studies.noise import MEAN_OF_SYSTEMS, closed_forms, closed_forms_over_theta
from backend.scoring.studies.study import Cell, Study

MANY = [f"recall@{k},{theta}" for k in (1, 5, 10, 20) for theta in (0.3, 0.5, 0.7)]


def panels(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """The panels of a figure, wherever they stand in it, with the rows that they share with their neighbours."""
    inner = [part for kind in ("hconcat", "vconcat") for part in figure.get(kind, ())]
    shared = {"data": figure["data"]} if "data" in figure else {}
    return [panel for part in inner for panel in panels(shared | part)] if inner else [figure]


def measures_of(panel: dict[str, Any]) -> set[str]:
    return {row["measure"] for row in rows_of(panel) if "measure" in row}


def rows_of(panel: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for part in (panel, *panel.get("layer", ())) for row in part.get("data", {}).get("values", ())]


def looks(panel: dict[str, Any]) -> list[tuple[str, tuple[int, ...]]]:
    """Colour and dashes of each line, from the scales of the panel."""
    for layer in panel.get("layer", [panel]):
        if "strokeDash" in layer.get("encoding", {}):
            scales = [layer["encoding"][channel]["scale"]["range"] for channel in ("color", "strokeDash")]
            return [(colour, tuple(dash)) for colour, dash in zip(*scales, strict=True)]
    raise AssertionError


def noise_of(measures: list[str], sigmas: list[float]) -> Study:
    rows: list[dict[str, Cell]] = [
        {"sigma_s": sigma, "median_iou": 1 - sigma / 9, "measure": measure, "system": system, "mean": 0.5, "rmse": 0.1}
        for sigma in sigmas
        for measure in measures
        for system in ("a", "b", MEAN_OF_SYSTEMS)
    ]
    return Study("noise", {"preset": "paper"}, rows, [])


def test_noise_of_several_sigmas_is_lines_over_sigma_and_dcg_has_its_own_axis() -> None:
    figure = draw(noise_of([*MANY, "dcg@10"], [0.5, 1.0]))
    bounded, dcg = panels(figure)
    assert measures_of(bounded) == set(MANY)
    assert measures_of(dcg) == {"dcg@10"}
    (lines,) = [layer for layer in bounded["layer"] if "strokeDash" in layer.get("encoding", {})]
    assert bounded["encoding"]["x"]["field"] == "sigma_s"
    assert {row["system"] for row in lines["data"]["values"]} == {MEAN_OF_SYSTEMS}
    assert "not in 0..1" in str(dcg["layer"][-1]["encoding"]["y"]["title"])
    # One legend: every panel names all measures in one order, with one look each.
    assert looks(bounded) == looks(dcg)
    assert len(set(looks(bounded))) == len(MANY) + 1


def test_noise_of_one_sigma_shows_every_system() -> None:
    (panel,) = panels(draw(noise_of(MANY, [1.0])))
    assert {row["system"] for row in rows_of(panel)} == {"a", "b", MEAN_OF_SYSTEMS}


def test_stability_compares_all_measures_in_one_panel() -> None:
    rows: list[dict[str, Cell]] = [
        {"measure": measure, "size": size, "mean": 0.5, "variance": 0.1} for measure in MANY for size in (10, 20)
    ]
    means, variances = panels(draw(Study("stability", {"preset": "paper"}, rows, [])))
    assert measures_of(means) == measures_of(variances) == set(MANY)
    assert looks(means) == looks(variances)
    assert len(set(looks(means))) == len(MANY)


def test_theory_draws_axiou_in_black_beside_every_curve_of_recall() -> None:
    for over, rows in (("r", closed_forms([0.3, 0.5], [0.1], 3)), ("theta", closed_forms_over_theta([0.3], [0.1], 3))):
        found = panels(draw(Study("theory", {"over": over, "gamma": [0.1]}, rows, [])))
        assert len(found) == 3
        for panel in found:
            assert panel["encoding"]["x"]["field"] == over
            black = [name for name, (colour, _) in zip(curves(panel), looks(panel), strict=True) if colour == "#000000"]
            assert black == ["axiou@1"]
            assert len(curves(panel)) == (3 if over == "r" else 2)


def curves(panel: dict[str, Any]) -> list[str]:
    return list(panel["encoding"]["color"]["scale"]["domain"])
