"""SQL for assignments, seats, judgements, skips and verdicts."""
