"""The SQL of candidate lists, batches and the agenda."""
