"""Rules for releases: pure functions, which read and write no files."""
