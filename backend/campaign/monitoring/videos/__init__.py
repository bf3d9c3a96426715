"""Check the project's video files as they are now, and find those that were moved."""
