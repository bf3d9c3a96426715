"""Silent gold: pairs whose grade is known, among an annotator's work."""
