"""Agreement statistics and pace."""
