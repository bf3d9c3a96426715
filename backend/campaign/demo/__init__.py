"""Build the demo project from clips that travel with the code."""
