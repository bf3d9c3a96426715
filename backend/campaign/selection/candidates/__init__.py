"""Which moments are judged for a query: candidate lists, batches, the agenda."""
