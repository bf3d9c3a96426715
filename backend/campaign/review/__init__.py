"""Review pairs and queries, adjudicate pairs, and report what is in a project."""
