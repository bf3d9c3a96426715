"""Serve the annotator's desk: take grades and skips from a browser, return the next pairs, and find their clips."""
