"""Hand out pairs, take grades and skips, and settle pairs by the consensus rule."""
