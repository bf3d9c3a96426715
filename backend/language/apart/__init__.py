"""Programs that run in another Python than ReelRank's."""
