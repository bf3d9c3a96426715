"""Studies of measures, for the command line and other programs."""

from backend.core.studies.study import Study
from backend.stages.studies import (
    StudyInputs,
    agreement_study,
    model_selection_study,
    noise_study,
    stability_study,
    theory_study,
    ties_study,
    write_study,
)

__all__ = [
    "Study",
    "StudyInputs",
    "agreement_study",
    "model_selection_study",
    "noise_study",
    "stability_study",
    "theory_study",
    "ties_study",
    "write_study",
]
