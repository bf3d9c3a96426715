"""What explains a score: groups of queries, fates of moments, one query as all runs answer it."""
