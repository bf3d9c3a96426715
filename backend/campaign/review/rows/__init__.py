"""The SQL of what leads read."""
