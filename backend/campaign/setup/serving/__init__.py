"""State and jobs that all front ends of a project share."""
