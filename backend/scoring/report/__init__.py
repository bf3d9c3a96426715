"""Make the evaluation report: one HTML page with the scores, charts and error analysis of all runs."""
