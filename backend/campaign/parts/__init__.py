"""Split a campaign into parts over disjoint queries, and join the parts again."""
