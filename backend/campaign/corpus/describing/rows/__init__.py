"""What was chosen for describing, what people wrote, and what became of it."""
