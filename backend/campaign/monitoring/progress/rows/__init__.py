"""SQL for progress: the work, and what waits for a lead."""
