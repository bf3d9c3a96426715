"""Serve the grading page: take an annotator's grades and skips, return the next pairs, and find their clips."""
