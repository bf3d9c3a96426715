"""Rules of releases. Pure."""
