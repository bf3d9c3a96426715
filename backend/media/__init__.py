"""Measuring videos, cutting exact clips."""
