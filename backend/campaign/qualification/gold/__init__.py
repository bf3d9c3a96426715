"""Gold questions: pairs whose grade is known, hidden among an annotator's work."""
