"""Import and summarise the judgements of earlier campaigns."""
