"""Statistics of a corpus, a project or a release: one row of a table that compares data sets."""
