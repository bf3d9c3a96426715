"""Compute agreement, flags and what they rest on. Pure."""
