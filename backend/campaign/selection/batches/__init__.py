"""Decide about the next batch of a query's candidates: the rule that recommends it, and the decisions of leads."""
