"""All SQL about the exam."""
