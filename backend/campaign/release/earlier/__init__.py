"""Import and summarise the judgements of earlier campaigns, which were graded elsewhere."""
