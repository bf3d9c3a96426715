"""Studies of the measures themselves."""
