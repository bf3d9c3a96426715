"""Systems that answer queries with moments: baselines and trained models. Their output is a run."""
