"""Measure videos, and cut exact clips from them."""
