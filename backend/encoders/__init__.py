"""Sentences to unit vectors, and exact nearest-neighbour search over them."""
