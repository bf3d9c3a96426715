"""Read what tells how well people judge."""
