"""Make the corpus: import videos, moments and captions, rewrite captions, and collect people's own descriptions."""
