"""Where the api finds the encoder of the training sets, until releases are made by verbs."""

from backend.campaign.selection.candidates.pseudo_train import training_encoder as encoder_needed

__all__ = ["encoder_needed"]
