"""Files of truths and runs, from their bytes to columns."""
