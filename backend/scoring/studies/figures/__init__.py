"""Draw the figure of a study from its rows, with its choices in the subtitle."""

from collections.abc import Callable

from backend.scoring.drawing import Specification
from backend.scoring.studies.figures.cells import agreement, axioms, model_selection, ties
from backend.scoring.studies.figures.lines import label_noise, stability, theory
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
    """Return the figure of a study."""
    return _FIGURES[study.name](study)
