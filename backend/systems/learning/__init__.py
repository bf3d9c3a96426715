"""A retrieval model that can be trained, and its training loop: it finds the moments of a query by frame features."""
