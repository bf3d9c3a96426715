"""Read the state of the work."""
