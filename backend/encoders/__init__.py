"""Encode sentences and video frames as unit vectors, and find the captions most similar to a query by exact search."""
