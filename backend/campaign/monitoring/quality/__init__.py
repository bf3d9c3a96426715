"""Measure how well people judge: agreement, flags, and what annotators may know of their own work."""
