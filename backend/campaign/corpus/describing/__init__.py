"""Describe videos: people mark moments and write a sentence for each, and leads accept these as captions."""
