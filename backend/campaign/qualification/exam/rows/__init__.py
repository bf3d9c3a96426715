"""The only SQL about the exam."""
