"""Imprecise captions."""
