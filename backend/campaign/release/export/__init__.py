"""Frozen releases."""
