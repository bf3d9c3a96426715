"""Draw a project's queries from captions, add people's own queries, and put each into a split: train, val or test."""
