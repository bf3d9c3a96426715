"""Studies of measures, for the command line and other programs."""

from backend.scoring.studies.running import (
    StudyInputs,
    agreement_study,
    model_selection_study,
    noise_study,
    stability_study,
    theory_study,
    ties_study,
    write_study,
)
from backend.scoring.studies.study import Study

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
