"""The SQL about how well people judge. Reads only."""
