"""Check annotators' answers to pairs whose right grade is known: exam items, gold questions and practice pairs."""
