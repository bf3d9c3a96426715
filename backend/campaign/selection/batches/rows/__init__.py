"""The SQL of next batches."""
