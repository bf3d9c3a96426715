"""Compute agreement and quality flags. Pure functions."""
