"""SQL for progress: the work that is left, and the tasks of leads."""
