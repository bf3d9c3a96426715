"""The SQL of seats, judgements and skips."""
