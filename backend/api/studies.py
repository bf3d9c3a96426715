"""Studies of measures, for the command line and other programs."""

from backend.scoring.studies.inputs import StudyInputs
from backend.scoring.studies.running import (
    agreement_study,
    axioms_study,
    model_selection_study,
    noise_study,
    stability_study,
    theory_study,
    ties_study,
)
from backend.scoring.studies.study import Study
from backend.scoring.studies.writing import write_study

__all__ = [
    "Study",
    "StudyInputs",
    "agreement_study",
    "axioms_study",
    "model_selection_study",
    "noise_study",
    "stability_study",
    "theory_study",
    "ties_study",
    "write_study",
]
