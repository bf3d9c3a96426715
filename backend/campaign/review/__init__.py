"""Let leads review pairs and queries and decide about pairs, and report what is in a project."""
