"""Programs for another Python than the one that runs ReelRank."""
