"""Check the project's videos as they lie there now, and find those that were moved."""
