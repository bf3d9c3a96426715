"""What a corpus, a project or a release holds, counted: one row of a table that compares data sets."""
