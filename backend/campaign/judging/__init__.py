"""Seats, judgements, skips, and the rule that settles a pair."""
