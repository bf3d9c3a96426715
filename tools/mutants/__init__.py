"""Mutation testing: make small faults in the code of rules and measures, and find those that no test notices.

See docs/quality.md.
"""
