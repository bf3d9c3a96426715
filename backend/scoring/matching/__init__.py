"""Hold truth and runs as columns, and match predictions with truth moments."""
