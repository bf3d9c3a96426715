"""Rules of releases, as functions that read and write nothing."""
