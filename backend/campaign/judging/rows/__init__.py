"""Run the SQL for assignments, seats (annotators' places at pairs), judgements, skips and verdicts."""
