"""Build the corpus: import videos, moments and captions, rewrite captions, and let annotators write captions."""
