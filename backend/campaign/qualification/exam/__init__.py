"""The qualification exam."""
