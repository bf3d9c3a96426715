"""Compute statistics of a corpus, a project or a release, as one row of a table that compares data sets."""
