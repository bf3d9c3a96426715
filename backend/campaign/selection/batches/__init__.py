"""Whether the next batch of a query is worth opening: the rule, and what leads do with what it says."""
