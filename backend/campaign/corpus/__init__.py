"""Build the corpus: import videos, moments and captions, rewrite captions, and collect captions by annotators."""
