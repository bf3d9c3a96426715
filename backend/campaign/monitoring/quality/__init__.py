"""Measure how well people judge: agreement, quality flags, and an annotator's view of their own work."""
