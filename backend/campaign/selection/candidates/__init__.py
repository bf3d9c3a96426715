"""Choose which moments annotators judge for a query: candidate lists, and the batches in which they are given out."""
