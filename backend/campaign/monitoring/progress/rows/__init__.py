"""SQL of the state of the work. Reads only."""
