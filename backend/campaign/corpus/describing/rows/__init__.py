"""The only SQL about describing."""
