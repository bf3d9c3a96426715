"""Check answers to pairs whose right grade is known: in the exam, gold questions and practice pairs."""
