"""Hand out pairs to annotators, store their grades and skips, and compute the relevance of each pair."""
