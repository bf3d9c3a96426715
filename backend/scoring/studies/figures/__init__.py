"""The figures of studies, each a function of the study's rows, with its choices in the subtitle."""

from collections.abc import Callable

from backend.scoring.drawing import Specification
from backend.scoring.studies.figures.axioms import axioms
from backend.scoring.studies.figures.heat_maps import agreement, model_selection
from backend.scoring.studies.figures.label_noise import label_noise
from backend.scoring.studies.figures.lines import stability, theory
from backend.scoring.studies.figures.ties import ties
from backend.scoring.studies.study import Study

_FIGURES: dict[str, Callable[[Study], Specification]] = {
    "agreement": agreement,
    "stability": stability,
    "noise": label_noise,
    "ties": ties,
    "model-selection": model_selection,
    "axioms": axioms,
    "theory": theory,
}


def draw(study: Study) -> Specification:
    """The figure of any study."""
    return _FIGURES[study.name](study)
