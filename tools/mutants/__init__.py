"""Mutation tests of the rules and measures: which small faults in them would no test see? See docs/quality.md."""
