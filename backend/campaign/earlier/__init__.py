"""Judgements of earlier campaigns."""
