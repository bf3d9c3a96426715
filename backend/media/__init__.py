"""Measuring videos, cutting exact clips, rendering the demo."""
