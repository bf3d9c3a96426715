"""The queries and their splits."""
