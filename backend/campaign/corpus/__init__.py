"""Import the corpus: videos, moments and captions, with their rewrites and people's own descriptions."""
