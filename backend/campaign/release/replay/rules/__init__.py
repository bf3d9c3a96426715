"""Pure rules of a replay: the truth that some grades give, and how scores change with it."""
