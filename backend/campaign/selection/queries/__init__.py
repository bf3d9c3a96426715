"""Draw the queries of a project from captions, add own ones, and keep each in a split: train, val or test."""
