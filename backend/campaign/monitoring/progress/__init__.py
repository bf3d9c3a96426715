"""Report pace, what is left to do and when it may be done, stuck pairs, and what waits for a lead."""
