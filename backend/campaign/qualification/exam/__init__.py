"""The qualification exam, which annotators must pass before they work, and the calibration round."""
