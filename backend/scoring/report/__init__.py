"""The evaluation report: one HTML page."""
