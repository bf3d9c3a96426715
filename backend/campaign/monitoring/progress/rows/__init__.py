"""The SQL of progress: the work, and what waits for a lead."""
