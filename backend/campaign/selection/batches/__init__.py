"""Decide about the next batch of a query: the rule that recommends it, and the decisions of leads."""
