"""What leads review and decide: pairs, queries and the state of a project."""
